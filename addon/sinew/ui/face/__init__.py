"""Panels and buttons of faces."""
