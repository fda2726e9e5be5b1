"""The same rows in every engine that counts."""
