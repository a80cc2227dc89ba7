"""Pictures of a claim, of outputs, of an audit's course and of a study."""
