"""Files of molecules: tables of SMILES strings, and SDF."""
