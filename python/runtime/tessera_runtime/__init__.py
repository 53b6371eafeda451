"""Calls programs that Tessera compiled ahead of time. Needs no compiler, no MLIR and no LLVM.

    import numpy, tessera_runtime

    softmax = tessera_runtime.load("softmax.so")      # tile-translate --tile-to-program softmax.mlir -o softmax.so
    y = softmax(x)                                    # an array of the library that x is of
    softmax(x, out=y)                                 # into memory of the caller

Arrays are lent without a copy: numpy's, PyTorch's, JAX's, and of whatever has __dlpack__, __array_interface__ or a buffer.
They must be in C order. A call releases the GIL; nothing of the caller's is held after it.

A program with kernels for GPUs runs on one. It takes arrays of the host, which are copied, and arrays on that device
(PyTorch's, CuPy's, JAX's), which are not: such calls are asynchronous, on the caller's stream.
"""
from __future__ import annotations

import os
from typing import Any, Callable, NamedTuple

from . import _runtime
from ._runtime import Error

__version__ = "0.1.0"
__all__ = ["ArrayType", "Error", "Program", "chip", "load", "set_threads"]


class ArrayType(NamedTuple):
    """What an entry takes or gives: element as MLIR writes it ("bf16"), sizes (None where dynamic; () is a scalar)."""
    element: str
    shape: tuple[int | None, ...]
    is_memref: bool = False  #: an argument that the program may write

    def __str__(self) -> str:
        return "x".join([*("?" if size is None else str(size) for size in self.shape), self.element])


# --- results as arrays of the caller's library ---------------------------------------------------------------------

# Elements that numpy lacks arrive as their bits, and are shown by ml_dtypes' types where that package is installed.
_ML_DTYPES = {
    "bf16": "bfloat16", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2", "f8E8M0FNU": "float8_e8m0fnu"
}  # yapf: disable


def _numpy_converter() -> Callable[[Any], Any]:
    try:
        import numpy
    except ImportError:
        return lambda memory: memory  # it has DLPack's methods itself
    views: dict[str, Any] = {}
    try:
        import ml_dtypes
        views = {element: getattr(ml_dtypes, name) for element, name in _ML_DTYPES.items() if hasattr(ml_dtypes, name)}
    except ImportError:
        pass

    def convert(memory: Any) -> Any:
        array = numpy.asarray(memory)
        return array.view(views[memory.element]) if memory.element in views else array

    return convert


def _torch_converter() -> Callable[[Any], Any]:
    import torch  # type: ignore[import-not-found,unused-ignore]
    from torch.utils.dlpack import from_dlpack

    def convert(memory: Any) -> Any:
        if memory.element.startswith("f8"):  # which PyTorch takes as bits only
            return from_dlpack(memory.__dlpack__(stream=-1, bits=True)).view(getattr(torch, _ML_DTYPES[memory.element]))
        return from_dlpack(memory.__dlpack__(stream=-1))  # the stream is PyTorch's own

    return convert


def _jax_converter() -> Callable[[Any], Any]:
    from jax.dlpack import from_dlpack
    return lambda memory: from_dlpack(memory)


def _cupy_converter() -> Callable[[Any], Any]:
    from cupy import from_dlpack
    return lambda memory: from_dlpack(memory)


_CONVERTERS = {
    "torch": _torch_converter, "jax": _jax_converter, "jaxlib": _jax_converter, "cupy": _cupy_converter
}  # yapf: disable
_converters: dict[type, Callable[[Any], Any]] = {}  # by the type of the first argument


def _converter_for(arrays: tuple[Any, ...]) -> Callable[[Any], Any]:
    kind = type(arrays[0]) if arrays else type(None)
    convert = _converters.get(kind)
    if convert is None:
        convert = _converters[kind] = _CONVERTERS.get(kind.__module__.partition(".")[0], _numpy_converter)()
    return convert


# --- streams of GPUs -------------------------------------------------------------------------------------------------

_DEFAULT_STREAM = 1  # the device's default stream, as DLPack numbers it


def _handle(stream: Any) -> int:
    """Of an integer, of a stream of PyTorch or CuPy, or of what has __cuda_stream__."""
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            stream = getattr(stream, name)
    if hasattr(stream, "__cuda_stream__"):
        stream = stream.__cuda_stream__()[1]
    if isinstance(stream, bool) or not isinstance(stream, int) or stream < 0:
        raise TypeError(f"stream is a {type(stream).__name__}, expected the handle of a stream, or one of PyTorch or CuPy")
    return stream or _DEFAULT_STREAM


