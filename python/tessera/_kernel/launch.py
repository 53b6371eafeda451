"""Calls of kernels: `kernel[grid](*arrays, target=…, **constants)`, whatever the kernel was written in.

A front end makes a `Launcher` of its parameters and of a function that builds the module of one specialization. Compiled
programs are kept by what they depend on; a call of one that is there costs a few microseconds.
"""
from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterator, NamedTuple, Sequence

from .. import _compile
from .._diagnostics import Error
from .._ir import Module
from .builder import Access, DType
from .errors import CompileError, Where, excerpt, from_text
from .source import EXACT, exact, plain

if TYPE_CHECKING:
    from .breakpoints import Breakpoints


class Array:
    """The annotation of a parameter that is an array: tessera.Array[tessera.f32, "M", 1000]. A size is a name (one name is one
    size, checked at each call), a number, or None for any."""
    dtype: DType
    sizes: tuple[int | str | None, ...]

    def __class_getitem__(cls, items: Any) -> "ArrayType":
        dtype, *sizes = items if isinstance(items, tuple) else (items, )
        if not isinstance(dtype, DType):
            raise TypeError(f"tessera.Array[{dtype!r}, …]: expected a type of elements first, such as tessera.f32")
        for size in sizes:
            if not (size is None or isinstance(size, str) or isinstance(size, int) and not isinstance(size, bool) and size >= 0):
                raise TypeError(f"tessera.Array[…, {size!r}]: a size is a name, a number or None")
        return ArrayType(dtype, tuple(sizes))


class ArrayType(NamedTuple):
    dtype: DType
    sizes: tuple[int | str | None, ...]

    @property
    def memref(self) -> str:
        sizes = "x".join("?" if not isinstance(size, int) else str(size) for size in self.sizes)
        return f"{sizes}{'x' if sizes else ''}{self.dtype.name}"


class Sparse:
    """The annotation of a parameter that is a sparse matrix: tessera.Sparse[tessera.f32, "csr", "M", "N"]. A call gives a matrix of
    scipy or PyTorch; in the kernel, a.positions, a.coordinates and a.values are its arrays, and a.shape its sizes. Formats:
    "csr", "csc", "coo" (coordinates: 2 x entries), and "bsr" with a block after the sizes: [f32, "bsr", "M", "N", 4, 8]."""

    def __class_getitem__(cls, items: Any) -> "SparseType":
        dtype, form, *sizes = items if isinstance(items, tuple) and len(items) > 1 else (None, None)
        if not isinstance(dtype, DType) or form not in ("csr", "csc", "coo", "bsr") or len(sizes) != (4 if form == "bsr" else 2):
            raise TypeError('expected tessera.Sparse[TYPE, FORMAT, ROWS, COLUMNS], a format "csr", "csc", "coo" or "bsr", and of bsr '
                            "the sizes of a block behind")
        Array.__class_getitem__((dtype, *sizes[:2]))  # checks the sizes
        if any(not isinstance(size, int) or isinstance(size, bool) or size < 1 for size in sizes[2:]):
            raise TypeError(f"a block has the sizes {sizes[2:]}, expected integers of 1 or more")
        return SparseType(dtype, form, tuple(sizes[:2]), (sizes[2], sizes[3]) if sizes[2:] else ())


class SparseType(NamedTuple):
    dtype: DType
    form: str
    sizes: tuple[int | str | None, ...]
    block: tuple[int, int] | tuple[()]

    def parts(self, name: str) -> list[tuple[str, Any]]:
        """The arrays and numbers that stand for the matrix: their names and kinds."""
        from .builder import i32, index
        entries = f"{name}.entries"
        coordinates = ArrayType(i32, (2, entries) if self.form == "coo" else (entries, ))
        arrays = [(f"{name}.coordinates", coordinates), (f"{name}.values", ArrayType(self.dtype, (entries, *self.block)))]
        positions = [] if self.form == "coo" else [(f"{name}.positions", ArrayType(i32, (None, )))]
        return [*positions, *arrays, (f"{name}.shape[0]", index), (f"{name}.shape[1]", index)]

    def expand(self, name: str, matrix: Any) -> tuple[Any, ...]:
        """What parts() says, of a matrix of scipy or PyTorch."""
        _compile._runtime()
        from tessera_runtime import _sparse
        if _sparse.library_of(matrix) is None:
            raise TypeError(f"'{name}' is a {type(matrix).__name__}, expected a sparse matrix of scipy or PyTorch")
        sizes = tuple(size if isinstance(size, int) else -1 for size in self.sizes)
        kind = _sparse.Sparse(0, self.form, 2 if self.form == "coo" else 3, sizes, self.block or (1, 1), False)
        parts, shape = _sparse.components(f"'{name}'", matrix, kind, ["i32"] * (kind.num_components - 1))
        return *parts, *shape


