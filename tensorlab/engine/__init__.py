"""The machine under ``autograd``: nodes, saved values, hooks, and the backward pass as an object that can wait."""
