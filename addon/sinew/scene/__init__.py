"""Everything that touches bpy: sampling an animation, playing a bake back, setups, files."""
