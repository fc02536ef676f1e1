"""Operations under the names people type. Each reads its arguments as PyTorch does and walks through the door.

The modules hold the plain functions, which are also the methods of ``Tensor``. Here they get their public form, which explains
arguments that are no tensors and, where a new tensor is returned, takes ``out=`` (see ``checked``). Functions that the door
builds straight from their rows are public as they are: they explain themselves, and every nanosecond of theirs is felt.
"""

import inspect
from typing import TYPE_CHECKING, Any

from tensorlab import layout
from tensorlab.functional import (
    activations,
    arranging,
    complexes,
    contraction,
    convolutions,
    counting,
    cutting,
    differences,
    distances,
    dropouts,
    elementary,
    gates,
    indexing,
    joining,
    lowrank,
    margins,
    matrices,
    normalization,
    ordering,
    placing,
    pointwise,
    poolings,
    products,
    questions,
    reductions,
    sampling,
    shapes,
    shuffles,
    sorting,
    specials,
    spectra,
    statistics,
)
from tensorlab.functional.autocasting import composed
from tensorlab.functional.checked import checked

if TYPE_CHECKING:
    from tensorlab.functional.activations import *  # noqa: F403
    from tensorlab.functional.arranging import *  # noqa: F403
    from tensorlab.functional.complexes import *  # noqa: F403
    from tensorlab.functional.contraction import *  # noqa: F403
    from tensorlab.functional.convolutions import *  # noqa: F403
    from tensorlab.functional.counting import *  # noqa: F403
    from tensorlab.functional.cutting import *  # noqa: F403
    from tensorlab.functional.differences import *  # noqa: F403
    from tensorlab.functional.distances import *  # noqa: F403
    from tensorlab.functional.dropouts import *  # noqa: F403
    from tensorlab.functional.elementary import *  # noqa: F403
    from tensorlab.functional.gates import *  # noqa: F403
    from tensorlab.functional.indexing import *  # noqa: F403
    from tensorlab.functional.joining import *  # noqa: F403
    from tensorlab.functional.lowrank import *  # noqa: F403
    from tensorlab.functional.margins import *  # noqa: F403
    from tensorlab.functional.matrices import *  # noqa: F403
    from tensorlab.functional.normalization import *  # noqa: F403
    from tensorlab.functional.ordering import *  # noqa: F403
    from tensorlab.functional.placing import *  # noqa: F403
    from tensorlab.functional.pointwise import *  # noqa: F403
    from tensorlab.functional.poolings import *  # noqa: F403
    from tensorlab.functional.products import *  # noqa: F403
    from tensorlab.functional.questions import *  # noqa: F403
    from tensorlab.functional.reductions import *  # noqa: F403
    from tensorlab.functional.sampling import *  # noqa: F403
    from tensorlab.functional.shapes import *  # noqa: F403
    from tensorlab.functional.shuffles import *  # noqa: F403
    from tensorlab.functional.sorting import *  # noqa: F403
    from tensorlab.functional.specials import *  # noqa: F403
    from tensorlab.functional.spectra import *  # noqa: F403
    from tensorlab.functional.statistics import *  # noqa: F403

MODULES = (
    pointwise,
    elementary,
    specials,
    activations,
    reductions,
    sorting,
    placing,
    products,
    contraction,
    distances,
    shapes,
    joining,
    indexing,
    ordering,
    statistics,
    counting,
    differences,
    arranging,
    cutting,
    convolutions,
    margins,
    lowrank,
    matrices,
    spectra,
    gates,
    normalization,
    complexes,
    poolings,
    shuffles,
    questions,
    sampling,
    dropouts,
)

#: The plain functions by name, for everything that becomes a method.
plain: dict[str, Any] = {}


def names(module: Any, constant: str) -> list[str]:
    """A list of names that a module of functions declares: ``METHODS``, ``IN_PLACE`` or ``ELSEWHERE``, a string with spaces.

    ``METHODS`` are methods of ``Tensor`` too. ``IN_PLACE`` names rows that have an in-place form. ``ELSEWHERE`` are functions that
    are not found at ``tensorlab.<name>``: they are public in another place, or serve other modules.
    """
    return getattr(module, constant, "").split()


def _publish() -> list[str]:
    offered = []
    for module in MODULES:
        takes_out = module not in (shapes, cutting, questions)
        elsewhere = names(module, "ELSEWHERE")
        for name, function in vars(module).items():
            home = getattr(function, "__module__", None)
            if name.startswith("_") or home not in (module.__name__, "tensorlab"):
                continue
            function = composed(function)
            plain[name] = function
            globals()[name] = (
                function if home == "tensorlab" else checked(function, takes_out=takes_out and name[-1] != "_")
            )
            if name not in elsewhere:
                offered.append(name)
    return offered


def _where(op: str, name: str) -> str:
    """Where an argument stands in the call of a function, for messages."""
    function = plain.get(op.rstrip("_"))
    names = list(inspect.signature(function).parameters) if function is not None else []
    return f" (position {names.index(name) + 1})" if name in names else ""


layout.where_argument = _where

#: What ``from tensorlab.functional import *`` brings: the names that ``tensorlab`` itself offers.
globals()["__all__"] = _publish()
