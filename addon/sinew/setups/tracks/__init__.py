"""What cloth reads from the scene."""
