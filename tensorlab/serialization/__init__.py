"""Saving and loading without running code."""
