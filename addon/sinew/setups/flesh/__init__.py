"""What methods of flesh read from the scene."""
