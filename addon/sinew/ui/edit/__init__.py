"""Edit Motion: the tool, its handles in the viewport and in the timeline, and its panel. For setups of every method
whose settings have `edits`."""
