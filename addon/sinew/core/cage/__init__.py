"""Cages of tets around a mesh: building, judging and showing them."""
