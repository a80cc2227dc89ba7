"""PARITY learned privately: A and its amplified form A*, with exact laws."""
