"""Contexts, modules, and IR to look at: operations, regions, blocks, values, types, attributes.

Objects keep what they belong to alive, so they may be dropped in any order. Passes replace a module's IR: operations,
blocks and values taken from it before raise StaleError afterwards. Types and attributes stay valid.
"""
from __future__ import annotations

import ctypes
import os
import threading
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, NamedTuple, Union

from ._diagnostics import Capture, Diagnostic, Error, Location, location_from
from ._library import CError, StatisticCallback, StringCallback, Text, collect, collect_bytes, lib, lock, tool

if TYPE_CHECKING:
    from ._execution import Program, Result

_BYTECODE = b"ML\xefR"
_READING_SECONDS = 600  # as lib/support/guard.c


class StaleError(RuntimeError):
    """The operation, block or value belongs to IR that passes have replaced since."""


# --- Contexts ---------------------------------------------------------------------------------------------------


class _RawContext:
    """The context itself. It goes with the last object of its own: a cycle's garbage has no order."""

    def __init__(self, allow_unregistered: bool) -> None:
        with lock:
            registry = lib.mlirDialectRegistryCreate()
            lib.tesseraRegisterAllDialects(registry)
            lib.tesseraRegisterAllPasses()
            self.raw = lib.mlirContextCreateWithRegistry(registry, True)
            lib.mlirDialectRegistryDestroy(registry)
        lib.mlirContextSetAllowUnregisteredDialects(self.raw, allow_unregistered)
        self._count = 0
        self._guard = threading.Lock()

    def retain(self) -> None:
        with self._guard:
            self._count += 1

    def release(self) -> None:
        with self._guard:
            self._count -= 1
            last = self._count == 0
        if last:
            lib.mlirContextDestroy(self.raw)


class Context:
    """Where types, attributes and modules live. Most programs need no own: parse and load share one.

    allow_unregistered: accept operations of unknown dialects, as tile-opt --allow-unregistered-dialect does.
    """

    def __init__(self, allow_unregistered: bool = False) -> None:
        self._shared = _RawContext(allow_unregistered)
        self._shared.retain()

    def __del__(self) -> None:
        shared = self.__dict__.get("_shared")
        if shared:
            shared.release()

    def type(self, text: str) -> "Type":
        """The type that `text` writes: context.type("tensor<4x?xf32>")."""
        return Type(self._shared, _parsed(self._shared, lib.tileReadType, text, "a type"))

    def attribute(self, text: str) -> "Attribute":
        """The attribute that `text` writes: context.attribute("[1 : i64, true]")."""
        return Attribute(self._shared, _parsed(self._shared, lib.tileReadAttribute, text, "an attribute"))


def _parsed(shared: _RawContext, parse: Any, text: str, what: str) -> Any:
    given = Text(text)
    with lock, Capture(shared.raw) as said:
        raw = parse(shared.raw, given.ref)
    if not raw:
        raise Error(f"'{text}' is not {what}", said.diagnostics)
    return raw


_default: Context | None = None


def _context(context: Context | None) -> _RawContext:
    global _default
    if context is not None:
        return context._shared
    with lock:
        if _default is None:
            _default = Context()
    return _default._shared


class _Owned:
    """Something of a context, compared by its pointer (mlir-c's handles of types and attributes are unique)."""
    __slots__ = ("_shared", "_raw")

    def __init__(self, shared: _RawContext, raw: Any) -> None:
        shared.retain()
        self._shared, self._raw = shared, raw

    def __del__(self) -> None:
        shared = getattr(self, "_shared", None)
        if shared:
            shared.release()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._raw.ptr == other._raw.ptr

    def __hash__(self) -> int:
        return hash(self._raw.ptr)


# --- Types and attributes ---------------------------------------------------------------------------------------


