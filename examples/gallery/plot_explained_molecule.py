"""
Which atoms speak for mutagenicity?
===================================

A support vector machine on Weisfeiler-Lehman patterns gives every pattern a weight. Every atom is
coloured by the weights of the patterns around it, on the same scale in both molecules.
"""

import matplotlib.pyplot as plt
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import gramlet

mutag = gramlet.load_dataset("MUTAG")
model = make_pipeline(
    gramlet.WeisfeilerLehman(n_iter=2, normalize=True), SVC(kernel="precomputed", C=10)
).fit(mutag.graphs, mutag.target)
linear = gramlet.explain_linear(model, class_names=mutag.target_names)
names = {"node_names": mutag.node_label_names, "edge_names": mutag.edge_label_names}

molecules = mutag.graphs[:2]
reach = max(abs(linear.nodes(molecule).sum(axis=1)).max() for molecule in molecules)
figure, axes = plt.subplots(1, 2, figsize=(9, 4))
for position, ax in enumerate(axes):
    gramlet.plot_graph_importance(linear, molecules[position], ax=ax, reach=reach, **names)
    ax.set_title(mutag.target_names[int(mutag.target[position])])

# %%
# The patterns with the largest weights, as trees around their central atom.
figure = gramlet.plot_patterns(linear, n=6, level=1, **names)
