"""Valid linalg programs at random: chains of named ops, generics and tensor ops on tensors, with scf around them.

One function from tensors to tensors. Every size is known while drawing, and shown or `?` in the types: of an argument by
chance, of a result as its operands have it. Sizes are 0 and 1 too. As in tile_grammar.py only what every right program
computes alike decides branches and places.
"""
import random

from inputs import shape_text
from ir import DYNAMIC, Block, Function, Op, Program, Value, is_float, shaped, tile_value
from tile_grammar import FLOAT_COMBINERS, INTEGER_COMBINERS, Kernel, volume

SIZES = (0, 1, 1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 33)
TYPES = ("f32", "f32", "f32", "f64", "f16", "i32", "i64", "i8", "i16", "i1", "bf16")
PRODUCTS = [("f32", "f32"), ("f64", "f64"), ("f16", "f32"), ("i8", "i32"), ("i32", "i32"), ("i64", "i64"), ("i16", "i32")]
MOST = 40000  # elements of a tensor; a program's points are bounded by products of few of them
UNARY = "abs ceil erf exp floor log negf reciprocal round rsqrt sqrt square tanh".split()
BINARY = "add sub mul div max min powf".split()
FAMILIES = {"matmul": "mk kn mn", "batch_matmul": "bmk bkn bmn", "batch_reduce_matmul": "bmk bkn mn", "matvec": "mk k m",
            "vecmat": "k kn n", "batch_matvec": "bmk bk bm", "batch_vecmat": "bk bkn bn", "dot": "k k ",
            "mmt4d": "mkpr nkqr mnpq", "batch_mmt4d": "bmkpr bnkqr bmnpq"}
CONVOLUTIONS = {"conv_1d_nwc_wcf": ("nWc", "wcf", "nwf"), "conv_1d_ncw_fcw": ("ncW", "fcw", "nfw"),
                "conv_2d_nhwc_hwcf": ("nHWc", "hwcf", "nhwf"), "conv_2d_nchw_fchw": ("ncHW", "fchw", "nfhw"),
                "depthwise_conv_2d_nhwc_hwc": ("nHWc", "hwc", "nhwc"), "depthwise_conv_2d_nchw_chw": ("ncHW", "chw", "nchw"),
                "depthwise_conv_1d_nwc_wc": ("nWc", "wc", "nwc"), "conv_2d_ngchw_fgchw": ("ngcHW", "fgchw", "ngfhw"),
                "depthwise_conv_2d_nhwc_hwcm": ("nHWc", "hwcm", "nhwcm"), "conv_3d_ndhwc_dhwcf": ("nDHWc", "dhwcf", "ndhwf")}
POOLINGS = {"pooling_nhwc_sum": ("nHWc", "hw", "nhwc"), "pooling_nhwc_max": ("nHWc", "hw", "nhwc"), "pooling_nchw_max": ("ncHW", "hw", "nchw"),
            "pooling_nhwc_min": ("nHWc", "hw", "nhwc"), "pooling_nwc_sum": ("nWc", "w", "nwc"), "pooling_ncw_max": ("ncW", "w", "ncw"),
            "pooling_nchw_sum": ("ncHW", "hw", "nchw"), "pooling_ndhwc_max": ("nDHWc", "dhw", "ndhwc")}


class Scalars(Kernel):
    """The body of a generic: scalars only."""
    RULES = [(Kernel.float_op, 6), (Kernel.integer_op, 5), (Kernel.compare, 2), (Kernel.select, 2), (Kernel.conversion, 3)]

    may_saturate = False

    def lowest_rank(self, _):
        return 0

    def draw(self, args, steps, numbers):
        self.block, self.scope = Block(list(args), [], True), list(args)
        if numbers and self.rng.random() < 0.25:
            self.keep(self.emit(f"linalg.index {self.rng.randrange(numbers)} : index", [], tile_value((), "index")))
        self.compute(steps)
        return self.block


