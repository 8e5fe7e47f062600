"""What only ENRICH reads from a scene."""
