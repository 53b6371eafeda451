"""Programs on numpy arrays: compiled for a target, called, judged, with everything that was counted."""
from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple, Sequence

from ._diagnostics import Capture, Diagnostic, Error
from ._choices import choice_flags
from ._library import CArray, CError, CJudgement, StopCallback, lib, lock

if TYPE_CHECKING:
    import numpy

    from ._ir import Module

# numpy's name of each element type; those with two travel as the second where ml_dtypes is not installed.
_DTYPES = {
    "i1": ("bool",), "i8": ("int8",), "i16": ("int16",), "i32": ("int32",), "i64": ("int64",),
    "ui8": ("uint8",), "ui16": ("uint16",), "ui32": ("uint32",), "ui64": ("uint64",),
    "f16": ("float16",), "f32": ("float32",), "f64": ("float64",),
    "bf16": ("bfloat16", "uint16"), "f8E4M3FN": ("float8_e4m3fn", "uint8"), "f8E5M2": ("float8_e5m2", "uint8"),
    "f8E8M0FNU": ("float8_e8m0fnu", "uint8"),
}  # yapf: disable


def _numpy() -> Any:
    try:
        import numpy
    except ImportError as error:
        raise Error("running programs on arrays needs numpy: pip install numpy") from error
    return numpy


def _dtype(element: str) -> Any:
    """numpy's type of an element type; ml_dtypes' for those that numpy lacks, else the bits."""
    np, names = _numpy(), _DTYPES[element]
    if len(names) == 1:
        return np.dtype(names[0])
    try:
        import ml_dtypes
        return np.dtype(getattr(ml_dtypes, names[0]))
    except (ImportError, AttributeError):
        return np.dtype(names[1])


class ArrayType(NamedTuple):
    """What an entry takes or gives: element as MLIR writes it ("bf16"), sizes (None where dynamic; () is a scalar)."""
    element: str
    shape: tuple[int | None, ...]
    is_memref: bool = False

    @property
    def dtype(self) -> "numpy.dtype[Any]":
        """numpy's type for it; bf16 and f8 are ml_dtypes' or, without that package, unsigned integers with the bits."""
        dtype: "numpy.dtype[Any]" = _dtype(self.element)
        return dtype

    def __str__(self) -> str:
        return "x".join([*("?" if size is None else str(size) for size in self.shape), self.element])


def _type_from(raw: CArray) -> ArrayType:
    sizes = tuple(size if size >= 0 else None for size in raw.sizes[:raw.rank])
    return ArrayType(raw.element.decode(), sizes, raw.isMemref)


def _array_from(raw: CArray) -> "numpy.ndarray[Any, Any]":
    """A copy: what C lent goes with the next call."""
    np = _numpy()
    dtype, shape = _dtype(raw.element.decode()), tuple(raw.sizes[:raw.rank])
    array: "numpy.ndarray[Any, Any]" = np.empty(shape, dtype)
    if array.nbytes:
        ctypes.memmove(array.ctypes.data, raw.data, array.nbytes)
    return array


def _bounds_from(pointer: Any, array: Any) -> Any:
    np = _numpy()
    bounds = np.zeros(array.shape)
    if pointer and bounds.size:
        ctypes.memmove(bounds.ctypes.data, pointer, bounds.nbytes)
    return bounds


def _raw_array(array: Any, element: str) -> CArray:
    """Borrows: `array` must outlive it."""
    sizes = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    return CArray(element.encode(), array.ndim, sizes, array.ctypes.data or None, False)


class Judgement(NamedTuple):
    """One output beside what it should be."""
    right: bool
    wrong: int  #: how many elements are too far off
    at: int  #: the worst one, counted in C order
    max_abs_error: float
    max_rel_error: float

    def __bool__(self) -> bool:
        return self.right