def _stream_for(arrays: tuple[Any, ...]) -> int:
    """PyTorch's current stream, or the default one; 0 where no array lies on a device: the call then waits."""
    for array in arrays:
        if type(array).__module__.partition(".")[0] == "torch":
            if array.is_cuda:
                import torch  # type: ignore[import-not-found,unused-ignore]
                return torch.cuda.current_stream(array.device).cuda_stream or _DEFAULT_STREAM
        elif hasattr(array, "__cuda_array_interface__"):
            return _DEFAULT_STREAM
        elif hasattr(array, "__dlpack_device__") and array.__dlpack_device__()[0] not in (1, 3, 11):  # not the host's
            return _DEFAULT_STREAM
    return 0


# --- programs -------------------------------------------------------------------------------------------------------


class Program:
    """An entry of a compiled program (load). Call it on one array or number per argument.

    inputs, outputs: the types. device: the GPU that it runs on ("cuda:0"), else None. manifest: compiler, target, chip, needs (the least level of x86-64), pipeline,
    fallback_ops. A sparse argument is a matrix of scipy or PyTorch, or its components in order, one array each. Sparse
    results are matrices if an argument was one, else components.
    """
    __slots__ = ("_call", "_raw", "_sparse", "_sparse_results", "device", "inputs", "manifest", "outputs", "path", "entry")

    def __init__(self, path: str, entry: str, device: str | None = None) -> None:
        raw = _runtime.load(path, entry, device)
        self._call, self._raw, self.path, self.entry = raw.call, raw, path, entry
        self.manifest, self.device = raw.manifest, raw.device
        self.inputs = tuple(ArrayType(*type) for type in raw.inputs)
        self.outputs = tuple(ArrayType(*type) for type in raw.outputs)
        self._sparse, self._sparse_results = raw.sparse_inputs, raw.sparse_outputs

    def __repr__(self) -> str:
        return f"<Program {self.entry} of {self.path}>"

    def __call__(self, *arrays: Any, out: Any = None, stream: Any = None) -> Any:
        """The result, a tuple of several, or None where there is none.

        out: an array, or a tuple of them, that the results are written to; it is what the call then returns. A memref
        argument is written in place.

        stream: of a program on a GPU, where its work goes: a handle, or a stream of PyTorch or CuPy. By default
        PyTorch's current stream, or the device's default one, if an array lies on the device. The call returns before
        the work is done unless the caller gets arrays of the host.

        Raises TypeError and ValueError, before anything runs, for what does not fit: the number of arguments, a type of
        elements, a size, an order, a device, read-only memory to be written, memory to be written that overlaps another
        array's. Raises Error when the program fails: an assertion, no memory, an output of the wrong dynamic size.
        """
        if self.device is not None:
            handle = _stream_for(arrays) if stream is None else _handle(stream)
        elif stream is not None:
            raise TypeError("stream: the program runs on the CPU")
        else:
            handle = 0
        library = None
        if self._sparse:
            arrays, library = self._expand(arrays)
        if out is not None:
            self._call(arrays, out if type(out) is tuple else (out, ), handle)
            return out
        results = self._call(arrays, None, handle)
        convert = _CONVERTERS.get(library, _numpy_converter)() if library else _converter_for(arrays)
        if len(results) == 1:
            result = results[0]
            return convert(result) if type(result) is _runtime.Memory else result
        results = tuple(convert(one) if type(one) is _runtime.Memory else one for one in results)
        results = self._collect(results, library) if library and results else results
        return results if type(results) is not tuple else results or None

    def _expand(self, arrays: tuple[Any, ...]) -> tuple[tuple[Any, ...], str | None]:
        from ._sparse import Sparse, expand
        return expand(arrays, [Sparse(*one) for one in self._sparse], self.inputs)

    def _collect(self, results: tuple[Any, ...], library: str) -> Any:
        from ._sparse import Sparse, collect
        found = collect(results, [Sparse(*one) for one in self._sparse_results], library)
        return found[0] if len(found) == 1 else found


def load(path: str | os.PathLike[str], entry: str = "main", device: str | None = None) -> Program:
    """Loads a program that tile-translate --tile-to-program made.

    device: of a program with code for GPUs, "cuda" or "rocm", with ":1" for the second of them. By default the first
    GPU that the program has code for.

    Raises Error: a file that is no whole program, one of another version, one for a better CPU, an entry that it lacks.
    A program is code: load only files that you trust.
    """
    return Program(os.fspath(path), entry, device)


def chip(device: str = "cuda") -> str:
    """What the GPU is: "sm_90" or "gfx942". Raises Error where there is none."""
    return _runtime.chip(device)


def set_threads(count: int) -> None:
    """How many threads the programs of this process use, the caller's included; 0: as many as the process may use."""
    _runtime.set_threads(count)
