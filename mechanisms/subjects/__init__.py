"""The parts of mechanisms for audits, apart from the noise."""
