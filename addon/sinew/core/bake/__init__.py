"""Bakes: samples in, states and results out, in folders that outlive a kill."""
