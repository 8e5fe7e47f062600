"""Edit Motion: a finished motion, pulled by handles. Below the bakes, so that every method can show an edited one."""
