"""Draws a program from a seed, operation by operation, and computes beside each what docs/numerics.md lets it be.

A program is a private function (and perhaps a kernel) on small arrays. Because the values are known while the program is drawn,
an operation that would be an error or poison on them is not written. An operation whose answers are too open is not, either.
"""
import random

import numpy as np

import domain
from domain import FLOATS, INTEGERS, Undefined, Value, is_float

SIZES = [0, 1, 1, 2, 3, 3, 4, 5, 7, 8, 13, 16, 17, 31, 64]
TILE_SIZES = [1, 1, 2, 2, 4, 8, 16, 32, 3, 5, 7, 12]
PADS = {"zero": 0.0, "neg_zero": -0.0, "nan": np.nan, "inf": np.inf, "neg_inf": -np.inf}
MOST = 600  # elements of one array


class Array:
    """A name in the program, its type, and what it may hold; in a kernel the value has an axis of instances in front."""

    def __init__(self, name, element, shape, value, dynamic=None):
        self.name, self.element, self.shape, self.value = name, element, tuple(shape), value
        self.dynamic = tuple(dynamic or (False,) * len(self.shape))

    @property
    def type(self):
        sizes = "".join(("?" if d else str(s)) + "x" for s, d in zip(self.shape, self.dynamic))
        return f"tensor<{sizes}{self.element}>"


def type_of(shape, element, kind="tensor"):
    return f"{kind}<{''.join(f'{s}x' for s in shape)}{element}>"


def literal(value, element):
    """One element as MLIR writes it, to the bit."""
    if element == "i1":
        return "true" if value else "false"
    if not is_float(element):
        return str(int(value))
    bits = int(np.ravel(domain.encode(np.array([value]), element))[0])
    return f"0x{bits:0{domain.width(element) // 4}X}"


def dense(array, element):
    if array.ndim == 0:
        return literal(array[()], element)
    return "[" + ", ".join(dense(a, element) for a in array) + "]"


def constant_text(array, element):
    if array.size == 0:
        inner = ""
    elif array.size > 1 and len({literal(v, element) for v in array.ravel()}) == 1:
        inner = literal(array.ravel()[0], element)
    else:
        inner = dense(array, element)
    return f"dense<{inner}> : {type_of(array.shape, element)}"