class Result(SimpleNamespace):
    """What one call left. result[i] is results[i].

    results: one array per result of the entry. arguments: every argument after the call (what memrefs hold now).
    statistics: the keys of tile-run's --stats (docs/running-programs.md): times, counts, "kernels", "passes", "manifest".
    bounds, argument_bounds: of target "interpret", how far from each element another right answer may lie; else None.
    """
    results: tuple["numpy.ndarray[Any, Any]", ...]
    arguments: tuple["numpy.ndarray[Any, Any]", ...]
    statistics: Mapping[str, Any]
    bounds: tuple["numpy.ndarray[Any, Any]", ...] | None
    argument_bounds: tuple["numpy.ndarray[Any, Any]", ...] | None
    diagnostics: tuple[Diagnostic, ...]
    types: tuple[ArrayType, ...]  #: of the results
    argument_types: tuple[ArrayType, ...]

    def __getitem__(self, index: int) -> "numpy.ndarray[Any, Any]":
        return self.results[index]

    def __len__(self) -> int:
        return len(self.results)

    def judge(self, expected: "Result", *, rtol: float | None = None, atol: float | None = None) -> list[Judgement]:
        """Compares every output (results, then memref arguments) with another run's, as tile-run's --check-against does.

        By the error bounds of `expected` where it comes from the interpreter and neither tolerance is given; else
        |seen - expected| <= atol + rtol * |expected| (1e-5 and 1e-8 where not given). all(a.judge(b)): they agree.
        """
        by_bounds = expected.bounds is not None and rtol is None and atol is None
        if not by_bounds:
            rtol, atol = 1e-5 if rtol is None else rtol, 1e-8 if atol is None else atol
        pairs = [*zip(self.types, self.results, expected.results, expected.bounds or [None] * len(self.results))]
        pairs += [(kind, seen, wanted, bounds) for kind, seen, wanted, bounds in zip(
            self.argument_types, self.arguments, expected.arguments, expected.argument_bounds or [None] * len(self.arguments))
                  if kind.is_memref]
        if len(self.results) != len(expected.results) or len(self.arguments) != len(expected.arguments):
            raise Error("the two runs are of entries with other arguments or results")
        return [_judge(kind.element, seen, wanted, bounds if by_bounds else None, rtol, atol)
                for kind, seen, wanted, bounds in pairs]


def _judge(element: str, seen: Any, wanted: Any, bounds: Any, rtol: float | None, atol: float | None) -> Judgement:
    raw, error = CJudgement(), CError()
    pointer = bounds.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) if bounds is not None and bounds.size else None
    ours, theirs = _raw_array(seen, element), _raw_array(wanted, element)
    if not lib.tesseraJudge(ctypes.byref(ours), ctypes.byref(theirs), pointer, -1.0 if rtol is None else rtol,
                            -1.0 if atol is None else atol, ctypes.byref(raw), ctypes.byref(error)):
        raise Error(str(error))
    return Judgement(raw.right, raw.wrong, raw.at, raw.maxAbsolute, raw.maxRelative)


def _read_json(text: bytes) -> dict[str, Any]:
    import json  # not needed to look at IR
    return dict(json.loads(text))


