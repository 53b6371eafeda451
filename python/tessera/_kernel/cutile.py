"""Kernels of cuTile: tessera.from_cutile asks the package cuda-tile for a kernel's bytecode, which the compiler reads."""
from __future__ import annotations

import inspect
import re
from typing import Any, Callable, Mapping

from .._ir import Module, parse
from .builder import DTYPES
from .launch import NO_DEFAULT, ArrayType, Built, Launcher, Parameter, grid_of

_WORDS = {"i1": "bool_", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32",
          "u64": "uint64", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "f8E4M3FN": "float8_e4m3fn",
          "f8E5M2": "float8_e5m2"}  # yapf: disable
_VERSION = "13.4"


def _split(name: str, kind: str) -> tuple[str, int | None]:
    """The element and the rank of a word: "f32[:, :]" is (f32, 2), "i32" is (i32, None)."""
    found = re.fullmatch(r"(\w+)\s*(\[\s*:(?:\s*,\s*:)*\s*\])?", kind)
    if not found or found[1] not in _WORDS:
        raise ValueError(f"from_cutile: '{name}' has the type {kind!r}, expected one of {', '.join(_WORDS)}, and of an array [:] or "
                         "[:, :] behind, a colon for each dimension")
    return found[1], found[2].count(":") if found[2] else None


def _parts(name: str, kind: str) -> list[Parameter]:
    """What cuTile passes for a parameter: of an array its elements, its sizes and its strides, counted in elements."""
    element, rank = _split(name, kind)
    dtype = DTYPES[element.replace("u", "i", 1) if element.startswith("u") else element]
    if rank is None:
        return [Parameter(name, dtype, NO_DEFAULT)]
    numbers = [f"{name}.{what}[{axis}]" for what in ("shape", "stride") for axis in range(rank)]
    return [Parameter(name, ArrayType(dtype, (None, )), NO_DEFAULT), *(Parameter(number, DTYPES["i32"], NO_DEFAULT) for number in numbers)]


def _bytecode(kernel: Any, signature: Mapping[str, str], constants: Mapping[str, Any], names: list[str]) -> bytes:
    import io

    import cuda.tile as ct
    from cuda.tile.compilation import ArrayConstraint, CallingConvention, KernelSignature, ScalarConstraint, export_kernel

    def constraint(name: str) -> Any:
        if name in constants:
            return constants[name]
        element, rank = _split(name, signature[name])
        dtype = getattr(ct, _WORDS[element])
        if rank is None:
            return ScalarConstraint(dtype)
        # A call passes arrays whose rows stand one behind another; nothing else is promised.
        return ArrayConstraint(dtype=dtype, ndim=rank, index_dtype=ct.int32, stride_lower_bound_incl=0,
                               stride_constant=[None] * (rank - 1) + [1], base_addr_divisible_by=1, alias_groups=(),
                               may_alias_internally=False)

    signature_ = KernelSignature([constraint(name) for name in names], CallingConvention.cutile_python_v1(), symbol="kernel")
    file = io.BytesIO()
    export_kernel(kernel, [signature_], file, gpu_code="sm_100", output_format="tileir_bytecode", bytecode_version=_VERSION)
    return file.getvalue()


def _expanded(name: str, value: Any) -> tuple[Any, ...]:
    """An array's elements in order, without a copy, then its sizes and strides."""
    shape = tuple(int(size) for size in value.shape)
    dense = value.is_contiguous() if hasattr(value, "is_contiguous") else value.flags.c_contiguous
    if not dense:
        raise ValueError(f"{name}: an array is not contiguous, expected one whose rows stand one behind another")
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    flat = value if len(shape) == 1 else value.view(-1) if hasattr(value, "is_contiguous") else value.reshape(-1)
    return flat, *shape, *reversed(strides)


