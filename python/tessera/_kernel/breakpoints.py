"""breakpoint() within kernels: on the interpreter, the first instance that comes to one stops there, and Python's debugger
shows the kernel's names, tiles as arrays of numpy.

A breakpoint is a tile.print with the attribute `stop`, which the interpreter reports instead of printing.
"""
from __future__ import annotations

import ast
from typing import Any, NamedTuple, Sequence

from .._execution import Program, _array_from
from .._library import CArray
from . import _ops, language
from .builder import Builder
from .errors import Where
from .tiles import Array, Tile

INSTANCE = 3  # values in front: the instance's place in the grid


class _Value:
    """Stands for a value of the run."""

    def __init__(self, number: int) -> None:
        self.number = number


class _Place(NamedTuple):
    where: Where
    module: str
    names: dict[str, Any]


class Breakpoints:
    """Those of one kernel."""

    def __init__(self) -> None:
        self._places: list[_Place] = []
        self._stopped: dict[int, tuple[int, ...]] = {}
        self._raised: BaseException | None = None

    # --- while the kernel is built ---

    def add(self, b: Builder, where: Where, module: str, names: dict[str, Any]) -> None:
        values: list[Any] = [language.FUNCTIONS["program_id"](axis) for axis in range(INSTANCE)]

        def kept(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(kept, value))
            if isinstance(value, Tile):
                values.append(value)
                return _Value(len(values) - 1)
            return value

        seen = {name: kept(value) for name, value in names.items() if name.isidentifier() and not isinstance(value, Array)}
        _ops.print_(b, values, message="{}" * len(values), stop=len(self._places))
        self._places.append(_Place(where, module, seen))

    # --- while it runs ---

    def attach(self, program: Program) -> None:
        if self._places:
            program.on_stop(self._stop)

    def call(self, program: Program, arrays: Sequence[Any]) -> Any:
        self._stopped, self._raised = {}, None
        try:
            return program(*arrays)
        except Exception:
            if self._raised is not None:
                raise self._raised from None
            raise

    def _stop(self, number: int, arrays: Sequence[CArray]) -> bool:
        """False ends the run, with what the debugger raised."""
        values = [_array_from(array) if array.element else None for array in arrays]
        instance = tuple(int(value) for value in values[:INSTANCE] if value is not None)
        if self._stopped.setdefault(number, instance) != instance:
            return True
        place = self._places[number]

        def shown(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(shown, value))
            return values[value.number] if isinstance(value, _Value) else value

        # As if the kernel's own line called it: the debugger shows that line and the kernel's names.
        stop = ast.increment_lineno(ast.parse("breakpoint()"), place.where.line - 1)
        try:
            exec(compile(stop, place.where.file, "exec"), {"__name__": place.module}, {name: shown(v) for name, v in place.names.items()})
        except BaseException as error:  # bdb.BdbQuit, KeyboardInterrupt: Python's exceptions do not go through C
            self._raised = error
            return False
        return True

