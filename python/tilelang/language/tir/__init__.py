"""Names below the tile level."""
