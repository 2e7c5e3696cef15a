"""
A map of molecules
==================

Kernel PCA of the 188 molecules of MUTAG with the WL optimal assignment kernel. Similar molecules
are close to each other; some are drawn next to their points.
"""

import gramlet

mutag = gramlet.load_dataset("MUTAG")
graph_map = gramlet.KernelMap(gramlet.WLOptimalAssignment(n_iter=3, normalize=True))
graph_map.fit(mutag.graphs)
ax = gramlet.plot_map(graph_map, mutag.target, graphs=mutag)
