"""The search for cuts between which few records lie."""
