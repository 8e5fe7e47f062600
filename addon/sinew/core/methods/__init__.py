"""What each method adds: its settings, its engine and what it shows."""
