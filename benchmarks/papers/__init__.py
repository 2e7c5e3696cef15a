"""The tables and figures of papers, recomputed and compared with the published numbers.

``python -m benchmarks papers`` lists them; ``results/`` has the finished cells that the pages
of the documentation show.
"""