class Constant:
    """The annotation of a parameter that is known when the kernel is compiled: a number, a text, a type, a tuple of them."""


class Parameter(NamedTuple):
    """kind: an ArrayType, a SparseType, a DType (a scalar), Constant, or None: as the argument is."""
    name: str
    kind: Any
    default: Any
    where: Where | None = None


NO_DEFAULT = object()
_MOST_KEYS, _MOST_VERSIONS = 256, 16  # that a kernel keeps: for other constants, and for other values of what it reads


def _flattened(parameter: Parameter) -> list[Parameter]:
    if not isinstance(parameter.kind, SparseType):
        return [parameter]
    return [Parameter(name, kind, NO_DEFAULT, parameter.where) for name, kind in parameter.kind.parts(parameter.name)]


_ELEMENTS = {"bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "float16": "f16", "bfloat16": "bf16",
             "float32": "f32", "float64": "f64", "float8_e4m3fn": "f8E4M3FN", "float8_e5m2": "f8E5M2",
             "float8_e8m0fnu": "f8E8M0FNU"}  # yapf: disable


class Built(NamedTuple):
    """What a front end builds: a module whose entry `main` takes the arrays and scalars in order, then the grid's sizes. Arrays
    that are only read are tensors, the others memrefs. `holds`: whether what was read of the world is as it was."""
    module: Module
    written: tuple[bool, ...]
    holds: Callable[[], bool]
    breakpoints: "Breakpoints | None" = None
    accesses: Sequence[Access] = ()


class _Compiled(NamedTuple):
    holds: Callable[[], bool]
    call: Callable[[tuple[Any, ...], None], Any]  # on the arguments and the grid's sizes
    program: Any
    module: Module


class Launch:
    """kernel[grid]: call it on the kernel's arguments."""
    __slots__ = ("_launcher", "_grid")

    def __init__(self, launcher: "Launcher", grid: Any) -> None:
        self._launcher, self._grid = launcher, grid

    def __call__(self, *given: Any, target: str = "cpu", stream: Any = None, **named: Any) -> Any:
        """Runs the kernel over the grid. On "cpu", "cuda" and "rocm" gives None; on "interpret" and "emulate:CHIP" a
        tessera.Result with counts. stream: of a GPU, where its work goes, as in tessera_runtime.Program.

        Raises CompileError for what is wrong with the kernel, Error for what the target finds, TypeError and ValueError for
        arguments that do not fit."""
        return self._launcher.run(self._grid, given, named, target, stream)


_here = threading.local()


@contextlib.contextmanager
def no_launches() -> Iterator[None]:
    """In this thread launches do nothing: to learn the shapes of a function that allocates and launches."""
    before, _here.is_quiet = getattr(_here, "is_quiet", False), True
    try:
        yield
    finally:
        _here.is_quiet = before


def grid_of(grid: Any, named: Callable[[], dict[str, Any]]) -> tuple[int, ...]:
    if callable(grid):
        grid = grid(named())
    sizes = grid if type(grid) is tuple else tuple(grid) if isinstance(grid, list) else (grid, )
    if not 1 <= len(sizes) <= 3:
        raise ValueError(f"the grid has {len(sizes)} axes, expected 1 to 3")
    for size in sizes:
        if type(size) is not int and not hasattr(size, "__index__") or isinstance(size, bool):
            raise TypeError(f"the grid has the size {size!r}, expected an integer")
        if size < 0:
            raise ValueError(f"the grid has the size {size}, expected 0 or more")
    return sizes


