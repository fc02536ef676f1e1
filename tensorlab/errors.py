"""Errors with a class of their own."""

from __future__ import annotations


class LinAlgError(RuntimeError):
    """A matrix has no inverse, no factorisation, or an algorithm for it did not converge."""
