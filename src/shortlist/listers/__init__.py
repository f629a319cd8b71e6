"""What users hold: `Shortlister`, `GroupedShortlister`, the `Lister` protocol, and save files."""
