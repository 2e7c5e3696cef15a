"""Reading and writing files of graphs, and loading data sets."""
