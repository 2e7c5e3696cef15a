"""Reading, molecules, transport, neighbours, evaluation and disk, compared with alternatives."""
