"""What only cloth has in Blender."""
