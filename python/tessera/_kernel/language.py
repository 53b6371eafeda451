"""What kernels call, beyond operators: by numpy's names where numpy has them, else by those of the Tile dialect's ops.

Every function here works on the tiles of the kernel that is being walked; called elsewhere, it raises.
"""
from __future__ import annotations

import builtins
from typing import Any, Callable, Sequence, TypeVar

from . import _ops, _upstream
from .builder import Access, DType, _INFINITY, bool_, f32, f64, i8, i32, i64, index
from .errors import Refused
from .tiles import (Array, Tile, as_index, as_tile, axes_of, axis_of, binary, broadcast_to, builder, compare, convert,
                    described, expand_dims, reshape as _reshape, select, shape_text, static_shape, together, transpose as _transpose)

FUNCTIONS: dict[str, Callable[..., Any]] = {}


_Function = TypeVar("_Function", bound=Callable[..., Any])


def _public(function: _Function) -> _Function:
    FUNCTIONS[function.__name__.rstrip("_")] = function
    setattr(function, "tessera_language", True)
    return function


# --- the grid --------------------------------------------------------------------------------------------------------


@_public
def program_id(axis: int = 0) -> Tile:
    """Which instance of the grid this is, along axis 0, 1 or 2."""
    return Tile(_ops.program_id(builder(), axis=_constant(axis, "axis")))


@_public
def num_programs(axis: int = 0) -> Tile:
    """How many instances the grid has along an axis."""
    return Tile(_ops.num_programs(builder(), axis=_constant(axis, "axis")))


