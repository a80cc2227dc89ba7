"""Pictures: how one is drawn (`drawing`), and those of a claim, of outputs, of courses, of a study."""