class Type(_Owned):
    """A type. str() is how MLIR writes it."""
    __slots__ = ()

    def __str__(self) -> str:
        return collect(lib.mlirTypePrint, self._raw)

    def __repr__(self) -> str:
        return f"Type({self})"

    @property
    def shape(self) -> tuple[int | None, ...] | None:
        """Sizes of a ranked tensor, memref or vector, None where dynamic; None for other types."""
        if not lib.mlirTypeIsAShaped(self._raw) or not lib.mlirShapedTypeHasRank(self._raw):
            return None
        return tuple(None if lib.mlirShapedTypeIsDynamicDim(self._raw, i) else lib.mlirShapedTypeGetDimSize(self._raw, i)
                     for i in range(lib.mlirShapedTypeGetRank(self._raw)))

    @property
    def element(self) -> Union["Type", None]:
        """The element type of a tensor, memref or vector; None for other types."""
        if not lib.mlirTypeIsAShaped(self._raw):
            return None
        return Type(self._shared, lib.mlirShapedTypeGetElementType(self._raw))

    @property
    def encoding(self) -> Union["Attribute", None]:
        """A ranked tensor's encoding, such as #tile.layout<…>; None where there is none."""
        if not lib.mlirTypeIsARankedTensor(self._raw):
            return None
        raw = lib.mlirRankedTensorTypeGetEncoding(self._raw)
        return Attribute(self._shared, raw) if raw else None


class Attribute(_Owned):
    """An attribute. str() is how MLIR writes it, `value` what Python has for it."""
    __slots__ = ()

    def __str__(self) -> str:
        return collect(lib.mlirAttributePrint, self._raw)

    def __repr__(self) -> str:
        return f"Attribute({self})"

    @property
    def type(self) -> Type | None:
        raw = lib.mlirAttributeGetType(self._raw)
        return Type(self._shared, raw) if raw and str(Type(self._shared, raw)) != "none" else None

    @property
    def value(self) -> Any:
        """bool, int, float, str (also of a symbol reference), list, dict, Type; True for a unit attribute. Another
        attribute is its own value: str() tells what it says."""
        raw = self._raw
        for is_a, convert in _VALUES:
            if is_a(raw):
                return convert(self)
        return self


def _integer(attribute: Attribute) -> int:
    return int(str(attribute).split(" ")[0])  # mlir-c gives 64 bits at most


def _elements(attribute: Attribute) -> list[Any]:
    raw, shared = attribute._raw, attribute._shared
    return [Attribute(shared, lib.mlirArrayAttrGetElement(raw, i)).value for i in range(lib.mlirArrayAttrGetNumElements(raw))]


def _entries(attribute: Attribute) -> dict[str, Any]:
    raw, shared = attribute._raw, attribute._shared
    pairs = [lib.mlirDictionaryAttrGetElement(raw, i) for i in range(lib.mlirDictionaryAttrGetNumElements(raw))]
    return {str(lib.mlirIdentifierStr(pair.name)): Attribute(shared, pair.attribute).value for pair in pairs}


def _dense(get: Any) -> Any:
    return lambda attribute: [get(attribute._raw, i) for i in range(lib.mlirDenseArrayGetNumElements(attribute._raw))]


_VALUES: list[tuple[Any, Any]] = [
    (lib.mlirAttributeIsABool, lambda a: lib.mlirBoolAttrGetValue(a._raw)),
    (lib.mlirAttributeIsAInteger, _integer),
    (lib.mlirAttributeIsAFloat, lambda a: lib.mlirFloatAttrGetValueDouble(a._raw)),
    (lib.mlirAttributeIsAString, lambda a: str(lib.mlirStringAttrGetValue(a._raw))),
    (lib.mlirAttributeIsAFlatSymbolRef, lambda a: str(lib.mlirFlatSymbolRefAttrGetValue(a._raw))),
    (lib.mlirAttributeIsAArray, _elements),
    (lib.mlirAttributeIsADictionary, _entries),
    (lib.mlirAttributeIsAType, lambda a: Type(a._shared, lib.mlirTypeAttrGetValue(a._raw))),
    (lib.mlirAttributeIsAUnit, lambda a: True),
    (lib.mlirAttributeIsADenseI64Array, _dense(lib.mlirDenseI64ArrayGetElement)),
    (lib.mlirAttributeIsADenseI32Array, _dense(lib.mlirDenseI32ArrayGetElement)),
    (lib.mlirAttributeIsADenseBoolArray, _dense(lib.mlirDenseBoolArrayGetElement)),
]

