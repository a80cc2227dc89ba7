"""Private learners by statistical queries."""
