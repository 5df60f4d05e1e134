"""The PyTorch cookbook without a network: recipes that were run, and their records."""