@_public
def cdiv(a: Any, b: Any) -> Any:
    """a / b, rounded up."""
    if not isinstance(a, Tile) and not isinstance(b, Tile):
        return -(-a // b)
    x, y = together([a, b], "cdiv")
    return Tile(_upstream.arith_ceildivsi(builder(), x, y))


def _constant(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Refused(f"{what} is {described(value)}, expected a constant integer")
    return value


# --- memory ----------------------------------------------------------------------------------------------------------

_PADS = ("zero", "neg_zero", "nan", "inf", "neg_inf")


def _array(value: Any, what: str) -> Array:
    if not isinstance(value, Array):
        raise Refused(f"{what} is {described(value)}, expected an array that the kernel was given")
    return value


@_public
def load(array: Array, index: Any, shape: Any, pad: str = "zero", step: Any = None) -> Tile:
    """The tile number `index` of the array, in tiles of `shape`; what lies outside reads as `pad`.

    pad: zero, neg_zero, nan, inf or neg_inf. step: how far apart tiles begin (their shape where it is not given)."""
    array = _array(array, "the array")
    if pad not in _PADS:
        raise Refused(f"pad is {described(pad)}, expected one of {', '.join(_PADS)}")
    b, sizes = builder(), static_shape(shape)
    view = array.view(sizes, pad, step)
    array.note(index, sizes)
    return Tile(_ops.load(b, view, array.indices(index), result=b.type(sizes, array.dtype)))


@_public
def in_bounds(array: Array, index: Any, shape: Any, step: Any = None) -> Tile:
    """Which elements of that tile lie in memory."""
    array, b, sizes = _array(array, "the array"), builder(), static_shape(shape)
    return Tile(_ops.in_bounds(b, array.view(sizes, "zero", step), array.indices(index), result=b.type(sizes, bool_)))


@_public
def num_tiles(array: Array, axis: int, shape: Any, step: Any = None) -> Tile:
    """How many tiles of `shape` cover the array along an axis."""
    array = _array(array, "the array")
    return Tile(_ops.num_tiles(builder(), array.view(static_shape(shape), "zero", step), dim=axis_of(axis, array.ndim)))


@_public
def store(array: Array, index: Any, value: Any, combine: str | None = None, step: Any = None) -> None:
    """Writes a tile where load would read it; what lies outside is not written. combine: add, max, min, and, or, xor."""
    array = _array(array, "the array")
    if not isinstance(value, Tile):
        value = broadcast_to(as_tile(value, array.dtype, "the value"), (1, ) * array.ndim)
    if not value.shape and array.ndim:
        value = broadcast_to(value, (1, ) * array.ndim)
    if value.dtype is not array.dtype:
        raise Refused(f"the value is {value!r}, expected elements of type {array.dtype}; convert it with .astype",
                      ("the value is made here", value.where), ("the array is declared here", array.parameter.where))
    view, places = array.view(value.shape, "zero", step), array.indices(index)
    array.write()
    array.note(index, value.shape, is_store=True)
    _ops.store(builder(), value, view, places, combine=combine)


def _places(array: Array, indices: Any, shape: Any, pad: str) -> tuple[Any, list[Tile], tuple[int, ...]]:
    """What gather and scatter reach: memory, the indices, and the shape of what is there."""
    items = list(indices) if isinstance(indices, (tuple, list)) else [indices]
    if shape is not None:
        sizes = static_shape(shape)
        if len(items) != array.ndim:
            raise Refused(f"{len(items)} indices, expected {array.ndim}, one for each axis of {array!r}",
                          ("the array is declared here", array.parameter.where))
        places = [item if isinstance(item, Tile) and item.shape else as_index(item, "an index") for item in items]
        return array.view(sizes, pad), places, sizes
    if array.fixed or array.order != tuple(range(len(array.parameter.sizes))):
        items = _whole_indices(array, items)
    if len(items) != len(array.parameter.sizes):
        raise Refused(f"{len(items)} indices, expected {array.ndim}, one for each axis of {array!r}",
                      ("the array is declared here", array.parameter.where))
    common = together([as_tile(item, index, "an index") for item in items] if not any(
        isinstance(item, Tile) and item.dtype is not index for item in items) else [_as_numbers(item) for item in items], "the indices")
    return array.parameter.value, common, common[0].shape


def _as_numbers(item: Any) -> Tile:
    tile = as_tile(item, index, "an index")
    if tile.dtype.kind != "int":
        raise Refused(f"an index is {tile!r}, expected integers", ("it is made here", tile.where))
    return convert(tile, index)


def _whole_indices(array: Array, items: list[Any]) -> list[Any]:
    whole: list[Any] = [None] * len(array.parameter.sizes)
    for dim, place in array.fixed.items():
        whole[dim] = place
    for dim, item in zip(array.order, items):
        whole[dim] = item
    return whole if len(items) == array.ndim and not any(item is None for item in whole) else items


def _mask(mask: Any, shape: Sequence[int]) -> Tile | None:
    if mask is None:
        return None
    tile = as_tile(mask)
    if tile.dtype is not bool_:
        raise Refused(f"the mask is {tile!r}, expected elements of type i1, as a comparison gives", ("it is made here", tile.where))
    return broadcast_to(tile, shape)


@_public
def gather(array: Any, indices: Any, shape: Any = None, mask: Any = None, other: Any = None, bounds: str = "trap",
           pad: str = "zero") -> Tile:
    """Elements at computed places.

    Without `shape`: one tile of indices for each axis, element by element, as numpy's array[i, j]. With `shape`: of a tile of
    that shape, an axis takes the number of a tile, or a tile of element numbers as long as the axis (rows of a matrix).
    bounds: trap, clamp, or drop (reads `other` or the padding), as a false mask does."""
    b, array = builder(), _array(array, "the array")
    memory, places, sizes = _places(array, indices, shape, pad)
    mask = _mask(mask, sizes)
    if other is not None:
        other = broadcast_to(as_tile(other, array.dtype, "other"), sizes)
        if other.dtype is not array.dtype:
            raise Refused(f"other is {other!r}, expected elements of type {array.dtype}", ("it is made here", other.where))
    if bounds not in ("trap", "clamp", "drop"):
        raise Refused(f"bounds is {described(bounds)}, expected trap, clamp or drop")
    if not sizes:
        raise Refused("all indices are scalars, expected a tile of indices; an element is array[i, j]")
    return Tile(_ops.gather(b, memory, places, mask, other, result=b.type(sizes, array.dtype), bounds=bounds))


@_public
def scatter(array: Any, indices: Any, value: Any, shape: Any = None, mask: Any = None, combine: str | None = None,
            bounds: str = "trap") -> None:
    """Writes elements to the places that gather reads. combine: add, max, min, and, or, xor; without it one of several stays."""
    array = _array(array, "the array")
    memory, places, sizes = _places(array, indices, shape, "zero")
    value = as_tile(value, array.dtype, "the value")
    if value.dtype is not array.dtype:
        raise Refused(f"the value is {value!r}, expected elements of type {array.dtype}; convert it with .astype",
                      ("the value is made here", value.where), ("the array is declared here", array.parameter.where))
    if bounds not in ("trap", "drop"):
        raise Refused(f"bounds is {described(bounds)}, expected trap or drop")
    array.write()
    _ops.scatter(builder(), broadcast_to(value, sizes), memory, places, _mask(mask, sizes), combine=combine, bounds=bounds)


def _atomic(kind: str, array: Any, indices: Any, value: Any, mask: Any, order: str, scope: str) -> Tile:
    array = _array(array, "the array")
    memory, places, sizes = _places(array, indices, None, "zero")
    value = as_tile(value, array.dtype, "the value")
    if value.dtype is not array.dtype:
        raise Refused(f"the value is {value!r}, expected elements of type {array.dtype}; convert it with .astype",
                      ("the value is made here", value.where))
    array.write()
    name = "fadd" if kind == "add" and array.dtype.is_float else kind
    return Tile(_ops.atomic_rmw(builder(), broadcast_to(value, sizes), memory, places, _mask(mask, sizes), kind=name, order=order,
                                scope=scope))


def _atomic_function(kind: str) -> None:

    def function(array: Any, indices: Any, value: Any, mask: Any = None, order: str = "relaxed", scope: str = "device") -> Tile:
        return _atomic(kind, array, indices, value, mask, order, scope)

    function.__name__ = function.__qualname__ = f"atomic_{kind}"
    function.__doc__ = f"Combines with memory by {kind} and gives what was there."
    _public(function)


for _kind in ("add", "max", "min", "and", "or", "xor", "xchg"):
    _atomic_function(_kind)


@_public
def atomic_cas(array: Any, indices: Any, expected: Any, value: Any, order: str = "acq_rel", scope: str = "device") -> Tile:
    """Writes value where memory holds `expected`; gives what was there."""
    array = _array(array, "the array")
    memory, places, sizes = _places(array, indices, None, "zero")
    pair = [broadcast_to(as_tile(item, array.dtype), sizes) for item in (expected, value)]
    array.write()
    return Tile(_ops.atomic_cas(builder(), pair[0], pair[1], memory, places, order=order, scope=scope))


# --- making tiles ---------------------------------------------------------------------------------------------------


@_public
def arange(start: Any, stop: Any = None, dtype: DType = index) -> Tile:
    """The numbers from start (0) to stop - 1, both constants."""
    first, last = (0, start) if stop is None else (start, stop)
    first, last = _constant(first, "start"), _constant(last, "stop")
    if dtype.kind != "int":
        raise Refused(f"dtype is {dtype}, expected an integer type")
    sizes = static_shape(last - first, "arange")
    b = builder()
    origin = as_tile(first, dtype) if first else None
    return Tile(_ops.iota(b, origin, result=b.type(sizes, dtype), dim=0))


@_public
def full(shape: Any, value: Any, dtype: DType | None = None) -> Tile:
    """A tile of one value."""
    tile = as_tile(value, dtype, "the value")
    return broadcast_to(convert(tile, dtype) if dtype else tile, static_shape(shape))


@_public
def zeros(shape: Any, dtype: DType = f32) -> Tile:
    """A tile of zeros."""
    return Tile(builder().constant(static_shape(shape), dtype, 0))


@_public
def ones(shape: Any, dtype: DType = f32) -> Tile:
    """A tile of ones."""
    return Tile(builder().constant(static_shape(shape), dtype, 1))


@_public
def zeros_like(x: Tile) -> Tile:
    """Zeros of the shape and type of x."""
    return Tile(builder().constant(x.shape, x.dtype, 0))


@_public
def full_like(x: Tile, value: Any) -> Tile:
    """One value, in the shape and type of x."""
    return broadcast_to(as_tile(value, x.dtype), x.shape)


@_public
def cast(x: Any, dtype: DType) -> Tile:
    """Elements of another type: floats to integers towards zero."""
    return convert(x, dtype)


@_public
def bitcast(x: Tile, dtype: DType) -> Tile:
    """The same bits as elements of another type; the last axis grows or shrinks with their width."""
    x, b = as_tile(x), builder()
    if x.dtype.bits == dtype.bits:
        return x if x.dtype is dtype else Tile(_upstream.arith_bitcast(b, x, out=b.type(x.shape, dtype)))
    shape = list(x.shape)
    if shape:
        shape[-1] = builtins.max(1, shape[-1] * x.dtype.bits // dtype.bits)
    return Tile(_ops.bitcast(b, x, result=b.type(shape, dtype)))


@_public
def random(seed: Any, counter: Any) -> Tile:
    """Four random words of i32 for each counter, on a new last axis (Philox4x32-10): the same bits on every target."""
    b, counter = builder(), as_tile(counter)
    return Tile(_ops.random(b, convert(as_tile(seed, i64), i64), counter, result=b.random(counter)))


# --- shapes ----------------------------------------------------------------------------------------------------------


@_public
def reshape(x: Tile, shape: Any) -> Tile:
    """The same elements in another shape; one size may be -1."""
    return _reshape(as_tile(x), shape)


@_public
def transpose(x: Tile, axes: Any = None) -> Tile:
    """Axes exchanged; reversed where none are given."""
    return _transpose(as_tile(x), axes)


_public(broadcast_to)


@_public
def squeeze(x: Tile, axis: Any = None) -> Tile:
    """Without axes of size 1."""
    axes = [i for i, size in enumerate(x.shape) if size == 1] if axis is None else axes_of(axis, x.ndim)
    for one in axes:
        if x.shape[one] != 1:
            raise Refused(f"axis {one} has size {x.shape[one]}, expected 1", ("the tile is made here", x.where))
    return _drop_axes(x, axes)


def _drop_axes(x: Tile, axes: Sequence[int]) -> Tile:
    sizes = [size for i, size in enumerate(x.shape) if i not in axes]
    if sizes:
        return _reshape(x, sizes)
    b = builder()
    return Tile(_ops.reshape(b, x, result=b.type((), x.dtype))) if x.shape else x


@_public
def expand_dims_(x: Tile, axis: Any) -> Tile:
    """With axes of size 1."""
    axes = [axis] if isinstance(axis, int) else list(axis)
    return expand_dims(as_tile(x), [axis_of(one, x.ndim + len(axes)) for one in axes])


expand_dims_.__name__ = "expand_dims"


@_public
def concatenate(tiles: Sequence[Tile], axis: int = 0) -> Tile:
    """Tiles joined along an axis. Sizes need not be powers of two."""
    items = [as_tile(tile) for tile in tiles]
    if not items:
        raise Refused("concatenate: no tiles, expected at least one")
    b = builder()
    at = axis_of(axis, items[0].ndim)
    return Tile(_ops.cat(b, items, result=b.joined(items, at), axis=at))


@_public
def slice_(x: Tile, offsets: Any, shape: Any) -> Tile:
    """The part of x of this shape from `offsets` on, which may be known only when the kernel runs."""
    b, sizes = builder(), static_shape(shape)
    static, dynamic = _mixed(offsets)
    return Tile(_ops.slice(b, as_tile(x), dynamic, result=b.type(sizes, x.dtype), static_offsets=static))


slice_.__name__ = "slice"


@_public
def insert(x: Tile, part: Tile, offsets: Any) -> Tile:
    """x with a part replaced."""
    static, dynamic = _mixed(offsets)
    return Tile(_ops.insert(builder(), as_tile(part, x.dtype), x, dynamic, static_offsets=static))


def _mixed(offsets: Any) -> tuple[list[int], list[Tile]]:
    items = list(offsets) if isinstance(offsets, (tuple, list)) else [offsets]
    dynamic = [as_index(item, "an offset") for item in items if isinstance(item, Tile)]
    return [-(1 << 63) if isinstance(item, Tile) else _constant(item, "an offset") for item in items], dynamic


def item_of(x: Tile, key: Any) -> Tile:
    """x[key], as numpy's basic indexing: integers, slices of step 1, None and `...`."""
    items = list(key) if isinstance(key, tuple) else [key]
    at = next((i for i, item in enumerate(items) if item is Ellipsis), None)
    used = builtins.sum(1 for item in items if item is not None and item is not Ellipsis)
    if used > x.ndim:
        raise Refused(f"{used} indices, expected at most {x.ndim} for {x!r}", ("the tile is made here", x.where))
    rest: list[Any] = [slice(None)] * (x.ndim - used)
    if at is None:
        items += rest
    else:
        items[at:at + 1] = rest
    offsets: list[Any] = []
    sizes: list[int] = []
    dropped, added = [], []
    axis = place = 0
    for item in items:
        if item is None:
            added.append(place)
            place += 1
            continue
        offset, size = _range_of(item, x, axis)
        offsets.append(offset)
        sizes.append(size)
        if isinstance(item, (slice, Span)):
            place += 1
        else:
            dropped.append(axis)
        axis += 1
    part = x if tuple(sizes) == x.shape else slice_(x, offsets, sizes)
    part = _drop_axes(part, dropped) if dropped else part
    return expand_dims(part, added) if added else part


def _range_of(item: Any, x: Tile, axis: int) -> tuple[Any, int]:
    """Offset and size that an index or slice of one axis means."""
    limit = x.shape[axis]
    if isinstance(item, Span):
        return item.start, item.size
    if isinstance(item, slice):
        for part in (item.start, item.stop):
            if isinstance(part, Tile):
                raise Refused("a bound of the slice is known only when the kernel runs; write x[k:k + SIZE], or tessera.slice",
                              ("it is made here", part.where))
        if item.step not in (None, 1):
            raise Refused(f"the slice has step {described(item.step)}, expected 1")
        start, stop, _ = item.indices(limit)
        if stop <= start:
            raise Refused(f"the slice {start}:{stop} of axis {axis}, whose size is {limit}, is empty", ("the tile is made here", x.where))
        return start, stop - start
    if isinstance(item, Tile):
        if item.shape:
            raise Refused(f"a tile at a tile of indices, {item!r}: use tessera.take_along_axis", ("the indices are made here", item.where))
        return as_index(item, "the index"), 1
    place = _constant(item, "the index")
    if not -limit <= place < limit:
        raise Refused(f"index {place} of axis {axis}, expected {-limit} to {limit - 1}", ("the tile is made here", x.where))
    return place % limit, 1


class Span:
    """`k:k + SIZE` in a subscript: a slice of constant size from a place known only when the kernel runs."""

    def __init__(self, start: Any, size: int) -> None:
        self.start, self.size = start, size


@_public
def take_along_axis(x: Tile, indices: Tile, axis: int) -> Tile:
    """Of each place along an axis the element whose number is there, on the chip."""
    b, at = builder(), axis_of(axis, x.ndim)
    if not isinstance(indices, Tile) or not indices.shape or indices.dtype.kind != "int":
        raise Refused(f"the indices are {described(indices)}, expected a tile of integers")
    return Tile(_ops.gather(b, x, [indices], result=b.type(indices.shape, x.dtype), axis=at, bounds="trap"))


# --- products --------------------------------------------------------------------------------------------------------


def _accumulator(a: Tile, b: Tile) -> DType:
    if a.dtype is i8:
        return i32
    return f64 if a.dtype is f64 else f32 if a.dtype.is_float else a.dtype


@_public
def mma(a: Tile, b: Tile, accumulator: Tile, precision: str | None = None) -> Tile:
    """accumulator + a @ b. precision, for f32: ieee, tf32, tf32x3, bf16x3 or bf16x6."""
    for tile in (a, b, accumulator):
        if not isinstance(tile, Tile):
            raise Refused(f"an operand is {described(tile)}, expected a tile")
    result = Tile(_ops.mma(builder(), a, b, accumulator, precision=precision))
    builder().accesses.append(Access(None, (*result.shape[-2:], a.shape[-1]), (a.dtype.name, b.dtype.name, accumulator.dtype.name)))
    return result


@_public
def matmul(a: Tile, b: Tile) -> Tile:
    """a @ b, summed in f32 for narrower floats and in i32 for i8; the result has that type."""
    for tile in (a, b):
        if not isinstance(tile, Tile) or tile.ndim < 2:
            raise Refused(f"an operand is {described(tile)}, expected a tile of rank 2 or 3",
                          *([("it is made here", tile.where)] if isinstance(tile, Tile) else []))
    if a.shape[-1] != b.shape[-2] or a.shape[:-2] != b.shape[:-2]:
        raise Refused(f"shapes {shape_text(a.shape)} and {shape_text(b.shape)} do not fit: the left operand's columns, {a.shape[-1]}, "
                      f"meet the right operand's rows, {b.shape[-2]}", ("the left operand is made here", a.where),
                      ("the right operand is made here", b.where))
    return mma(a, b, zeros((*a.shape[:-1], b.shape[-1]), _accumulator(a, b)))


dot = _public(matmul)
FUNCTIONS["dot"] = matmul


@_public
def mma_scaled(a: Tile, a_scale: Tile, b: Tile, b_scale: Tile, accumulator: Tile, block: int = 32) -> Tile:
    """accumulator + (a times its scales) @ (b times its scales), a scale for each `block` elements along K."""
    return Tile(_ops.mma_scaled(builder(), a, a_scale, b, b_scale, accumulator, block=_constant(block, "block")))


@_public
def mma_sparse(a: Tile, places: Tile, b: Tile, accumulator: Tile) -> Tile:
    """accumulator + a @ b, where a holds 2 of each 4 neighbours along K and places says which."""
    return Tile(_ops.mma_sparse(builder(), a, b, accumulator, places))


# --- reductions, scans, sorting --------------------------------------------------------------------------------------

_SHORT = {"sum": ("arith.addf", "arith.addi"), "prod": ("arith.mulf", "arith.muli"), "max": ("arith.maximumf", "arith.maxsi"),
          "min": ("arith.minimumf", "arith.minsi"), "any": (None, "arith.ori"), "all": (None, "arith.andi")}  # yapf: disable


def _keep(result: Tile, axes: Sequence[int], keepdims: bool) -> Tile:
    return expand_dims(result, axes) if keepdims else result


def _tile(x: Any, what: str = "the operand") -> Tile:
    if not isinstance(x, Tile) or not x.shape:
        raise Refused(f"{what} is {described(x)}, expected a tile", *([("it is made here", x.where)] if isinstance(x, Tile) else []))
    return x


def _reduction(name: str) -> None:

    def function(x: Tile, axis: Any = None, keepdims: bool = False) -> Tile:
        x = _tile(x)
        if name in ("any", "all") and x.dtype is not bool_:
            x = convert(x, bool_)
        operation = _SHORT[name][0 if x.dtype.is_float else 1]
        if x.dtype is bool_ and name in ("sum", "prod"):
            raise Refused(f"{name} of i1: convert to an integer type first", ("the tile is made here", x.where))
        if x.dtype is bool_ and name in ("max", "min"):
            operation = "arith.ori" if name == "max" else "arith.andi"
        axes = axes_of(axis, x.ndim)
        b = builder()
        return _keep(Tile(_ops.reduce(b, [x], results=[b.reduced(x, axes)], operation=operation, axes=axes)[0]), axes, keepdims)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"numpy's {name} along axes: all of them where none is named."
    _public(function)


for _name in _SHORT:
    _reduction(_name)


@_public
def mean(x: Tile, axis: Any = None, keepdims: bool = False) -> Tile:
    """The sum along axes over the number of elements."""
    x = _tile(x)
    count = 1
    for one in axes_of(axis, x.ndim):
        count *= x.shape[one]
    return binary("/", FUNCTIONS["sum"](x, axis, keepdims), count)  # type: ignore[no-any-return]


def _combined(function: Any, elements: Sequence[DType]) -> tuple[Any, str | None]:
    """The region that a Python function of two elements (or of two tuples) means; or the name of the op, where it is one."""
    from .._library import lib
    b = builder()
    around = b.block
    types = [b.type((), dtype) for dtype in (*elements, *elements)]
    holder, (block, ) = b.holder([types])
    b.block = block
    try:
        values = [Tile(value) for value in b.arguments(block)]
        count = len(elements)
        given = values if count == 1 else [tuple(values[:count]), tuple(values[count:])]
        made = function(*given)
        results = [as_tile(one, dtype) for one, dtype in zip(made if isinstance(made, tuple) else (made, ), elements)]
        for one, dtype in zip(results, elements):
            if one.dtype is not dtype or one.shape:
                raise Refused(f"the function gives {one!r}, expected a scalar {dtype}", ("it is made here", one.where))
        if len(results) != count or (isinstance(made, tuple) and len(made) != count):
            raise Refused(f"the function gives {len(made) if isinstance(made, tuple) else 1} values, expected {count}")
        name = _only_op(lib, block, values, results) if count == 1 else None
        if name:
            b.block = around
            b.drop(holder)
            return None, name
        b.create("tile.yield", [results], [], {}, [])
    finally:
        b.block = around
    return b.take(holder)[0], None


def _only_op(lib: Any, block: Any, arguments: Sequence[Tile], results: Sequence[Tile]) -> str | None:
    """The op's name where the block is one op of arith on the two arguments."""
    op = lib.mlirBlockGetFirstOperation(block)
    if not op or lib.mlirOperationGetNextInBlock(op) or lib.mlirValueIsABlockArgument(results[0].raw):
        return None
    name = str(lib.mlirIdentifierStr(lib.mlirOperationGetName(op)))
    if lib.mlirOperationGetNumOperands(op) != 2 or name not in _KNOWN_NEUTRAL:
        return None
    given = [lib.mlirOperationGetOperand(op, i).ptr for i in range(2)]
    return name if given == [argument.raw.ptr for argument in arguments] else None


_KNOWN_NEUTRAL = {name for pair in _SHORT.values() for name in pair if name} | {"arith.xori"}


def _neutral(values: Any, elements: Sequence[DType]) -> Any:
    from .builder import number_text
    items = values if isinstance(values, tuple) else (values, )
    if len(items) != len(elements) or any(isinstance(item, Tile) or item is None for item in items):
        raise Refused(f"neutral is {described(values)}, expected {len(elements)} constant{'s' * (len(elements) > 1)} that combine "
                      "without effect")
    texts = []
    for item, dtype in zip(items, elements):
        text = number_text(dtype, item)
        texts.append(text if text in ("true", "false") else f"{text} : {dtype.name}")
    return builder().attribute(f"[{', '.join(texts)}]")


@_public
def reduce(x: Any, combine: Any, axis: Any = None, neutral: Any = None, keepdims: bool = False) -> Any:
    """Combines elements along axes by a function of two of them: tessera.reduce(x, lambda a, b: a * b, axis=0, neutral=1.0).

    x: a tile or a tuple of them; then the function takes two tuples and gives one. It must be associative; the order is any.
    neutral: what combines without effect; not needed for a single +, *, maximum, minimum, &, | or ^."""
    inputs = [_tile(one) for one in (x if isinstance(x, tuple) else (x, ))]
    b, axes, elements = builder(), axes_of(axis, inputs[0].ndim), [one.dtype for one in inputs]
    region, name = _combined(combine, elements)
    made = _ops.reduce(b, inputs, results=[b.reduced(one, axes) for one in inputs], operation=name, axes=axes,
                       neutral=None if name else _neutral(neutral, elements), body=region)
    results = tuple(_keep(Tile(one), axes, keepdims) for one in made)
    return results if isinstance(x, tuple) else results[0]


@_public
def scan(x: Any, combine: Any, axis: int, neutral: Any = None, reverse: bool = False, exclusive: bool = False) -> Any:
    """Combines the elements up to each place along an axis, by a function as in reduce."""
    inputs = [_tile(one) for one in (x if isinstance(x, tuple) else (x, ))]
    elements = [one.dtype for one in inputs]
    region, name = _combined(combine, elements)
    made = _ops.scan(builder(), inputs, [], operation=name, axis=axis_of(axis, inputs[0].ndim), reverse=builtins.bool(reverse),
                     exclusive=builtins.bool(exclusive), neutral=None if name else _neutral(neutral, elements), body=region)
    results = tuple(map(Tile, made))
    return results if isinstance(x, tuple) else results[0]


def _scan(name: str, short: str) -> None:

    def function(x: Tile, axis: int, reverse: bool = False, exclusive: bool = False) -> Tile:
        x = _tile(x)
        operation = _SHORT[short][0 if x.dtype.is_float else 1]
        return Tile(_ops.scan(builder(), [x], [], operation=operation, axis=axis_of(axis, x.ndim), reverse=builtins.bool(reverse),
                              exclusive=builtins.bool(exclusive))[0])

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The {short} of the elements up to each place along an axis."
    _public(function)


for _name, _other in {"cumsum": "sum", "cumprod": "prod", "cummax": "max", "cummin": "min"}.items():
    _scan(_name, _other)


def _extreme(name: str, operator: str) -> None:

    def function(x: Tile, axis: Any = None, keepdims: bool = False) -> Tile:
        x = _tile(x)
        if axis is None:
            x, axis = _reshape(x, -1), 0
        at = axis_of(axis, x.ndim)
        b = builder()
        numbers = Tile(_ops.iota(b, result=b.type(x.shape, i32), dim=at))

        def better(a: tuple[Tile, Tile], c: tuple[Tile, Tile]) -> tuple[Tile, Tile]:
            first = compare("<", a[1], c[1])
            wins = binary("|", compare(operator, a[0], c[0]), binary("&", compare("==", a[0], c[0]), first))
            if x.dtype.is_float:
                nan, other = compare("!=", a[0], a[0]), compare("!=", c[0], c[0])
                wins = select(other, binary("&", nan, first), binary("|", nan, wins))
            return select(wins, a[0], c[0]), select(wins, a[1], c[1])

        worst: Any = float("-inf") if operator == ">" else float("inf")
        if not x.dtype.is_float:
            low = -(1 << x.dtype.bits - 1) if x.dtype is not bool_ else 0
            worst = low if operator == ">" else (-low - 1 if x.dtype is not bool_ else 1)
        elif x.dtype.name not in _INFINITY:
            return function(convert(x, f32), axis, keepdims)
        _, found = reduce((x, numbers), better, at, (worst, (1 << 31) - 1))
        return _keep(found, [at], keepdims)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The number of the first {name[3:]}imum along an axis, as i32; nan counts as such, as in numpy."
    _public(function)


_extreme("argmax", ">")
_extreme("argmin", "<")


@_public
def sort(x: Any, axis: int = -1, descending: bool = False) -> Any:
    """Sorted along an axis, stably. Of a tuple of tiles, the first is the key and the others are carried along."""
    inputs = [_tile(one) for one in (x if isinstance(x, tuple) else (x, ))]
    made = _ops.sort(builder(), inputs, axis=axis_of(axis, inputs[0].ndim), descending=builtins.bool(descending))
    return tuple(map(Tile, made)) if isinstance(x, tuple) else Tile(made[0])


@_public
def argsort(x: Tile, axis: int = -1, descending: bool = False) -> Tile:
    """The numbers, as i32, of the elements in their sorted order."""
    b, at = builder(), axis_of(axis, _tile(x).ndim)
    numbers = Tile(_ops.iota(b, result=b.type(x.shape, i32), dim=at))
    return sort((x, numbers), at, descending)[1]  # type: ignore[no-any-return]


@_public
def topk(x: Tile, k: int, axis: int = -1, largest: bool = True) -> tuple[Tile, Tile]:
    """The first k of the sorted order along an axis, and their numbers as i32."""
    b, at, count = builder(), axis_of(axis, _tile(x).ndim), _constant(k, "k")
    numbers = Tile(_ops.iota(b, result=b.type(x.shape, i32), dim=at))
    if not 1 <= count <= x.shape[at]:
        raise Refused(f"k is {count}, expected 1 to {x.shape[at]}, the size of axis {at}", ("the tile is made here", x.where))
    shape = [count if i == at else size for i, size in enumerate(x.shape)]
    made = _ops.topk(b, [x, numbers], results=[b.type(shape, x.dtype), b.type(shape, i32)], axis=at,
                     descending=builtins.bool(largest))
    return Tile(made[0]), Tile(made[1])


@_public
def histogram(x: Tile, bins: int, mask: Any = None) -> Tile:
    """How often 0 to bins - 1 occur in the whole tile, as i32; other numbers are dropped."""
    b, x = builder(), _tile(x)
    known = _mask(mask, x.shape)
    known = _reshape(known, -1) if known is not None else None
    return Tile(_ops.histogram(b, _reshape(x, -1), known, result=b.type((_constant(bins, "bins"), ), i32)))


# --- element by element ----------------------------------------------------------------------------------------------

_FLOAT = {"exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p",
          "sqrt": "sqrt", "rsqrt": "rsqrt", "cbrt": "cbrt", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin",
          "arccos": "acos", "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh",
          "arccosh": "acosh", "arctanh": "atanh", "erf": "erf", "floor": "floor", "ceil": "ceil", "trunc": "trunc",
          "rint": "roundeven", "isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite"}  # yapf: disable


def _elementwise(name: str, op: str) -> None:
    make = getattr(_upstream, f"math_{op}")

    def function(x: Any) -> Tile:
        x = as_tile(x, f32)
        if not x.dtype.is_float:
            raise Refused(f"{name} of {x!r}: expected a float type; convert it with .astype(tessera.f32)", ("it is made here", x.where))
        return Tile(make(builder(), x))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"numpy's {name} of each element."
    _public(function)


for _name, _op in _FLOAT.items():
    _elementwise(_name, _op)


@_public
def abs_(x: Any) -> Tile:
    """The absolute value of each element."""
    x = as_tile(x)
    if x.dtype is bool_:
        raise Refused(f"abs of {x!r}: convert to another type first", ("it is made here", x.where))
    return Tile((_upstream.math_absf if x.dtype.is_float else _upstream.math_absi)(builder(), x))


abs_.__name__ = "abs"


@_public
def sigmoid(x: Any) -> Tile:
    """1 / (1 + exp(-x))."""
    x = as_tile(x, f32)
    return binary("/", 1, binary("+", 1, FUNCTIONS["exp"](-x)))  # type: ignore[no-any-return]


def _pairwise(name: str, of_floats: Any, of_integers: Any, of_bools: Any, meaning: str) -> None:

    def function(a: Any, b: Any) -> Tile:
        x, y = together([a, b], name)
        make = of_floats if x.dtype.is_float else of_bools if x.dtype is bool_ else of_integers
        if make is None:
            raise Refused(f"{name} of {x.dtype} is not defined", ("an operand is made here", x.where))
        return Tile(make(builder(), x, y))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = meaning
    _public(function)


_pairwise("maximum", _upstream.arith_maximumf, _upstream.arith_maxsi, _upstream.arith_ori, "The larger; nan where one is nan.")
_pairwise("minimum", _upstream.arith_minimumf, _upstream.arith_minsi, _upstream.arith_andi, "The smaller; nan where one is nan.")
_pairwise("fmax", _upstream.arith_maxnumf, _upstream.arith_maxsi, _upstream.arith_ori, "The larger; a nan is left out.")
_pairwise("fmin", _upstream.arith_minnumf, _upstream.arith_minsi, _upstream.arith_andi, "The smaller; a nan is left out.")
_pairwise("arctan2", _upstream.math_atan2, None, None, "The angle of (b, a).")
_pairwise("copysign", _upstream.math_copysign, None, None, "a with the sign of b.")
_pairwise("fmod", _upstream.arith_remf, _upstream.arith_remsi, None, "The remainder with the sign of a.")


@_public
def power(a: Any, b: Any) -> Tile:
    """a ** b."""
    return binary("**", a, b)  # type: ignore[no-any-return]


@_public
def fma(a: Any, b: Any, c: Any) -> Tile:
    """a * b + c, rounded once."""
    x, y, z = together([a, b, c], "fma")
    if not x.dtype.is_float:
        raise Refused(f"fma of {x.dtype} is not defined: expected a float type", ("an operand is made here", x.where))
    return Tile(_upstream.math_fma(builder(), x, y, z))


@_public
def where(condition: Any, a: Any, b: Any) -> Tile:
    """a where the condition holds, else b."""
    return select(condition, a, b)


@_public
def clip(x: Any, low: Any, high: Any) -> Tile:
    """x, at least low and at most high."""
    return FUNCTIONS["minimum"](FUNCTIONS["maximum"](x, low), high)  # type: ignore[no-any-return]


@_public
def assume(x: Tile, divisible: int | None = None, range: tuple[int, int] | None = None) -> Tile:
    """States what the caller guarantees of an integer; the interpreter checks it."""
    return Tile(_ops.assume(builder(), x, divisible=divisible, range=range))



for _method in ("sum", "prod", "max", "min", "any", "all", "mean", "argmax", "argmin", "cumsum", "cumprod", "squeeze"):
    setattr(Tile, _method, FUNCTIONS[_method])
setattr(Tile, "__getitem__", item_of)
