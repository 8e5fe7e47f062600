"""Positions, turns and surfaces, of whatever body."""
