"""Tessera from Python, for experiments: parse, run passes, run programs on numpy arrays, look at IR.

    import tessera

    module = tessera.load("matmul.mlir")
    module.run_passes("tile-group-ops,cse")
    print(module)
    result = module.run(a, b, target="emulate:sm_80")
    print(result[0], result.statistics["global_bytes_read"])

Nothing is compiled or decided here: every function calls Tessera's C library (docs/python.md). What the compiler has to
say arrives as `Diagnostic` objects, and as the exception `Error` when it was an error.
"""
from typing import Any

from ._compile import compile
from ._diagnostics import Diagnostic, Error, Location
from ._execution import ArrayType, Judgement, Program, Result
from ._ir import (Attribute, Block, Context, Module, Operation, PassResult, Region, StaleError, Type, Value, load, parse)
from ._library import LibraryNotFound, library_path, set_machine_path

__version__ = "0.1.0"
__all__ = [
    "ArrayType", "Attribute", "Block", "Context", "Diagnostic", "Error", "Judgement", "LibraryNotFound", "Location", "Module",
    "Operation", "PassResult", "Program", "Region", "Result", "StaleError", "Type", "Value",
    "compile", "library_path", "load", "parse", "set_machine_path"
]


def __getattr__(name: str) -> Any:
    """What kernels are written with (docs/python-kernels.md), imported when it is first asked for."""
    if name.startswith("__"):
        raise AttributeError(f"module 'tessera' has no attribute '{name}'")
    if name in ("inspect", "Inspection"):
        from . import _inspect
        return getattr(_inspect, name)
    from ._kernel import PUBLIC
    if name not in PUBLIC:
        raise AttributeError(f"module 'tessera' has no attribute '{name}'")
    globals().update(PUBLIC)
    return PUBLIC[name]
