"""Hashed features, feature stores, and linear models that learn from them."""
