"""Writers of models for other programs, one file per format."""
