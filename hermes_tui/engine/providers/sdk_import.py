"""Import an SDK's client class without the hundreds of type modules that its package pulls in.

``import openai`` builds some 400 pydantic models, ``import anthropic`` some 2,600; we stream raw bytes and use none of
them. The type and helper packages are entered unexecuted: their submodules import as usual, and a name asked of the
package itself comes from the submodule that the package's own ``__init__`` names, or from running that ``__init__``
after all. So other users of the SDK in this process find everything where it always is. If this does not work with
some release, the plain import is used.
"""

from __future__ import annotations

import re
import sys
import threading
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

_CLIENTS = {"openai": "OpenAI", "anthropic": "Anthropic"}

_lock = threading.RLock()


def client_class(sdk: str) -> Any:
    """Return ``openai.OpenAI`` or ``anthropic.Anthropic``. Blocks for the import; any thread."""
    with _lock:
        if sdk not in sys.modules:
            try:
                _defer_packages(sdk)
                return getattr(import_module(f"{sdk}._client"), _CLIENTS[sdk])
            except (ImportError, AttributeError, TypeError):
                for name in [name for name in sys.modules if name == sdk or name.startswith(f"{sdk}.")]:
                    del sys.modules[name]
        return getattr(import_module(sdk), _CLIENTS[sdk])


class _DeferredPackage(ModuleType):
    """A package whose ``__init__`` runs only when something needs more than its submodules."""

    _exports: dict[str, str] | None = None

    def __getattr__(self, name: str) -> Any:
        # `from package import *` asks for __all__ first; other dunders must not run anything.
        if name.startswith("__") and name not in ("__all__", "__version__"):
            raise AttributeError(name)
        spec: ModuleSpec = self.__dict__["__spec__"]
        folder = Path(spec.origin or "").parent
        with _lock:
            if name in self.__dict__:
                return self.__dict__[name]
            if (folder / name).is_dir() or (folder / f"{name}.py").is_file():
                return import_module(f"{spec.name}.{name}")
            if self._exports is None:
                self._exports = _exported_names(folder / "__init__.py")
            owner = self._exports.get(name, "")
            # The SDK's own top modules may need the executed package: take from them only what is loaded.
            if owner and ("." in spec.name or spec.name + owner in sys.modules):
                return getattr(import_module(owner, spec.name), name)
            self.__class__ = ModuleType  # type: ignore[assignment]
            assert spec.loader is not None
            spec.loader.exec_module(self)
            return getattr(self, name)


def _defer_packages(sdk: str) -> None:
    top = find_spec(sdk)
    if top is None or not top.submodule_search_locations:
        raise ImportError(sdk)
    root = Path(top.submodule_search_locations[0])
    inits = [root / "__init__.py", *root.glob("types/**/__init__.py"), *root.glob("lib/**/__init__.py")]
    for init in sorted(inits, key=lambda init: len(init.parts)):
        name = ".".join((sdk, *init.parent.relative_to(root).parts))
        spec = spec_from_file_location(name, init, submodule_search_locations=[str(init.parent)])
        if spec is None:
            raise ImportError(name)
        module = module_from_spec(spec)
        module.__class__ = _DeferredPackage
        sys.modules[name] = module
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, module)


def _exported_names(init: Path) -> dict[str, str]:
    """Return name -> relative submodule for the plain ``from .x import y as y`` lines of a package."""
    owners: dict[str, str] = {}
    statement = r"^from (\.[\w.]+) import (?:\(([^)]*)\)|([^\n(]*))"
    for found in re.finditer(statement, init.read_text("utf-8"), re.M):
        for item in (found[2] or found[3] or "").split(","):
            words = item.split("#")[0].split()
            if words and words[0] == words[-1]:
                owners[words[0]] = found[1]
    return owners
