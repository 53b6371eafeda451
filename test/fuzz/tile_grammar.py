"""Valid Tile kernels at random, with the host program that launches them. One seed, one program.

A kernel reads tiles of its memrefs (views with steps, strides, order, padding and fixed dimensions; gathers), computes
with ops drawn from `Kernel.RULES`, and writes tiles where no other instance writes. What would make a program wrong by
docs/numerics.md is avoided, not filtered: divisors are made positive, shift amounts small, conversions to integers
clamped; only values that every right program computes alike (`exact`) decide branches, places and orders.
"""
import random

from inputs import shape_text
from ir import FLOATS, Block, Function, Op, Program, Value, is_float, shaped, tile, tile_value, width

SIZES = (1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 24, 31, 32, 33, 40, 64)
MOST = 4096  # elements of a tile
INTEGERS = ("i8", "i16", "i32", "i64")
MEMORY_TYPES = ("f32", "f32", "f64", "f16", "bf16", "i32", "i64", "i8", "i16", "i1")
FLOAT_BINARY = "addf subf mulf divf remf maximumf minimumf maxnumf minnumf".split()
INTEGER_BINARY = "addi subi muli andi ori xori maxsi minsi maxui minui".split()
DIVISIONS = "divsi remsi divui remui floordivsi ceildivsi ceildivui".split()
SHIFTS = "shli shrsi shrui".split()
FLOAT_UNARY = ("math.absf math.ceil math.floor math.round math.roundeven math.trunc math.sqrt math.rsqrt math.exp math.exp2 "
               "math.log math.log2 math.sin math.cos math.tanh math.erf arith.negf math.expm1 math.log1p math.atan "
               "math.cbrt math.log10 math.sinh math.cosh math.tan").split()
