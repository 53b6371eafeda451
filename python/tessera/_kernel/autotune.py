"""@tessera.autotune: which of several choices is fastest, found at the first call of each key and kept.

Candidates compile at the same time, each in a process of its own with a time limit. On the CPU they run in turns on copies
of the arrays. A candidate whose result leaves the interpreter's bounds is an error, not a winner. On an emulated GPU they
are ranked by the emulator's prediction, which is said. Without choices, the compiler's search gives them (roller.py).
"""
from __future__ import annotations

import json
import os
import statistics
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Mapping, Sequence

from .. import _compile
from .._diagnostics import Error
from . import roller
from .kernel import Kernel
from .launch import ArrayType, Launch, _as_numpy, grid_of

_OF_THE_KERNEL = ("warps", "schedule")  # fields of a choice that are not Constants
_MOST_STEPS = 50_000_000  # of the interpreter, as a judge


class Tuned:
    """A kernel with choices: called as the kernel is, without the Constants that are chosen. best(…) tells the choice's number,
    choice(…) the choice."""

    def __init__(self, kernel: Kernel, choices: Sequence[Mapping[str, Any]] | None, key: Sequence[str], seconds: float,
                 limit: float) -> None:
        self.kernel, self.key, self.seconds, self.limit = kernel, tuple(key), seconds, limit
        self.choices = None if choices is None else [dict(choice) for choice in choices]
        self.name, self.__doc__ = kernel.name, kernel.__doc__
        names = {parameter.name for parameter in kernel.parameters}
        for choice in self.choices or ():
            for name in choice:
                if name not in names and name not in _OF_THE_KERNEL:
                    raise TypeError(f"{self.name} has no parameter '{name}', which a choice names")
        if self.choices is not None and not self.choices:
            raise TypeError(f"{self.name}: no choices, expected at least one, or None for the compiler's list")
        self._sizes = {size: (i, axis) for i, parameter in enumerate(kernel.parameters) if isinstance(parameter.kind, ArrayType)
                       for axis, size in enumerate(parameter.kind.sizes) if isinstance(size, str)}
        for name in self.key:
            if name not in names and name not in self._sizes:
                raise TypeError(f"{self.name} has neither a parameter nor a size '{name}', which the key names")
        self._kernels: dict[Any, Kernel] = {}
        self._found: dict[Any, tuple[int, dict[str, Any]]] = {}

    def __getitem__(self, grid: Any) -> Launch:
        return Launch(self, grid)  # type: ignore[arg-type]

    # --- one choice ---

    def _of(self, choice: Mapping[str, Any]) -> tuple[Kernel, dict[str, Any]]:
        """The kernel of a choice, and its Constants."""
        attributes = {name: choice[name] for name in _OF_THE_KERNEL if name in choice}
        constants = {name: value for name, value in choice.items() if name not in _OF_THE_KERNEL}
        if not attributes:
            return self.kernel, constants
        key = tuple(sorted(attributes.items()))
        if key not in self._kernels:
            self._kernels[key] = Kernel(self.kernel.source.function, {**self.kernel._attributes, **attributes})
        return self._kernels[key], constants

    def run(self, grid: Any, given: tuple[Any, ...], named: dict[str, Any], target: str, stream: Any = None) -> Any:
        kernel, constants = self._of(self._find(grid, given, named, target)[1])
        return kernel.run(grid, given, {**named, **constants}, target, stream)

    def best(self, grid: Any, given: tuple[Any, ...], named: dict[str, Any], target: str = "cpu") -> int:
        """The number of the choice for such a call: known, kept on disk, or found now."""
        return self._find(grid, given, named, target)[0]

    def choice(self, grid: Any, given: tuple[Any, ...], named: dict[str, Any], target: str = "cpu") -> dict[str, Any]:
        """As best, the choice itself."""
        return dict(self._find(grid, given, named, target)[1])

    def _find(self, grid: Any, given: tuple[Any, ...], named: dict[str, Any], target: str) -> tuple[int, dict[str, Any]]:
        open_ = roller.names(self.kernel, given, named) if self.choices is None else {name for choice in self.choices for name in choice}
        key = target, self._key(given, named, open_)
        found = self._found.get(key)
        if found is None:
            choices = self.choices
            if choices is None:
                choices = roller.choices(self.kernel, given, named, _chip(target))
            path = self._path(key, choices)
            index = self._kept(path, choices)
            if index is None:
                index = self._measure(choices, grid, given, named, target, path)
            found = self._found[key] = index, choices[index]
        return found

    def _key(self, given: tuple[Any, ...], named: dict[str, Any], chosen: set[str]) -> tuple[Any, ...]:
        values = self.kernel.bind(given, {**named, **{name: 0 for name in chosen if name not in _OF_THE_KERNEL}})
        if not self.key:
            return tuple((str(value.dtype), tuple(value.shape)) if hasattr(value, "shape") else repr(value)
                         for parameter, value in zip(self.kernel.parameters, values) if parameter.name not in chosen)
        found: list[Any] = []
        for name in self.key:
            if name in self._sizes:
                place, axis = self._sizes[name]
                found.append(values[place].shape[axis])
            else:
                value = values[self.kernel._flat[name]]
                found.append((str(value.dtype), tuple(value.shape)) if hasattr(value, "shape") else repr(value))
        return tuple(found)

    # --- on disk ---

    def _path(self, key: Any, choices: Sequence[Mapping[str, Any]]) -> Any:
        folder = _compile._folder()
        if folder is None:
            return None
        import ast
        parts = [ast.dump(self.kernel.source.node), repr(choices), repr(key)]
        digest = _compile._key("\0".join(parts).encode(), None, None, [])
        return folder.parent / "tuning" / f"{self.name}-{digest[:24]}.json"

    @staticmethod
    def _kept(path: Any, choices: Sequence[Mapping[str, Any]]) -> int | None:
        try:
            best = json.loads(path.read_text(encoding="utf-8"))["best"] if path else None
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return best if isinstance(best, int) and 0 <= best < len(choices) else None

    def _keep(self, path: Any, choices: Sequence[Mapping[str, Any]], how: str, target: str, figures: Mapping[int, float],
              best: int) -> None:
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [{"choice": {name: repr(value) for name, value in choice.items()}, how: figures.get(i)} for i, choice in enumerate(choices)]
        scratch = path.with_suffix(f".{os.getpid()}")
        scratch.write_text(json.dumps({"kernel": self.name, "target": target, "best": best, "choices": rows}, indent=1) + "\n", encoding="utf-8")
        os.replace(scratch, path)

    # --- measuring ---

    def _measure(self, choices: Sequence[Mapping[str, Any]], grid: Any, given: tuple[Any, ...], named: dict[str, Any], target: str,
                 path: Any) -> int:
        if target == "interpret" or len(choices) == 1:
            return 0
        calls = [self._call(choice, grid, given, named) for choice in choices]
        if target.startswith("emulate:"):
            warnings.warn(f"{self.name}: choices are ranked by the emulator's prediction for {target.partition(':')[2]}, which is not "
                          "calibrated", stacklevel=6)
            errors = [call.build(target) for call in calls]
            ready = self._ready(calls, errors)
            self._judge(calls, ready)
            figures, how = {i: calls[i].predicted for i in ready}, "predicted_cycles"
        else:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                errors = list(pool.map(lambda call: call.compile(target, self.limit), calls))
            ready = self._ready(calls, errors)
            self._judge(calls, ready)
            figures, how = self._times([(i, calls[i]) for i in ready]), "seconds"
        best = min(figures, key=lambda i: figures[i])
        self._keep(path, choices, how, target, figures, best)
        return best

    def _ready(self, calls: "Sequence[_Candidate]", errors: Sequence[Error | None]) -> list[int]:
        """The choices that compile; the others are told."""
        ready = [i for i, error in enumerate(errors) if error is None]
        if not ready:
            raise next(error for error in errors if error)
        for i, error in enumerate(errors):
            if error:
                warnings.warn(f"{self.name}: choice {calls[i].choice} does not compile: {str(error).splitlines()[0]}", stacklevel=7)
        return ready

    def _call(self, choice: Mapping[str, Any], grid: Any, given: tuple[Any, ...], named: dict[str, Any]) -> "_Candidate":
        kernel, constants = self._of(choice)
        return _Candidate(kernel, grid, kernel.bind(given, {**named, **constants}), choice)

    def _judge(self, candidates: "Sequence[_Candidate]", ready: Sequence[int]) -> None:
        """Each candidate's arrays lie within twice the interpreter's bounds, since its rounding may differ from theirs."""
        from .._execution import _judge
        try:
            wanted = candidates[0].interpret()
        except Error as error:
            if "steps" not in str(error):
                raise
            warnings.warn(f"{self.name}: too large for the interpreter; choices are compared with the first one only", stacklevel=7)
            wanted = None
        base: Any = None
        for call in (candidates[i] for i in ready):
            try:
                arrays = call.once()
            except Error as error:
                raise Error(f"{self.name}: choice {call.choice}: {error}") from None
            if wanted is None:
                base = base or arrays
            for at, kind in enumerate(call.kinds):
                if not isinstance(kind, ArrayType) or not call.program.inputs[at].is_memref:
                    continue
                if wanted is None:
                    right = bool(_judge(kind.dtype.name, arrays[at], base[at], None, 1e-3, 1e-3))
                else:
                    right = bool(_judge(kind.dtype.name, arrays[at], wanted.arguments[at], 2 * wanted.argument_bounds[at], None, None))
                if not right:
                    raise Error(f"{self.name}: choice {call.choice} gives a wrong result in '{call.names[at]}'" +
                                ("; expected Constants that only size tiles, or choices" if self.choices is None else ""))

    def _times(self, calls: Sequence[tuple[int, "_Candidate"]]) -> dict[int, float]:
        """In turns, so that what else the machine does is everybody's."""
        times: dict[int, list[float]] = {i: [] for i, _ in calls}
        end = time.perf_counter() + self.seconds * len(calls)
        while time.perf_counter() < end or len(times[calls[0][0]]) < 3:
            for i, call in calls:
                times[i].append(call.time())
        return {i: statistics.median(seen) for i, seen in times.items()}


