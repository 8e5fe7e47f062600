"""What each method adds: its settings, its engine and what it shows. Importing this registers all of them."""

from ..bake.method import register
from . import enrich, face, tracks

register(enrich.METHOD)
register(tracks.METHOD)
register(face.METHOD)
