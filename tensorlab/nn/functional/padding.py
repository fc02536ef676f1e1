"""Padding as a function."""

from tensorlab.functional import pad as pad

__all__ = ["pad"]
