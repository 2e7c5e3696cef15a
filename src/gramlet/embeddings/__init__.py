"""Graph embeddings: estimators whose `transform` is a feature matrix."""