# --- Operations, regions, blocks, values ------------------------------------------------------------------------


class _Node:
    """Part of a module's IR, valid until passes run on the module."""
    __slots__ = ("_module", "_handle", "_age")

    def __init__(self, module: "Module", raw: Any) -> None:
        self._module, self._handle, self._age = module, raw, module._age

    @property
    def _raw(self) -> Any:
        if self._age != self._module._age:
            raise StaleError(f"this {type(self).__name__.lower()} was taken before passes ran on its module")
        return self._handle

    def __eq__(self, other: object) -> bool:
        return (type(self) is type(other) and self._module is other._module
                and self._handle.ptr == other._handle.ptr and self._age == other._age)

    def __hash__(self) -> int:
        return hash((self._handle.ptr, self._age))


class Operation(_Node):
    """An operation. str() prints it as tile-opt would."""
    __slots__ = ()

    @property
    def name(self) -> str:
        """With its dialect: "tile.mma"."""
        return str(lib.mlirIdentifierStr(lib.mlirOperationGetName(self._raw)))

    @property
    def location(self) -> Location:
        return location_from(lib.mlirOperationGetLocation(self._raw))

    @property
    def parent(self) -> Union["Operation", None]:
        raw = lib.mlirOperationGetParentOperation(self._raw)
        return Operation(self._module, raw) if raw else None

    @property
    def block(self) -> Union["Block", None]:
        raw = lib.mlirOperationGetBlock(self._raw)
        return Block(self._module, raw) if raw else None

    @property
    def operands(self) -> tuple["Value", ...]:
        raw = self._raw
        return tuple(Value(self._module, lib.mlirOperationGetOperand(raw, i))
                     for i in range(lib.mlirOperationGetNumOperands(raw)))

    @property
    def results(self) -> tuple["Value", ...]:
        raw = self._raw
        return tuple(Value(self._module, lib.mlirOperationGetResult(raw, i))
                     for i in range(lib.mlirOperationGetNumResults(raw)))

    @property
    def successors(self) -> tuple["Block", ...]:
        raw = self._raw
        return tuple(Block(self._module, lib.mlirOperationGetSuccessor(raw, i))
                     for i in range(lib.mlirOperationGetNumSuccessors(raw)))

    @property
    def regions(self) -> tuple["Region", ...]:
        raw = self._raw
        return tuple(Region(self._module, lib.mlirOperationGetRegion(raw, i))
                     for i in range(lib.mlirOperationGetNumRegions(raw)))

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """All attributes by name, the inherent ones included."""
        raw, shared = self._raw, self._module._shared
        pairs = [lib.mlirOperationGetAttribute(raw, i) for i in range(lib.mlirOperationGetNumAttributes(raw))]
        return {str(lib.mlirIdentifierStr(pair.name)): Attribute(shared, pair.attribute) for pair in pairs}

    def walk(self) -> Iterator["Operation"]:
        """This operation and all within it, each before what it holds."""
        stack = [self]
        while stack:
            operation = stack.pop()
            yield operation
            inner = [op for region in operation.regions for block in region for op in block]
            stack.extend(reversed(inner))

    def verify(self) -> None:
        """Raises Error, with the diagnostics, when the operation breaks a rule."""
        raw = self._raw
        with lock, Capture(self._module._shared.raw) as said:
            valid = lib.mlirOperationVerify(raw)
        if not valid:
            raise Error(f"{self.name} is not valid", said.diagnostics)

    def text(self, *, generic: bool = False, locations: bool = False, local: bool = False, regions: bool = True,
             elide: int | None = None) -> str:
        """The operation as text.

        generic: "dialect.op"(…) for every op; locations: loc(…) after every op; local: no aliases; regions: with what it
        holds; elide: constants of more elements than this are left out.
        """
        if regions and elide is None and not (generic or locations or local):
            return collect(lib.mlirOperationPrint, self._raw)
        flags = lib.mlirOpPrintingFlagsCreate()
        try:
            if generic:
                lib.mlirOpPrintingFlagsPrintGenericOpForm(flags)
            if locations:
                lib.mlirOpPrintingFlagsEnableDebugInfo(flags, True, False)
            if local:
                lib.mlirOpPrintingFlagsUseLocalScope(flags)
            if not regions:
                lib.mlirOpPrintingFlagsSkipRegions(flags)
            if elide is not None:
                lib.mlirOpPrintingFlagsElideLargeElementsAttrs(flags, elide)
                lib.mlirOpPrintingFlagsElideLargeResourceString(flags, elide)
            return collect(lib.mlirOperationPrintWithFlags, self._raw, flags)
        finally:
            lib.mlirOpPrintingFlagsDestroy(flags)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Operation {self.name}>" if self._age == self._module._age else "<stale Operation>"


