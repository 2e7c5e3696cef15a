"""
The nearest molecules
=====================

Which known molecules are most similar to a new one, and how similar are they? The three nearest
neighbours of caffeine among the molecules of B3DB, with the WL optimal assignment kernel.
"""

import matplotlib.pyplot as plt
from rdkit import Chem
from rdkit.Chem import Draw

import gramlet

caffeine = "CN1C=NC2=C1C(=O)N(C(=O)N2C)C"
b3db = gramlet.load_dataset("B3DB")
nearest = gramlet.GraphNeighbors("wl-oa", n_neighbors=3).fit(b3db.graphs)
distances, positions = nearest.kneighbors(gramlet.molecules([caffeine]))

figure, axes = plt.subplots(1, 4, figsize=(12, 3))
found = [("caffeine", caffeine)]
for distance, position in zip(distances[0], positions[0], strict=True):
    found.append((f"distance {distance:.2f}", b3db.molecules[position]))
for ax, (title, smiles) in zip(axes, found, strict=True):
    ax.imshow(Draw.MolToImage(Chem.MolFromSmiles(smiles), size=(400, 300)))
    ax.set_title(title)
    ax.set_axis_off()
figure.tight_layout()
