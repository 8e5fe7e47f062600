"""ENRICH, the flesh: a cage of tets around any mesh."""
