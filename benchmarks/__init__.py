"""gramlet compared with other packages: the same data, one thread each, ratios within one run.

``python -m benchmarks`` lists the cases, ``python -m benchmarks NAME ...`` runs them. README.md
explains how to add a case.
"""