class Region(_Node):
    """A region: iterate over it for its blocks."""
    __slots__ = ()

    def __iter__(self) -> Iterator["Block"]:
        raw = lib.mlirRegionGetFirstBlock(self._raw)
        while raw:
            yield Block(self._module, raw)
            _ = self._raw  # still there?
            raw = lib.mlirBlockGetNextInRegion(raw)

    @property
    def blocks(self) -> tuple["Block", ...]:
        return tuple(self)


class Block(_Node):
    """A block: iterate over it for its operations."""
    __slots__ = ()

    def __iter__(self) -> Iterator[Operation]:
        raw = lib.mlirBlockGetFirstOperation(self._raw)
        while raw:
            yield Operation(self._module, raw)
            _ = self._raw  # still there?
            raw = lib.mlirOperationGetNextInBlock(raw)

    @property
    def operations(self) -> tuple[Operation, ...]:
        return tuple(self)

    @property
    def arguments(self) -> tuple["Value", ...]:
        raw = self._raw
        return tuple(Value(self._module, lib.mlirBlockGetArgument(raw, i)) for i in range(lib.mlirBlockGetNumArguments(raw)))

    @property
    def parent(self) -> Operation | None:
        """The operation whose region this block is in."""
        raw = lib.mlirBlockGetParentOperation(self._raw)
        return Operation(self._module, raw) if raw else None

    @property
    def region(self) -> Region:
        return Region(self._module, lib.mlirBlockGetParentRegion(self._raw))


class Value(_Node):
    """The result of an operation, or an argument of a block."""
    __slots__ = ()

    @property
    def type(self) -> Type:
        return Type(self._module._shared, lib.mlirValueGetType(self._raw))

    @property
    def owner(self) -> Operation | Block:
        raw = self._raw
        if lib.mlirValueIsABlockArgument(raw):
            return Block(self._module, lib.mlirBlockArgumentGetOwner(raw))
        return Operation(self._module, lib.mlirOpResultGetOwner(raw))

    @property
    def index(self) -> int:
        """Which result of its operation, or which argument of its block."""
        raw = self._raw
        if lib.mlirValueIsABlockArgument(raw):
            return int(lib.mlirBlockArgumentGetArgNumber(raw))
        return int(lib.mlirOpResultGetResultNumber(raw))

    @property
    def uses(self) -> tuple[tuple[Operation, int], ...]:
        """Who uses it: the operation and the number of its operand."""
        found, use = [], lib.mlirValueGetFirstUse(self._raw)
        while use:
            found.append((Operation(self._module, lib.mlirOpOperandGetOwner(use)), lib.mlirOpOperandGetOperandNumber(use)))
            use = lib.mlirOpOperandGetNextUse(use)
        return tuple(found)

    def __str__(self) -> str:
        return collect(lib.mlirValuePrint, self._raw)


