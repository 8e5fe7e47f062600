"""What everything stands on: errors, files, the native module, threads."""
