"""Files of graphs with data on nodes and edges: GraphML, GEXF, GML, graph6, node-link JSON."""
