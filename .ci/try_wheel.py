"""Run in an environment that has the wheel and nothing of the repository: is all of it there, and does it work?"""

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import tensorlab as tl

package = Path(tl.__file__).parent
assert Path(sys.prefix) in package.parents, f"tensorlab came from {package}, not from the wheel"
light = {name.split(".")[0] for name in sys.modules} & {"scipy", "ml_dtypes", "IPython", "cupy", "anywidget"}
assert not light, f"import tensorlab loaded {sorted(light)}"

w = tl.tensor([1.0, 2.0, 3.0], requires_grad=True)
(w * w).sum().backward()
assert w.grad.tolist() == [2.0, 4.0, 6.0]

import tensorlab_widgets  # noqa: E402  (after the check that tensorlab alone is light)

static = Path(tensorlab_widgets.__file__).parent / "static"
for instrument in sorted(path.parent.name for path in Path(tensorlab_widgets.__file__).parent.glob("*/__init__.py")):
    bundle = static / f"{instrument}.js"
    assert bundle.stat().st_size > 1000, f"{bundle} is missing or empty"
    print("bundle", bundle.relative_to(static.parent), bundle.stat().st_size, "bytes")

files = importlib.metadata.files("jupyter-tensorlab") or []
strays = [str(file) for file in files if str(file).endswith((".test.ts", ".map")) or "node_modules" in str(file)]
assert not strays, f"the wheel holds files that nobody needs: {strays}"

listing = subprocess.run(["jupyter", "labextension", "list"], capture_output=True, text=True, check=True)
lines = [line.strip() for line in (listing.stdout + listing.stderr).splitlines() if "tensorlab-extension" in line]
print(*lines, sep="\n")
assert any("enabled" in line and "OK" in line for line in lines), "JupyterLab does not find the extension"
print("jupyter-tensorlab", importlib.metadata.version("jupyter-tensorlab"), "works from its wheel")