class Launcher:
    """The calls of one kernel. `build(key, grid_rank, stops)`: key has for each parameter an ArrayType, a DType, or (value, ) of
    a constant; stops: breakpoints count."""

    def __init__(self, name: str, parameters: Sequence[Parameter], build: Callable[[tuple[Any, ...], int, bool], Built]) -> None:
        self.name, self.given, self._build = name, tuple(parameters), build
        self.parameters = tuple(flat for parameter in parameters for flat in _flattened(parameter))
        self._is_flat = len(self.parameters) == len(self.given)
        self._compiled: dict[Any, list[_Compiled]] = {}
        self._names = {parameter.name: i for i, parameter in enumerate(parameters)}
        self._flat = {parameter.name: i for i, parameter in enumerate(self.parameters)}
        self._defaults = [parameter.default for parameter in parameters]
        self._constants = [i for i, parameter in enumerate(self.parameters) if parameter.kind is Constant]
        self._open = [i for i, parameter in enumerate(self.parameters) if parameter.kind is None]
        self._values = [i for i, parameter in enumerate(self.parameters) if parameter.kind is not Constant]
        self._sizes = self._shared_sizes()

    def _shared_sizes(self) -> list[tuple[str, list[tuple[int, int]]]]:
        """Names of sizes that stand more than once, and where."""
        places: dict[str, list[tuple[int, int]]] = {}
        for i, parameter in enumerate(self.given):
            if isinstance(parameter.kind, (ArrayType, SparseType)):
                for axis, size in enumerate(parameter.kind.sizes):
                    if isinstance(size, str):
                        places.setdefault(size, []).append((i, axis))
        return [(name, found) for name, found in places.items() if len(found) > 1]

    def __getitem__(self, grid: Any) -> Launch:
        return Launch(self, grid)

    # --- arguments ---

    def bind(self, given: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        """The value of each of `parameters`. Names of sizes are checked."""
        values = [*given, *self._defaults[len(given):]]
        if len(given) > len(self._defaults):
            raise TypeError(f"{self.name} takes {len(self.given)} arguments, {len(given)} are given")
        for name, value in named.items():
            place = self._names.get(name)
            if place is None:
                raise TypeError(f"{self.name} has no parameter '{name}'")
            if place < len(given):
                raise TypeError(f"{self.name}: '{name}' is given twice")
            values[place] = value
        for i, value in enumerate(values):
            if value is NO_DEFAULT:
                raise TypeError(f"{self.name} needs its argument '{self.given[i].name}'")
        if self._sizes:
            self._check_sizes(values)
        if not self._is_flat:
            values = [flat for parameter, value in zip(self.given, values)
                      for flat in (parameter.kind.expand(parameter.name, value) if isinstance(parameter.kind, SparseType) else (value, ))]
        for i in self._constants:
            if values[i].__class__ not in EXACT:
                values[i] = plain(values[i])
        return values

    def _check_sizes(self, values: Sequence[Any]) -> None:
        for name, places in self._sizes:
            first, axis = places[0]
            try:
                wanted = self._shape(values, first)[axis]
                for place, other in places[1:]:
                    seen = self._shape(values, place)[other]
                    if seen != wanted:
                        raise ValueError(f"{self.name}: the size '{name}' is {wanted} in '{self.given[first].name}' (axis {axis}) and "
                                         f"{seen} in '{self.given[place].name}' (axis {other})")
            except IndexError:
                continue  # of another rank: the program says so

    def _shape(self, values: Sequence[Any], i: int) -> Sequence[int]:
        try:
            return values[i].shape  # type: ignore[no-any-return]
        except AttributeError:
            pass
        for name in ("__cuda_array_interface__", "__array_interface__"):
            interface = getattr(values[i], name, None)
            if isinstance(interface, dict):
                return interface["shape"]  # type: ignore[no-any-return]
        try:
            return memoryview(values[i]).shape or ()
        except TypeError:
            raise TypeError(f"{self.name}: '{self.given[i].name}' is a {type(values[i]).__name__} without a shape, expected an "
                            "array") from None

    def _kind(self, i: int, value: Any) -> Any:
        """Of a parameter without annotation: what its argument is."""
        from .builder import DTYPES, bool_, f32, index
        if isinstance(value, (bool, int, float)):
            return bool_ if isinstance(value, bool) else index if isinstance(value, int) else f32
        dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
        if dtype is None or shape is None:
            raise TypeError(f"{self.name}: '{self.parameters[i].name}' is a {type(value).__name__}, expected an array or a number")
        element = _ELEMENTS.get(str(dtype).rpartition(".")[2])
        if element is None:
            raise TypeError(f"{self.name}: '{self.parameters[i].name}' has elements of type {dtype}, which kernels do not have")
        return ArrayType(DTYPES[element], (None, ) * len(shape))

    def _key(self, values: Sequence[Any], target: str, rank: int) -> Any:
        constants = [values[i] for i in self._constants]
        key: tuple[Any, ...] = tuple([(value.__class__, value) if value.__class__ in EXACT else exact(value) for value in constants])
        if self._open:
            key += tuple([self._kind(i, values[i]) for i in self._open])
        return key, target, rank

    def specialize(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """For each parameter what build takes."""
        kinds: list[Any] = []
        for i, (parameter, value) in enumerate(zip(self.parameters, values)):
            kinds.append((value, ) if parameter.kind is Constant else self._kind(i, value) if parameter.kind is None else parameter.kind)
        return tuple(kinds)

    # --- programs ---

    def find(self, values: Sequence[Any], target: str, rank: int, limit: float | None = None) -> _Compiled:
        key = self._key(values, target, rank)
        try:
            known = self._compiled.get(key)
        except TypeError:
            bad = next(i for i in self._constants if not _hashes(values[i]))
            raise TypeError(f"{self.name}: the constant '{self.parameters[bad].name}' is a {type(values[bad]).__name__}, expected a "
                            "number, a text, a type or a tuple of them") from None
        for one in known or ():
            if one.holds():
                return one
        built = self._build(self.specialize(values), rank, target == "interpret")
        made = self._compile(built, target, limit)
        self._keep(key, made)
        return made

    def _keep(self, key: Any, made: _Compiled) -> None:
        """The oldest go where there are too many, of one key or in all."""
        known = self._compiled.setdefault(key, [])
        known.insert(0, made)
        del known[_MOST_VERSIONS:]
        while len(self._compiled) > _MOST_KEYS:
            self._compiled.pop(list(self._compiled)[0], None)  # list: in one step, beside other threads

    @staticmethod
    def _compile(built: Built, target: str, limit: float | None) -> _Compiled:
        try:
            if target == "cpu" or _compile._is_device(target):
                program = _compile.compile(built.module, target=target, limit=limit)
                return _Compiled(built.holds, program._call, program, built.module)
            program = built.module.compile(target)
        except CompileError:
            raise
        except Error as error:
            located = from_text(str(error))
            raise located or error from None
        if built.breakpoints:
            built.breakpoints.attach(program)
        return _Compiled(built.holds, _Judged(program, built), program, built.module)

    def run(self, grid: Any, given: tuple[Any, ...], named: dict[str, Any], target: str, stream: Any = None) -> Any:
        values = self.bind(given, named)
        if getattr(_here, "is_quiet", False):
            return None
        sizes = grid_of(grid, lambda: {parameter.name: value for parameter, value in zip(self.parameters, values)})
        try:
            found = self.find(values, target, len(sizes))
        except CompileError as error:
            raise error.with_traceback(None) from None  # what is wrong is the kernel, not the compiler's code
        try:
            arguments = (*[values[i] for i in self._values], *sizes)
            on_device = _compile._is_device(target)
            if stream is not None and not on_device:
                raise TypeError(f"stream: the target is '{target}', expected a GPU")
            done = found.program(*arguments, stream=stream) if on_device else found.call(arguments, None)
            return None if done == () else done
        except (TypeError, ValueError) as error:
            raise type(error)(self._named(str(error))) from None
        except Exception as error:
            if not isinstance(error, Error) and not type(error).__module__.startswith("tessera_runtime"):
                raise
            raise Error(self._named(with_lines(str(error)))) from None

    def _named(self, text: str) -> str:
        """The parameters' names for their numbers."""
        import re
        return re.sub(r"\bargument (\d+)\b", lambda match: f"'{self.parameters[self._values[int(match[1])]].name}'"
                      if int(match[1]) < len(self._values) else match[0], text)


def _hashes(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def with_lines(text: str) -> str:
    """Below each "file.py:3:5: …" the line itself, with a caret."""
    import re

    def add(match: "re.Match[str]") -> str:
        return match[0] + excerpt(Where(match[1], int(match[2]), int(match[3])))

    return re.sub(r"^([^\n:]+\.py):(\d+):(\d+): ?[^\n]*$", add, text, flags=re.M)


class _Judged:
    """A program on the interpreter or the emulator, called on arrays that it writes in place."""

    def __init__(self, program: Any, built: Built) -> None:
        self._program, self._written, self._breakpoints = program, built.written, built.breakpoints

    def __call__(self, values: tuple[Any, ...], _: None) -> Any:
        from .._execution import _numpy
        np = _numpy()
        arrays = [_as_numpy(value) for value in values]
        for i, (value, kind) in enumerate(zip(values, self._program.inputs)):
            seen = _ELEMENTS.get(str(getattr(value, "dtype", "")).rpartition(".")[2])
            if arrays[i] is not value and seen is not None and seen != kind.element:  # bits tell no types apart
                raise TypeError(f"argument {i} has elements of type {value.dtype}; the program takes {kind.element}")
        for i, array in enumerate(arrays[:len(self._written)]):
            for j, other in enumerate(arrays):
                if self._written[i] and i != j and isinstance(other, np.ndarray) and isinstance(array, np.ndarray):
                    if np.may_share_memory(array, other):
                        raise ValueError(f"argument {i}, which the program writes, overlaps argument {j}")
        return self._breakpoints.call(self._program, arrays) if self._breakpoints else self._program(*arrays)


def _as_numpy(value: Any) -> Any:
    """PyTorch's tensors and buffers of Python as arrays of the same memory; of types that numpy lacks, their bits."""
    if not hasattr(value, "dtype") and hasattr(value, "__len__") and not isinstance(value, (list, tuple)):
        from .._execution import _numpy
        return _numpy().asarray(value)
    if type(value).__module__.partition(".")[0] != "torch" or not hasattr(value, "numpy"):
        return value
    import torch  # type: ignore[import-not-found,unused-ignore]
    value = value.detach()
    if value.dtype is torch.bfloat16:
        return value.view(torch.int16).numpy().view("uint16")
    return (value.view(torch.uint8) if str(value.dtype).startswith("torch.float8") else value).numpy()
