"""Kernels of Triton: tessera.from_triton asks the package triton for a kernel's TTIR, which the compiler reads."""
from __future__ import annotations

import re
from typing import Any, Callable, Mapping

from .._ir import Module, parse
from .builder import DTYPES
from .launch import NO_DEFAULT, ArrayType, Built, Launcher, Parameter, grid_of

_TYPES = {"i1": "i1", "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64", "u1": "i1", "u8": "i8", "u16": "i16", "u32": "i32",
          "u64": "i64", "fp16": "f16", "bf16": "bf16", "fp32": "f32", "fp64": "f64", "fp8e4nv": "f8E4M3FN",
          "fp8e5": "f8E5M2"}  # yapf: disable


def _kind(name: str, kind: str) -> Any:
    element = _TYPES.get(kind.lstrip("*"))
    if element is None or kind.startswith("**"):
        raise ValueError(f"from_triton: '{name}' has the type {kind!r}, expected one of {', '.join(_TYPES)}, or '*' and one of them")
    return ArrayType(DTYPES[element], (None, )) if kind.startswith("*") else DTYPES[element]


def _ttir(kernel: Any, signature: Mapping[str, str], constants: Mapping[str, Any]) -> str:
    try:
        import triton
        from triton._C.libtriton import ir
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
    except ImportError:
        raise ImportError("from_triton needs the package triton: pip install triton") from None
    target = GPUTarget("cuda", 80, 32)  # TTIR is the same for every chip but for what the kernel asks of the target
    backend = triton.compiler.make_backend(target)
    options, context = backend.parse_options({}), ir.context()
    stages: dict[str, Any] = {}
    ir.load_dialects(context)
    backend.load_dialects(context)
    source = ASTSource(kernel, {**signature, **dict.fromkeys(constants, "constexpr")}, dict(constants))
    module = source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    backend.add_stages(stages, options, source.language)
    return str(stages["ttir"](module, {}))


def _flat(name: str, value: Any) -> Any:
    """An array of any rank as its elements in order, without a copy."""
    if len(getattr(value, "shape", (0, ))) == 1:
        return value
    if hasattr(value, "is_contiguous"):
        return value.view(-1)
    if not value.flags.c_contiguous:
        raise ValueError(f"{name}: an array is not contiguous; a kernel of Triton computes places of its elements from strides, so "
                         "give the whole array that it is a part of")
    return value.reshape(-1)


class TritonKernel(Launcher):
    """kernel[grid](*arrays, target=…): what from_triton gives. Arrays of any rank are passed as their elements in order."""

    def __init__(self, kernel: Any, signature: Mapping[str, str], constants: Mapping[str, Any]) -> None:
        names = [name for name in kernel.arg_names if name not in constants]
        if missing := [name for name in names if name not in signature]:
            raise ValueError(f"from_triton: the signature lacks {', '.join(missing)}")
        if unknown := [name for name in [*signature, *constants] if name not in kernel.arg_names]:
            raise ValueError(f"from_triton: the kernel has no parameter {', '.join(unknown)}")
        self._source = kernel, {name: signature[name] for name in names}, dict(constants)
        self._module: Built | None = None
        super().__init__(kernel.__name__, [Parameter(name, _kind(name, signature[name]), NO_DEFAULT) for name in names],
                         lambda key, rank, stops: self._built())

    @property
    def ttir(self) -> str:
        """What Triton makes of the kernel."""
        return _ttir(*self._source)

    def module(self) -> Module:
        """The kernel in Tessera's IR, with its launcher as `main`."""
        return self._built().module

    def _built(self) -> Built:
        if self._module is None:
            module = parse(self.ttir)
            module.run_passes("convert-tt-to-tile,canonicalize,cse")
            text = module.text(locations=True)
            text, launchers = re.subn(r"(func\.func @)launch_[^(]+\(", r"\1main(", text)
            if launchers != 1:
                raise ValueError(f"from_triton: {launchers} public kernels, expected one")
            outputs = re.search(r"tile\.launch .*? outs\(([^:]*):", text)
            written = set(re.findall(r"%arg(\d+)", outputs[1] if outputs else ""))
            self._module = Built(parse(text), tuple(str(i) in written for i in range(len(self.parameters))), lambda: True)
        return self._module

    def run(self, grid: Any, given: tuple[Any, ...], named: dict[str, Any], target: str, stream: Any = None) -> Any:
        values = self.bind(given, named)
        flat = [_flat(self.name, value) if isinstance(parameter.kind, ArrayType) else value
                for parameter, value in zip(self.parameters, values)]

        def sizes(arguments: dict[str, Any]) -> tuple[int, ...]:
            found = grid_of(grid, lambda: {**arguments, **self._source[2]})
            return (*found, *(1, ) * (3 - len(found)))

        return super().run(sizes, tuple(flat), {}, target, stream)


def from_triton(kernel: Callable[..., Any], signature: Mapping[str, str], constants: Mapping[str, Any] | None = None) -> TritonKernel:
    """The kernel of Triton (a function under triton.jit) as `f[grid](*arguments, target="cpu")`.

    signature: the type of each parameter in Triton's words: {"x": "*fp32", "n": "i32"}. constants: the values of its
    constexpr parameters, which a call does not give. Triton makes its TTIR, and needs no GPU for it. The target is "cpu",
    "cuda", "rocm", "interpret" or "emulate:CHIP", as of tessera.kernel.

        add = tessera.from_triton(add_kernel, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 1024})
        add[(n + 1023) // 1024](x, y, out, n, target="emulate:sm_80")
    """
    return TritonKernel(kernel, signature, constants or {})
