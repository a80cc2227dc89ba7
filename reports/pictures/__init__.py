"""Pictures of a claim, of outputs, of the course of an audit and of a study; `drawing` draws them."""
