"""Edit Motion: setups that are edited."""
