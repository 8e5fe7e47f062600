"""Flesh: a cage of tets around any mesh, fitted to its animation, simulated and shown. What methods of flesh share."""
