"""What predicts: machines on Gram matrices, blocks of these matrices, and baselines."""
