"""Static faces of documents: SVG, plain text, DOT, and what IPython shows by itself."""