class _Candidate:
    """One choice's call, on copies of the arrays."""

    def __init__(self, kernel: Kernel, grid: Any, values: list[Any], choice: Mapping[str, Any] | None = None) -> None:
        self.kernel, self.choice = kernel, choice
        self.grid = grid_of(grid, lambda: {parameter.name: value for parameter, value in zip(kernel.parameters, values)})
        self.values = values
        self.names = [kernel.parameters[i].name for i in kernel._values]
        self.kinds = [kind for i, kind in enumerate(kernel.specialize(values)) if i in set(kernel._values)]
        self.compiled: Any = None
        self.program: Any = None  # the compiled one, or on an emulated chip the one that predicts
        self.predicted = 0.0
        self._lent: tuple[Any, ...] | None = None

    def _copies(self) -> tuple[Any, ...]:
        from .._execution import _numpy
        np = _numpy()
        given = (_as_numpy(self.values[i]) for i in self.kernel._values)
        return (*(np.array(value) if hasattr(value, "shape") else value for value in given), *self.grid)

    def compile(self, target: str, limit: float) -> Error | None:
        try:
            self.compiled = self.kernel.find(self.values, target, len(self.grid), limit)
            self.program = self.compiled.program
        except Error as error:
            return error
        return None

    def once(self) -> tuple[Any, ...]:
        arrays = self._copies()
        if self.compiled:
            self.compiled.call(arrays, None)
        else:
            self.predicted = float(self.program(*arrays).statistics["predicted_cycles"])
        return arrays

    def time(self) -> float:
        if self._lent is None:
            self._lent = self._copies()
        start = time.perf_counter()
        self.compiled.call(self._lent, None)
        return time.perf_counter() - start

    def interpret(self) -> Any:
        module = self.kernel._build_module(self.kernel.specialize(self.values), len(self.grid)).module
        return module.compile("interpret", max_steps=_MOST_STEPS)(*self._copies())

    def build(self, target: str) -> Error | None:
        """For an emulated chip, with predictions."""
        from .._execution import Program
        try:
            module = self.kernel._build_module(self.kernel.specialize(self.values), len(self.grid)).module
            self.program = Program(module, target, "main", predict=True)
        except Error as error:
            return error
        return None


def _chip(target: str) -> str | None:
    """The GPU that choices are made for; None: this CPU."""
    if _compile._is_device(target):
        return _compile._chip_of(target)
    return target.partition(":")[2] or None


def autotune(choices: Sequence[Mapping[str, Any]] | None = None, key: Sequence[str] = (), *, seconds: float = 0.2,
             limit: float = 60.0) -> Any:
    """Chooses Constants of a kernel, and the fields `warps` and `schedule`, by what is fastest.

    choices: without them, the tiles that the compiler's own search ranks highest are tried, for the Constants that a call does not
    give and that size tiles. key: the parameters and the names of sizes on which the choice depends; without it, all types, sizes
    and numbers. seconds: to spend on measuring, for each choice. limit: seconds that a choice may take to compile."""

    def make(kernel: Any) -> Tuned:
        if not isinstance(kernel, Kernel):
            raise TypeError("tessera.autotune stands above tessera.kernel")
        return Tuned(kernel, choices, key, seconds, limit)

    return make