class Tensors:
    def __init__(self, rng):
        self.rng, self.block, self.args, self.inputs, self.scope, self.depth = rng, Block(), [], [], [], 0

    def emit(self, text, operands, *results, regions=()):
        self.block.ops.append(Op(text, list(operands), list(results), list(regions)))
        return results[0] if results else None

    def keep(self, value):
        if value is not None:
            self.scope.append(value)
        return value

    def index(self, number):
        return self.emit(f"arith.constant {number} : index", [], Value((), "index", "index"))

    def constant(self, element, number):
        text = ("true" if number else "false") if element == "i1" else repr(float(number)) if is_float(element) else str(int(number))
        return self.emit(f"arith.constant {text}{'' if element == 'i1' else f' : {element}'}", [], Value((), element, element))

    def number(self, element):
        return self.rng.choice([0.0, 1.0, -0.5, 2.0] if is_float(element) else [0, 1] if element == "i1" else [0, 1, -1, 3])

    # --- Values ---------------------------------------------------------------------------------------------------------

    def argument(self, shape, element, kind=None):
        shown = tuple(DYNAMIC if self.rng.random() < 0.4 else n for n in shape)
        kind = kind or self.rng.choice(["normal", "normal", "normal", "positive", "special"])
        value = Value(tuple(shape), element, shaped("tensor", shown, element), True, kind != "special")
        self.args.append(value)
        self.inputs.append(f"{kind} {element} {shape_text(shape)} {self.rng.randrange(10**6)}")
        return self.keep(value)

    def shape(self, rank=None):
        rank = self.rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4]) if rank is None else rank
        while True:
            shape = tuple(self.rng.choice(SIZES) for _ in range(rank))
            if volume(shape) <= 4000:
                return shape

    def some(self, test=lambda v: True):
        found = [v for v in self.scope if v.type.startswith("tensor") and test(v)]
        return found[min(int(self.rng.triangular(0, len(found), len(found))), len(found) - 1)] if found else None

    def operand(self, shape, elements):
        """A tensor of that shape: one there is, or a new argument."""
        found = self.some(lambda v: v.shape == tuple(shape) and v.element in elements)
        if found is not None and self.rng.random() < 0.8 or len(self.args) > 10:
            return found
        return self.argument(shape, self.rng.choice(elements))

    def shown(self, value):
        inner = value.type[len("tensor<"):-1].split("x")[:-1]
        return tuple(n if n == DYNAMIC else int(n) for n in inner)

    def size_of(self, value, axis):
        """(what the type shows, an index value or None)."""
        seen = self.shown(value)[axis]
        if seen != DYNAMIC:
            return seen, None
        return DYNAMIC, self.emit(f"tensor.dim {{0}}, {{1}} : {value.type}", [value, self.index(axis)], Value((), "index", "index"))

    def empty(self, sizes, element, shape):
        """tensor.empty of sizes as `size_of` gives them."""
        type = shaped("tensor", [s for s, _ in sizes], element)
        dynamic = [v for _, v in sizes if v is not None]
        names = ", ".join(f"{{{i}}}" for i in range(len(dynamic)))
        return self.emit(f"tensor.empty({names}) : {type}", dynamic, Value(tuple(shape), element, type))

    def filled(self, sizes, element, shape, number=None):
        start = self.empty(sizes, element, shape)
        value = self.constant(element, self.number(element) if number is None else number)
        return self.emit(f"linalg.fill ins({{0}} : {element}) outs({{1}} : {start.type}) -> {start.type}", [value, start],
                         Value(start.shape, element, start.type))

    def init(self, sizes, element, shape, overwritten):
        """Where a result goes: empty where it is only written, else filled or a tensor there is."""
        if overwritten and self.rng.random() < 0.7:
            return self.empty(sizes, element, shape)
        type = shaped("tensor", [s for s, _ in sizes], element)
        there = self.some(lambda v: v.type == type and v.shape == tuple(shape))
        return there if there is not None and self.rng.random() < 0.5 else self.filled(sizes, element, shape)

    def named(self, op, ins, init, exact, words=""):
        names = ", ".join(f"{{{i}}}" for i in range(len(ins)))
        result = Value(init.shape, init.element, init.type, exact and init.exact, False)
        return self.keep(self.emit(f"linalg.{op}{words} ins({names} : {', '.join(v.type for v in ins)}) outs({{{len(ins)}}} : {init.type})"
                                   f" -> {init.type}", [*ins, init], result))

    # --- Elementwise ----------------------------------------------------------------------------------------------------

    def sizes(self, value):
        return [self.size_of(value, a) for a in range(len(value.shape))]

    def unary(self):
        value = self.some(lambda v: is_float(v.element))
        if value is not None:
            name = self.rng.choice(UNARY)
            self.named(name, [value], self.init(self.sizes(value), value.element, value.shape, True), name in ("abs", "ceil", "floor", "negf", "round") and value.exact)

    def binary(self):
        value = self.some(lambda v: v.element != "i1")
        if value is None:
            return
        name = self.rng.choice([b for b in BINARY if is_float(value.element) or b not in ("div", "powf")])
        other = self.operand(value.shape, [value.element])
        if other is not None:
            exact = value.exact and other.exact and (not is_float(value.element) or name in ("max", "min"))
            self.named(name, [value, other], self.init(self.sizes(value), value.element, value.shape, True), exact)

    def fill(self):
        shape, element = self.shape(), self.rng.choice(TYPES)
        self.keep(self.filled([(n, None) for n in shape], element, shape))

    def transpose(self):
        value = self.some(lambda v: len(v.shape) > 1)
        if value is None:
            return
        order, sizes = self.rng.sample(range(len(value.shape)), len(value.shape)), self.sizes(value)
        init = self.init([sizes[a] for a in order], value.element, [value.shape[a] for a in order], True)
        self.movement("transpose", value, init, f"permutation = {order}")

    def broadcast(self):
        value = self.some(lambda v: len(v.shape) < 4)
        if value is None:
            return
        axis, n = self.rng.randint(0, len(value.shape)), self.rng.choice(SIZES)
        sizes, shape = self.sizes(value), list(value.shape)
        sizes.insert(axis, (n, None))
        shape.insert(axis, n)
        if volume(shape) <= MOST:
            self.movement("broadcast", value, self.init(sizes, value.element, shape, True), f"dimensions = [{axis}]")

    def movement(self, op, value, init, words):
        result = Value(init.shape, init.element, init.type, value.exact, value.finite)
        self.keep(self.emit(f"linalg.{op} ins({{0}} : {value.type}) outs({{1}} : {init.type}) {words}", [value, init], result))

    def reduction(self):
        value = self.some(lambda v: len(v.shape) > 0)
        if value is None:
            return
        axes = sorted(self.rng.sample(range(len(value.shape)), self.rng.randint(1, len(value.shape))))
        sizes = self.sizes(value)
        kept = [a for a in range(len(value.shape)) if a not in axes]
        init = self.init([sizes[a] for a in kept], value.element, [value.shape[a] for a in kept], False)
        name = self.combiner(value)
        result = Value(init.shape, init.element, init.type, init.exact and value.exact and (not is_float(value.element) or name[:3] in ("max", "min")), False)
        self.keep(self.emit(f"linalg.reduce {{ arith.{name} }} ins({{0}} : {value.type}) outs({{1}} : {init.type}) dimensions = {axes}", [value, init], result))

    def combiner(self, value):
        """A product of large and small numbers depends on its order too much to say anything."""
        if value.element == "i1":
            return self.rng.choice(["andi", "ori", "xori"])
        if not is_float(value.element):
            return self.rng.choice(INTEGER_COMBINERS)
        return self.rng.choice([c for c in FLOAT_COMBINERS if c != "mulf" or (value.exact and value.finite)])

    def softmax(self):
        value = self.some(lambda v: v.element in ("f32", "f64", "f16") and len(v.shape) > 0)
        if value is not None:
            axis = self.rng.randrange(len(value.shape))
            self.named("softmax", [value], self.init(self.sizes(value), value.element, value.shape, True), False, f" dimension({axis})")

    # --- Products -------------------------------------------------------------------------------------------------------

    def by_letters(self, layouts, sizes, element, seeds=()):
        """Operands of the layouts; a letter's size is fixed by the first that has it."""
        operands = []
        for layout in layouts:
            operands.append(self.operand([sizes[x] for x in layout], [element]))
        return operands

    def product(self):
        name = self.rng.choice(list(FAMILIES))
        a, b, c = FAMILIES[name].split(" ")
        element, sum = self.rng.choice(PRODUCTS)
        sizes = {x: self.rng.choice(SIZES[:10] if "mmt4d" in name else SIZES) for x in "bmnkpqr"}
        first = self.some(lambda v: v.element == element and len(v.shape) == len(a))
        if first is not None and self.rng.random() < 0.7:
            sizes.update(zip(a, first.shape))
        operands = self.by_letters([a, b], sizes, element)
        if None in operands or volume([sizes[x] for x in set(a + b)]) > 200000:
            return
        sources = {x: (operands[i], layout.index(x)) for i, layout in enumerate((a, b)) for x in layout}
        out = [self.size_of(*sources[x]) for x in c]
        self.named(name, operands, self.init(out, sum, [sizes[x] for x in c], False), not is_float(sum) and all(o.exact for o in operands))

    def window(self):
        table = self.rng.choice([CONVOLUTIONS, POOLINGS])
        name = self.rng.choice(list(table))
        image, kernel, out = table[name]
        element, sum = self.rng.choice(PRODUCTS) if table is CONVOLUTIONS else [self.rng.choice(["f32", "f64", "i32", "i8", "f16"])] * 2
        space = [x for x in "dhw" if x in out]
        strides, dilations = ([self.rng.choice([1, 1, 2, 3]) for _ in space] for _ in range(2))
        sizes = {x: self.rng.choice([0, 1, 2, 3, 5]) for x in "ncfgm"} | {x: self.rng.choice([1, 2, 3]) for x in space}
        for x, stride, dilation in zip(space, strides, dilations):
            reach = (sizes[x] - 1) * dilation + 1
            sizes[x.upper()] = reach + self.rng.choice([0, 1, 4, 9])
        shape = [(sizes[x.upper()] - (sizes[x] - 1) * dilations[space.index(x)] - 1) // strides[space.index(x)] + 1 if x in space else sizes[x] for x in out]
        ins = self.by_letters([image, kernel], sizes, element)
        if None in ins:
            return
        words = " {dilations = dense<%s> : tensor<%dxi64>, strides = dense<%s> : tensor<%dxi64>}" % (dilations, len(space), strides, len(space))
        exact = all(i.exact for i in ins) and (not is_float(sum) or "max" in name or "min" in name)
        self.named(name, ins, self.init([(n, None) for n in shape], sum, shape, False), exact, words)

    # --- Generics -------------------------------------------------------------------------------------------------------

    def generic(self):
        first = self.some(lambda v: len(v.shape) > 0)
        if first is None:
            return
        loops = list(first.shape)
        operands, maps = [first], [self.rng.sample(range(len(loops)), len(loops))]
        loops = [first.shape[maps[0].index(d)] for d in range(len(loops))]
        sources = {d: (first, maps[0].index(d)) for d in range(len(loops))}
        for _ in range(self.rng.choice([0, 1, 1, 2])):
            other = self.some(lambda v: len(v.shape) < 4) or first
            axes = []
            for axis, n in enumerate(other.shape):
                free = [d for d, size in enumerate(loops) if size == n and (d not in axes or self.rng.random() < 0.1)]
                if free and self.rng.random() < 0.9:
                    axes.append(self.rng.choice(free))
                elif len(loops) < 5:
                    loops.append(n)
                    sources[len(loops) - 1] = (other, axis)
                    axes.append(len(loops) - 1)
                else:
                    break
            if len(axes) == len(other.shape) and volume(loops) <= MOST:
                operands.append(other)
                maps.append(axes)
            else:
                loops = loops[:max([max(m, default=-1) for m in maps]) + 1]
                sources = {d: s for d, s in sources.items() if d < len(loops)}
        if len(sources) < len(loops) or volume(loops) > MOST:
            return
        self.emit_generic(operands, maps, loops, sources)

    def emit_generic(self, operands, maps, loops, sources):
        reduced = [d for d in range(len(loops)) if self.rng.random() < 0.3]
        kept = [d for d in range(len(loops)) if d not in reduced]
        self.rng.shuffle(kept)
        body = Scalars(self.rng, "", ())
        args = [tile_value((), v.element, v.exact, v.finite) for v in operands]
        block = body.draw(args, self.rng.randint(1, 5), len(loops))
        outs = [self.rng.choice([v for v in body.scope if v.element not in ("index", "i4")] or args)
                for _ in range(1 if reduced or self.rng.random() < 0.8 else 2)]
        shape = [loops[d] for d in kept]
        sizes = [self.size_of(*sources[d]) for d in kept]
        inits = [self.init(sizes, v.element, shape, not reduced) for v in outs]
        states, exact = [tile_value((), v.element, i.exact) for v, i in zip(outs, inits)], []
        block.args += states
        if reduced:
            name = self.combiner(outs[0])
            body.block = block
            outs = [body.emit(f"arith.{name} {{0}}, {{1}} : {outs[0].element}", [outs[0], states[0]],
                              tile_value((), outs[0].element, outs[0].exact and states[0].exact and (not is_float(outs[0].element) or name[:3] in ("max", "min"))))]
        elif self.rng.random() < 0.2 and not any(i.type.startswith("!") for i in inits):
            pass
        block.ops.append(Op(f"linalg.yield {', '.join(f'{{{i}}}' for i in range(len(outs)))} : {', '.join(v.element for v in outs)}", outs))
        names = [f"d{d}" for d in range(len(loops))]

        def text(axes):
            return f"affine_map<({', '.join(names)}) -> ({', '.join(names[d] for d in axes)})>"
        kinds = ", ".join('"reduction"' if d in reduced else '"parallel"' for d in range(len(loops)))
        results = [Value(i.shape, i.element, i.type, o.exact, False) for i, o in zip(inits, outs)]
        n = len(operands)
        ins, places = ", ".join(f"{{{i}}}" for i in range(n)), ", ".join(f"{{{n + i}}}" for i in range(len(inits)))
        gives = ", ".join(i.type for i in inits)
        self.emit(f"linalg.generic {{indexing_maps = [{', '.join(map(text, [*maps, *[kept] * len(inits)]))}], iterator_types = [{kinds}]}} "
                  f"ins({ins} : {', '.join(v.type for v in operands)}) outs({places} : {gives}) §0 -> {gives if len(inits) == 1 else f'({gives})'}",
                  [*operands, *inits], *results, regions=[block])
        self.scope += results

    # --- Tensor ops -----------------------------------------------------------------------------------------------------

    def slice(self):
        value = self.some(lambda v: len(v.shape) > 0)
        if value is None:
            return
        offsets, sizes, strides = [], [], []
        for n in value.shape:
            stride = self.rng.choice([1, 1, 1, 2])
            size = self.rng.randint(self.rng.random() < 0.9 and n > 0, (n + stride - 1) // stride)
            sizes.append(size)
            strides.append(stride)
            offsets.append(self.rng.randint(0, n - ((size - 1) * stride + 1) if size else n))
        operands, words, shown = [value], [], sizes
        # Written as a number, an offset at the end is refused by upstream, of slices without elements too.
        dynamic = self.rng.random() < 0.3 or any(o == n for o, n in zip(offsets, value.shape))
        for group, numbers in enumerate((offsets, sizes, strides)):
            if dynamic and group < 2:
                words.append(", ".join(f"{{{len(operands) + i}}}" for i in range(len(numbers))))
                operands += [self.index(n) for n in numbers]
                shown = [DYNAMIC] * len(sizes)
            else:
                words.append(", ".join(map(str, numbers)))
        part = Value(tuple(sizes), value.element, shaped("tensor", shown, value.element), value.exact, value.finite)
        if self.rng.random() < 0.6:
            self.keep(self.emit(f"tensor.extract_slice {{0}}[{words[0]}] [{words[1]}] [{words[2]}] : {value.type} to {part.type}", operands, part))
            return
        small = self.some(lambda v: v.shape == part.shape and v.type == part.type)
        if small is None:
            return
        operands = operands[1:]
        words = [w for w in words]
        result = Value(value.shape, value.element, value.type, value.exact and small.exact, value.finite and small.finite)
        shift = [", ".join(f"{{{int(x[1:-1]) + 1}}}" if x.startswith("{") else x for x in w.split(", ")) if w else "" for w in words]
        self.keep(self.emit(f"tensor.insert_slice {{0}} into {{1}}[{shift[0]}] [{shift[1]}] [{shift[2]}] : {small.type} into {value.type}",
                            [small, value, *operands], result))

    def pad(self):
        value = self.some(lambda v: 0 < len(v.shape) < 4)
        if value is None:
            return
        low, high = ([self.rng.choice([0, 0, 1, 3]) for _ in value.shape] for _ in range(2))
        shape = [n + a + b for n, a, b in zip(value.shape, low, high)]
        shown = [DYNAMIC if s == DYNAMIC else n for s, n in zip(self.shown(value), shape)]
        number = self.constant(value.element, self.number(value.element))
        block = Block([Value((), "index", "index") for _ in shape], [Op(f"tensor.yield {{0}} : {value.element}", [number])], True)
        result = Value(tuple(shape), value.element, shaped("tensor", shown, value.element), value.exact, value.finite)
        self.keep(self.emit(f"tensor.pad {{0}} low[{', '.join(map(str, low))}] high[{', '.join(map(str, high))}] §0 : {value.type} to {result.type}",
                            [value], result, regions=[block]))

    def concat(self):
        value = self.some(lambda v: len(v.shape) > 0)
        if value is None:
            return
        axis = self.rng.randrange(len(value.shape))
        other = self.some(lambda v: v.element == value.element and len(v.shape) == len(value.shape) and
                          all(a == b for i, (a, b) in enumerate(zip(v.shape, value.shape)) if i != axis))
        shape, shown = list(value.shape), [a if a != DYNAMIC else b for a, b in zip(self.shown(value), self.shown(other))]
        shape[axis] += other.shape[axis]
        shown[axis] = DYNAMIC if DYNAMIC in (self.shown(value)[axis], self.shown(other)[axis]) else shape[axis]
        if volume(shape) > MOST:
            return
        result = Value(tuple(shape), value.element, shaped("tensor", shown, value.element), value.exact and other.exact, value.finite and other.finite)
        self.keep(self.emit(f"tensor.concat dim({axis}) {{0}}, {{1}} : ({value.type}, {other.type}) -> {result.type}", [value, other], result))

    def collapse(self):
        value = self.some(lambda v: len(v.shape) > 1)
        if value is None:
            return
        at = self.rng.randrange(len(value.shape) - 1)
        groups = [[a] for a in range(at)] + [[at, at + 1]] + [[a] for a in range(at + 2, len(value.shape))]
        seen = self.shown(value)
        shape = [volume([value.shape[a] for a in g]) for g in groups]
        shown = [DYNAMIC if any(seen[a] == DYNAMIC for a in g) else n for g, n in zip(groups, shape)]
        result = Value(tuple(shape), value.element, shaped("tensor", shown, value.element), value.exact, value.finite)
        self.keep(self.emit(f"tensor.collapse_shape {{0}} {groups} : {value.type} into {result.type}", [value], result))
        if DYNAMIC not in seen and self.rng.random() < 0.4:
            back = Value(value.shape, value.element, value.type, value.exact, value.finite)
            self.keep(self.emit(f"tensor.expand_shape {{0}} {groups} output_shape {list(value.shape)} : {result.type} into {value.type}", [result], back))

    def cast(self):
        value = self.some(lambda v: len(v.shape) > 0)
        if value is None:
            return
        shown = [DYNAMIC if self.rng.random() < 0.5 else n for n in value.shape]
        result = Value(value.shape, value.element, shaped("tensor", shown, value.element), value.exact, value.finite)
        if result.type != value.type:
            self.keep(self.emit(f"tensor.cast {{0}} : {value.type} to {result.type}", [value], result))

    # --- Control --------------------------------------------------------------------------------------------------------

    def inside(self, block, steps, args=()):
        outer, scope = self.block, list(self.scope)
        self.block, self.depth = block, self.depth + 1
        self.scope += args
        self.compute(steps)
        found, self.block, self.depth, self.scope = self.scope, outer, self.depth - 1, scope
        return found

    def ends(self, block, found, carried):
        values = [self.rng.choice([v for v in found if v.type == c.type and v.shape == c.shape][-2:]) for c in carried]
        block.ops.append(Op(f"scf.yield {', '.join(f'{{{i}}}' for i in range(len(values)))} : {', '.join(v.type for v in values)}", values))

    def loop(self):
        value = self.some()
        if value is None or self.depth > 1:
            return
        carried = list(dict.fromkeys([value] + [v for v in [self.some()] if self.rng.random() < 0.3]))
        low, high, step = (self.index(n) for n in (0, self.rng.choice([0, 1, 2, 3]), 1))
        args = [Value(c.shape, c.element, c.type, False, False) for c in carried]
        block = Block([Value((), "index", "index"), *args])
        self.ends(block, self.inside(block, self.rng.randint(1, 3), args), carried)
        results = [Value(c.shape, c.element, c.type, False, False) for c in carried]
        pairs = ", ".join(f"{{b0_{i + 1}}} = {{{i + 3}}}" for i in range(len(carried)))
        self.emit(f"scf.for {{b0_0}} = {{0}} to {{1}} step {{2}} iter_args({pairs}) -> ({', '.join(c.type for c in carried)}) §0",
                  [low, high, step, *carried], *results, regions=[block])
        self.scope += results

    def branch(self):
        value, decider = self.some(), self.some(lambda v: len(v.shape) > 0 and 0 not in v.shape and v.element in ("i32", "i64") and v.exact)
        if value is None or self.depth > 1:
            return
        if decider is not None:
            at = [self.index(self.rng.randrange(n)) for n in decider.shape]
            number = self.emit(f"tensor.extract {{0}}[{', '.join(f'{{{i + 1}}}' for i in range(len(at)))}] : {decider.type}", [decider, *at],
                               Value((), decider.element, decider.element))
            condition = self.emit(f"arith.cmpi sgt, {{0}}, {{1}} : {number.type}", [number, self.constant(decider.element, 0)], Value((), "i1", "i1"))
        else:
            condition = self.constant("i1", self.rng.randrange(2))
        blocks = [Block(), Block()]
        for block in blocks:
            self.ends(block, self.inside(block, self.rng.randint(0, 2)), [value])
        result = Value(value.shape, value.element, value.type, False, False)
        self.keep(self.emit(f"scf.if {{0}} -> ({value.type}) §0 else §1", [condition], result, regions=blocks))

    RULES = [(unary, 3), (binary, 4), (fill, 1), (transpose, 2), (broadcast, 2), (reduction, 3), (softmax, 1), (product, 4),
             (window, 2), (generic, 8), (slice, 3), (pad, 2), (concat, 2), (collapse, 2), (cast, 2), (loop, 1), (branch, 1)]

    def compute(self, steps):
        for rule in self.rng.choices(*zip(*self.RULES), k=steps):
            rule(self)

    def build(self):
        for _ in range(self.rng.randint(1, 3)):
            self.argument(self.shape(), self.rng.choice(TYPES))
        self.compute(self.rng.randint(2, 8))
        late = self.scope[len(self.args):] or self.scope
        return list(dict.fromkeys(late[-2:] + self.rng.sample(late, min(len(late), 1))))


def generate(seed):
    tensors = Tensors(random.Random(f"linalg {seed}"))
    results = tensors.build()
    tensors.block.args = tensors.args
    return Program([], Function("func.func", "main", tensors.block, results), tensors.inputs)
