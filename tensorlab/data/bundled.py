"""Real data that needs no network: the sets that scikit-learn brings along, as data sets of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorlab import creation
from tensorlab.data.dataset import TensorDataset


class Bundled(TensorDataset):
    """A set of scikit-learn as pairs (features, target).

    ``train=True`` holds four fifths of the samples and ``train=False`` the rest, the same ones every time; left out, all of them.
    Raises ``ModuleNotFoundError`` where scikit-learn is not installed.
    """

    _loader: str
    classes: list[str]  # names of the targets; empty where the target is a number
    feature_names: list[str]
    description: str

    def __init__(self, train: bool | None = None) -> None:
        source = _loaded(self._loader)
        features, target = self._values(source)
        if train is not None:
            order = np.random.Generator(np.random.PCG64(0)).permutation(len(target))
            kept = order[len(target) // 5 :] if train else order[: len(target) // 5]
            features, target = features[kept], target[kept]
        super().__init__(creation.from_numpy(features), creation.from_numpy(target))
        self.classes = [str(name) for name in source.get("target_names", ())]
        self.feature_names = [str(name) for name in source.get("feature_names", ())]
        self.description = str(source["DESCR"])

    def _values(self, source: Any) -> tuple[np.ndarray, np.ndarray]:
        return np.array(source["data"], np.float32), np.array(source["target"], np.int64)

    @property
    def data(self) -> Any:
        """The features of all samples."""
        return self.tensors[0]

    @property
    def targets(self) -> Any:
        """The targets of all samples."""
        return self.tensors[1]


class Digits(Bundled):
    """1,797 handwritten digits: images of 1 x 8 x 8 floats in [0, 1], and the digit. Source: UCI, optical recognition of
    handwritten digits (test part).

    >>> from tensorlab.data import Digits
    >>> image, digit = Digits(train=True)[0]
    >>> tuple(image.shape), 0 <= digit.item() <= 9
    ((1, 8, 8), True)
    """

    _loader = "load_digits"

    def _values(self, source: Any) -> tuple[np.ndarray, np.ndarray]:
        features, target = super()._values(source)
        return features.reshape(-1, 1, 8, 8) / np.float32(16), target


class Iris(Bundled):
    """150 irises: four lengths in cm, and which of three species. Source: Fisher 1936."""

    _loader = "load_iris"


class Wine(Bundled):
    """178 wines: 13 chemical measurements, and which of three growers. Source: UCI, wine recognition."""

    _loader = "load_wine"


class BreastCancer(Bundled):
    """569 tumours: 30 measurements of cell nuclei, and 0 for malignant or 1 for benign. Source: UCI, Wisconsin diagnostic."""

    _loader = "load_breast_cancer"


class Diabetes(Bundled):
    """442 patients: 10 measurements, and how far the disease went in a year, a float. Source: Efron and others 2004."""

    _loader = "load_diabetes"

    def _values(self, source: Any) -> tuple[np.ndarray, np.ndarray]:
        return np.array(source["data"], np.float32), np.array(source["target"], np.float32)


def _loaded(loader: str) -> Any:
    try:
        from sklearn import datasets
    except ImportError:
        raise ModuleNotFoundError(
            "this data set comes with scikit-learn, which is not installed: pip install scikit-learn", name="sklearn"
        ) from None
    return getattr(datasets, loader)()
