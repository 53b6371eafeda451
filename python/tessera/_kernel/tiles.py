"""What a kernel computes with while it is walked: tiles (scalars are tiles of rank 0) and the arrays that it was given.

Operators have numpy's meaning: sizes of 1 repeat, missing axes come first. A Python number takes the type of the other
operand; two tiles of different types are refused.
"""
from __future__ import annotations

import threading
from typing import Any, Sequence

from . import _ops, _upstream
from .builder import Access, Builder, DType, Value, bool_, f32, index
from .errors import Refused, Where


class _State(threading.local):
    builder: Builder | None = None


state = _State()


def builder() -> Builder:
    if state.builder is None:
        raise Refused("is part of tessera's language for kernels: call it within a @tessera.kernel")
    return state.builder


def shape_text(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) if shape else "scalar"


class Tile(Value):
    """A tile of static shape, or a scalar, whose shape is ()."""
    __slots__ = ("shape", "dtype", "where", "inner")
    __array_ufunc__ = None

    def __init__(self, value: Value, inner: "tuple[Tile, tuple[int, ...]] | None" = None) -> None:
        super().__init__(value.raw, value.type)
        b = builder()
        self.shape, self.dtype = b.describe(value.type)
        self.where: Where | None = b.where
        self.inner = inner  # another tile and the axes of size 1 that this one has besides

    def __repr__(self) -> str:
        return f"{shape_text(self.shape)}x{self.dtype}" if self.shape else f"scalar {self.dtype}"

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        count = 1
        for size in self.shape:
            count *= size
        return count

    @property
    def T(self) -> "Tile":
        return transpose(self)

    def astype(self, dtype: DType) -> "Tile":
        return convert(self, dtype)

    def reshape(self, *shape: Any) -> "Tile":
        return reshape(self, shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape)

    def transpose(self, *axes: Any) -> "Tile":
        return transpose(self, axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes or None)

    def __bool__(self) -> bool:
        raise Refused(f"{self!r} is known only when the kernel runs, where a constant is needed", ("it is made here", self.where))

    __index__ = __int__ = __float__ = __bool__

    def __hash__(self) -> int:
        return id(self)


def as_tile(value: Any, dtype: DType | None = None, what: str = "the operand") -> Tile:
    """A tile as it is; a Python number as a scalar of `dtype`, else of what Python's type is taken for."""
    if isinstance(value, Tile):
        return value
    if isinstance(value, (bool, int, float)):
        dtype = dtype or (bool_ if isinstance(value, bool) else index if isinstance(value, int) else f32)
        return Tile(builder().constant((), dtype, value))
    raise Refused(f"{what} is {described(value)}, expected a tile or a number")


def described(value: Any) -> str:
    if isinstance(value, (Tile, Array, Sparse)):
        return repr(value)
    if isinstance(value, (bool, int, float, str, type(None), DType)):
        return repr(value)
    return f"a {type(value).__name__}"


# --- shapes -------------------------------------------------------------------------------------------------------


def static_shape(shape: Any, what: str = "the shape") -> tuple[int, ...]:
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape, )
    for size in sizes:
        if isinstance(size, Tile):
            raise Refused(f"{what} has the size {size!r}, which is known only when the kernel runs; tiles have constant sizes: "
                          "make it a tessera.Constant", ("it is made here", size.where))
        if isinstance(size, bool) or not isinstance(size, int):
            raise Refused(f"{what} has the size {described(size)}, expected an integer")
        if size < 1:
            raise Refused(f"{what} has the size {size}, expected at least 1")
    return sizes


def axis_of(axis: Any, rank: int) -> int:
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise Refused(f"axis is {described(axis)}, expected an integer")
    if not -rank <= axis < rank:
        raise Refused(f"axis is {axis}, expected {-rank} to {rank - 1} for a tile of rank {rank}" if rank else
                      "a scalar has no axes")
    return axis % rank


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    axes = [axis_of(one, rank) for one in (axis if isinstance(axis, (tuple, list)) else (axis, ))]
    if len(set(axes)) != len(axes):
        raise Refused(f"axis is {tuple(axes)}, expected each axis once")
    return tuple(sorted(axes))


