"""@tessera.kernel and @tessera.func: functions of Python as kernels."""
from __future__ import annotations

import ast
import functools
from types import FunctionType
from typing import Any, Callable

from .._ir import Module
from .._library import Text, lib, lock
from . import _ops, _upstream, tiles
from .breakpoints import Breakpoints
from .builder import Builder, DType, Value, bool_, f32, index
from .errors import CompileError, Refused, Where
from .launch import NO_DEFAULT, ArrayType, Built, Constant, Launcher, Parameter, SparseType
from .source import MISSING, Source
from .walk import Walker

_SCALARS = {int: index, float: f32, bool: bool_}


class Function:
    """A function that kernels call (@tessera.func): walked at each call, with what it is given."""

    def __init__(self, function: FunctionType) -> None:
        functools.update_wrapper(self, function)
        self.source = Source(function)
        _check_parameters(self.source)

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise CompileError(f"'{self.source.name}' is a tessera.func: only kernels call it", self.source.where(self.source.node))


def func(function: FunctionType) -> Function:
    """Makes a function that kernels can call."""
    return Function(function)


def _check_parameters(source: Source) -> None:
    arguments = source.node.args
    for argument, sign in ((arguments.vararg, "*"), (arguments.kwarg, "**")):
        if argument:
            raise CompileError(f"{sign}{argument.arg}: a kernel names each of its parameters", source.where(argument))


class Kernel(Launcher):
    """A kernel: kernel[grid](*arrays, target="cpu", **constants) runs it. text(…) shows its program for such a call."""

    def __init__(self, function: FunctionType, attributes: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.source = Source(function)
        _check_parameters(self.source)
        self._attributes = attributes
        super().__init__(function.__name__, self._parameters(function), self._build_module)

    def _parameters(self, function: FunctionType) -> list[Parameter]:
        arguments = self.source.node.args
        nodes = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        plain = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        defaults: dict[str, Any] = dict(zip(plain[::-1], (function.__defaults__ or ())[::-1]))
        defaults.update(function.__kwdefaults__ or {})
        made = []
        for node in nodes:
            where = self.source.where(node)
            if node.arg in ("target", "stream"):
                raise CompileError(f"'{node.arg}' says where a kernel runs, at its call: expected another name", where)
            kind = self._annotation(function, node, where)
            made.append(Parameter(node.arg, kind, defaults.get(node.arg, NO_DEFAULT), where))
        return made

    def _annotation(self, function: FunctionType, node: ast.arg, where: Where) -> Any:
        kind = function.__annotations__.get(node.arg)
        if isinstance(kind, str):
            names = {name: value for name in function.__code__.co_freevars if (value := self.source.outer(name)) is not MISSING}
            try:
                kind = eval(kind, function.__globals__, names)  # pylint: disable=eval-used
            except Exception as error:
                raise CompileError(f"the annotation of '{node.arg}' cannot be read: {error}", where) from None
        kind = _SCALARS.get(kind, kind) if isinstance(kind, type) else kind
        if kind is not None and kind is not Constant and not isinstance(kind, (ArrayType, SparseType, DType)):
            raise CompileError(f"the annotation of '{node.arg}' is {kind!r}, expected tessera.Array[…], tessera.Sparse[…], "
                               "tessera.Constant or a type such as tessera.i32", where)
        return kind

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"a kernel runs over a grid: {self.name}[grid](…)")

    def module(self, *given: Any, grid: int = 1, **named: Any) -> Module:
        """The program of a call: the kernel, and the entry that launches it over a grid of that rank."""
        return self._build_module(self.specialize(self.bind(given, named)), grid).module

    # --- building ---

    def _build_module(self, key: tuple[Any, ...], grid_rank: int, stops: bool = False) -> Built:
        """stops: breakpoints count."""
        with lock:
            b = Builder()
            b.breakpoints = Breakpoints() if stops else None
            before, tiles.state.builder = tiles.state.builder, b
            try:
                with b.said:
                    return self._walk(b, key, grid_rank)
            finally:
                tiles.state.builder = before

    def _walk(self, b: Builder, key: tuple[Any, ...], grid_rank: int) -> Built:
        source = self.source
        b.where = source.where(source.node)
        raw = lib.mlirModuleCreateEmpty(b.location)
        module = Module(b.shared, raw, source.file)
        b.block = body = lib.mlirModuleGetBody(raw)
        name = source.name if source.name != "main" else "main_kernel"
        walker = Walker(b)
        try:
            op, block = self._open_kernel(b, name)
            arrays, names = self._arguments(b, block, key)
            self._join_sparse(names)
            walker.function(source, names)
            b.where, b.block = source.where(source.node), block
            b.create("tile.return", [[]], [], {}, [])
            kinds = [kind for kind in key if not isinstance(kind, tuple) or isinstance(kind, ArrayType)]
            written = tuple(i in arrays and arrays[i].is_written for i in range(len(kinds)))
            self._check_sparse(arrays)
            self._close_kernel(b, op, block, kinds, written)
            b.block = body
            _entry(b, name, kinds, written, grid_rank)
            b.check(lib.mlirModuleGetOperation(raw))
        except Refused as refused:
            raise CompileError(refused.message, b.where, refused.notes) from None
        except RecursionError:
            raise CompileError(f"'{source.name}' nests too deep", source.where(source.node)) from None
        return Built(module, written, walker.reads.hold, b.breakpoints, b.accesses)

    def _open_kernel(self, b: Builder, name: str) -> tuple[Any, Any]:
        region = lib.mlirRegionCreate()
        block = lib.mlirBlockCreate(0, None, None)
        lib.mlirRegionAppendOwnedBlock(region, block)
        attributes: dict[str, Any] = {"sym_name": ("string", name), "sym_visibility": ("string", "private"),
                                      "function_type": ("type", b.attribute("() -> ()"))}
        if self._attributes.get("warps") is not None:
            attributes["warps"] = ("i32", self._attributes["warps"])
        if self._attributes.get("schedule") is not None:
            attributes["schedule"] = ("schedule", b.attribute(f"#tile.schedule<{self._attributes['schedule']}>"))
        op = b.create("tile.kernel", [], [], attributes, [region])
        b.block = block
        return op, block

    def _arguments(self, b: Builder, block: Any, key: tuple[Any, ...]) -> tuple[dict[int, tiles.Parameter], dict[str, Any]]:
        """The block's arguments, in the parameters' order; what the names mean; the arrays by their number."""
        arrays: dict[int, tiles.Parameter] = {}
        names: dict[str, Any] = {}
        count = 0
        for parameter, kind in zip(self.parameters, key):
            b.where = parameter.where
            if not isinstance(kind, (ArrayType, DType)):
                names[parameter.name] = kind[0]
                continue
            text = f"memref<{kind.memref}>" if isinstance(kind, ArrayType) else kind.name
            raw = lib.mlirBlockAddArgument(block, b.parse_type(text), b.location)
            value = Value(raw, lib.mlirValueGetType(raw))
            if isinstance(kind, ArrayType):
                sizes = [size if isinstance(size, int) else None for size in kind.sizes]
                arrays[count] = tiles.Parameter(parameter.name, value, kind.dtype, sizes, parameter.where)
                names[parameter.name] = tiles.Array(arrays[count])
            else:
                names[parameter.name] = tiles.Tile(value)
            count += 1
        return arrays, names

    def _join_sparse(self, names: dict[str, Any]) -> None:
        """A matrix in place of its arrays and sizes."""
        for parameter in self.given:
            if isinstance(parameter.kind, SparseType):
                prefix = parameter.name + "."
                parts = {name[len(prefix):]: names.pop(name) for name, _ in parameter.kind.parts(parameter.name)}
                shape = parts.pop("shape[0]"), parts.pop("shape[1]")
                names[parameter.name] = tiles.Sparse(parameter.name, parameter.kind.form, parts, shape)

    def _check_sparse(self, arrays: dict[int, tiles.Parameter]) -> None:
        """What the caller's matrix becomes may be a copy, which nobody would read again."""
        for array in arrays.values():
            name, dot, _ = array.name.partition(".")
            if dot and array.is_written:
                raise CompileError(f"the kernel writes {array.name}; expected sparse matrices to be read only", array.where)

    @staticmethod
    def _close_kernel(b: Builder, op: Any, block: Any, kinds: list[Any], written: tuple[bool, ...]) -> None:
        """What is written comes last."""
        order = [i for i, is_written in enumerate(written) if not is_written] + [i for i, is_written in enumerate(written) if is_written]
        olds = [value.raw for value in b.arguments(block)]
        types = [lib.mlirValueGetType(old) for old in olds]
        for i in order:
            new = lib.mlirBlockAddArgument(block, types[i], b.location)
            lib.mlirValueReplaceAllUsesOfWith(olds[i], new)
        for _ in olds:
            lib.mlirBlockEraseArgument(block, 0)
        texts = ", ".join(f"memref<{kinds[i].memref}>" if isinstance(kinds[i], ArrayType) else kinds[i].name for i in order)
        marks = ", ".join("{llvm.noalias}" if isinstance(kinds[i], ArrayType) else "{}" for i in order)
        for name, text in (("function_type", f"({texts}) -> ()"), ("arg_attrs", f"[{marks}]")):
            given = Text(name)
            lib.mlirOperationSetAttributeByName(op, given.ref, b.attribute(text))
        b.check(op)


