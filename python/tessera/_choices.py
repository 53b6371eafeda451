"""What may be chosen of a target's own pipeline: keywords that are flags of the tools (lib/support/choices.def)."""
from __future__ import annotations

import itertools

from ._library import lib


def choice_flags(choices: dict[str, str]) -> list[str]:
    """["--sparsity=off"] of {"sparsity": "off"}. Raises TypeError for a keyword that is no choice, or no text."""
    names = [name.decode() for name in itertools.takewhile(bool, map(lib.tessera_choice_name, itertools.count()))]
    for name, value in choices.items():
        if name not in names:
            raise TypeError(f"unexpected keyword argument {name!r}; choices of a pipeline are {', '.join(names)}")
        if not isinstance(value, str):
            raise TypeError(f"{name}: expected str, got {type(value).__name__}")
    return [f"--{name}={value}" for name, value in choices.items()]
