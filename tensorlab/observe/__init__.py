"""The only place that turns live state into data: documents of plain facts, and sessions that move through a backward
pass."""
