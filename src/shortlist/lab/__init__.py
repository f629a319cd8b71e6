"""Experiments: a specification in, rows and figures out."""
