"""Builds ops through mlir-c, one at a time, each checked by its verifier at once.

What an op is stands in the op tables: `_ops.py` and `_upstream.py`, made from them, call Builder.make. Types of results
are MLIR's or asked of dialects/tile/results.c.
"""
from __future__ import annotations

import ctypes
import math
from typing import Any, Callable, Iterator, NamedTuple, Sequence

from .._diagnostics import Capture
from .._ir import _context, _RawContext
from .._library import NamedAttribute, Text, _types, lib
from . import _upstream
from .errors import Refused, Where

_Value, _Type, _Region, _Location = (_types[name] for name in ("Value", "Type", "Region", "Location"))


class DType:
    """A type of elements: tessera.f32. Called in a kernel, it converts: tessera.f32(x)."""
    __slots__ = ("name", "kind", "bits")

    def __init__(self, name: str, kind: str, bits: int) -> None:
        self.name, self.kind, self.bits = name, kind, bits

    def __repr__(self) -> str:
        return self.name

    def __call__(self, value: Any) -> Any:
        from .language import cast
        return cast(value, self)

    @property
    def is_float(self) -> bool:
        return self.kind == "float"


bool_ = DType("i1", "bool", 1)
i8, i16, i32, i64 = (DType(f"i{bits}", "int", bits) for bits in (8, 16, 32, 64))
index = DType("index", "int", 64)
f16, f32, f64 = (DType(f"f{bits}", "float", bits) for bits in (16, 32, 64))
bf16 = DType("bf16", "float", 16)
f8e4m3fn, f8e5m2, f8e8m0fnu = (DType(name, "float", 8) for name in ("f8E4M3FN", "f8E5M2", "f8E8M0FNU"))
DTYPES = {dtype.name: dtype for dtype in (bool_, i8, i16, i32, i64, index, f16, bf16, f32, f64, f8e4m3fn, f8e5m2, f8e8m0fnu)}

# Bits of infinity and of a nan; the sign is the highest bit.
_INFINITY = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF0000000000000, "f8E5M2": 0x7C}
_NAN = {"f16": 0x7E00, "bf16": 0x7FC0, "f32": 0x7FC00000, "f64": 0x7FF8000000000000, "f8E5M2": 0x7E, "f8E4M3FN": 0x7F}
_LARGEST = {"f16": 65504.0, "bf16": 3.3895313892515355e38, "f32": 3.4028234663852886e38, "f8E4M3FN": 448.0, "f8E5M2": 57344.0}


class Value:
    """A value of the program and its type, as mlir-c has them."""
    __slots__ = ("raw", "type")

    def __init__(self, raw: Any, kind: Any) -> None:
        self.raw, self.type = raw, kind


def number_text(dtype: DType, value: bool | int | float) -> str:
    """`value` as MLIR writes it for that type. Refused where the type cannot hold it."""
    if dtype.kind == "bool":
        if value not in (0, 1):
            raise Refused(f"{value!r} is neither true nor false, as an element of type i1 must be")
        return "true" if value else "false"
    if dtype.kind == "int":
        if value != int(value) if math.isfinite(value) else True:
            raise Refused(f"{value!r} is not an integer, as an element of type {dtype} must be; write {dtype}(…) to convert")
        value, low = int(value), -(1 << dtype.bits - 1)
        if not low <= value < -low:
            raise Refused(f"{value} does not fit {dtype}, which holds {low} to {-low - 1}")
        return str(value)
    name = dtype.name
    if math.isfinite(value):
        try:
            value = float(value)
        except OverflowError:
            raise Refused(f"{value} does not fit {name}") from None
        if abs(value) > _LARGEST.get(name, math.inf):
            raise Refused(f"{value!r} does not fit {name}, whose largest number is {_LARGEST[name]!r}")
        return f"{value:.17e}"
    table = _NAN if math.isnan(value) else _INFINITY
    if name not in table:
        raise Refused(f"{name} has no {value}")
    return hex(table[name] | (1 << dtype.bits - 1 if value == -math.inf else 0))


def _quoted(text: str) -> str:
    plain = all(32 <= byte < 127 and byte not in (34, 92) for byte in text.encode())
    return '"' + (text if plain else "".join(
        chr(byte) if 32 <= byte < 127 and byte not in (34, 92) else f"\\{byte:02X}" for byte in text.encode())) + '"'


_WRITE: dict[str, Callable[[Any], str]] = {
    "unit": lambda _: "unit",
    "bool": lambda value: "true" if value else "false",
    "i32": lambda value: f"{value:d} : i32",
    "i64": lambda value: f"{value:d} : i64",
    "index": lambda value: f"{value:d} : index",
    "symbol": lambda value: f"@{value}",
    "i64 array": lambda value: "array<i64" + (": " if value else "") + ", ".join(map(str, value)) + ">",
    "i32 array": lambda value: "array<i32" + (": " if value else "") + ", ".join(map(str, value)) + ">",
    "CmpI": lambda value: f"{_upstream.arith_CmpI.index(value)} : i64",
    "CmpF": lambda value: f"{_upstream.arith_CmpF.index(value)} : i64",
}


