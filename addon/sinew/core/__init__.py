"""Everything that needs no Blender: settings, the bake over numpy arrays, files on disk."""