# --- Modules ----------------------------------------------------------------------------------------------------


class PassResult(NamedTuple):
    """The diagnostics and counts of a pipeline: {"tile-group-ops": {"groups": 3, …}, …}, the passes of ours that ran in
    this process; of those that did not run all counts are 0."""
    diagnostics: tuple[Diagnostic, ...]
    statistics: Mapping[str, Mapping[str, int]]


def _statistics() -> dict[str, dict[str, int]]:
    """What our passes counted since the counters were last set to 0; the caller holds the lock."""
    passes: dict[str, dict[str, int]] = {}

    def take(name: bytes, statistic: bytes, value: int, _: int) -> None:
        passes.setdefault(name.decode(), {})[statistic.decode().split(":")[0]] = value

    lib.mlirExtStatisticsForEach(StatisticCallback(take), None)
    return passes


class Module:
    """A module: what parse and load give. str() prints it as tile-opt would, `for op in module` goes through its body."""

    def __init__(self, shared: _RawContext, raw: Any, name: str) -> None:
        shared.retain()
        self._shared, self._raw, self._name, self._age = shared, raw, name, 0

    def __del__(self) -> None:
        shared = self.__dict__.get("_shared")
        if shared:
            lib.mlirModuleDestroy(self._raw)
            shared.release()

    @property
    def operation(self) -> Operation:
        """The builtin.module itself."""
        return Operation(self, lib.mlirModuleGetOperation(self._raw))

    def __iter__(self) -> Iterator[Operation]:
        for region in self.operation.regions:
            for block in region:
                yield from block

    def walk(self) -> Iterator[Operation]:
        """Every operation, each before what it holds; the module comes first."""
        return self.operation.walk()

    def verify(self) -> None:
        """Raises Error, with the diagnostics, when the module is not valid."""
        self.operation.verify()

    def text(self, **options: Any) -> str:
        """As Operation.text, with its options."""
        return self.operation.text(**options)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Module {self._name}>"

    def bytecode(self) -> bytes:
        """The module in MLIR's bytecode format."""
        return collect_bytes(lib.mlirOperationWriteBytecode, lib.mlirModuleGetOperation(self._raw))

    def clone(self) -> "Module":
        """A copy that passes may change while this one stays."""
        raw = lib.mlirOperationClone(lib.mlirModuleGetOperation(self._raw))
        return Module(self._shared, lib.mlirModuleFromOperation(raw), self._name)

    def run_passes(self, pipeline: str | Iterable[str], *, verify: bool = True) -> PassResult:
        """Runs passes on the module, as tile-opt --pass-pipeline does.

        pipeline: "cse,func.func(canonicalize)", the same in "builtin.module(…)", or passes one by one in a list.
        verify: check the module after every pass.
        Raises Error when the pipeline cannot be read (the module stays as it was) or a pass fails: then the module is as that
        pass left it, to be looked at. clone() it first to keep it.
        """
        text = pipeline if isinstance(pipeline, str) else ",".join(pipeline)
        if not text.strip().startswith(("builtin.module(", "any(")):
            text = f"builtin.module({text})"
        with lock, Capture(self._shared.raw) as said:
            manager = lib.mlirPassManagerCreate(self._shared.raw)
            try:
                self._read_pipeline(manager, text)
                lib.mlirPassManagerEnableVerifier(manager, verify)
                lib.mlirExtStatisticsReset()
                self._age += 1
                done = lib.mlirPassManagerRunOnOp(manager, lib.mlirModuleGetOperation(self._raw))
                statistics = _statistics()
            finally:
                lib.mlirPassManagerDestroy(manager)
        if not done:
            raise Error(f"{self._name}: the pipeline {text} failed", said.diagnostics)
        return PassResult(said.diagnostics, statistics)

    @staticmethod
    def _read_pipeline(manager: Any, text: str) -> None:
        pieces: list[str] = []
        callback = StringCallback(lambda piece, _: pieces.append(str(piece)))
        given = Text(text)
        if not lib.tileReadPipeline(lib.mlirPassManagerGetAsOpPassManager(manager), given.ref, callback, None):
            raise Error("".join([*pieces, f"bad pass pipeline: {text}"]))

    def compile(self, target: str = "cpu", entry: str = "main", *, pipeline: str | None = None, threads: int | None = None,
                max_steps: int | None = None, **choices: Any) -> "Program":
        """The entry function, compiled for a target, to be called on numpy arrays as often as wanted.

        target: "cpu", "interpret", "emulate:CHIP", "cuda" or "rocm", as tile-run's --target. pipeline: passes in place of
        the target's own. threads: that grids run on (for the process from now on). max_steps: of the interpreter. choices
        of the target's own pipeline, as tile-run's flags: policy, fusion, persistent, sparsity ("exact", "finite", "off").
        Raises Error: no such entry, a target that is not known, what the compiler says.
        """
        from ._execution import Program
        return Program(self, target, entry, pipeline=pipeline, threads=threads, max_steps=max_steps, **choices)

    def run(self, *arrays: Any, target: str = "cpu", entry: str = "main", seed: int = 0, repeat: int = 1,
            **options: Any) -> "Result":
        """compile and one call: module.run(a, b, target="emulate:sm_80").results. Without arrays: seeded random data."""
        return self.compile(target, entry, **options)(*arrays, seed=seed, repeat=repeat)