class CutileKernel(Launcher):
    """kernel[grid](*arguments, target=…): what from_cutile gives."""

    def __init__(self, kernel: Any, signature: Mapping[str, str], constants: Mapping[str, Any]) -> None:
        function = getattr(kernel, "_pyfunc", kernel)
        names = list(inspect.signature(function).parameters)
        self._own = [name for name in names if name not in constants]
        if missing := [name for name in self._own if name not in signature]:
            raise ValueError(f"from_cutile: the signature lacks {', '.join(missing)}")
        if unknown := [name for name in [*signature, *constants] if name not in names]:
            raise ValueError(f"from_cutile: the kernel has no parameter {', '.join(unknown)}")
        self._ranks = {name: _split(name, signature[name])[1] for name in self._own}
        self._source = kernel, {name: signature[name] for name in self._own}, dict(constants), names
        self._module: Built | None = None
        super().__init__(function.__name__, [part for name in self._own for part in _parts(name, signature[name])],
                         lambda key, rank, stops: self._built())

    @property
    def bytecode(self) -> bytes:
        """What cuTile makes of the kernel, in version 13.4."""
        return _bytecode(*self._source)

    def module(self) -> Module:
        """The kernel in Tessera's IR, with its launcher as `main`."""
        return self._built().module

    def _built(self) -> Built:
        if self._module is None:
            module = parse(self.bytecode, name=f"{self.name}.tileirbc")
            module.run_passes("convert-cuda-tile-to-tt,canonicalize,cse,convert-tt-to-tile,canonicalize,cse")
            text = re.sub(r"(func\.func @)launch_kernel\(", r"\1main(", module.text(locations=True))
            outputs = re.search(r"tile\.launch .*? outs\(([^:]*):", text)
            written = set(re.findall(r"%arg(\d+)", outputs[1] if outputs else ""))
            self._module = Built(parse(text), tuple(str(i) in written for i in range(len(self.parameters))), lambda: True)
        return self._module

    def _given(self, given: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        if len(given) > len(self._own):
            raise TypeError(f"{self.name}: {len(given)} arguments, expected {', '.join(self._own)}")
        values = {**dict(zip(self._own, given)), **named}
        for name in self._own:
            if name not in values:
                raise TypeError(f"{self.name} needs its argument '{name}'")
        if unknown := [name for name in values if name not in self._own]:
            raise TypeError(f"{self.name} has no parameter '{unknown[0]}'")
        return values

    def run(self, grid: Any, given: tuple[Any, ...], named: dict[str, Any], target: str, stream: Any = None) -> Any:
        values = self._given(given, named)
        flat: list[Any] = []
        for name in self._own:
            rank = self._ranks[name]
            if rank is not None and len(getattr(values[name], "shape", ())) != rank:
                raise ValueError(f"{self.name}: '{name}' has {len(getattr(values[name], 'shape', ()))} dimensions, expected {rank}")
            flat += [values[name]] if rank is None else _expanded(name, values[name])

        def sizes(arguments: dict[str, Any]) -> tuple[int, ...]:
            found = grid_of(grid, lambda: {**values, **self._source[2]})
            return (*found, *(1, ) * (3 - len(found)))

        return super().run(sizes, tuple(flat), {}, target, stream)


def from_cutile(kernel: Callable[..., Any], signature: Mapping[str, str], constants: Mapping[str, Any] | None = None) -> CutileKernel:
    """The kernel of cuTile (a function under cuda.tile.kernel) as `f[grid](*arguments, target="cpu")`.

    signature: the type of each parameter: "f32[:, :]" is an array of two dimensions, "i32" a number. constants: the values of its
    Constant parameters, which a call does not give. cuTile makes its bytecode, and needs no GPU for it. The target is "cpu", "cuda",
    "rocm", "interpret" or "emulate:CHIP", as of tessera.kernel.

        add = tessera.from_cutile(add_kernel, {"x": "f32[:]", "y": "f32[:]", "out": "f32[:]"}, {"n": 128})
        add[(n + 127) // 128](x, y, out, target="emulate:gfx942")
    """
    try:
        import cuda.tile  # noqa: F401
    except ImportError:
        raise ImportError("from_cutile needs the package cuda-tile: pip install cuda-tile") from None
    return CutileKernel(kernel, signature, constants or {})
