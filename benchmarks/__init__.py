"""gramlet side by side with other packages: the same data, one thread each, ratios in one run.

``python -m benchmarks`` lists the cases, ``python -m benchmarks NAME ...`` runs them; README.md
says how to add one.
"""
