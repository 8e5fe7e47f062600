"""What a bake of a face reads from the scene."""
