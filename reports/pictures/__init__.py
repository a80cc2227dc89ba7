"""Pictures: how one is drawn (`drawing`), and those of a claim, outputs, the course of an audit, a study."""
