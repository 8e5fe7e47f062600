"""What the panel of every method has."""
