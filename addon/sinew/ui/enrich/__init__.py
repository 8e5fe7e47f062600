"""Properties > Physics > Sinew."""
