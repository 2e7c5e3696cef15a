"""
The shape of a network from its spectrum
========================================

NetLSD describes a graph by how fast heat leaves its nodes. The descriptions of rings, stars, grids
and random networks of about the same size differ. They do not depend on the order of the nodes.
"""

import matplotlib.pyplot as plt
import networkx as nx

import gramlet

networks = {
    "ring": nx.cycle_graph(36),
    "star": nx.star_graph(35),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 6)),
    "random": nx.gnp_random_graph(36, 0.12, seed=3),
    "two communities": nx.Graph(nx.planted_partition_graph(2, 18, 0.3, 0.02, seed=0).edges),
}
embedding = gramlet.NetLSD(normalization="empty")
traces = embedding.fit_transform(gramlet.as_batch(list(networks.values())))

figure, ax = plt.subplots(figsize=(6, 4))
for name, trace in zip(networks, traces, strict=True):
    ax.semilogx(embedding.times_, trace, label=name)
ax.set(xlabel="time", ylabel="share of heat that stays")
ax.legend()