class Access(NamedTuple):
    """A tile that a kernel reads or writes in memory; or a product, of m x n x k elements."""
    array: str | None  #: the parameter's name; None: a product
    shape: tuple[int, ...]
    elements: tuple[str, ...]  #: of the tile; of a product's factors and sum
    dims: tuple[int, ...] = ()  #: the array's dimension of each axis
    fixed: tuple[bool, ...] = ()  #: the tile's number along the axis is a constant
    is_store: bool = False


class Builder:
    """Where the next op goes, and what it is said to come from (`where`, and the calls around it)."""

    def __init__(self, shared: _RawContext | None = None) -> None:
        self.shared = shared or _context(None)
        self.context = self.shared.raw
        for name in ("tile", "arith", "math", "scf", "memref", "func", "bufferization"):
            given = Text(name)
            lib.mlirContextGetOrLoadDialect(self.context, given.ref)
        self.block: Any = None
        self.where: Where | None = None
        self.breakpoints: Any = None  # a Breakpoints where they count
        self.accesses: list[Access] = []
        self.calls: list[Any] = []  # locations of the calls of functions that are being walked
        self._types: dict[Any, Any] = {}
        self._described: dict[int, tuple[tuple[int, ...], DType]] = {}
        self._attributes: dict[str, Any] = {}
        self._constants: dict[Any, Any] = {}
        self._last: tuple[Any, Any] = (None, None)
        self.said = Capture(self.context)

    # --- types and attributes ---

    def parse_type(self, text: str) -> Any:
        raw = self._types.get(text)
        if raw is None:
            given = Text(text)
            raw = self._types[text] = lib.tileReadType(self.context, given.ref)
            if not raw:
                del self._types[text]
                raise self._refused(f"{text} is not a type")
        return raw

    def type(self, shape: Sequence[int], dtype: DType) -> Any:
        """Of a tile; of a scalar where the shape is ()."""
        if not shape:
            return self.parse_type(dtype.name)
        return self.parse_type(f"tensor<{'x'.join(map(str, shape))}x{dtype.name}>")

    def describe(self, raw: Any) -> tuple[tuple[int, ...], DType]:
        """Shape and element of a tile's or a scalar's type."""
        known = self._described.get(raw.ptr)
        if known is None:
            shape: tuple[int, ...] = ()
            element = raw
            if lib.mlirTypeIsAShaped(raw):
                shape = tuple(lib.mlirShapedTypeGetDimSize(raw, i) for i in range(lib.mlirShapedTypeGetRank(raw)))
                element = lib.mlirShapedTypeGetElementType(raw)
            dtype = next(dtype for dtype in DTYPES.values() if self.parse_type(dtype.name).ptr == element.ptr)
            known = self._described[raw.ptr] = shape, dtype
        return known

    def attribute(self, text: str) -> Any:
        raw = self._attributes.get(text)
        if raw is None:
            given = Text(text)
            raw = lib.tileReadAttribute(self.context, given.ref)
            if not raw:
                raise self._refused(f"{text} is not an attribute")
            self._attributes[text] = raw
        return raw

    def _entry(self, name: str, kind: str, value: Any) -> Any:
        if not isinstance(value, _types["Attribute"]):
            write = _WRITE.get(kind)
            value = self.attribute(write(value) if write else _quoted(value))
        key = Text(name)
        return NamedAttribute(lib.mlirIdentifierGet(self.context, key.ref), value)

    # --- places ---

    @property
    def location(self) -> Any:
        where, raw = self._last
        if raw is None or where != (self.where, len(self.calls)):
            raw = self.locate(self.where)
            for call in reversed(self.calls):
                raw = lib.mlirLocationCallSiteGet(raw, call)
            self._last = (self.where, len(self.calls)), raw
        return raw

    def locate(self, where: Where | None) -> Any:
        if where is None:
            return lib.mlirLocationUnknownGet(self.context)
        file = Text(where.file)
        return lib.mlirLocationFileLineColGet(self.context, file.ref, where.line, where.column)

    # --- ops ---

    def make(self, name: str, operands: Sequence[Any], results: list[Any] | None, attributes: dict[str, tuple[str, Any]],
             regions: Sequence[Any], segments: bool = False) -> list[Value]:
        """An op at the end of the block. `operands`: a group for each of the row's; results None: MLIR infers them."""
        op = self.create(name, operands, results, attributes, regions, segments)
        self.check(op)
        values = []
        for i in range(lib.mlirOperationGetNumResults(op)):
            raw = lib.mlirOperationGetResult(op, i)
            values.append(Value(raw, lib.mlirValueGetType(raw)))
        return values

    def create(self, name: str, operands: Sequence[Any], results: list[Any] | None, attributes: dict[str, tuple[str, Any]],
               regions: Sequence[Any], segments: bool = False) -> Any:
        """As make, without a check: the op itself."""
        text = Text(name)
        state = lib.mlirOperationStateGet(text.ref, self.location)
        ref = ctypes.byref(state)
        groups = [[] if group is None else [group] if hasattr(group, "raw") else list(group) for group in operands]
        flat = [value.raw for group in groups for value in group]
        if flat:
            lib.mlirOperationStateAddOperands(ref, len(flat), (_Value * len(flat))(*flat))
        if results is None:
            lib.mlirOperationStateEnableResultTypeInference(ref)
        elif results:
            lib.mlirOperationStateAddResults(ref, len(results), (_Type * len(results))(*results))
        entries = [self._entry(key, kind, value) for key, (kind, value) in attributes.items()
                   if value is not None and value is not False]
        if segments:
            entries.append(self._entry("operandSegmentSizes", "i32 array", [len(group) for group in groups]))
        if entries:
            lib.mlirOperationStateAddAttributes(ref, len(entries), (NamedAttribute * len(entries))(*entries))
        owned = [region if region is not None else lib.mlirRegionCreate() for region in regions]
        if owned:
            lib.mlirOperationStateAddOwnedRegions(ref, len(owned), (_Region * len(owned))(*owned))
        op = lib.mlirOperationCreate(ref)
        if not op:
            raise self._refused(f"{name}: the types of its results do not follow from its operands")
        lib.mlirBlockAppendOwnedOperation(self.block, op)
        return op

    def check(self, op: Any) -> None:
        if not lib.mlirOperationVerify(op):
            raise self._refused("the op is not valid")

    def _refused(self, otherwise: str) -> Refused:
        """What MLIR said last, as an exception."""
        errors = [said for said in self.said.diagnostics if said.severity == "error"]
        self.said._list.clear()
        if not errors:
            return Refused(otherwise)
        notes = [(note.message, Where(note.location.file, note.location.line or 1, note.location.column or 1))
                 for note in errors[-1].notes if note.location.file and not note.message.startswith("see current operation")]
        return Refused(errors[-1].message.replace("op ", "", 1) if errors[-1].message.startswith("'") else errors[-1].message,
                       *notes)

    def constant(self, shape: Sequence[int], dtype: DType, value: bool | int | float) -> Value:
        """A scalar, or a tile of one value."""
        text, kind = number_text(dtype, value), dtype.name
        if shape:
            text, kind = f"dense<{text}>", f"tensor<{'x'.join(map(str, shape))}x{kind}>"
        full = text if text in ("true", "false") else f"{text} : {kind}"
        return _upstream.arith_constant(self, value=self.attribute(full))

    # --- regions ---

    def holder(self, blocks: Sequence[Sequence[Any]]) -> tuple[Any, list[Any]]:
        """An op that holds a region of one block for each list of argument types, until take() moves the regions to the op
        that is wanted: so what is built stands within the kernel from the start. Gives the op and the blocks."""
        regions, made = [], []
        for types in blocks:
            region = lib.mlirRegionCreate()
            locations = (_Location * len(types))(*(self.location for _ in types))
            block = lib.mlirBlockCreate(len(types), (_Type * len(types))(*types), locations)
            lib.mlirRegionAppendOwnedBlock(region, block)
            regions.append(region)
            made.append(block)
        return self.create("scf.execute_region", [], [], {}, regions), made

    def take(self, holder: Any) -> list[Any]:
        """The holder's regions, to be owned by another op; the holder goes."""
        regions = []
        for i in range(lib.mlirOperationGetNumRegions(holder)):
            region = lib.mlirRegionCreate()
            lib.mlirRegionTakeBody(region, lib.mlirOperationGetRegion(holder, i))
            regions.append(region)
        self.drop(holder)
        return regions

    @staticmethod
    def drop(op: Any) -> None:
        lib.mlirOperationRemoveFromParent(op)
        lib.mlirOperationDestroy(op)

    @staticmethod
    def arguments(block: Any) -> Iterator[Value]:
        for i in range(lib.mlirBlockGetNumArguments(block)):
            raw = lib.mlirBlockGetArgument(block, i)
            yield Value(raw, lib.mlirValueGetType(raw))

    # --- types of results, asked of the dialect ---

    def reduced(self, value: Value, axes: Sequence[int]) -> Any:
        return lib.tileReduceTypeGet(value.type, len(axes), (ctypes.c_int64 * len(axes))(*axes)) or value.type

    def transposed(self, value: Value, permutation: Sequence[int]) -> Any:
        given = (ctypes.c_int64 * len(permutation))(*permutation)
        return lib.tileTransposeTypeGet(value.type, len(permutation), given) or value.type

    def joined(self, values: Sequence[Value], axis: int) -> Any:
        given = (_Type * len(values))(*(value.type for value in values))
        return lib.tileCatTypeGet(len(values), given, axis) or values[0].type

    def random(self, counter: Value) -> Any:
        return lib.tileRandomTypeGet(counter.type) or counter.type