def _entry(b: Builder, name: str, kinds: list[Any], written: tuple[bool, ...], grid_rank: int) -> None:
    """func.func @main: what is only read arrives as a tensor, so that read-only memory may be given."""
    texts = [kind.name if isinstance(kind, DType) else f"{'memref' if is_written else 'tensor'}<{kind.memref}>"
             for kind, is_written in zip(kinds, written)] + ["index"] * grid_rank
    region, block = lib.mlirRegionCreate(), lib.mlirBlockCreate(0, None, None)
    lib.mlirRegionAppendOwnedBlock(region, block)
    for text in texts:
        lib.mlirBlockAddArgument(block, b.parse_type(text), b.location)
    b.create("func.func", [], [], {"sym_name": ("string", "main"), "function_type": ("type", b.attribute(f"({', '.join(texts)}) -> ()"))},
             [region])
    b.block = block
    values = list(b.arguments(block))
    read, outs = [], []
    for value, kind, is_written in zip(values, kinds, written):
        if is_written:
            outs.append(value)
        elif isinstance(kind, DType):
            read.append(value)
        else:
            read.append(_upstream.bufferization_to_buffer(b, value, buffer=b.parse_type(f"memref<{kind.memref}>"), read_only=True))
    _ops.launch(b, values[len(kinds):], read, outs, results=[], kernel=name)
    b.create("func.return", [[]], [], {}, [])


def kernel(function: Callable[..., None] | None = None, *, warps: int | None = None, schedule: str | None = None) -> Any:
    """Makes a kernel of a function.

    warps: how many run an instance on a GPU. schedule: fields of #tile.schedule, such as "stages = 3"."""
    if function is None:
        return lambda given: Kernel(given, {"warps": warps, "schedule": schedule})
    if not isinstance(function, FunctionType):
        raise CompileError(f"a {type(function).__name__} cannot be a kernel: write a function with def")
    return Kernel(function, {"warps": warps, "schedule": schedule})