class Program:
    """An entry function compiled for a target (Module.compile). Call it on one array per argument.

    inputs, outputs: the types. Arguments may be anything numpy takes: arrays, scalars, nested lists, tensors of other
    packages (by __array__ or DLPack). They are copied, but an array given for a memref argument is written by the call, and
    must therefore be a writable ndarray of the very type.
    """

    def __init__(self, module: "Module", target: str, entry: str, *, pipeline: str | None = None, threads: int | None = None,
                 max_steps: int | None = None, predict: bool = False, **choices: str) -> None:
        flags = [f"--target={target}", f"--entry={entry}"]
        flags += [f"--pass-pipeline={pipeline}"] if pipeline is not None else []
        flags += [f"--threads={threads:d}"] if threads is not None else []
        flags += [f"--max-steps={max_steps:d}"] if max_steps is not None else []
        flags += [*(["--predict"] if predict else []), *choice_flags(choices)]
        self.target, self.entry, error = target, entry, CError()
        texts = (ctypes.c_char_p * len(flags))(*(flag.encode() for flag in flags))
        with lock, Capture(module._shared.raw) as said:
            raw = lib.tesseraProgramCreate(module._raw, module._name.encode(), len(flags), texts, ctypes.byref(error))
        if not raw:
            raise Error(str(error), said.diagnostics)
        module._shared.retain()
        self._raw, self._shared, self._name = raw, module._shared, module._name
        self.diagnostics: tuple[Diagnostic, ...] = said.diagnostics
        self.inputs = tuple(_type_from(lib.tesseraProgramGetArgumentType(raw, i))
                            for i in range(lib.tesseraProgramGetNumArguments(raw)))
        self.outputs = tuple(_type_from(lib.tesseraProgramGetResultType(raw, i))
                             for i in range(lib.tesseraProgramGetNumResults(raw)))
        self.statistics: Mapping[str, Any] = _read_json(lib.tesseraProgramGetPassStatistics(raw))

    def __del__(self) -> None:
        shared = self.__dict__.get("_shared")
        if shared and not lock.was_forked:
            with lock:
                lib.tesseraProgramDestroy(self._raw)
            shared.release()

    def __repr__(self) -> str:
        return f"<Program {self.entry} of {self._name} on {self.target}>"

    def __call__(self, *arrays: Any, seed: int = 0, repeat: int = 1) -> Result:
        """Calls the entry `repeat` times, each from the same arguments; without arrays, on random data from `seed`.

        Raises Error: arrays that do not fit, and whatever the target finds (an assertion, on `interpret` and `emulate` a race,
        an access out of bounds, …).
        """
        given = self._take(arrays) if arrays or not self.inputs else None
        raw, error = self._raw, CError()
        items = (CArray * max(len(given), 1))(
            *(_raw_array(array, kind.element) for array, kind in zip(given, self.inputs))) if given is not None else None
        with lock, Capture(self._shared.raw) as said:
            if not lib.tesseraProgramCall(raw, items, seed, repeat, ctypes.byref(error)):
                raise Error(str(error), said.diagnostics)
            result = self._result(said.diagnostics)
        for kind, array, after in zip(self.inputs, arrays, result.arguments):
            if kind.is_memref:
                array[...] = after.view(array.dtype)
        return result

    def on_stop(self, stop: Callable[[int, Sequence[CArray]], bool]) -> None:
        """On the interpreter: what a tile.print with the attribute `stop` calls, with the attribute's number and the values,
        which live until it returns. False ends the program."""
        self._stop = StopCallback(lambda number, count, values: stop(number, values[:count]))
        lib.tesseraProgramOnStop(self._raw, self._stop)

    def _take(self, arrays: Sequence[Any]) -> list[Any]:
        if len(arrays) != len(self.inputs):
            raise Error(f"'{self.entry}' takes {len(self.inputs)} arguments, {len(arrays)} were given")
        return [_take_argument(array, kind, i) for i, (array, kind) in enumerate(zip(arrays, self.inputs))]

    def _result(self, diagnostics: tuple[Diagnostic, ...]) -> Result:
        raw = self._raw
        results = tuple(_array_from(lib.tesseraProgramGetResult(raw, i)) for i in range(len(self.outputs)))
        arguments = tuple(_array_from(lib.tesseraProgramGetArgument(raw, i)) for i in range(len(self.inputs)))
        bounds = argument_bounds = None
        if self.target == "interpret":
            bounds = tuple(_bounds_from(lib.tesseraProgramGetResultBounds(raw, i), a) for i, a in enumerate(results))
            argument_bounds = tuple(_bounds_from(lib.tesseraProgramGetArgumentBounds(raw, i), a) for i, a in enumerate(arguments))
        statistics = {**_read_json(lib.tesseraProgramGetStatistics(raw)), **self.statistics}
        return Result(results=results, arguments=arguments, statistics=statistics, bounds=bounds, argument_bounds=argument_bounds,
                      diagnostics=diagnostics, types=self.outputs, argument_types=self.inputs)


def _take_argument(array: Any, kind: ArrayType, index: int) -> Any:
    """`array` in C order and of the argument's type: scalars and lists become it, arrays must be of it."""
    np, wanted = _numpy(), kind.dtype
    if kind.is_memref:
        if not isinstance(array, np.ndarray) or not array.flags.writeable or not _same(array.dtype, kind):
            raise Error(f"argument {index}: the program writes it (memref): expected a writable numpy array of {wanted}, got "
                        f"{_describe(array)}")
    elif not isinstance(array, np.ndarray):
        if hasattr(array, "__dlpack__") and not hasattr(array, "__array__"):
            array = np.from_dlpack(array)
        elif hasattr(array, "dtype") or hasattr(array, "__array__"):
            array = np.asarray(array)
        else:
            array = _from_numbers(array, wanted, index)
    if not _same(array.dtype, kind):
        raise Error(f"argument {index}: is {_describe(array)}, expected {kind} ({wanted})")
    if array.ndim != len(kind.shape) or any(s not in (None, size) for s, size in zip(kind.shape, array.shape)):
        raise Error(f"argument {index}: is {_describe(array)}, expected {kind}")
    return np.asarray(array, order="C")


def _same(dtype: Any, kind: ArrayType) -> bool:
    """The type itself, or the bits of one that numpy lacks."""
    return bool(dtype == kind.dtype or dtype == _numpy().dtype(_DTYPES[kind.element][-1]))


def _describe(array: Any) -> str:
    shape = getattr(array, "shape", None)
    return f"{'x'.join(map(str, shape))}{'x' if shape else ''}{array.dtype}" if shape is not None else type(array).__name__


def _from_numbers(value: Any, wanted: Any, index: int) -> Any:
    """A Python number or nested list, refused where the type cannot hold it."""
    np = _numpy()
    try:
        array = np.array(value, dtype=wanted)
        as_is = np.array(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise Error(f"argument {index}: {error}") from error
    if as_is.dtype.kind not in "iubf" or (wanted.kind in "iub" and not (as_is.dtype.kind in "iub" and (array == as_is).all())):
        raise Error(f"argument {index}: {value!r} is not of type {wanted}")
    return array
