"""Programs of Tessera within computations of JAX, by XLA's foreign function interface.

    import jax, tessera.jax

    @jax.jit
    def f(x, w):
        return jax.numpy.tanh(tessera.jax.call("product.mlir", x, w))

The program works on XLA's buffers without a copy, on the CPU. Needs jax 0.5 or newer.
"""
from __future__ import annotations

import os
from typing import Any, Sequence

import jax
import jax.numpy as jnp

from ._compile import _runtime
from ._compile import compile as _compile_program
from ._ir import Module
from ._kernel.launch import _ELEMENTS

__all__ = ["call"]

_TARGET = "tessera_program"
_used: dict[int, Any] = {}  # programs that a computation may call: XLA's compiled code holds their addresses
_dtypes = {element: dtype for dtype, element in _ELEMENTS.items()}


def call(program: Any, *arrays: Any, shapes: Sequence[Sequence[int]] | None = None, vmap: str = "sequential") -> Any:
    """The results of a program on arrays of JAX: an array, or a tuple of several. May be traced, by jax.jit too.

    program: what tessera.compile gives for the CPU, or what it takes: a Module, a path, a text. shapes: of the results,
    where their sizes are dynamic. vmap: "sequential" calls once for each element of a batch (jax.ffi.ffi_call).

    Raises TypeError for a program that writes its arguments, has no result, or whose elements JAX lacks, ValueError for
    missing or wrong shapes; jax.errors.JaxRuntimeError when a call fails. There is no gradient: see jax.custom_vjp.
    """
    if isinstance(program, (str, os.PathLike, Module)):
        program = _compile_program(program)
    if any(kind.is_memref for kind in program.inputs):
        raise TypeError(f"{program!r} writes its arguments, which arrays of JAX do not allow")
    if not program.outputs:
        raise TypeError(f"{program!r} has no result")
    results = _results(program, shapes)
    if not _used:
        jax.ffi.register_ffi_target(_TARGET, _runtime()._runtime.xla_handler(), platform="cpu")
    _used[program._raw.address] = program
    import numpy as np
    found = jax.ffi.ffi_call(_TARGET, results, vmap_method=vmap)(*map(jnp.asarray, arrays), program=np.int64(program._raw.address))
    return found[0] if len(results) == 1 else tuple(found)


def _results(program: Any, shapes: Sequence[Sequence[int]] | None) -> list[Any]:
    types = []
    for kind in program.outputs:
        if kind.element not in _dtypes:
            raise TypeError(f"{program!r}: results of {kind.element} are no arrays of JAX")
        types.append(jnp.dtype(_dtypes[kind.element]))
    if shapes is None:
        for i, kind in enumerate(program.outputs):
            if None in kind.shape:
                raise ValueError(f"{program!r}: the sizes of result {i} are dynamic ({kind}); give shapes=")
        shapes = [kind.shape for kind in program.outputs]  # type: ignore[misc,unused-ignore]
    if len(shapes) != len(types):
        raise ValueError(f"shapes: {len(shapes)} are given, the program has {len(types)} results")
    result: Any = jax.ShapeDtypeStruct
    return [result(tuple(shape), dtype) for shape, dtype in zip(shapes, types)]