def reshape(x: Tile, shape: Any) -> Tile:
    sizes = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    if not any(isinstance(size, Tile) for size in sizes) and sizes.count(-1) == 1:
        rest = 1
        for size in sizes:
            rest *= size if size != -1 else 1
        if rest and x.size % rest == 0:
            sizes[sizes.index(-1)] = x.size // rest
    wanted = static_shape(sizes)
    if wanted == x.shape:
        return x
    b = builder()
    return Tile(_ops.reshape(b, x, result=b.type(wanted, x.dtype)))


def expand_dims(x: Tile, axes: Sequence[int]) -> Tile:
    """Axes of size 1, at these places of the result."""
    sizes = list(x.shape)
    for axis in sorted(axes):
        sizes.insert(axis, 1)
    result = reshape(x, sizes)
    if axes:
        result = Tile(Value(result.raw, result.type), (x, tuple(sorted(axes))))
    return result


def transpose(x: Tile, axes: Any = None) -> Tile:
    if x.ndim < 2 and axes is None:
        return x
    order = tuple(range(x.ndim))[::-1] if axes is None else tuple(axis_of(axis, x.ndim) for axis in axes)
    b = builder()
    return Tile(_ops.transpose(b, x, result=b.transposed(x, order), permutation=order))


def broadcast_shape(shapes: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
    rank = max(map(len, shapes), default=0)
    result = []
    for i in range(rank):
        sizes = {shape[i - rank + len(shape)] for shape in shapes if i - rank + len(shape) >= 0} - {1}
        if len(sizes) > 1:
            return None
        result.append(sizes.pop() if sizes else 1)
    return tuple(result)


def broadcast_to(x: Tile, shape: Sequence[int]) -> Tile:
    """As numpy's: axes of size 1 repeat, missing ones come first."""
    shape = tuple(shape)
    if x.shape == shape:
        return x
    b, missing = builder(), len(shape) - x.ndim
    if missing < 0 or broadcast_shape([x.shape, shape]) != shape:
        raise Refused(f"a tile of shape {shape_text(x.shape)} does not repeat to {shape_text(shape)}", ("it is made here", x.where))
    grown = [i for i, size in enumerate(x.shape) if size == 1 and shape[missing + i] != 1]
    if x.inner and tuple(grown) == x.inner[1]:
        source = x.inner[0]
    else:
        source = reshape(x, [size for i, size in enumerate(x.shape) if i not in grown]) if grown and len(grown) < x.ndim else x
        if grown and len(grown) == x.ndim:
            source = Tile(_ops.reshape(b, x, result=b.type((), x.dtype)))
    axes = [*range(missing), *(missing + i for i in grown)]
    return Tile(_ops.broadcast(b, source, result=b.type(shape, x.dtype), axes=axes if source.shape else None))


def together(operands: Sequence[Any], what: str) -> list[Tile]:
    """The operands as tiles of one type and shape."""
    tiles = [value for value in operands if isinstance(value, Tile)]
    dtype = tiles[0].dtype if tiles else None
    if dtype is None:
        kinds = [type(value) for value in operands]
        dtype = f32 if float in kinds else None
    for tile in tiles:
        if tile.dtype is not dtype:
            raise Refused(f"{what}: the operands are of types {tiles[0].dtype} and {tile.dtype}; convert one with "
                          f".astype(tessera.{'bool_' if dtype is bool_ else str(dtype).lower()})", ("one is made here", tiles[0].where),
                          ("the other is made here", tile.where))
    made = [as_tile(value, dtype, what) for value in operands]
    shape = broadcast_shape([tile.shape for tile in made])
    if shape is None:
        shapes = " and ".join(shape_text(tile.shape) for tile in made)
        raise Refused(f"{what}: shapes {shapes} do not fit; sizes must be equal or 1, counted from the last axis",
                      *(("one is made here", tile.where) for tile in made if tile.shape))
    return [broadcast_to(tile, shape) for tile in made]


# --- types ----------------------------------------------------------------------------------------------------------


def convert(x: Any, dtype: DType) -> Tile:
    """To another type of elements: floats to integers towards zero, anything to bool by != 0."""
    if not isinstance(dtype, DType):
        raise Refused(f"a type is {described(dtype)}, expected one such as tessera.f32")
    if not isinstance(x, Tile):
        if isinstance(x, float) and dtype.kind == "int" and x == x and abs(x) != float("inf"):
            x = int(x)
        return as_tile(bool(x) if dtype is bool_ and isinstance(x, (int, float)) else x, dtype)
    if x.dtype is dtype:
        return x
    b, source = builder(), x.dtype
    wanted = b.type(x.shape, dtype)
    if dtype is bool_:
        return compare("!=", x, 0)
    if source.kind == "float" and dtype.kind == "float":
        if source.bits == dtype.bits:
            return convert(convert(x, f32), dtype)
        make = _upstream.arith_extf if source.bits < dtype.bits else _upstream.arith_truncf
        return Tile(make(b, x, out=wanted))
    if "index" in (source.name, dtype.name) and "float" not in (source.kind, dtype.kind):
        return Tile((_upstream.arith_index_castui if source is bool_ else _upstream.arith_index_cast)(b, x, out=wanted))
    from .builder import i64
    if source is index:
        return convert(convert(x, i64), dtype)
    if dtype is index:
        return convert(convert(x, i64), index)
    if source.kind == "float":
        return Tile(_upstream.arith_fptosi(b, x, out=wanted))
    if dtype.kind == "float":
        return Tile((_upstream.arith_uitofp if source is bool_ else _upstream.arith_sitofp)(b, x, out=wanted))
    if source.bits > dtype.bits:
        return Tile(_upstream.arith_trunci(b, x, out=wanted))
    return Tile((_upstream.arith_extui if source is bool_ else _upstream.arith_extsi)(b, x, out=wanted))


def as_index(value: Any, what: str) -> Tile:
    """A scalar that counts tiles or elements."""
    if isinstance(value, bool) or isinstance(value, float) or not isinstance(value, (int, Tile)):
        raise Refused(f"{what} is {described(value)}, expected an integer")
    if isinstance(value, Tile) and (value.shape or value.dtype.kind != "int"):
        raise Refused(f"{what} is {value!r}, expected an integer scalar", ("it is made here", value.where))
    return convert(as_tile(value, index), index)


# --- operators --------------------------------------------------------------------------------------------------------

_BINARY = {  # of floats, of integers, of bools
    "+": (_upstream.arith_addf, _upstream.arith_addi, None),
    "-": (_upstream.arith_subf, _upstream.arith_subi, None),
    "*": (_upstream.arith_mulf, _upstream.arith_muli, None),
    "/": (_upstream.arith_divf, None, None),
    "&": (None, _upstream.arith_andi, _upstream.arith_andi),
    "|": (None, _upstream.arith_ori, _upstream.arith_ori),
    "^": (None, _upstream.arith_xori, _upstream.arith_xori),
    "<<": (None, _upstream.arith_shli, None),
    ">>": (None, _upstream.arith_shrsi, None),
}  # yapf: disable
_ADVICE = {
    "/": "write // for the floor, or convert to a float type first",
    "&": "bits belong to integers and bools", "|": "bits belong to integers and bools", "^": "bits belong to integers and bools",
}  # yapf: disable
_COMPARE = {
    "==": ("oeq", "eq"), "!=": ("une", "ne"), "<": ("olt", "slt"), "<=": ("ole", "sle"), ">": ("ogt", "sgt"), ">=": ("oge", "sge")
}  # yapf: disable


def _kind(tile: Tile) -> int:
    return ("float", "int", "bool").index(tile.dtype.kind)


def _nonzero_divisor(value: Any, what: str) -> None:
    if not isinstance(value, Tile) and value == 0:
        raise Refused(f"{what}: the divisor is 0")


def binary(operator: str, a: Any, b: Any) -> Any:
    if operator == "@":
        from .language import matmul
        return matmul(a, b)
    if operator == "**":
        return power(a, b)
    x, y = together([a, b], operator)
    if operator in ("//", "%"):
        return _floor_division(operator, x, y, b)
    make = _BINARY[operator][_kind(x)]
    if make is None:
        advice = _ADVICE.get(operator, "convert to another type first")
        raise Refused(f"{operator} of {x.dtype} is not defined: {advice}", ("an operand is made here", x.where))
    return Tile(make(builder(), x, y))


def _floor_division(operator: str, x: Tile, y: Tile, given: Any) -> Tile:
    """Python's: the quotient is rounded down, the remainder has the divisor's sign."""
    b = builder()
    if x.dtype is bool_:
        raise Refused(f"{operator} of i1 is not defined: convert to another type first")
    if x.dtype.kind == "int":
        _nonzero_divisor(given, operator)
        quotient = Tile(_upstream.arith_floordivsi(b, x, y))
        return quotient if operator == "//" else x - quotient * y  # type: ignore[operator]
    remainder = Tile(_upstream.arith_remf(b, x, y))
    zero = as_tile(0, x.dtype)
    is_zero = compare("==", remainder, zero)
    other_sign = binary("^", compare("<", remainder, zero), compare("<", y, zero))
    modulo = select(is_zero, Tile(_upstream.math_copysign(b, remainder, y)),
                    select(other_sign, binary("+", remainder, y), remainder))
    if operator == "%":
        return modulo
    return Tile(_upstream.math_roundeven(b, binary("/", binary("-", x, modulo), y)))


def power(a: Any, b: Any) -> Tile:
    if isinstance(a, Tile) and isinstance(b, int) and not isinstance(b, bool) and (a.dtype.is_float or b >= 0):
        if abs(b) <= 8 and a.dtype is not bool_:
            if b == 0:
                return broadcast_to(as_tile(1, a.dtype), a.shape)
            result, square, left = None, a, abs(b)
            while left:
                if left & 1:
                    result = square if result is None else binary("*", result, square)
                left >>= 1
                square = binary("*", square, square) if left else square
            return result if b > 0 else binary("/", 1, result)  # type: ignore[return-value]
    x, y = together([a, b], "**")
    if not x.dtype.is_float:
        raise Refused(f"** of {x.dtype} needs a constant exponent of 0 to 8; convert to a float type for others")
    return Tile(_upstream.math_powf(builder(), x, y))


def compare(operator: str, a: Any, b: Any) -> Tile:
    x, y = together([a, b], operator)
    if x.dtype.is_float:
        return Tile(_upstream.arith_cmpf(builder(), x, y, predicate=_COMPARE[operator][0]))
    predicate = _COMPARE[operator][1]
    if x.dtype is bool_:
        predicate = predicate.replace("s", "u", 1) if predicate[0] == "s" else predicate
    return Tile(_upstream.arith_cmpi(builder(), x, y, predicate=predicate))


def unary(operator: str, x: Tile) -> Tile:
    b = builder()
    if operator == "+":
        return x
    if operator == "-" and x.dtype.is_float:
        return Tile(_upstream.arith_negf(b, x))
    if operator == "-" and x.dtype.kind == "int":
        return binary("-", 0, x)  # type: ignore[no-any-return]
    if operator == "~" and x.dtype.kind != "float":
        return binary("^", x, True if x.dtype is bool_ else -1)  # type: ignore[no-any-return]
    raise Refused(f"{operator} of {x.dtype} is not defined", ("the operand is made here", x.where))


def select(condition: Any, a: Any, b: Any) -> Tile:
    """As numpy's where."""
    if not isinstance(condition, Tile):
        condition = as_tile(bool(condition))
    if condition.dtype is not bool_:
        raise Refused(f"the condition is {condition!r}, expected elements of type i1, as a comparison gives",
                      ("it is made here", condition.where))
    x, y = together([a, b], "where")
    shape = broadcast_shape([condition.shape, x.shape])
    if shape is None:
        raise Refused(f"where: shapes {shape_text(condition.shape)} and {shape_text(x.shape)} do not fit",
                      ("the condition is made here", condition.where))
    x, y, condition = (broadcast_to(tile, shape) for tile in (x, y, condition))
    return Tile(_upstream.arith_select(builder(), condition, x, y))


def _operator(name: str) -> tuple[Any, Any]:
    return (lambda a, b: binary(name, a, b)), (lambda a, b: binary(name, b, a))


for _name, _dunder in {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "&": "and",
                       "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift", "@": "matmul"}.items():
    _forward, _backward = _operator(_name)
    setattr(Tile, f"__{_dunder}__", _forward)
    setattr(Tile, f"__r{_dunder}__", _backward)
for _name, _dunder in {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}.items():
    setattr(Tile, f"__{_dunder}__", (lambda name: lambda a, b: compare(name, a, b))(_name))
for _name, _dunder in {"-": "neg", "+": "pos", "~": "invert"}.items():
    setattr(Tile, f"__{_dunder}__", (lambda name: lambda a: unary(name, a))(_name))


# --- arrays -----------------------------------------------------------------------------------------------------------


class Parameter:
    """An array that the kernel was given, as the kernel sees it: its memref, and whether it is written."""

    def __init__(self, name: str, value: Value, dtype: DType, sizes: Sequence[int | None], where: Where | None) -> None:
        self.name, self.value, self.dtype, self.sizes, self.where = name, value, dtype, tuple(sizes), where
        self.is_written = False
        self.dims: dict[int, Tile] = {}


class Sparse:
    """A parameter that is a sparse matrix: its arrays, and its sizes."""

    def __init__(self, name: str, form: str, arrays: dict[str, "Array"], shape: tuple[Any, ...]) -> None:
        self._name, self._form, self._arrays, self._shape = name, form, arrays, shape

    def __repr__(self) -> str:
        return f"sparse matrix {self._name} in format {self._form}"

    @property
    def shape(self) -> tuple[Any, ...]:
        return self._shape

    @property
    def positions(self) -> "Array":
        if "positions" not in self._arrays:
            raise Refused(f"{self!r} has no positions, but the coordinates of each entry")
        return self._arrays["positions"]

    @property
    def coordinates(self) -> "Array":
        return self._arrays["coordinates"]

    @property
    def values(self) -> "Array":
        return self._arrays["values"]

    @property
    def dtype(self) -> DType:
        return self.values.dtype


class Array:
    """A parameter, maybe with some dimensions fixed (`q[b, h]`) and the others in another order (`k.T`)."""

    def __init__(self, parameter: Parameter, fixed: dict[int, Tile] | None = None, order: Sequence[int] | None = None) -> None:
        self.parameter, self.fixed = parameter, fixed or {}
        kept = [dim for dim in range(len(parameter.sizes)) if dim not in self.fixed]
        self.order = tuple(order) if order is not None else tuple(kept)

    def __repr__(self) -> str:
        sizes = "x".join("?" if self.parameter.sizes[dim] is None else str(self.parameter.sizes[dim]) for dim in self.order)
        return f"array {self.parameter.name} of {sizes}{'x' if sizes else ''}{self.dtype}"

    @property
    def dtype(self) -> DType:
        return self.parameter.dtype

    @property
    def ndim(self) -> int:
        return len(self.order)

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(self._size(dim) for dim in self.order)

    @property
    def T(self) -> "Array":
        return Array(self.parameter, self.fixed, self.order[::-1])

    def _size(self, dim: int) -> Any:
        size = self.parameter.sizes[dim]
        if size is not None:
            return size
        b = builder()
        return Tile(_upstream.memref_dim(b, self.parameter.value, b.constant((), index, dim)))

    def view(self, shape: Sequence[int], pad: str, step: Any = None) -> Tile | Value:
        """!tile.view: tiles of this shape."""
        b = builder()
        if len(shape) != self.ndim:
            raise Refused(f"a tile of shape {shape_text(shape)} has rank {len(shape)}, expected {self.ndim}, the rank of {self!r}",
                          ("the array is declared here", self.parameter.where))
        rank = len(self.parameter.sizes)
        kept = [dim for dim in range(rank) if dim not in self.fixed]
        order = [kept.index(dim) for dim in self.order]
        text = f"!tile.view<{'x'.join([*map(str, shape), self.dtype.name])}"
        if step is not None:
            steps = static_shape(step, "step")
            if len(steps) != len(shape):
                raise Refused(f"step is {steps}, expected one for each of the {len(shape)} axes")
            text += f", steps = [{', '.join(map(str, steps))}]" if steps != tuple(shape) else ""
        if order != sorted(order):
            text += f", order = [{', '.join(map(str, order))}]"
        text += f", pad = {pad}>" if pad != "zero" else ">"
        fixed = sorted(self.fixed)
        return _ops.view(b, self.parameter.value, [self.fixed[dim] for dim in fixed], result=b.parse_type(text), fixed=fixed)

    def indices(self, given: Any, what: str = "the index") -> list[Tile]:
        items = tuple(given) if isinstance(given, (tuple, list)) else (given, )
        if len(items) != self.ndim:
            raise Refused(f"{what} has {len(items)} entries, expected {self.ndim}, one for each axis of {self!r}",
                          ("the array is declared here", self.parameter.where))
        return [as_index(item, what) for item in items]

    def note(self, index: Any, shape: Sequence[int], is_store: bool = False) -> None:
        """For whoever asks what the kernel reads and writes."""
        items = tuple(index) if isinstance(index, (tuple, list)) else (index, )
        fixed = tuple(isinstance(item, int) for item in items)
        builder().accesses.append(Access(self.parameter.name, tuple(shape), (self.dtype.name, ), self.order, fixed, is_store))

    def item(self, key: Any) -> Any:
        """x[i, j]: an element, or an array of fewer dimensions where entries are missing or `:`."""
        items = list(key) if isinstance(key, tuple) else [key]
        at = next((i for i, item in enumerate(items) if item is Ellipsis), None)
        if at is not None:
            items[at:at + 1] = [slice(None)] * (self.ndim - len(items) + 1)
        if len(items) > self.ndim:
            raise Refused(f"{len(items)} indices, expected at most {self.ndim} of {self!r}",
                          ("the array is declared here", self.parameter.where))
        items += [slice(None)] * (self.ndim - len(items))
        fixed, order = dict(self.fixed), []
        for dim, item in zip(self.order, items):
            if isinstance(item, slice):
                if item != slice(None):
                    raise Refused(f"a slice of {self!r}: arrays are read by tessera.load, which says which tile and its shape")
                order.append(dim)
            elif isinstance(item, Tile) and item.shape:
                raise Refused(f"{self!r} at a tile of indices: use tessera.gather", ("the indices are made here", item.where))
            else:
                fixed[dim] = as_index(item, "the index")
        return Array(self.parameter, fixed, order)

    def element(self) -> Tile:
        """What is there, where every dimension is fixed."""
        places = [self.fixed[dim] for dim in range(len(self.parameter.sizes))]
        return Tile(_upstream.memref_load(builder(), self.parameter.value, places))

    def write(self) -> None:
        self.parameter.is_written = True