INTEGER_UNARY = "math.absi math.ctlz math.cttz math.ctpop".split()
FLOAT_COMBINERS = "addf maximumf minimumf maxnumf minnumf mulf".split()
INTEGER_COMBINERS = "addi muli maxsi minsi maxui minui andi ori xori".split()
PRODUCTS = [("f32", "f32"), ("f64", "f64"), ("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("i8", "i32"), ("i16", "i32"),
            ("i32", "i32"), ("i64", "i64")]
EXACT_UNARY = {"math.absf", "math.ceil", "math.floor", "math.round", "math.roundeven", "math.trunc", "arith.negf"}


class Kernel:
    """One kernel being written: `block` is where ops go now, `scope` what they may use."""

    may_saturate = True  # tile.convert_type

    def __init__(self, rng, name, grid):
        self.rng, self.name, self.grid = rng, name, grid
        self.body = self.block = Block()
        self.scope, self.memrefs, self.writes, self.depth = [], [], [], 0
        self.tables = {}

    # --- Building -------------------------------------------------------------------------------------------------------

    def emit(self, text, operands, *results, regions=()):
        self.block.ops.append(Op(text, list(operands), list(results), list(regions)))
        return results[0] if results else None

    def keep(self, value):
        self.scope.append(value)
        return value

    def constant(self, element, number, shape=()):
        if element == "i1":
            number = "true" if number else "false"
        text = number if isinstance(number, str) else repr(float(number)) if is_float(element) else str(number)
        if shape:
            return self.emit(f"arith.constant dense<{text}> : {tile(shape, element)}", [], tile_value(shape, element))
        suffix = "" if element == "i1" else f" : {element}"
        return self.emit(f"arith.constant {text}{suffix}", [], tile_value((), element))

    def index(self, number):
        return self.constant("index", number)

    def like(self, op, operands, element=None, exact=None, finite=False, words=""):
        """An elementwise op whose operands have one type."""
        first = operands[0]
        exact = all(o.exact for o in operands) if exact is None else exact
        result = tile_value(first.shape, element or first.element, exact, finite)
        names = ", ".join(f"{{{i}}}" for i in range(len(operands)))
        return self.emit(f"{op} {words}{names} : {first.type}", operands, result)

    def convert(self, op, value, element, exact=True, finite=True):
        result = tile_value(value.shape, element, value.exact and exact, finite)
        return self.emit(f"{op} {{0}} : {value.type} to {result.type}", [value], result)

    # --- Choosing -------------------------------------------------------------------------------------------------------

    def some(self, test=lambda v: True):
        """A value of the scope, rather a late one; None where there is none."""
        found = [v for v in self.scope if test(v)]
        return found[min(int(self.rng.triangular(0, len(found), len(found))), len(found) - 1)] if found else None

    def lowest_rank(self, scalars):
        return 0 if self.rng.random() < scalars else 1

    def a_tile(self, elements=None, test=lambda v: True, rank=1):
        return self.some(lambda v: len(v.shape) >= rank and (elements is None or v.element in elements) and test(v))

    def beside(self, value, test=lambda v: True):
        """Another value of that type, or a constant."""
        other = self.some(lambda v: v.type == value.type and test(v))
        if other and self.rng.random() < 0.8:
            return other
        return self.constant(value.element, self.number(value.element), value.shape)

    def number(self, element):
        if is_float(element):
            return self.rng.choice([0.0, 1.0, -1.0, 0.5, 2.0, -0.25, 1.5])
        return self.rng.choice([0, 1]) if element == "i1" else self.rng.choice([0, 1, 2, 3, -1, -2, 7])

    def shape(self, rank=None):
        rank = rank or self.rng.choice([1, 1, 2, 2, 2, 3])
        while True:
            shape = tuple(self.rng.choice(SIZES) for _ in range(rank))
            if 0 < volume(shape) <= MOST:
                return shape

    # --- Memory ---------------------------------------------------------------------------------------------------------

    def memref(self, sizes, element, kind, exact=True, finite=True, written=False):
        """A parameter: some sizes dynamic. Returns the value inside the kernel."""
        shown = tuple("?" if self.rng.random() < 0.5 else n for n in sizes)
        value = Value(tuple(sizes), element, shaped("memref", shown, element), exact, finite)
        self.memrefs.append((value, kind, written))
        return value

    def program_ids(self):
        return [self.emit(f"tile.program_id {axis}", [], tile_value((), "index")) for axis in range(len(self.grid))]

    def view_type(self, shape, element, steps=None, strides=None, order=None, pad=None):
        words = [f"steps = {list(steps)}"] if steps else []
        words += [f"strides = {list(strides)}"] if strides else []
        words += [f"order = {list(order)}"] if order else []
        words += [f"pad = {pad}"] if pad else []
        return f"!tile.view<{''.join(f'{n}x' for n in shape)}{element}{''.join(', ' + w for w in words)}>"

    def view(self, memref, kept, type, indices=()):
        """A view of the dimensions that are not fixed by `indices`, {axis: value}."""
        words = [f"{{{1 + sorted(indices).index(a)}}}" if a in indices else "_" for a in range(len(memref.shape))]
        fixed = f"[{', '.join(words)}]" if indices else ""
        return self.emit(f"tile.view {{0}}{fixed} : {memref.type} to {type}", [memref] + [indices[a] for a in sorted(indices)],
                         Value(tuple(kept), memref.element, type))

    def tile_index(self):
        """Which tile of a view's axis to read: a program's number, a small number, or one outside."""
        kind = self.rng.random()
        if kind < 0.5 and self.ids:
            return self.rng.choice(self.ids)
        ivs = [v for v in self.scope if v.shape == () and v.element == "index" and v.exact]
        if kind < 0.65 and ivs:
            return self.rng.choice(ivs)
        if kind < 0.75 and self.ids:
            return self.like("arith." + self.rng.choice(["addi", "subi"]), [self.rng.choice(self.ids), self.index(self.rng.choice([1, 2]))])
        return self.index(self.rng.choice([0, 0, 0, 1, -1, 2]))

    def source(self):
        """A memref to read: one there is, or a new one."""
        readable = [m for m, _, written in self.memrefs if not written and len(m.shape) > 0]
        if readable and self.rng.random() < 0.4 or len(self.memrefs) > 5:
            return self.rng.choice(readable) if readable else None
        rank, element = self.rng.choice([1, 1, 2, 2, 3]), self.rng.choice(MEMORY_TYPES)
        sizes = [self.rng.choice(SIZES + (0, 1, 50, 97)) for _ in range(rank)]
        while volume(sizes) > 20000:
            sizes[self.rng.randrange(rank)] = self.rng.choice(SIZES[:8])
        kind = self.rng.choice(["normal"] * 4 + ["positive", "wild"])
        return self.memref(sizes, element, kind, finite=kind != "wild")

    def load(self):
        memref = self.source()
        if memref is None:
            return
        rank, indices = len(memref.shape), {}
        for axis in range(rank):
            if rank - len(indices) > 1 and self.rng.random() < 0.2 and memref.shape[axis] > 0:
                indices[axis] = self.index(self.rng.randrange(memref.shape[axis]))
        kept = [a for a in range(rank) if a not in indices]
        shape = self.shape(len(kept))
        options = {}
        if self.rng.random() < 0.2:
            options["steps"] = [self.rng.choice([1, 2, 3, n]) for n in shape]
        if self.rng.random() < 0.2:
            options["strides"] = [self.rng.choice([1, 2, 3]) for _ in shape]
        if len(kept) > 1 and self.rng.random() < 0.2:
            options["order"] = self.rng.sample(range(len(kept)), len(kept))
        if is_float(memref.element) and self.rng.random() < 0.4:
            options["pad"] = self.rng.choice(["zero", "neg_zero", "nan", "inf", "neg_inf"])
        type = self.view_type(shape, memref.element, **options)
        view = self.view(memref, shape, type, indices)
        at = [self.tile_index() for _ in shape]
        names = ", ".join(f"{{{1 + i}}}" for i in range(len(at)))
        finite = memref.finite and options.get("pad") in (None, "zero", "neg_zero")
        result = tile_value(shape, memref.element, memref.exact, finite)
        self.keep(self.emit(f"tile.load {{0}}[{names}] : {type} -> {result.type}", [view] + at, result))
        if self.rng.random() < 0.15:
            mask = tile_value(shape, "i1")
            self.keep(self.emit(f"tile.in_bounds {{0}}[{names}] : {type} -> {mask.type}", [view] + at, mask))

    def places(self, shape, most):
        """A tile of numbers from about -3 to `most` + 3: data, or counted."""
        if self.rng.random() < 0.6:
            numbers = self.memref(shape, self.rng.choice(["i32", "i64"]), f"near:{most}")
            type = self.view_type(shape, numbers.element)
            view, zero = self.view(numbers, shape, type), self.index(0)
            names = ", ".join(["{1}"] * len(shape))
            result = tile_value(shape, numbers.element)
            return self.emit(f"tile.load {{0}}[{names}] : {type} -> {result.type}", [view, zero], result)
        element = self.rng.choice(["index", "i32", "i64"])
        result = tile_value(shape, element)
        return self.emit(f"tile.iota dim {self.rng.randrange(len(shape))} : {result.type}", [], result)

    def gather(self):
        memref = self.source()
        if memref is None:
            return
        shape = self.shape(len(memref.shape) if self.rng.random() < 0.6 else None)
        bounds, operands, words, finite = self.rng.choice(["clamp", "drop", "drop"]), [], "", memref.finite
        if 0 in memref.shape:
            bounds = "drop"
        if self.rng.random() < 0.5 and len(shape) == len(memref.shape):  # of a view: some axes by number
            numbered = self.rng.sample(range(len(shape)), self.rng.randint(1, len(shape)))
            pad = self.rng.choice([None, "neg_inf", "nan"]) if is_float(memref.element) else None
            type = self.view_type(shape, memref.element, pad=pad)
            base = self.view(memref, shape, type)
            at = [self.places((n,), memref.shape[a]) if a in numbered else self.tile_index() for a, n in enumerate(shape)]
            finite &= pad is None
        else:
            base, type = memref, memref.type
            at = [self.places(shape, n) for n in memref.shape]
        operands = [base, *at]
        mask = self.some(lambda v: v.shape == shape and v.element == "i1")
        if mask and self.rng.random() < 0.5:
            words += f" mask {{{len(operands)}}}"
            operands.append(mask)
        if (bounds == "drop" or " mask" in words) and self.rng.random() < 0.4:
            words += f" other {{{len(operands)}}}"
            operands.append(self.constant(memref.element, self.number(memref.element), shape))
        names = ", ".join(f"{{{1 + i}}}" for i in range(len(at)))
        result = tile_value(shape, memref.element, memref.exact and (not mask or mask.exact), finite)
        types = ", ".join(a.type for a in at)
        self.keep(self.emit(f"tile.gather {{0}}[{names}]{words} bounds({bounds}) : {type}[{types}] -> {result.type}",
                            operands, result))

    def gather_on_chip(self):
        value = self.a_tile()
        if value is None:
            return
        axis, shape = self.rng.randrange(len(value.shape)), list(value.shape)
        shape[axis] = self.rng.choice(SIZES)
        if volume(shape) > MOST:
            return
        at = self.places(tuple(shape), value.shape[axis])
        result = tile_value(shape, value.element, value.exact, value.finite)
        self.keep(self.emit(f"tile.gather {{0}}[{{1}}] axis {axis} bounds({self.rng.choice(['clamp', 'drop'])}) : "
                            f"{value.type}[{at.type}] -> {result.type}", [value, at], result))

    # --- Elementwise ----------------------------------------------------------------------------------------------------

    def float_op(self):
        value = self.a_tile(FLOATS[:4], rank=self.lowest_rank(0.2))
        if value is None:
            return
        kind = self.rng.random()
        if kind < 0.45:
            name = self.rng.choice(FLOAT_BINARY)
            other = self.beside(value)
            exact = name[:3] in ("max", "min") and value.exact and other.exact
            # The sign of a zero that a maxnumf gives is not promised, and a remainder jumps.
            self.keep(self.like("arith." + name, [value, other], exact=exact))
        elif kind < 0.85:
            name = self.rng.choice(FLOAT_UNARY)
            self.keep(self.like(name, [value], exact=name in EXACT_UNARY and value.exact))
        else:
            name = self.rng.choice(["math.fma", "math.copysign", "math.powf", "math.atan2"])
            operands = [value] + [self.beside(value) for _ in range(2 if name == "math.fma" else 1)]
            if name == "math.atan2":  # of two zeros upstream folds it to nan
                operands[1] = self.constant(value.element, self.rng.choice([-0.5, 2.0]), value.shape)
            self.keep(self.like(name, operands, exact=False))

    def integer_op(self):
        value = self.a_tile(INTEGERS + ("index", "i1"), rank=self.lowest_rank(0.2))
        if value is None:
            return
        kind = self.rng.random()
        if value.element == "i1":
            self.keep(self.like("arith." + self.rng.choice(["andi", "ori", "xori", "addi", "muli", "maxui", "minsi"]), [value, self.beside(value)]))
        elif kind < 0.5:
            self.keep(self.like("arith." + self.rng.choice(INTEGER_BINARY), [value, self.beside(value)]))
        elif kind < 0.65:
            other, seven = self.beside(value), self.constant(value.element, 7, value.shape)
            divisor = self.like("arith.addi", [self.like("arith.andi", [other, seven]), self.constant(value.element, 1, value.shape)])
            self.keep(self.like("arith." + self.rng.choice(DIVISIONS), [value, divisor]))
        elif kind < 0.8:
            amount = self.like("arith.andi", [self.beside(value), self.constant(value.element, min(width(value.element), 64) // 2 - 1, value.shape)])
            self.keep(self.like("arith." + self.rng.choice(SHIFTS), [value, amount]))
        elif kind < 0.9 or value.element == "index":  # upstream cannot lower the others for index
            self.keep(self.like(self.rng.choice(INTEGER_UNARY), [value]))
        else:
            other = self.beside(value)
            results = [tile_value(value.shape, value.element, value.exact and other.exact) for _ in range(2)]
            name = self.rng.choice(["arith.mulsi_extended", "arith.mului_extended", "arith.addui_extended"])
            if name == "arith.addui_extended":
                results[1] = tile_value(value.shape, "i1", results[1].exact)
                self.emit(f"{name} {{0}}, {{1}} : {value.type}, {results[1].type}", [value, other], *results)
            else:
                self.emit(f"{name} {{0}}, {{1}} : {value.type}", [value, other], *results)
            self.scope += results

    def compare(self):
        value = self.a_tile(rank=self.lowest_rank(0.2))
        if value is None or value.element.startswith("f8"):
            return
        if is_float(value.element):
            name, words = "arith.cmpf", self.rng.choice("oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno".split())
        else:
            name, words = "arith.cmpi", self.rng.choice("eq ne slt sle sgt sge ult ule ugt uge".split())
        self.keep(self.like(name, [value, self.beside(value)], "i1", words=words + ", ", finite=True))

    def select(self):
        value = self.a_tile(rank=self.lowest_rank(0.1))
        mask = value and self.some(lambda v: v.element == "i1" and v.shape in (value.shape,))
        if mask is None:
            return
        other = self.beside(value)
        result = tile_value(value.shape, value.element, value.exact and other.exact and mask.exact, value.finite and other.finite)
        self.keep(self.emit(f"arith.select {{0}}, {{1}}, {{2}} : {mask.type}, {value.type}", [mask, value, other], result))

    def conversion(self):
        value = self.a_tile(rank=self.lowest_rank(0.1))
        if value is None:
            return
        if is_float(value.element):
            return self.float_conversion(value)
        to = self.rng.choice(INTEGERS + ("i1", "index", "f32", "f64", "f16", "bf16", "i4"))
        if is_float(to):
            if value.element == "index":
                value = self.convert("arith.index_cast", value, "i64")
            # Large ones overflow in products, as what may be nan does.
            self.keep(self.convert(self.rng.choice(["arith.sitofp", "arith.uitofp"]), value, to, exact=True, finite=False))
        elif "index" in (to, value.element):
            if to != value.element and "i1" not in (to, value.element) and "i4" not in (to, value.element):
                self.keep(self.convert(self.rng.choice(["arith.index_cast", "arith.index_castui"]), value, to))
        elif width(to) != width(value.element):
            name = "arith.trunci" if width(to) < width(value.element) else self.rng.choice(["arith.extsi", "arith.extui"])
            small = self.convert(name, value, to)
            self.keep(self.convert("arith.extsi", small, "i16") if to == "i4" else small)

    def float_conversion(self, value):
        kind, to = self.rng.random(), self.rng.choice(FLOATS[:4])
        if kind < 0.5 and width(to) != width(value.element):
            name = "arith.extf" if width(to) > width(value.element) else "arith.truncf"
            new = self.convert(name, value, to, exact=name == "arith.extf" or value.exact, finite=value.finite and name == "arith.extf")
            if to.startswith("f8"):
                new = self.convert("arith.extf", new, "f32", finite=False)
            self.keep(new)
        elif kind < 0.75 and not value.element.startswith("f8"):
            low, high = (self.constant(value.element, n, value.shape) for n in (-100.0, 100.0))
            near = self.like("arith.minnumf", [self.like("arith.maxnumf", [value, low]), high])
            self.keep(self.convert("arith.fptosi", near, self.rng.choice(INTEGERS)))
        elif self.may_saturate and not value.element.startswith("f8"):
            to = self.rng.choice(INTEGERS + (("f16",) if width(value.element) > 16 else ()))
            result = tile_value(value.shape, to, value.exact, False)
            self.keep(self.emit(f"tile.convert_type {{0}} saturate : {value.type} -> {result.type}", [value], result))

    def bits(self):
        value = self.a_tile(INTEGERS + FLOATS[:4], test=lambda v: v.finite and v.exact)
        if value is None:
            return
        other = [e for e in INTEGERS + FLOATS[:4] if e != value.element]
        to = self.rng.choice(other)
        shape = list(value.shape)
        if shape[-1] * width(value.element) % width(to):
            return
        shape[-1] = shape[-1] * width(value.element) // width(to)
        if volume(shape) > MOST:
            return
        result = tile_value(shape, to, True, not is_float(to))
        if width(to) == width(value.element):
            self.keep(self.convert("arith.bitcast", value, to, finite=not is_float(to)))
            return
        self.keep(self.emit(f"tile.bitcast {{0}} : {value.type} -> {result.type}", [value], result))

    # --- Shapes ---------------------------------------------------------------------------------------------------------

    def iota(self):
        shape, element = self.shape(), self.rng.choice(["index", "i32", "i64", "i16", "i8"])
        result = tile_value(shape, element)
        start = self.some(lambda v: v.shape == () and v.element == element and v.exact)
        words = " from {0}" if start else ""
        self.keep(self.emit(f"tile.iota dim {self.rng.randrange(len(shape))}{words} : {result.type}", [start] if start else [], result))

    def broadcast(self):
        value = self.some()
        if value is None:
            return
        if not value.shape:
            shape, words = self.shape(), ""
        else:
            axes = sorted(self.rng.sample(range(len(value.shape) + 1), 1))
            shape = list(value.shape)
            for axis in axes:
                shape.insert(axis, self.rng.choice(SIZES))
            words = f" axes {axes}"
        if len(shape) > 4 or volume(shape) > MOST:
            return
        result = tile_value(shape, value.element, value.exact, value.finite)
        self.keep(self.emit(f"tile.broadcast {{0}}{words} : {value.type} -> {result.type}", [value], result))

    def reshape(self):
        value = self.a_tile()
        if value is None:
            return
        n, shape = volume(value.shape), []
        for _ in range(self.rng.randrange(3)):
            d = self.rng.choice([k for k in range(1, n + 1) if n % k == 0])
            shape.append(d)
            n //= d
        result = tile_value((*shape, n), value.element, value.exact, value.finite)
        self.keep(self.emit(f"tile.reshape {{0}} : {value.type} -> {result.type}", [value], result))

    def transpose(self):
        value = self.a_tile(rank=2)
        if value is None:
            return
        order = self.rng.sample(range(len(value.shape)), len(value.shape))
        result = tile_value([value.shape[a] for a in order], value.element, value.exact, value.finite)
        self.keep(self.emit(f"tile.transpose {{0}} {order} : {value.type} -> {result.type}", [value], result))

    def part(self):
        value = self.a_tile()
        if value is None:
            return
        sizes = [self.rng.randint(1, n) for n in value.shape]
        offsets = [self.rng.randint(0, n - s) for n, s in zip(value.shape, sizes)]
        dynamic = [self.rng.random() < 0.3 for _ in sizes]
        at = [self.index(o) for o, d in zip(offsets, dynamic) if d]
        names = iter(range(2))

        def where(first):
            number = iter(range(first, 9))
            return ", ".join(f"{{{next(number)}}}" if d else str(o) for o, d in zip(offsets, dynamic))
        if self.rng.random() < 0.5:
            result = tile_value(sizes, value.element, value.exact, value.finite)
            self.keep(self.emit(f"tile.slice {{0}}[{where(1)}] : {value.type} -> {result.type}", [value, *at], result))
            return
        small = self.some(lambda v: v.element == value.element and v.shape == tuple(sizes)) or \
            self.constant(value.element, self.number(value.element), tuple(sizes))
        result = tile_value(value.shape, value.element, value.exact and small.exact, value.finite and small.finite)
        self.keep(self.emit(f"tile.insert {{0}} into {{1}}[{where(2)}] : {small.type}, {value.type} -> {result.type}",
                            [small, value, *at], result))

    def cat(self):
        value = self.a_tile()
        if value is None:
            return
        axis = self.rng.randrange(len(value.shape))

        def fits(v):
            return v.element == value.element and len(v.shape) == len(value.shape) and \
                all(a == b for i, (a, b) in enumerate(zip(v.shape, value.shape)) if i != axis)
        parts = [value] + [self.some(fits) for _ in range(self.rng.choice([1, 1, 2]))]
        shape = list(value.shape)
        shape[axis] = sum(p.shape[axis] for p in parts)
        if volume(shape) > MOST:
            return
        result = tile_value(shape, value.element, all(p.exact for p in parts), all(p.finite for p in parts))
        names, types = ", ".join(f"{{{i}}}" for i in range(len(parts))), ", ".join(p.type for p in parts)
        self.keep(self.emit(f"tile.cat {names} axis {axis} : {types} -> {result.type}", parts, result))

    # --- Whole tiles ----------------------------------------------------------------------------------------------------

    def combiner(self, value):
        """(name, whether its result is as exact). A product of large and small numbers depends on its order too much."""
        element = value.element
        if is_float(element):
            return self.rng.choice([c for c in FLOAT_COMBINERS if c != "mulf" or (value.exact and value.finite)]), False
        return self.rng.choice(INTEGER_COMBINERS if element != "i1" else ["andi", "ori", "xori", "addi"]), True

    def reduce(self):
        value = self.a_tile(test=lambda v: not v.element.startswith("f8"))
        if value is None:
            return
        axes = sorted(self.rng.sample(range(len(value.shape)), self.rng.randint(1, len(value.shape))))
        shape = [n for a, n in enumerate(value.shape) if a not in axes]
        if self.rng.random() < 0.25 and value.exact and value.element != "i1":
            return self.argmax(value, axes, shape)
        name, exact = self.combiner(value)
        result = tile_value(shape, value.element, value.exact and (exact or name[:3] in ("max", "min")), False)
        self.keep(self.emit(f"tile.reduce {{arith.{name}}} {{0}} axes {axes} : {value.type} -> {result.type}", [value], result))

    def argmax(self, value, axes, shape):
        """The largest and the first place of it: a region over two tiles, associative."""
        at = self.emit(f"tile.iota dim {axes[0]} : {tile(value.shape, 'i32')}", [], tile_value(value.shape, "i32"))
        e = value.element
        a, ai, b, bi = (tile_value((), t) for t in (e, "i32", e, "i32"))
        block, outer = Block([a, ai, b, bi], [], True), self.block
        self.block = block
        # A nan or an equal value never wins over what is there; equal ones by their place.
        cmp = ("arith.cmpf ogt", "arith.cmpf oeq") if is_float(e) else ("arith.cmpi sgt", "arith.cmpi eq")
        more = self.emit(f"{cmp[0]}, {{0}}, {{1}} : {e}", [a, b], tile_value((), "i1"))
        same = self.emit(f"{cmp[1]}, {{0}}, {{1}} : {e}", [a, b], tile_value((), "i1"))
        before = self.emit("arith.cmpi slt, {0}, {1} : i32", [ai, bi], tile_value((), "i1"))
        tie = self.emit("arith.andi {0}, {1} : i1", [same, before], tile_value((), "i1"))
        wins = self.emit("arith.ori {0}, {1} : i1", [more, tie], tile_value((), "i1"))
        r = self.emit(f"arith.select {{0}}, {{1}}, {{2}} : {e}", [wins, a, b], tile_value((), e))
        ri = self.emit("arith.select {0}, {1}, {2} : i32", [wins, ai, bi], tile_value((), "i32"))
        self.emit(f"tile.yield {{0}}, {{1}} : {e}, i32", [r, ri])
        self.block = outer
        if is_float(e) and not value.finite:
            return  # with a nan this is not associative
        lowest = {"f64": "0xFFF0000000000000", "f32": "0xFF800000", "f16": "0xFC00", "bf16": "0xFF80", "index": str(-2**63)}
        number = lowest.get(e) or str(-2 ** (width(e) - 1))
        results = [tile_value(shape, e, True, True), tile_value(shape, "i32")]
        self.emit(f"tile.reduce {{0}}, {{1}} axes {axes} neutral [{number} : {e}, 2147483647 : i32] : {value.type}, {at.type} -> "
                  f"{results[0].type}, {results[1].type} §0", [value, at], *results, regions=[block])
        self.scope += results

    def scan(self):
        value = self.a_tile(test=lambda v: not v.element.startswith("f8"))
        if value is None:
            return
        axis = self.rng.randrange(len(value.shape))
        name, exact = self.combiner(value)
        words = "".join(w for w in (" reverse", " exclusive") if self.rng.random() < 0.3)
        result = tile_value(value.shape, value.element, value.exact and (exact or name[:3] in ("max", "min")), False)
        if self.rng.random() < 0.3:
            rest = [n for a, n in enumerate(value.shape) if a != axis]
            start = self.constant(value.element, self.number(value.element), tuple(rest))
            last = tile_value(rest, value.element, result.exact, False)
            self.emit(f"tile.scan {{arith.{name}}} {{0}} init {{1}} axis {axis}{words} : {value.type}, {start.type}", [value, start], result, last)
            self.keep(last)
        else:
            self.emit(f"tile.scan {{arith.{name}}} {{0}} axis {axis}{words} : {value.type}", [value], result)
        self.keep(result)

    def sort(self):
        value = self.a_tile(test=lambda v: v.exact and v.element not in ("i1",) and not v.element.startswith("f8"))
        if value is None:
            return
        axis = self.rng.randrange(len(value.shape))
        carried = [v for v in [self.some(lambda v: v.shape == value.shape and v is not value and not v.element.startswith("f8") and v.element != "i1")] if v]
        inputs, words = [value, *carried], " descending" if self.rng.random() < 0.5 else ""
        names, types = ", ".join(f"{{{i}}}" for i in range(len(inputs))), ", ".join(v.type for v in inputs)
        if self.rng.random() < 0.5:
            results = [tile_value(v.shape, v.element, v.exact, v.finite) for v in inputs]
            self.emit(f"tile.sort {names} axis {axis}{words} : {types}", inputs, *results)
        else:
            shape = list(value.shape)
            shape[axis] = self.rng.randint(1, shape[axis])
            results = [tile_value(shape, v.element, v.exact, v.finite) for v in inputs]
            self.emit(f"tile.topk {names} axis {axis}{words} : {types} -> {', '.join(r.type for r in results)}", inputs, *results)
        self.scope += results

    def histogram(self):
        value = self.a_tile(INTEGERS, test=lambda v: len(v.shape) == 1 and v.exact)
        if value is None:
            return
        result = tile_value((self.rng.choice(SIZES),), self.rng.choice(["i32", "i64", "i8"]))
        mask = self.some(lambda v: v.shape == value.shape and v.element == "i1" and v.exact)
        words, operands = (" mask {1}", [value, mask]) if mask else ("", [value])
        self.keep(self.emit(f"tile.histogram {{0}}{words} : {value.type} -> {result.type}", operands, result))

    def random(self):
        counter = self.some(lambda v: v.element in ("index", "i32", "i64") and v.exact and len(v.shape) < 3 and volume(v.shape) <= MOST // 4)
        if counter is None:
            return
        result = tile_value((*counter.shape, 4), "i32")
        seed = self.constant("i64", self.rng.choice([0, 1, 42, -1, 2**40 + 3]))
        self.keep(self.emit(f"tile.random {{0}}, {{1}} : i64, {counter.type} -> {result.type}", [seed, counter], result))

    def mma(self):
        a, c = self.rng.choice(PRODUCTS)
        lhs = self.a_tile((a,), rank=2)
        if lhs is None or len(lhs.shape) > 3:
            return
        *batch, m, k = lhs.shape
        n = self.rng.choice(SIZES)
        if volume(batch) * n * max(m, k) > MOST or volume(batch) * m * n * k > 200000:
            return
        rhs = self.some(lambda v: v.element == a and v.shape[:-1] == (*batch, k)) or \
            self.constant(a, self.number(a), (*batch, k, n))
        n = rhs.shape[-1]
        sum = self.some(lambda v: v.element == c and v.shape == (*batch, m, n)) or self.constant(c, 0, (*batch, m, n))
        precision = f" precision {self.rng.choice(['tf32', 'tf32x3', 'ieee'])}" if a == "f32" and self.rng.random() < 0.15 else ""
        result = tile_value((*batch, m, n), c, not is_float(c) and lhs.exact and rhs.exact and sum.exact, False)
        self.keep(self.emit(f"tile.mma {{0}}, {{1}}, {{2}}{precision} : {lhs.type}, {rhs.type} -> {result.type}", [lhs, rhs, sum], result))

    # --- Control --------------------------------------------------------------------------------------------------------

    def inside(self, block, steps, args=()):
        """Fills a nested block; what it computes is not visible after."""
        outer, scope = self.block, list(self.scope)
        self.block, self.depth = block, self.depth + 1
        self.scope += args
        self.compute(steps)
        found, self.block, self.depth = self.scope, outer, self.depth - 1
        self.scope = scope
        return found

    def carried(self):
        values = [v for v in (self.some(lambda v: not v.element.startswith("f8")) for _ in range(self.rng.choice([1, 1, 2]))) if v]
        return list(dict.fromkeys(values))

    def yields(self, block, found, carried, word="scf.yield"):
        """Ends a block with a value of each carried type."""
        values = []
        for c in carried:
            same = [v for v in found if v.type == c.type]
            values.append(self.rng.choice(same[-3:]))
        block.ops.append(Op(f"{word} {', '.join(f'{{{i}}}' for i in range(len(values)))} : {', '.join(v.type for v in values)}", values))
        return values

    def loop(self):
        carried = self.carried()
        if not carried or self.depth > 1:
            return
        low, high, step = (self.index(n) for n in (0, self.rng.choice([0, 1, 2, 3]), self.rng.choice([1, 1, 2])))
        iv, args = tile_value((), "index"), [tile_value(c.shape, c.element, False, False) for c in carried]
        block = Block([iv, *args])
        found = self.inside(block, self.rng.randint(1, 4), [iv, *args])
        self.yields(block, found, carried)
        results = [tile_value(c.shape, c.element, False, False) for c in carried]
        pairs = ", ".join(f"{{b0_{i + 1}}} = {{{i + 3}}}" for i in range(len(carried)))
        self.emit(f"scf.for {{b0_0}} = {{0}} to {{1}} step {{2}} iter_args({pairs}) -> ({', '.join(c.type for c in carried)}) §0",
                  [low, high, step, *carried], *results, regions=[block])
        self.scope += results

    def branch(self):
        carried = self.carried()
        condition = self.some(lambda v: v.shape == () and v.element == "i1" and v.exact)
        if not carried or self.depth > 1:
            return
        if condition is None:
            number = self.rng.choice(self.ids)
            condition = self.emit("arith.cmpi slt, {0}, {1} : index", [number, self.index(1)], tile_value((), "i1"))
        blocks = [Block(), Block()]
        exact = True
        for block in blocks:
            values = self.yields(block, self.inside(block, self.rng.randint(0, 3)), carried)
            exact &= all(v.exact for v in values)
        results = [tile_value(c.shape, c.element, exact, False) for c in carried]
        self.emit(f"scf.if {{0}} -> ({', '.join(c.type for c in carried)}) §0 else §1", [condition], *results, regions=blocks)
        self.scope += results

    def while_loop(self):
        carried = self.carried()
        if not carried or self.depth > 0:
            return
        most, one, start = self.index(self.rng.choice([0, 1, 3])), self.index(1), self.index(0)
        count, args = tile_value((), "index"), [tile_value(c.shape, c.element, False, False) for c in carried]
        before = Block([count, *args])
        outer, self.block = self.block, before
        more = self.emit("arith.cmpi slt, {0}, {1} : index", [count, most], tile_value((), "i1"))
        types = ", ".join(["index"] + [c.type for c in carried])
        self.emit(f"scf.condition({{0}}) {', '.join(f'{{{i + 1}}}' for i in range(len(carried) + 1))} : {types}", [more, count, *args])
        number, inner = tile_value((), "index"), [tile_value(c.shape, c.element, False, False) for c in carried]
        after = Block([number, *inner], [], True)
        self.block = outer
        found = self.inside(after, self.rng.randint(1, 3), [number, *inner])
        self.block = after
        next = self.emit("arith.addi {0}, {1} : index", [number, one], tile_value((), "index"))
        self.block = outer
        values = [self.rng.choice([v for v in found if v.type == c.type][-3:]) for c in carried]
        after.ops.append(Op(f"scf.yield {', '.join(f'{{{i}}}' for i in range(len(values) + 1))} : {types}", [next, *values]))
        results = [tile_value((), "index"), *(tile_value(c.shape, c.element, False, False) for c in carried)]
        pairs = ", ".join(f"{{b0_{i}}} = {{{i}}}" for i in range(len(carried) + 1))
        self.emit(f"scf.while ({pairs}) : ({types}) -> ({types}) §0 do §1", [start, *carried], *results, regions=[before, after])
        self.scope += results

    # --- Results --------------------------------------------------------------------------------------------------------

    def write(self, value):
        """Stores a value where only this instance writes: by fixed dimensions, or as tile number of the axes."""
        if value.element in ("index", "i4") or value.element.startswith("f8"):
            if value.element.startswith("f8"):
                value = self.convert("arith.extf", value, "f32")
            else:
                value = self.convert("arith.index_cast", value, "i64")
        kind, grid = self.rng.random(), list(self.grid)
        if not value.shape:
            memref = self.memref(grid, value.element, "normal", value.exact, value.finite, True)
            at = ", ".join(f"{{{2 + i}}}" for i in range(len(grid)))
            return self.emit(f"memref.store {{0}}, {{1}}[{at}] : {memref.type}", [value, memref, *self.ids])
        if kind < 0.2 and value.element not in ("i1",):
            return self.write_combined(value)
        if kind < 0.35 and len(grid) == 1:
            return self.write_scattered(value)
        if kind < 0.65 and len(grid) <= len(value.shape):
            edges = [n * (grid[a] if a < len(grid) else 1) for a, n in enumerate(value.shape)]
            sizes = [max(0, n - self.rng.choice([0, 0, 1, 2, n // 2])) for n in edges]
            memref = self.memref(sizes, value.element, "normal", value.exact, value.finite, True)
            options, zero = {}, self.index(0)
            type = self.view_type(value.shape, value.element, **options)
            view = self.view(memref, value.shape, type)
            at = [self.ids[a] if a < len(grid) else zero for a in range(len(value.shape))]
        else:
            order = self.rng.sample(range(len(value.shape)), len(value.shape)) if self.rng.random() < 0.2 else None
            sizes = [0] * len(value.shape)
            for axis, n in enumerate(value.shape):
                sizes[order[axis] if order else axis] = n
            memref = self.memref(grid + sizes, value.element, "normal", value.exact, value.finite, True)
            type = self.view_type(value.shape, value.element, order=order)
            view = self.view(memref, value.shape, type, dict(enumerate(self.ids)))
            at = [self.index(0)] * len(value.shape)
        names = ", ".join(f"{{{2 + i}}}" for i in range(len(at)))
        self.emit(f"tile.store {{0}}, {{1}}[{names}] : {value.type}, {type}", [value, view, *at])

    def combine_kind(self, element):
        return self.rng.choice(["add", "max", "min"] + ([] if is_float(element) else ["and", "or", "xor", "umax", "umin"]))

    def write_combined(self, value):
        """All instances into one tile, atomically."""
        memref = self.memref(value.shape, value.element, "normal", value.exact and not is_float(value.element), False, True)
        type, zero = self.view_type(value.shape, value.element), self.index(0)
        view = self.view(memref, value.shape, type)
        names = ", ".join(["{2}"] * len(value.shape))
        self.emit(f"tile.store {{0}}, {{1}}[{names}] combine({self.combine_kind(value.element)}) : {value.type}, {type}", [value, view, zero])

    def write_scattered(self, value):
        """By numbers: combined where several may meet, else each place once."""
        if value.element == "i1":
            return self.write_combined(self.convert("arith.extui", value, "i32"))
        size = volume(value.shape)
        if self.rng.random() < 0.5 and self.grid == (1,):
            numbers = self.memref(value.shape, "i32", "permutation")
            type, zero = self.view_type(value.shape, "i32"), self.index(0)
            view = self.view(numbers, value.shape, type)
            at = self.emit(f"tile.load {{0}}[{', '.join(['{1}'] * len(value.shape))}] : {type} -> {tile(value.shape, 'i32')}",
                           [view, zero], tile_value(value.shape, "i32"))
            words, most = "", max(1, size - self.rng.choice([0, 2]))
        else:
            at, words, most = self.places(value.shape, 11), f" combine({self.combine_kind(value.element)})", 11
        memref = self.memref((most,), value.element, "normal", value.exact and not is_float(value.element), False, True)
        operands = [value, memref, at]
        mask = self.some(lambda v: v.shape == value.shape and v.element == "i1" and v.exact)
        if mask and self.rng.random() < 0.5:
            words, operands = " mask {3}" + words, operands + [mask]
        self.emit(f"tile.scatter {{0}}, {{1}}[{{2}}]{words} bounds(drop) : {value.type}, {memref.type}[{at.type}]", operands)

    def atomics(self):
        """Each instance its own element, so that the old values are known."""
        if self.depth or len(self.memrefs) > 8:
            return
        element = self.rng.choice(["i32", "i64", "f32", "i16", "i8", "f64"])
        memref = self.memref(self.grid, element, "normal", False, True, True)
        at = ", ".join(f"{{{i}}}" for i in range(2, 2 + len(self.grid)))
        value, old = self.constant(element, self.number(element)), tile_value((), element, True, True)
        if self.rng.random() < 0.3:
            compare = self.constant(element, self.number(element))
            at = ", ".join(f"{{{i}}}" for i in range(3, 3 + len(self.grid)))
            self.emit(f"tile.atomic_cas {{0}}, {{1}}, {{2}}[{at}] {self.rng.choice(['relaxed', 'acq_rel'])} device : {element}, "
                      f"{memref.type} -> {element}", [compare, value, memref, *self.ids], old)
        else:
            kind = self.rng.choice(["fadd", "xchg"] if is_float(element) else ["add", "max", "min", "umax", "umin", "and", "or", "xor", "xchg"])
            self.emit(f"tile.atomic_rmw {kind} {{0}}, {{1}}[{at}] {self.rng.choice(['relaxed', 'acquire', 'release', 'acq_rel'])} "
                      f"device : {element}, {memref.type} -> {element}", [value, memref, *self.ids], old)
        self.keep(old)

    # --- The whole ------------------------------------------------------------------------------------------------------

    RULES = [(load, 5), (gather, 2), (gather_on_chip, 1), (float_op, 10), (integer_op, 8), (compare, 4), (select, 3),
             (conversion, 6), (bits, 1), (iota, 2), (broadcast, 4), (reshape, 2), (transpose, 2), (part, 3), (cat, 2),
             (reduce, 5), (scan, 3), (sort, 2), (histogram, 1), (random, 1), (mma, 4), (loop, 2), (branch, 2),
             (while_loop, 1), (atomics, 1)]

    def compute(self, steps):
        for rule in self.rng.choices(*zip(*self.RULES), k=steps):
            rule(self)

    def build(self):
        self.ids = self.program_ids()
        self.scope += self.ids
        for _ in range(self.rng.randint(1, 3)):
            self.load()
        self.compute(self.rng.randint(4, 14))
        late = [v for v in self.scope if v not in self.ids]
        chosen = {id(v): v for v in late[-2:] + self.rng.sample(late, min(len(late), 1))}
        for value in chosen.values():
            self.write(value)
        self.emit("tile.return", [])
        # Those that are written are last.
        self.memrefs.sort(key=lambda m: m[2])
        self.body.args = [m for m, _, _ in self.memrefs]
        # For GPUs only; from a generator of its own, so that the programs are what they were before there were any.
        warps = random.Random(f"warps {self.name}").choice(["", "", 1, 2, 8])
        return Function("tile.kernel", self.name, self.body, attributes=f"warps = {warps} : i32" if warps else "")


def volume(shape):
    product = 1
    for n in shape:
        product *= n
    return product


def generate(seed):
    """A Tile program of one or two launches, on memrefs or on tensors."""
    rng = random.Random(f"tile {seed}")
    main, inputs, kernels, results = Block(), [], [], []
    for number in range(rng.choice([1, 1, 1, 2])):
        grid = tuple(rng.choice([1, 1, 2, 3]) for _ in range(rng.choice([1, 1, 2, 3])))
        kernel = Kernel(rng, f"k{seed}_{number}", grid)
        kernels.append(kernel.build())
        launch(kernel, rng.random() < 0.4, main, inputs, results, rng)
    return Program(kernels, Function("func.func", "main", main, results), inputs)


def launch(kernel, on_tensors, main, inputs, results, rng):
    operands, types = [], []
    for memref, kind, _ in kernel.memrefs:
        type = memref.type.replace("memref", "tensor") if on_tensors else memref.type
        value = Value(memref.shape, memref.element, type)
        main.args.append(value)
        inputs.append(f"{kind} {memref.element} {shape_text(memref.shape)} {rng.randrange(10**6)}")
        operands.append(value)
        types.append(type)
    ins = sum(not written for _, _, written in kernel.memrefs)
    sizes = [Op(f"arith.constant {n} : index", [], [Value((), "index", "index")]) for n in kernel.grid]
    main.ops += sizes
    grid = ", ".join(f"{{{i}}}" for i in range(len(sizes)))
    first = len(sizes)

    def group(word, begin, end):
        if begin == end:
            return ""
        return f" {word}({', '.join(f'{{{first + i}}}' for i in range(begin, end))} : {', '.join(types[begin:end])})"
    outs = [Value(o.shape, o.element, o.type) for o in operands[ins:]] if on_tensors else []
    gives = f" -> {', '.join(o.type for o in outs)}" if outs else ""
    main.ops.append(Op(f"tile.launch @{kernel.name} grid({grid}){group('ins', 0, ins)}{group('outs', ins, len(operands))}{gives}",
                       [s.results[0] for s in sizes] + operands, outs))
    results += outs
