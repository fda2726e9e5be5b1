"""Certificates: issued from an exact model, signed, verified by two algorithms, and compared."""
