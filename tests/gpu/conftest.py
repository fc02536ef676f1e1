"""What needs a real GPU. On a machine without one nothing here is collected but the test that says what is missing."""

from __future__ import annotations

from tensorlab import backend

collect_ignore = [] if backend.why_no_gpu() is None else ["test_cuda.py", "test_device.py", "test_rows.py"]
