"""What panels of flesh have, whatever moves it."""