def parse(source: str | bytes, *, name: str = "<string>", context: Context | None = None) -> Module:
    """A module from text or from bytecode. `name` stands for the file in diagnostics.

    Bytecode is believed by MLIR's reader, which a damaged one can crash: tile-opt reads it first, in a process of its own.
    Raises Error, with the diagnostics, when it is not valid.
    """
    if not isinstance(source, (str, bytes)):
        raise TypeError(f"source: expected str or bytes, got {type(source).__name__}")
    if isinstance(source, bytes) and source.startswith(_BYTECODE):
        source = _bytecode_as_text(source, name)
    shared, given = _context(context), Text(source)
    named = Text(name)
    with lock, Capture(shared.raw) as said:
        raw = lib.tileReadModule(shared.raw, given.ref, named.ref)
    if not raw:
        raise Error(f"{name}: not a valid program", said.diagnostics)
    return Module(shared, raw, name)


def load(path: str | os.PathLike[str], *, context: Context | None = None) -> Module:
    """The module in a file: text, bytecode, or a model (*.onnx, *.pt2), whose entry is main.

    Raises Error when it is not valid, OSError when it cannot be read."""
    name = os.fspath(path)
    if lib.tileIsModel(name.encode()):
        return _load_model(name, context)
    with open(path, "rb") as file:
        return parse(file.read(), name=os.fspath(path), context=context)


def _load_model(name: str, context: Context | None) -> Module:
    shared, why = _context(context), CError()
    with lock, Capture(shared.raw) as said:
        raw = lib.tileReadModel(shared.raw, name.encode(), ctypes.byref(why))
    if not raw:
        raise Error(why.text.decode(errors="replace"), said.diagnostics)
    return Module(shared, raw, name)


def _bytecode_as_text(source: bytes, name: str) -> str:
    import subprocess  # few need it, and it takes a tenth of the time of importing tessera
    import tempfile
    with tempfile.NamedTemporaryFile(suffix=".mlirbc") as file:
        file.write(source)
        file.flush()
        command = [tool("tile-opt"), "--mlir-print-op-generic", "--mlir-print-debuginfo", "--allow-unregistered-dialect", file.name]
        try:
            child = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                                   timeout=_READING_SECONDS)
        except subprocess.TimeoutExpired:
            raise Error(f"{name}: damaged bytecode? Reading it had not ended after {_READING_SECONDS} s") from None
        said = child.stderr.decode("utf-8", "replace").replace(file.name, name).strip()
    if child.returncode:
        raise Error(f"{said}\n{name}: not a valid program")
    return child.stdout.decode()