def draw_data(rng, element, shape):
    """Numbers of a type: plain ones, small whole ones, or with every special value among them."""
    n = int(np.prod(shape, dtype=int))
    seeded = np.random.default_rng(rng.getrandbits(32))
    style = rng.choice(["plain", "plain", "whole", "special", "special", "zeros"])
    if is_float(element):
        if style == "whole":
            data = seeded.integers(-4, 5, n).astype(float)
        elif style == "zeros":
            data = seeded.choice([0.0, -0.0, 1.0, -1.0], n)
        else:
            data = domain.round_to(seeded.normal(0, rng.choice([0.5, 1, 1, 8]), n), element)
        if style == "special" and n:
            tiny, big = domain.smallest(element), domain.largest(element)
            odd = [0.0, -0.0, tiny, -tiny, domain.smallest_normal(element), big, -big, np.nan, 1.0, 0.5, 2.5, -3.5]
            odd += [np.inf, -np.inf] if FLOATS[element][2] else []
            places = seeded.integers(0, n, max(1, n // 4))
            data[places] = seeded.choice(odd, len(places))
        return domain.round_to(data, element).reshape(shape)
    bits = INTEGERS[element]
    if bits == 1:
        return -seeded.integers(0, 2, n).reshape(shape)
    least, most = -2**(bits - 1), 2**(bits - 1) - 1
    data = seeded.integers(-9, 10, n) if style in ("plain", "whole") else seeded.integers(least, most, n, endpoint=True)
    if style in ("special", "zeros") and n:
        places = seeded.integers(0, n, max(1, n // 3))
        data[places] = seeded.choice(np.array([least, most, 0, -1, 1], np.int64), len(places))
    return domain.wrap(data, element).reshape(shape)


# --- Elementwise operations: name -> (text, meaning) ------------------------------------------------------------------


def _wrapping(function):
    def apply(a, b):
        with np.errstate(all="ignore"):
            return Value(a.element, function(a.low, b.low), unknown=a.unknown | b.unknown)
    return apply


def _divide(name):
    def one(x, y):
        if "div" in name and name[0] in "cf":  # ceildivsi, floordivsi, ceildivui
            return -(-x // y) if name[0] == "c" else x // y
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return quotient if "div" in name else x - quotient * y

    def apply(a, b):
        if a.unknown.any() or b.unknown.any() or (b.low == 0).any():
            raise Undefined("division by zero")
        if name.endswith("si") and ((a.low == -2**(INTEGERS[a.element] - 1)) & (b.low == -1)).any():
            raise Undefined("overflow of a division")
        view = (lambda v: domain.unsigned(v.low, v.element)) if name.endswith("ui") else (lambda v: v.low.astype(object))
        out = np.array([one(int(x), int(y)) for x, y in zip(np.ravel(view(a)), np.ravel(view(b)))], dtype=object)
        return Value(a.element, out.reshape(a.shape))
    return apply


def _shift(name):
    def apply(a, b):
        bits = INTEGERS[a.element]
        if b.unknown.any() or ((b.low < 0) | (b.low >= bits)).any():
            raise Undefined("shift by the width or more")
        source = domain.unsigned(a.low, a.element) if name == "shrui" else a.low.astype(object)
        out = [int(x) << int(s) if name == "shli" else int(x) >> int(s) for x, s in zip(np.ravel(source), b.low.ravel())]
        return Value(a.element, np.array(out, dtype=object).reshape(a.shape), unknown=a.unknown)
    return apply


def _extreme(largest_one, signed):
    def apply(a, b):
        x, y = (a.low, b.low) if signed else (domain.unsigned(a.low, a.element), domain.unsigned(b.low, b.element))
        first = np.asarray(x >= y if largest_one else x <= y, bool)
        return Value(a.element, np.where(first, a.low, b.low), unknown=a.unknown | b.unknown)
    return apply


def compare_integers(predicate, a, b):
    x, y = (a.low, b.low) if predicate[0] != "u" else (domain.unsigned(a.low, a.element), domain.unsigned(b.low, b.element))
    test = {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}
    answer = np.asarray(test[predicate[-2:]], bool)
    return Value("i1", -answer.astype(np.int64), unknown=a.unknown | b.unknown)


def _bits(count):
    def apply(a):
        out = [count(int(v), INTEGERS[a.element]) for v in np.ravel(domain.unsigned(a.low, a.element))]
        return Value(a.element, np.array(out, np.int64).reshape(a.shape), unknown=a.unknown)
    return apply


FLOAT_BINARY = {
    "arith.addf": domain.add, "arith.subf": domain.subtract, "arith.mulf": domain.multiply, "arith.divf": domain.divide,
    "arith.maximumf": domain.maximum, "arith.minimumf": domain.minimum, "arith.maxnumf": domain.maximum_number,
    "arith.minnumf": domain.minimum_number, "arith.remf": domain.remainder, "math.copysign": domain.copy_sign,
    "math.powf": domain.power, "math.atan2": domain.arc_tangent2,
}  # yapf: disable
INTEGER_BINARY = {
    "arith.addi": _wrapping(np.add), "arith.subi": _wrapping(np.subtract), "arith.muli": _wrapping(np.multiply),
    "arith.andi": _wrapping(np.bitwise_and), "arith.ori": _wrapping(np.bitwise_or), "arith.xori": _wrapping(np.bitwise_xor),
    **{f"arith.{n}": _divide(n) for n in ("divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi")},
    **{f"arith.{n}": _shift(n) for n in ("shli", "shrsi", "shrui")},
    "arith.maxsi": _extreme(True, True), "arith.minsi": _extreme(False, True), "arith.maxui": _extreme(True, False),
    "arith.minui": _extreme(False, False),
}  # yapf: disable
FLOAT_UNARY = {
    "arith.negf": domain.negate, "math.absf": domain.absolute, "math.sqrt": domain.square_root,
    **{f"math.{n}": (lambda a, n=n: domain.whole(a, n)) for n in ("floor", "ceil", "trunc", "round", "roundeven")},
    **{f"math.{n}": (lambda a, n=n: domain.function(n, a)) for n in domain.FUNCTIONS},
}  # yapf: disable
INTEGER_UNARY = {
    "math.absi": lambda a: Value(a.element, np.abs(a.low), unknown=a.unknown),
    "math.ctpop": _bits(lambda v, w: v.bit_count()),
    "math.ctlz": _bits(lambda v, w: w - v.bit_length()),
    "math.cttz": _bits(lambda v, w: (v & -v).bit_length() - 1 if v else w),
}  # yapf: disable
# What reduces and scans: name -> (float, meaning of two).
COMBINERS = {
    "arith.addf": True, "arith.mulf": True, "arith.maximumf": True, "arith.minimumf": True, "arith.maxnumf": True,
    "arith.minnumf": True, "arith.addi": False, "arith.muli": False, "arith.andi": False, "arith.ori": False,
    "arith.xori": False, "arith.maxsi": False, "arith.minsi": False, "arith.maxui": False, "arith.minui": False,
}  # yapf: disable


def combine(name, value, axis):
    """Reduces one axis of a Value, in any order."""
    last = value.move(lambda p: np.moveaxis(p, axis, -1))
    n, element = last.shape[-1], value.element
    if n == 0:
        raise Undefined("nothing to reduce")
    if name == "arith.addf":
        return domain.total(element, last.low, last.high, last.nan)
    if name == "arith.mulf":
        return domain.product_of_all(element, last)
    two = FLOAT_BINARY.get(name) or INTEGER_BINARY[name]
    out = last.move(lambda p: p[..., 0])
    for i in range(1, n):
        out = two(out, last.move(lambda p, i=i: p[..., i]))
    return out


class Drawing:
    """One program being drawn."""

    def __init__(self, seed, prefix):
        self.rng, self.prefix, self.count = random.Random(seed), prefix, 0
        self.lines, self.arrays, self.outer, self.inputs = [], [], [], []
        self.kernel = self.rng.random() < 0.4
        self.lead = 1 if self.kernel else 0
        self.ops = []

    # -- names and arrays --

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def emit(self, text):
        self.lines.append("  " + text)

    def keep(self, name, shape, value, dynamic=None):
        """A result becomes an operand of what follows, unless its set of answers is too wide to judge."""
        if value.low.size and value.count_open() * 2 > value.low.size:
            wide = ~value.exact & (value.nan == domain.MAYBE) & np.isinf(value.low) if is_float(value.element) else value.unknown
            if wide.sum() * 4 > value.low.size:
                raise Undefined("too open")
        array = Array(name, value.element, shape, value, dynamic)
        self.arrays.append(array)
        return array

    def full(self, shape):
        return ((self.instances, ) if self.lead else ()) + tuple(shape)

    def spread(self, data):
        return np.broadcast_to(data, (self.instances, ) + data.shape) if self.lead else data

    def constant(self, element, shape, data=None):
        if data is None:
            data = draw_data(self.rng, element, shape)
            if self.rng.random() < 0.4 and data.size:
                data = np.full(shape, data.ravel()[0])
        name = self.name()
        self.emit(f"{name} = arith.constant {constant_text(np.asarray(data), element)}")
        array = Array(name, element, shape, Value(element, self.spread(np.asarray(data))))
        self.arrays.append(array)
        return array

    def pick(self, test=lambda a: True):
        fitting = [a for a in self.arrays if test(a)]
        if not fitting:
            raise Undefined("no operand")
        # Late results more often: chains.
        return fitting[max(self.rng.randrange(len(fitting)), self.rng.randrange(len(fitting)))]

    def partner(self, a, element=None):
        """An operand of a's very type (or of another element type)."""
        element = element or a.element
        fitting = [b for b in self.arrays if b.element == element and b.shape == a.shape]
        b = self.rng.choice(fitting) if fitting and self.rng.random() < 0.8 else self.constant(element, a.shape)
        return self.as_dynamic(b, a.dynamic)

    def as_dynamic(self, a, dynamic):
        if a.dynamic == tuple(dynamic):
            return a
        name = self.name()
        cast = Array(name, a.element, a.shape, a.value, dynamic)
        self.emit(f"{name} = tensor.cast {a.name} : {a.type} to {cast.type}")
        return cast

    def static(self, a):
        return self.as_dynamic(a, (False, ) * len(a.shape))

    def empty(self, element, like, shape=None):
        """tensor.empty with the sizes of `like`."""
        name, sizes = self.name(), []
        for i, dynamic in enumerate(like.dynamic):
            if dynamic:
                index, size = self.name(), self.name()
                self.emit(f"{index} = arith.constant {i} : index")
                self.emit(f"{size} = tensor.dim {like.name}, {index} : {like.type}")
                sizes.append(size)
        kind = Array(name, element, like.shape, None, like.dynamic).type
        self.emit(f"{name} = tensor.empty({', '.join(sizes)}) : {kind}")
        return name, kind

    # -- elementwise --

    def apply(self, text, operands, value):
        """text(names, types, result type): on whole arrays, or in the body of a linalg op."""
        first = operands[0]
        result = Array("", value.element, first.shape, value, first.dynamic)
        style = self.rng.choice(["plain", "generic", "map"]) if not self.kernel else "plain"
        name = self.name()
        if style == "plain":
            self.emit(f"{name} = " + text([o.name for o in operands], [o.type for o in operands], result.type))
        else:
            out, kind = self.empty(value.element, first)
            names = [f"%a{self.count}_{i}" for i in range(len(operands))]
            elements = [o.element for o in operands]
            body = f"%b{self.count} = " + text(names, elements, value.element)
            ins = ", ".join(o.name for o in operands) + " : " + ", ".join(o.type for o in operands)
            arguments = ", ".join(f"{n}: {e}" for n, e in zip(names, elements))
            if style == "map":
                self.emit(f"{name} = linalg.map ins({ins}) outs({out} : {kind}) ({arguments}, %o{self.count}: {value.element}) {{ "
                          f"{body} linalg.yield %b{self.count} : {value.element} }}")
            else:
                dims = ", ".join(f"d{i}" for i in range(len(first.shape)))
                identity = f"affine_map<({dims}) -> ({dims})>"
                maps = ", ".join([identity] * (len(operands) + 1))
                kinds = ", ".join(['"parallel"'] * len(first.shape))
                self.emit(f"{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins({ins}) "
                          f"outs({out} : {kind}) {{ ^bb0({arguments}, %o{self.count}: {value.element}): {body} "
                          f"linalg.yield %b{self.count} : {value.element} }} -> {kind}")
        return self.keep(name, first.shape, value, first.dynamic)

    def float_binary(self):
        a = self.pick(lambda v: is_float(v.element))
        b = self.partner(a)
        op = self.rng.choice(["arith.addf", "arith.subf", "arith.mulf"] * 2 + list(FLOAT_BINARY))
        value = FLOAT_BINARY[op](a.value, b.value)
        return self.apply(lambda n, t, r: f"{op} {n[0]}, {n[1]} : {t[0]}", [a, b], value)

    def integer_binary(self):
        a = self.pick(lambda v: not is_float(v.element))
        b = self.partner(a)
        op = self.rng.choice(list(INTEGER_BINARY))
        if op.startswith("arith.sh") and self.rng.random() < 0.9:
            amounts = [self.rng.randrange(INTEGERS[a.element]) for _ in range(int(np.prod(a.shape, dtype=int)))]
            b = self.as_dynamic(self.constant(a.element, a.shape, domain.wrap(np.array(amounts, np.int64), a.element).reshape(a.shape)),
                                a.dynamic)
        value = INTEGER_BINARY[op](a.value, b.value)
        return self.apply(lambda n, t, r: f"{op} {n[0]}, {n[1]} : {t[0]}", [a, b], value)

    def unary(self):
        a = self.pick()
        table = FLOAT_UNARY if is_float(a.element) else INTEGER_UNARY
        op = self.rng.choice(list(table))
        return self.apply(lambda n, t, r: f"{op} {n[0]} : {t[0]}", [a], table[op](a.value))

    def three(self):
        a = self.pick(lambda v: is_float(v.element))
        b, c = self.partner(a), self.partner(a)
        if self.rng.random() < 0.6:
            return self.apply(lambda n, t, r: f"math.fma {n[0]}, {n[1]}, {n[2]} : {t[0]}", [a, b, c],
                              domain.fused(a.value, b.value, c.value))
        low, high = b.value.known(), c.value.known()
        if not (low <= high).all():
            raise Undefined("poison")
        return self.apply(lambda n, t, r: f"math.clampf {n[0]} to [{n[1]}, {n[2]}] : {t[0]}", [a, b, c],
                          domain.minimum(domain.maximum(a.value, b.value), c.value))

    def classify(self):
        a = self.pick(lambda v: is_float(v.element))
        what = self.rng.choice(["isnan", "isinf", "isfinite", "isnormal"])
        return self.apply(lambda n, t, r: f"math.{what} {n[0]} : {t[0]}", [a], domain.classify(a.value, what))

    def compare(self):
        a = self.pick()
        b = self.partner(a)
        if is_float(a.element):
            predicate = self.rng.choice(["ord", "uno"] + [u + p for u in "uo" for p in ("eq", "ne", "lt", "le", "gt", "ge")])
            value, op = domain.compare_floats(predicate, a.value, b.value), "arith.cmpf"
        else:
            predicate = self.rng.choice(["eq", "ne"] + [s + p for s in "su" for p in ("lt", "le", "gt", "ge")])
            value, op = compare_integers(predicate, a.value, b.value), "arith.cmpi"
        return self.apply(lambda n, t, r: f"{op} {predicate}, {n[0]}, {n[1]} : {t[0]}", [a, b], value)

    def choose(self):
        a = self.pick()
        b, condition = self.partner(a), self.partner(a, "i1")
        return self.apply(lambda n, t, r: f"arith.select {n[0]}, {n[1]}, {n[2]} : {t[0]}, {t[1]}" if "<" in t[0] else
                          f"arith.select {n[0]}, {n[1]}, {n[2]} : {t[1]}", [condition, a, b],
                          domain.select(condition.value, a.value, b.value))

    def convert(self):
        a = self.pick()
        if is_float(a.element):
            target = self.rng.choice([e for e in [*FLOATS, *INTEGERS] if e != a.element])
            if is_float(target):
                wider = domain.width(target) > domain.width(a.element)
                if domain.width(target) == domain.width(a.element):
                    raise Undefined("no conversion between types of one width")
                op, value = ("arith.extf" if wider else "arith.truncf"), domain.convert_float(a.value, target)
            else:
                signed = self.rng.random() < 0.5
                op, value = ("arith.fptosi" if signed else "arith.fptoui"), domain.to_integer(a.value, target, signed)
        else:
            target = self.rng.choice([e for e in [*FLOATS, *INTEGERS] if e != a.element])
            signed = self.rng.random() < 0.5
            if is_float(target):
                op, value = ("arith.sitofp" if signed else "arith.uitofp"), domain.from_integer(a.value, target, signed)
            elif INTEGERS[target] < INTEGERS[a.element]:
                op, value = "arith.trunci", Value(target, a.value.low, unknown=a.value.unknown)
            else:
                op = "arith.extsi" if signed else "arith.extui"
                low = a.value.low if signed else domain.unsigned(a.value.low, a.element)
                value = Value(target, low, unknown=a.value.unknown)
        return self.apply(lambda n, t, r: f"{op} {n[0]} : {t[0]} to {r}", [a], value)

    def bits(self):
        a = self.pick(lambda v: v.element != "i1")
        same = [e for e in [*FLOATS, *INTEGERS] if domain.width(e) == domain.width(a.element) and e != a.element]
        if not same:
            raise Undefined("no other type")
        target = self.rng.choice(same)
        return self.apply(lambda n, t, r: f"arith.bitcast {n[0]} : {t[0]} to {r}", [a], domain.bit_cast(a.value, target))

    # -- sums --

    def reduce(self):
        a = self.pick(lambda v: len(v.shape) and v.shape)
        axis = self.rng.randrange(len(a.shape))
        op = self.rng.choice([n for n, f in COMBINERS.items() if f == is_float(a.element)])
        shape = a.shape[:axis] + a.shape[axis + 1:]
        if self.kernel:
            value, name = combine(op, a.value, axis + 1), self.name()
            kind = type_of(shape, a.element) if shape else a.element
            self.emit(f"{name} = tile.reduce {{{op}}} {a.name} axes [{axis}] : {a.type} -> {kind}")
            if not shape:
                whole = self.name()
                self.emit(f"{whole} = tile.broadcast {name} : {a.element} -> tensor<1x{a.element}>")
                return self.keep(whole, (1, ), value.move(lambda p: p[..., None]))
            return self.keep(name, shape, value)
        a = self.static(a)
        start = self.partner(Array("", a.element, shape, None))
        joined = domain.join(lambda p: np.concatenate([p[0], np.expand_dims(p[1], axis)], axis), [a.value, start.value])
        value, name = combine(op, joined, axis), self.name()
        self.emit(f"{name} = linalg.reduce {{ {op} }} ins({a.name} : {a.type}) outs({start.name} : {start.type}) dimensions = [{axis}]")
        return self.keep(name, shape, value)

    def multiply_matrices(self):
        lhs = self.pick(lambda v: len(v.shape) == 2 and v.element not in ("i1", "i64") and v.shape[1])
        element = lhs.element
        m, k = lhs.shape
        n = self.rng.choice([s for s in (TILE_SIZES if self.kernel else SIZES) if s * max(k, m) <= MOST])
        fitting = [b for b in self.arrays if b.element == element and len(b.shape) == 2 and b.shape[0] == k]
        rhs = self.rng.choice(fitting) if fitting and self.rng.random() < .7 else self.constant(element, (k, n))
        n = rhs.shape[1]
        if is_float(element):
            into = element if element in ("f32", "f64") else self.rng.choice(["f32", "f32", element])
            into = "f32" if into == "bf16" and self.kernel else into
            if "f8" in into:
                into = "f32"
        else:
            into = "i32"
        lhs, rhs = (lhs, rhs) if self.kernel else (self.static(lhs), self.static(rhs))
        start = self.partner(Array("", into, (m, n), None))
        a = lhs.value.move(lambda p: p[..., :, None, :])
        b = rhs.value.move(lambda p: np.swapaxes(p, -1, -2)[..., None, :, :])
        shape = np.broadcast_shapes(a.shape, b.shape)
        if np.prod(shape) > 40000:
            raise Undefined("large")
        a, b = (v.move(lambda p: np.broadcast_to(p, shape)) for v in (a, b))
        if is_float(element):
            # Products are exact: in f64, or rounded there, far below any bound of a narrower type.
            wide = domain.multiply(Value("f64", a.low, a.high, a.nan), Value("f64", b.low, b.high, b.nan))
            planes = [np.concatenate([p, q[..., None]], -1) for p, q in
                      ((wide.low, start.value.low), (wide.high, start.value.high), (wide.nan, start.value.nan))]
            value = domain.total(into, *planes, kind="product")
        else:
            products = a.low * b.low
            total = products.sum(-1) + start.value.low
            value = Value(into, total, unknown=(a.unknown | b.unknown).any(-1) | start.value.unknown)
        name = self.name()
        if self.kernel:
            self.emit(f"{name} = tile.mma {lhs.name}, {rhs.name}, {start.name} : {lhs.type}, {rhs.type} -> {start.type}")
        else:
            self.emit(f"{name} = linalg.matmul ins({lhs.name}, {rhs.name} : {lhs.type}, {rhs.type}) "
                      f"outs({start.name} : {start.type}) -> {start.type}")
        return self.keep(name, (m, n), value)

    # -- shapes, both levels --

    def transpose(self):
        a = self.pick(lambda v: len(v.shape) >= 2)
        a = a if self.kernel else self.static(a)
        order = list(range(len(a.shape)))
        self.rng.shuffle(order)
        lead = self.lead
        value = a.value.move(lambda p: np.transpose(p, [*range(lead), *(o + lead for o in order)]))
        shape, name = [a.shape[o] for o in order], self.name()
        if self.kernel:
            self.emit(f"{name} = tile.transpose {a.name} {order} : {a.type} -> {type_of(shape, a.element)}")
        else:
            out, kind = self.empty(a.element, Array("", a.element, shape, None))
            self.emit(f"{name} = linalg.transpose ins({a.name} : {a.type}) outs({out} : {kind}) permutation = {order}")
        return self.keep(name, shape, value)

    def broadcast(self):
        a = self.pick(lambda v: len(v.shape) < 3)
        a = a if self.kernel else self.static(a)
        axis = self.rng.randrange(len(a.shape) + 1)
        n = self.rng.choice(TILE_SIZES if self.kernel else SIZES)
        if n * int(np.prod(a.shape, dtype=int)) > MOST:
            raise Undefined("large")
        lead = self.lead
        value = a.value.move(lambda p: np.repeat(np.expand_dims(p, axis + lead), n, axis + lead))
        shape, name = a.shape[:axis] + (n, ) + a.shape[axis:], self.name()
        if self.kernel:
            self.emit(f"{name} = tile.broadcast {a.name} axes [{axis}] : {a.type} -> {type_of(shape, a.element)}")
        else:
            out, kind = self.empty(a.element, Array("", a.element, shape, None))
            self.emit(f"{name} = linalg.broadcast ins({a.name} : {a.type}) outs({out} : {kind}) dimensions = [{axis}]")
        return self.keep(name, shape, value)

    def reshape(self):
        a = self.pick(lambda v: len(v.shape) >= 1)
        a, name = a if self.kernel else self.static(a), self.name()
        if self.rng.random() < 0.5 and len(a.shape) >= 2:
            at = self.rng.randrange(len(a.shape) - 1)
            shape = a.shape[:at] + (a.shape[at] * a.shape[at + 1], ) + a.shape[at + 2:]
            groups = [[i] for i in range(at)] + [[at, at + 1]] + [[i] for i in range(at + 2, len(a.shape))]
            op = "collapse_shape"
        else:
            at = self.rng.randrange(len(a.shape))
            n = a.shape[at]
            factor = self.rng.choice([f for f in range(1, max(n, 1) + 1) if n % f == 0])
            shape = a.shape[:at] + (factor, n // factor) + a.shape[at + 1:]
            groups = [[i] for i in range(at)] + [[at, at + 1]] + [[i] for i in range(at + 2, len(shape))]
            op = "expand_shape"
        value = a.value.move(lambda p: p.reshape(self.full(shape)))
        if self.kernel:
            self.emit(f"{name} = tile.reshape {a.name} : {a.type} -> {type_of(shape, a.element)}")
        else:
            sizes = f" output_shape [{', '.join(map(str, shape))}]" if op == "expand_shape" else ""
            self.emit(f"{name} = tensor.{op} {a.name} {groups}{sizes} : {a.type} into {type_of(shape, a.element)}")
        return self.keep(name, shape, value)

    def cut(self, shape, strides):
        offsets, sizes, steps = [], [], []
        for n in shape:
            step = self.rng.choice([1, 1, 2, 3]) if strides else 1
            size = self.rng.randint(1 if self.kernel or n else 0, n) if n else 0
            if not self.kernel and n and self.rng.random() < 0.05:
                size = 0
            if size > 1:
                size = min(size, (n - 1) // step + 1)
            room = n - ((size - 1) * step + 1) if size else max(n - 1, 0)
            offsets.append(self.rng.randint(0, max(room, 0)))
            sizes.append(size)
            steps.append(step)
        places = tuple(slice(o, o + (s - 1) * t + 1 if s else o, t) for o, s, t in zip(offsets, sizes, steps))
        return offsets, sizes, steps, ((slice(None), ) * self.lead) + places

    def written(self, offsets, shape):
        """Offsets in the text, or as values (always at the end of an axis, which upstream's verifier refuses in text)."""
        out = []
        for offset, n in zip(offsets, shape):
            if offset < n and (self.kernel or self.rng.random() < 0.8):
                out.append(str(offset))
                continue
            out.append(self.name())
            self.emit(f"{out[-1]} = arith.constant {offset} : index")
        return f"[{', '.join(out)}]"

    def slice(self):
        a = self.pick(lambda v: len(v.shape) >= 1)
        a = a if self.kernel else self.static(a)
        offsets, sizes, steps, places = self.cut(a.shape, not self.kernel)
        name, value = self.name(), a.value.move(lambda p: p[places])
        if self.kernel:
            self.emit(f"{name} = tile.slice {a.name}{offsets} : {a.type} -> {type_of(sizes, a.element)}")
            return self.keep(name, sizes, value)
        offsets = self.written(offsets, a.shape)
        dropped = [i for i, s in enumerate(sizes) if s == 1 and self.rng.random() < 0.5]
        shape = [s for i, s in enumerate(sizes) if i not in dropped]
        value = value.move(lambda p: p.reshape(shape))
        self.emit(f"{name} = tensor.extract_slice {a.name}{offsets} {sizes} {steps} : {a.type} to {type_of(shape, a.element)}")
        return self.keep(name, shape, value)

    def insert(self):
        a = self.pick(lambda v: len(v.shape) >= 1)
        a = a if self.kernel else self.static(a)
        offsets, sizes, steps, places = self.cut(a.shape, not self.kernel)
        part, name = self.partner(Array("", a.element, sizes, None)), self.name()

        def put(planes):
            out = np.array(planes[0])
            out[places] = planes[1]
            return out
        value = domain.join(put, [a.value, part.value])
        if self.kernel:
            self.emit(f"{name} = tile.insert {part.name} into {a.name}{offsets} : {part.type}, {a.type} -> {a.type}")
        else:
            offsets = self.written(offsets, a.shape)
            self.emit(f"{name} = tensor.insert_slice {part.name} into {a.name}{offsets} {sizes} {steps} : {part.type} into {a.type}")
        return self.keep(name, a.shape, value)

    def concatenate(self):
        a = self.pick(lambda v: len(v.shape) >= 1)
        axis = self.rng.randrange(len(a.shape))
        fitting = [b for b in self.arrays if b.element == a.element and len(b.shape) == len(a.shape) and
                   all(i == axis or p == q for i, (p, q) in enumerate(zip(a.shape, b.shape)))]
        b = self.rng.choice(fitting)
        shape = list(a.shape)
        shape[axis] += b.shape[axis]
        if np.prod(shape) > MOST:
            raise Undefined("large")
        a, b = (a, b) if self.kernel else (self.static(a), self.static(b))
        value = domain.join(lambda p: np.concatenate(p, axis + self.lead), [a.value, b.value])
        name = self.name()
        op, attribute = ("tile.cat", f"{a.name}, {b.name} axis {axis}") if self.kernel else \
            ("tensor.concat", f"dim({axis}) {a.name}, {b.name}")
        kinds = f"{a.type}, {b.type}" if self.kernel else f"({a.type}, {b.type})"
        self.emit(f"{name} = {op} {attribute} : {kinds} -> {type_of(shape, a.element)}")
        return self.keep(name, shape, value)

    # -- tensors only --

    def pad(self):
        a = self.static(self.pick(lambda v: len(v.shape) >= 1))
        low, high = ([self.rng.choice([0, 0, 1, 2]) for _ in a.shape] for _ in range(2))
        shape = [n + p + q for n, p, q in zip(a.shape, low, high)]
        if np.prod(shape) > MOST:
            raise Undefined("large")
        number = draw_data(self.rng, a.element, (1, ))[0]
        scalar, name = self.name(), self.name()
        self.emit(f"{scalar} = arith.constant {literal(number, a.element)}" + (f" : {a.element}" if a.element != "i1" else ""))
        filler = Value(a.element, np.array(number))
        value = domain.join(lambda p: np.pad(p[0], list(zip(low, high)), constant_values=p[1]), [a.value, filler])
        indices = ", ".join(f"%i{self.count}_{i}: index" for i in range(len(shape)))
        self.emit(f"{name} = tensor.pad {a.name} low{low} high{high} {{ ^bb0({indices}): tensor.yield {scalar} : {a.element} }} : "
                  f"{a.type} to {type_of(shape, a.element)}")
        return self.keep(name, shape, value)

    def make_dynamic(self):
        a = self.pick(lambda v: len(v.shape) >= 1)
        cast = self.as_dynamic(a, [self.rng.random() < 0.6 for _ in a.shape])
        if cast is a:
            raise Undefined("the same type")
        self.arrays.append(cast)
        return cast

    def branch(self):
        """scf.if and scf.index_switch on what is known exactly, or on a constant; both sides may give constants."""
        a = self.pick()
        b = self.partner(a)
        flags = [c for c in self.arrays if c.element == "i1" and c.value.low.size and c.value.exact.all()] if not self.kernel else []
        condition = self.name()
        if flags and self.rng.random() < 0.6:
            flag = self.static(self.rng.choice(flags))
            place = [self.rng.randrange(n) for n in flag.shape]
            names = []
            for p in place:
                names.append(self.name())
                self.emit(f"{names[-1]} = arith.constant {p} : index")
            self.emit(f"{condition} = tensor.extract {flag.name}[{', '.join(names)}] : {flag.type}")
            yes = bool(flag.value.low[tuple(place)])
        else:
            yes = self.rng.random() < 0.5
            self.emit(f"{condition} = arith.constant {'true' if yes else 'false'}")
        name = self.name()
        if self.rng.random() < 0.7:
            self.emit(f"{name} = scf.if {condition} -> ({a.type}) {{ scf.yield {a.name} : {a.type} }} else {{ "
                      f"scf.yield {b.name} : {b.type} }}")
        else:
            index, as_int = self.name(), self.name()
            self.emit(f"{as_int} = arith.extui {condition} : i1 to i64")
            self.emit(f"{index} = arith.index_cast {as_int} : i64 to index")
            self.emit(f"{name} = scf.index_switch {index} -> {a.type} case 1 {{ scf.yield {a.name} : {a.type} }} default {{ "
                      f"scf.yield {b.name} : {b.type} }}")
        return self.keep(name, a.shape, (a if yes else b).value, a.dynamic)

    def loop(self):
        """scf.for with an argument that each step changes, and one that it hands on."""
        a = self.pick()
        b = self.partner(a)
        table = FLOAT_BINARY if is_float(a.element) else INTEGER_BINARY
        op = self.rng.choice(["arith.addf", "arith.mulf", "arith.maximumf", "arith.subf"] if is_float(a.element) else
                             ["arith.addi", "arith.muli", "arith.xori", "arith.maxsi", "arith.subi"])
        steps, value = self.rng.choice([0, 1, 2, 3, 5]), a.value
        for _ in range(steps):
            value = table[op](value, b.value)
        bounds = [self.name() for _ in range(3)]
        for bound, number in zip(bounds, (0, steps, 1)):
            self.emit(f"{bound} = arith.constant {number} : index")
        names = [self.name(), self.name()]
        tag = self.count
        self.emit(f"{names[0]}:2 = scf.for %i{tag} = {bounds[0]} to {bounds[1]} step {bounds[2]} iter_args(%x{tag} = {a.name}, "
                  f"%y{tag} = {b.name}) -> ({a.type}, {b.type}) {{ %z{tag} = {op} %x{tag}, %y{tag} : {a.type} "
                  f"scf.yield %z{tag}, %y{tag} : {a.type}, {b.type} }}")
        self.keep(names[0] + "#1", b.shape, b.value, b.dynamic)
        return self.keep(names[0] + "#0", a.shape, value, a.dynamic)

    def forall(self):
        """scf.forall that fills two outputs, row by row, from two arrays."""
        # Upstream's verifier refuses an offset of 0 in an axis of size 0.
        a = self.static(self.pick(lambda v: len(v.shape) >= 1 and 0 not in v.shape))
        b = self.partner(Array("", a.element, a.shape, None))
        c, d = self.partner(Array("", a.element, a.shape, None)), self.partner(Array("", a.element, a.shape, None))
        first, rest = a.shape[0], a.shape[1:]
        rows = type_of((1, ) + rest, a.element)
        stop = self.rng.randint(0, first)
        op = "arith.addf" if is_float(a.element) else "arith.addi"
        both = (FLOAT_BINARY if is_float(a.element) else INTEGER_BINARY)[op](a.value, b.value)

        def fill(planes):
            out = np.array(planes[0])
            out[:stop] = planes[1][:stop]
            return out
        name, tag = self.name(), self.count
        at = f"[%i{tag}{', 0' * len(rest)}] [1{''.join(f', {n}' for n in rest)}] [1{', 1' * len(rest)}]"
        order = [f"tensor.parallel_insert_slice %s{tag} into %o{tag}{at} : {rows} into {a.type}",
                 f"tensor.parallel_insert_slice %q{tag} into %p{tag}{at} : {rows} into {a.type}"]
        self.rng.shuffle(order)
        self.emit(f"{name}:2 = scf.forall (%i{tag}) in ({stop}) shared_outs(%o{tag} = {c.name}, %p{tag} = {d.name}) "
                  f"-> ({a.type}, {a.type}) {{ "
                  f"%r{tag} = tensor.extract_slice {a.name}{at} : {a.type} to {rows} "
                  f"%q{tag} = tensor.extract_slice {b.name}{at} : {b.type} to {rows} "
                  f"%s{tag} = {op} %r{tag}, %q{tag} : {rows} scf.forall.in_parallel {{ {order[0]} {order[1]} }} }}")
        self.keep(name + "#1", a.shape, domain.join(fill, [d.value, b.value]))
        return self.keep(name + "#0", a.shape, domain.join(fill, [c.value, both]))

    def call(self):
        """A private function that gives back an argument, and another one changed."""
        a, b = self.pick(), self.pick()
        table = FLOAT_UNARY if is_float(b.element) else INTEGER_UNARY
        op = self.rng.choice([o for o in table])
        value, name = table[op](b.value), self.name()
        callee = f"@{self.prefix}_call{self.count}"
        self.outer.append(f"func.func private {callee}(%x: {a.type}, %y: {b.type}) -> ({a.type}, {b.type}, {a.type}) {{\n"
                          f"  %z = {op} %y : {b.type}\n  return %x, %z, %x : {a.type}, {b.type}, {a.type}\n}}")
        self.emit(f"{name}:3 = func.call {callee}({a.name}, {b.name}) : ({a.type}, {b.type}) -> ({a.type}, {b.type}, {a.type})")
        self.keep(name + "#2", a.shape, a.value, a.dynamic)
        return self.keep(name + "#1", b.shape, value, b.dynamic)

    def two_reductions(self):
        """A linalg.generic with two results: a sum and a maximum of one array."""
        a = self.static(self.pick(lambda v: len(v.shape) == 2 and v.shape[1]))
        ops = ("arith.addf", "arith.maximumf") if is_float(a.element) else ("arith.addi", "arith.maxsi")
        starts = [self.partner(Array("", a.element, a.shape[:1], None)) for _ in ops]
        values = [combine(op, domain.join(lambda p: np.concatenate([p[0], p[1][:, None]], 1), [a.value, s.value]), 1)
                  for op, s in zip(ops, starts)]
        name, tag, e = self.name(), self.count, a.element
        self.emit(f"{name}:2 = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, "
                  f"affine_map<(i, j) -> (i)>], iterator_types = [\"parallel\", \"reduction\"]}} ins({a.name} : {a.type}) "
                  f"outs({starts[0].name}, {starts[1].name} : {starts[0].type}, {starts[1].type}) {{ "
                  f"^bb0(%x{tag}: {e}, %y{tag}: {e}, %z{tag}: {e}): %p{tag} = {ops[0]} %x{tag}, %y{tag} : {e} "
                  f"%q{tag} = {ops[1]} %x{tag}, %z{tag} : {e} linalg.yield %p{tag}, %q{tag} : {e}, {e} }} -> "
                  f"({starts[0].type}, {starts[1].type})")
        self.keep(name + "#1", a.shape[:1], values[1])
        return self.keep(name + "#0", a.shape[:1], values[0])

    def look_up(self):
        """A linalg.generic that reads a table at places another array holds."""
        table = self.static(self.pick(lambda v: len(v.shape) == 1 and v.shape[0]))
        n = self.rng.choice(SIZES)
        places = np.array([self.rng.randrange(table.shape[0]) for _ in range(n)], np.int64)
        index = self.constant("i32", (n, ), places)
        out, kind = self.empty(table.element, Array("", table.element, (n, ), None))
        name, tag, e = self.name(), self.count, table.element
        self.emit(f"{name} = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], "
                  f"iterator_types = [\"parallel\"]}} ins({index.name} : {index.type}) outs({out} : {kind}) {{ "
                  f"^bb0(%x{tag}: i32, %y{tag}: {e}): %i{tag} = arith.index_cast %x{tag} : i32 to index "
                  f"%z{tag} = tensor.extract {table.name}[%i{tag}] : {table.type} linalg.yield %z{tag} : {e} }} -> {kind}")
        return self.keep(name, (n, ), table.value.move(lambda p: p[places]))

    # -- kernels only --

    def scan(self):
        a = self.pick()
        axis = self.rng.randrange(len(a.shape))
        op = self.rng.choice([n for n, f in COMBINERS.items() if f == is_float(a.element)])
        reverse = self.rng.random() < 0.3
        turned = a.value.move(lambda p: np.flip(p, axis + 1)) if reverse else a.value
        prefixes = [combine(op, turned.move(lambda p, i=i: np.take(p, range(i + 1), axis + 1)), axis + 1) for i in range(a.shape[axis])]
        value = domain.join(lambda p: np.stack(p, axis + 1), prefixes)
        value = value.move(lambda p: np.flip(p, axis + 1)) if reverse else value
        name = self.name()
        self.emit(f"{name} = tile.scan {{{op}}} {a.name} axis {axis}{' reverse' if reverse else ''} : {a.type}")
        return self.keep(name, a.shape, value)

    def sort(self):
        a = self.pick()
        axis = self.rng.randrange(len(a.shape))
        keys = a.value.known()
        down, n = self.rng.random() < 0.5, a.shape[axis]
        count = self.rng.choice([n, n, 1, self.rng.randint(1, n)])
        line = np.moveaxis(keys, axis + 1, -1)
        order = np.empty(line.shape, np.int64)
        for at in np.ndindex(*line.shape[:-1]):
            def key(i):
                x = line[at][i]
                nan = bool(np.isnan(x)) if is_float(a.element) else False
                return (nan, 0 if nan else x + 0)
            ascending = sorted(range(n), key=key)
            if down:  # stable too: equal keys keep their order
                ascending = sorted(range(n), key=lambda i: (not key(i)[0], 0 if key(i)[0] else -key(i)[1]
                                                            if is_float(a.element) else -int(key(i)[1])))
            order[at] = ascending
        order = np.moveaxis(order, -1, axis + 1)
        names = [a]
        if self.rng.random() < 0.5:
            names.append(self.partner(a, self.rng.choice([e for e in [*FLOATS, *INTEGERS]])))
        values = [v.value.move(lambda p: np.take(np.take_along_axis(p, order, axis + 1), range(count), axis + 1)) for v in names]
        shape = a.shape[:axis] + (count, ) + a.shape[axis + 1:]
        name = self.name()
        text = f"{', '.join(v.name for v in names)} axis {axis}{' descending' if down else ''} : {', '.join(v.type for v in names)}"
        results = ", ".join(type_of(shape, v.element) for v in names)
        head = f"{name}{f':{len(names)}' if len(names) > 1 else ''}"
        if count == n and self.rng.random() < 0.8:
            self.emit(f"{head} = tile.sort {text}")
        else:
            self.emit(f"{head} = tile.topk {text} -> {results}")
        for i, value in enumerate(values):
            out = self.keep(f"{name}#{i}" if len(names) > 1 else name, shape, value)
        return out

    def histogram(self):
        a = self.pick(lambda v: len(v.shape) == 1 and v.element in ("i8", "i16", "i32", "i64") and v.value.exact.all())
        bins, numbers = self.rng.choice([1, 4, 8, 16]), domain.unsigned(a.value.low, a.element)
        element = self.rng.choice(["i32", "i64"])
        value = np.zeros((self.instances, bins), np.int64)
        for instance in range(self.instances):
            for v in np.ravel(numbers[instance]):
                if int(v) < bins:
                    value[instance, int(v)] += 1
        name = self.name()
        self.emit(f"{name} = tile.histogram {a.name} : {a.type} -> tensor<{bins}x{element}>")
        return self.keep(name, (bins, ), Value(element, value))

    def gather(self):
        a = self.pick()
        axis = self.rng.randrange(len(a.shape))
        shape = list(a.shape)
        shape[axis] = self.rng.choice([1, 2, 4, 8])
        n = a.shape[axis]
        bounds = self.rng.choice(["clamp", "trap"])
        limits = (-3, n + 3) if bounds == "clamp" else (0, n - 1)
        places = np.array([self.rng.randint(*limits) for _ in range(int(np.prod(shape)))], np.int64).reshape(shape)
        index, name = self.constant("i32", tuple(shape), places), self.name()
        at = self.spread(np.clip(places, 0, n - 1))
        self.emit(f"{name} = tile.gather {a.name}[{index.name}] axis {axis} bounds({bounds}) : {a.type}[{index.type}] -> "
                  f"{type_of(shape, a.element)}")
        return self.keep(name, shape, a.value.move(lambda p: np.take_along_axis(p, at, axis + 1)))

    def iota(self):
        shape = self.rng.choice([a.shape for a in self.arrays])
        element, dim = self.rng.choice(["i8", "i32", "i64"]), self.rng.randrange(len(shape))
        data = np.broadcast_to(np.arange(shape[dim]).reshape([-1 if i == dim else 1 for i in range(len(shape))]), shape)
        name = self.name()
        self.emit(f"{name} = tile.iota dim {dim} : {type_of(shape, element)}")
        return self.keep(name, shape, Value(element, self.spread(data)))

    def saturating(self):
        a = self.pick(lambda v: v.element in ("f32", "f16", "bf16"))
        target, name = self.rng.choice(["f8E4M3FN", "f8E5M2"]), self.name()
        value = domain.saturate(a.value, target)
        self.emit(f"{name} = tile.convert_type {a.name} saturate : {a.type} -> {type_of(a.shape, target)}")
        return self.keep(name, a.shape, value)

    def random_bits(self):
        seed, base = self.rng.getrandbits(63), self.rng.getrandbits(40)
        counter = self.constant("i64", (self.rng.choice([1, 2, 4]), ))
        numbers = domain.unsigned(counter.value.low, "i64")
        words = np.array([philox(seed, int(c)) for c in np.ravel(numbers)], np.uint32).astype(np.int64)
        key, name = self.name(), self.name()
        self.emit(f"{key} = arith.constant {seed} : i64")
        self.emit(f"{name} = tile.random {key}, {counter.name} : i64, {counter.type} -> {type_of(counter.shape + (4,), 'i32')}")
        return self.keep(name, counter.shape + (4, ), Value("i32", words.reshape(self.full(counter.shape + (4, )))))

    # -- the whole --

    BOTH = ["float_binary"] * 6 + ["integer_binary"] * 4 + ["unary"] * 5 + ["three", "classify", "compare", "choose", "convert",
            "convert", "convert", "bits", "reduce", "reduce", "multiply_matrices", "transpose", "broadcast", "reshape", "slice",
            "insert", "concatenate", "branch", "loop"]
    TENSOR = ["pad", "make_dynamic", "forall", "call", "two_reductions", "look_up", "slice", "reduce"]
    KERNEL = ["scan", "scan", "sort", "sort", "sort", "histogram", "gather", "iota", "saturating", "random_bits", "reduce"]

    def attempt(self, choices):
        """One operation; what it wrote before it found itself undefined goes."""
        for _ in range(20):
            lines, arrays, outer = len(self.lines), len(self.arrays), len(self.outer)
            choice = self.rng.choice(choices)
            try:
                with np.errstate(all="ignore"):
                    return getattr(self, choice)()
            except Undefined:
                del self.lines[lines:], self.arrays[arrays:], self.outer[outer:]
        return None

    def draw_input(self, shape, element):
        data = draw_data(self.rng, element, shape)
        array = Array(f"%in{len(self.inputs)}", element, shape, Value(element, data))
        if not self.kernel and self.rng.random() < 0.25:
            array.dynamic = tuple(self.rng.random() < 0.5 for _ in shape)
        self.inputs.append((array, data))
        return array

    def shape(self):
        rank = self.rng.choice([1, 1, 2, 2, 2, 3] if self.kernel else [0, 1, 1, 2, 2, 2, 3])
        sizes = TILE_SIZES if self.kernel else SIZES
        while True:
            shape = tuple(self.rng.choice(sizes) for _ in range(rank))
            if np.prod(shape) <= MOST:
                return shape

    def element(self):
        return self.rng.choice(["f32"] * 4 + ["f16", "bf16", "f64", "f8E5M2", "f8E4M3FN"] * 2 + ["i1", "i8", "i16", "i32", "i32", "i64"])

    def draw(self):
        return self.draw_kernel() if self.kernel else self.draw_tensor()

    def draw_tensor(self):
        shape = self.shape()
        for i in range(self.rng.randint(1, 3)):
            self.arrays.append(self.draw_input(shape if self.rng.random() < 0.7 else self.shape(), self.element()))
        self.results_of(self.rng.randint(2, 9), self.BOTH + self.TENSOR)
        results = self.chosen
        arguments = ", ".join(f"{a.name}: {a.type}" for a, _ in self.inputs)
        types = ", ".join(r.type for r in results)
        text = "\n".join([*self.outer, f"func.func private @{self.prefix}({arguments}) -> ({types}) {{", *self.lines,
                          f"  return {', '.join(r.name for r in results)} : {types}", "}"])
        return Program(self.prefix, text, self.inputs, [(r.type, r.element, r.value) for r in results])

    def results_of(self, steps, choices):
        made = len(self.arrays)
        for _ in range(steps):
            self.attempt(choices)
        fresh = self.arrays[made:] or self.arrays
        self.chosen = [fresh[-1]] + [self.rng.choice(self.arrays) for _ in range(self.rng.choice([0, 0, 1, 2]))]

    def draw_kernel(self):
        self.instances = self.rng.choice([1, 1, 2, 3])
        parameters, launch = [], []
        one = self.shape()
        for i in range(self.rng.randint(1, 3)):
            tile, element = one if self.rng.random() < 0.7 else self.shape(), self.element()
            # Tiles along the first axis; the last one may reach past the end, the others may be padded as well.
            rows = max(tile[0] * self.instances - self.rng.choice([0, 0, 1, tile[0]]), 0)
            memory = (rows, ) + tuple(max(n - self.rng.choice([0, 0, 0, 1]), 0) for n in tile[1:])
            array = self.draw_input(memory, element)
            pads = ["zero"] if not is_float(element) else ["zero", "neg_zero", "nan"] + (["inf", "neg_inf"] if FLOATS[element][2] else [])
            pad = self.rng.choice(pads)
            shown = f", pad = {pad}" if pad != "zero" else ""
            view, name = f"%w{i}", self.name()
            kind = type_of(tile, element).replace("tensor<", "!tile.view<")[:-1] + shown + ">"
            self.emit(f"{view} = tile.view %in{i} : {type_of(memory, element, 'memref')} to {kind}")
            self.emit(f"{name} = tile.load {view}[%id{', %c0' * (len(tile) - 1)}] : {kind} -> {type_of(tile, element)}")
            whole = np.full((tile[0] * self.instances, ) + tile[1:], PADS[pad] if is_float(element) else 0)
            whole[tuple(slice(0, n) for n in memory)] = array.value.low if not is_float(element) else array.value.known()
            self.arrays.append(Array(name, element, tile, Value(element, whole.reshape((self.instances, ) + tile))))
            parameters.append(f"%in{i}: {type_of(memory, element, 'memref')}")
        self.results_of(self.rng.randint(2, 8), self.BOTH + self.KERNEL)
        outputs = []
        for i, result in enumerate(self.chosen):
            tile = result.shape
            rows = max(tile[0] * self.instances - self.rng.choice([0, 0, 1]), 1)
            memory = (rows, ) + tile[1:]
            start = self.draw_input(memory, result.element)
            kind = type_of(tile, result.element).replace("tensor<", "!tile.view<")
            parameters.append(f"{start.name}: {type_of(memory, result.element, 'memref')}")
            self.emit(f"%z{i} = tile.view {start.name} : {type_of(memory, result.element, 'memref')} to {kind}")
            self.emit(f"tile.store {result.name}, %z{i}[%id{', %c0' * (len(tile) - 1)}] : {result.type}, {kind}")
            value = result.value.move(lambda p: p.reshape((-1, ) + tile[1:])[:rows])
            outputs.append((start, value))
        launch_in = [a for a, _ in self.inputs if a not in [o for o, _ in outputs]]
        ins = ", ".join(a.name for a in launch_in) + " : " + ", ".join(a.type for a in launch_in)
        outs = ", ".join(o.name for o, _ in outputs) + " : " + ", ".join(o.type for o, _ in outputs)
        types = ", ".join(o.type for o, _ in outputs)
        arguments = ", ".join(f"{a.name}: {a.type}" for a, _ in self.inputs)
        head = f"%r:{len(outputs)}" if len(outputs) > 1 else "%r"
        results = ", ".join(f"%r#{i}" for i in range(len(outputs))) if len(outputs) > 1 else "%r"
        text = "\n".join([
            f"tile.kernel private @{self.prefix}_k({', '.join(parameters)}) {{", "  %id = tile.program_id 0",
            "  %c0 = arith.constant 0 : index", *self.lines, "  tile.return", "}",
            f"func.func private @{self.prefix}({arguments}) -> ({types}) {{", f"  %n = arith.constant {self.instances} : index",
            f"  {head} = tile.launch @{self.prefix}_k grid(%n) ins({ins}) outs({outs}) -> {types}",
            f"  return {results} : {types}", "}"])
        return Program(self.prefix, text, self.inputs, [(o.type, o.element, v) for o, v in outputs])


def philox(seed, counter):
    """Philox4x32-10 (section 8)."""
    key = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    words = [counter & 0xFFFFFFFF, counter >> 32 & 0xFFFFFFFF, 0, 0]
    for _ in range(10):
        p, q = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        words = [(q >> 32) ^ words[1] ^ key[0], q & 0xFFFFFFFF, (p >> 32) ^ words[3] ^ key[1], p & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return words


class Program:
    """Its text, its inputs (array, data) and its results (type, element, what they may be)."""

    def __init__(self, name, text, inputs, results):
        self.name, self.text, self.inputs, self.results = name, text, inputs, results


def draw(seed):
    return Drawing(seed, f"p{seed}").draw()


def module(programs):
    """One module whose @main calls every program."""
    arguments, calls, results, types = [], [], [], []
    for program in programs:
        names = [f"%{program.name}_{i}" for i in range(len(program.inputs))]
        arguments += [f"{n}: {a.type}" for n, (a, _) in zip(names, program.inputs)]
        out = [r[0] for r in program.results]
        head = f"%{program.name}_r" + (f":{len(out)}" if len(out) > 1 else "")
        calls.append(f"  {head} = call @{program.name}({', '.join(names)}) : ({', '.join(a.type for a, _ in program.inputs)}) -> "
                     f"({', '.join(out)})")
        results += [f"%{program.name}_r#{i}" for i in range(len(out))] if len(out) > 1 else [f"%{program.name}_r"]
        types += out
    main = [f"func.func @main({', '.join(arguments)}) -> ({', '.join(types)}) {{", *calls,
            f"  return {', '.join(results)} : {', '.join(types)}", "}"]
    return "\n".join([*(p.text for p in programs), *main]) + "\n"
