"""Every Tile op over every element type its verifier takes, compiled for the CPU or for a GPU's emulator, and judged by
the interpreter.

    every_op.py --build=BUILD [--types=i32,f32] [--ops=reduce,scan] [--emulate=sm_80 [--code]]

The ops come from the table (dialects/tile/ops.def): one that has neither a case here nor a reason in NOT_RUN is an
error, and so is a case that the compiler refuses or gets wrong, unless KNOWN (of a GPU REFUSED, with what it says) has it,
and an entry there whose cases have all become right. With --code every right case of a GPU is also made into code for it,
which ptxas or AMD's assembler takes. A type that the op's verifier does not take is counted; an op whose verifier takes none is an error.
Element types that no array holds come out of and go into wider integers, bit for bit.
"""
import argparse
import itertools
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
INTEGERS = ["i1", "i2", "i4", "i5", "i8", "i16", "i32", "i48", "i64", "index"]
FLOATS = ["f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E8M0FNU", "f8E5M2", "f8E4M3FN", "f16", "bf16", "f32", "f64"]
HELD = {"i1": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "index": "i8", "f8E5M2": "u1", "f8E4M3FN": "u1",
        "f8E8M0FNU": "u1", "f16": "f2", "bf16": "u2", "f32": "f4", "f64": "f8"}  # what arrays hold, as numpy has it
ONE = {"f4E2M1FN": 2, "f6E2M3FN": 8, "f6E3M2FN": 12, "f8E8M0FNU": 127, "f8E5M2": 0x3C, "f8E4M3FN": 0x38}  # the bits of 1
WIDTH = {t: 64 if t == "index" else int(re.match(r"[a-z]+(\d+)", t).group(1)) for t in INTEGERS + FLOATS}
MAX_ARGUMENTS = 60

NOT_RUN = {  # ops without a case, and why
    **{op: "scheduled level: refused by name (test/conversion/tile_to_vector/refused.mlir); test/interpreter has its meaning"
       for op in ("barrier_arrive", "barrier_wait", "mma_async", "mma_wait", "warp_specialize")},
    "transfer": "host: there is one device",
    **{op: "host: expanded before kernels are made; test/run/types/quantized.py has its meaning"
       for op in ("assemble_quantized", "disassemble_quantized", "dequantize")},
    "group": "host: convert-linalg-to-tile makes kernels of groups",
    "memref_at": "the interpreter's memory has addresses of its own; test/run/kernels/irregular.py runs it against numpy",
}
UPSTREAM = ["math.*", "arith.*", "casts"]  # ops that are not in the table
KNOWN = [  # (op, "type variant", reason): patterns of what compiled code refuses or gets wrong today
]
REFUSED = [  # (chip, op, "type variant", message): patterns of what a GPU refuses, at the op
]


def tile(shape, t):
    return f"tensor<{'x'.join(map(str, shape))}{'x' if shape else ''}{t}>" if shape else t


def memory(shape, t):
    return f"memref<{'x'.join(map(str, shape + (t,)))}>"


def carrier(t):
    """A type that arrays hold, wide enough for the bits of t."""
    return t if t in HELD else next(f"i{w}" for w in (8, 16, 32, 64) if w >= WIDTH[t])


class Kernel:
    """One kernel, built line by line; its parameters and their data."""

    def __init__(self, op, t, random):
        self.op, self.type, self.random = op, t, random
        self.lines, self.types, self.data, self.number = ["%c0 = arith.constant 0 : index"], [], [], 0

    def new(self):
        self.number += 1
        return f"%v{self.number}"

    def line(self, text):
        """Adds a line; `$` in it becomes a new value, which is returned."""
        value = self.new()
        self.lines.append(text.replace("$", value))
        return value

    def parameter(self, shape, t, data):
        self.types.append(memory(shape, t))
        self.data.append(data)
        return f"%p{len(self.types) - 1}"

    def values(self, shape, t):
        """Small numbers, so that sums stay in the type."""
        if t == "i1":
            return self.random.integers(0, 2, shape).astype("?")
        if t[0] == "i":
            top = min(2**(WIDTH[t] - 1) - 1, 50) if t in HELD else 127
            return self.random.integers(-top - 1, top + 1, shape).astype(HELD[carrier(t)])
        if t in ONE:
            sign = 0 if t == "f8E8M0FNU" else self.random.integers(0, 2, shape) << (WIDTH[t] - 1)
            bits = self.random.integers(ONE[t] - (2 if WIDTH[t] < 8 else 6), ONE[t] + 1, shape) | sign
            return bits.astype("u1").view("u1" if t in HELD else "i1")
        x = self.random.normal(size=shape) * 3
        return (x.astype("f4").view("u4") >> 16).astype("u2") if t == "bf16" else x.astype(HELD[t])

    def view(self, parameter, shape, t):
        return self.line(f"$ = tile.view {parameter} : {memory(shape, t)} to !tile.view<{'x'.join(map(str, shape + (t,)))}>")

    def at(self, shape):
        return ", ".join(["%c0"] * len(shape))

    def load(self, shape, t, data=None):
        """A parameter's tile."""
        c = carrier(t)
        parameter = self.parameter(shape, c, self.values(shape, t) if data is None else data)
        view = self.view(parameter, shape, c)
        x = self.line(f"$ = tile.load {view}[{self.at(shape)}] : !tile.view<{'x'.join(map(str, shape + (c,)))}> -> {tile(shape, c)}")
        return x if c == t else self.from_bits(x, shape, c, t)

    def from_bits(self, x, shape, c, t):
        narrow = f"i{WIDTH[t]}"
        if narrow != c:
            x = self.line(f"$ = arith.trunci {x} : {tile(shape, c)} to {tile(shape, narrow)}")
        return x if t == narrow else self.line(f"$ = arith.bitcast {x} : {tile(shape, narrow)} to {tile(shape, t)}")

    def store(self, x, shape, t):
        """A tile (or a scalar) into a parameter of its own."""
        c, narrow = carrier(t), f"i{WIDTH[t]}"
        if c != t:
            if t[0] == "f":
                x = self.line(f"$ = arith.bitcast {x} : {tile(shape, t)} to {tile(shape, narrow)}")
            if narrow != c:
                x = self.line(f"$ = arith.extui {x} : {tile(shape, narrow)} to {tile(shape, c)}")
        parameter = self.parameter(shape, c, np.zeros(shape, HELD[c]))
        view = self.view(parameter, shape, c)
        self.line(f"tile.store {x}, {view}[{self.at(shape)}] : {tile(shape, c)}, !tile.view<{'x'.join(map(str, shape + (c,)))}>")

    def numbers(self, shape, t, low, high):
        return self.load(shape, t, self.random.integers(low, high, shape).astype(HELD[t]))

    def text(self, name):
        parameters = ", ".join(f"%p{i}: {t}" for i, t in enumerate(self.types))
        return f"tile.kernel @{name}({parameters}) {{\n  " + "\n  ".join(self.lines) + "\n  tile.return\n}\n"


# --- the cases ----------------------------------------------------------------------------------------------------------
# Of each op a function that fills a kernel; it may have variants, each a kernel of its own.

CASES, VARIANTS = {}, {}
SHAPE = (5, 7)


def case(*names, variants=(None,)):
    def note(function):
        for name in names:
            CASES[name], VARIANTS[name] = function, variants
        return function
    return note


@case("kernel", "return", "launch", "view", "load", "store")
def through_memory(k, t, _):
    """The memory's own element type, also where a tile reaches over the edge."""
    x = k.parameter(SHAPE, t, k.values(SHAPE, t) if t in HELD else None)
    y = k.parameter(SHAPE, t, np.zeros(SHAPE, HELD[t]) if t in HELD else None)
    view = f"!tile.view<4x4x{t}>"
    x, y = (k.line(f"$ = tile.view {p} : {memory(SHAPE, t)} to {view}") for p in (x, y))
    one = k.line("$ = arith.constant 1 : index")
    for i, j in itertools.product(("%c0", one), repeat=2):
        v = k.line(f"$ = tile.load {x}[{i}, {j}] : {view} -> tensor<4x4x{t}>")
        k.line(f"tile.store {v}, {y}[{i}, {j}] : tensor<4x4x{t}>, {view}")


@case("func", "call")
def function(k, t, _):
    x = k.load(SHAPE, t)
    k.store(k.line(f"$ = tile.call @turn_{t}({x}) : ({tile(SHAPE, t)}) -> {tile(SHAPE[::-1], t)}"), SHAPE[::-1], t)


@case("program_id", "num_programs")
def ids(k, t, _):
    i, n = k.line("$ = tile.program_id 0"), k.line("$ = tile.num_programs 1")
    s = k.line(f"$ = arith.addi {i}, {n} : index")
    x = s if t == "index" else k.line(f"$ = arith.index_cast {s} : index to {t}") if t[0] == "i" else k.line(
        f"$ = tile.program_id {t}")  # no such op of floats
    k.store(x, (), t)


@case("assume")
def assume(k, t, _):
    k.store(k.line(f"$ = tile.assume {k.load((), t)} range [-128, 127] : {t}"), (), t)


@case("num_tiles", "in_bounds")
def questions(k, t, _):
    x = k.line(f"$ = tile.view {k.parameter(SHAPE, t, k.values(SHAPE, t) if t in HELD else None)} : {memory(SHAPE, t)} "
               f"to !tile.view<4x4x{t}>")
    k.store(k.line(f"$ = tile.num_tiles {x} dim 1 : !tile.view<4x4x{t}>"), (), "index")
    one = k.line("$ = arith.constant 1 : index")
    k.store(k.line(f"$ = tile.in_bounds {x}[{one}, {one}] : !tile.view<4x4x{t}> -> tensor<4x4xi1>"), (4, 4), "i1")


def words(k, t):
    """A parameter of 5 x 2 words, eight elements in each, as a view of 9 x 8 elements: threads meet in a word."""
    word = next((f"i{w}" for w in (8, 16, 32, 64) if w == 8 * WIDTH[t]), None)
    p = k.parameter((5, 2), word, k.random.integers(0, 255, (5, 2)).astype(HELD[word]) if word else None)
    kind = f"!tile.view<9x8x{t}, packed = #tile.layout<offset [4:d1*2, 2:d1]>>"
    return k.line(f"$ = tile.view {p} : {memory((5, 2), word)} to {kind}"), kind


@case("gather", variants=("axis", "memref", "view", "packed"))
def gather(k, t, variant):
    at = k.numbers((9,), "i32", 0, 5)
    if variant == "axis":
        index = k.numbers((3, 7), "i32", -2, 9)
        y = k.line(f"$ = tile.gather {k.load(SHAPE, t)}[{index}] axis 0 bounds(clamp) : {tile(SHAPE, t)}[tensor<3x7xi32>] "
                   f"-> {tile((3, 7), t)}")
        return k.store(y, (3, 7), t)
    if variant == "packed":
        v, kind = words(k, t)
        y = k.line(f"$ = tile.gather {v}[{at}, %c0] bounds(drop) : {kind}[tensor<9xi32>, index] -> {tile((9, 8), t)}")
        return k.store(y, (9, 8), t)
    shape = (5,) if variant == "memref" else SHAPE
    p = k.parameter(shape, t, k.values(shape, t) if t in HELD else None)
    if variant == "memref":
        y = k.line(f"$ = tile.gather {p}[{at}] bounds(trap) : {memory(shape, t)}[tensor<9xi32>] -> {tile((9,), t)}")
        return k.store(y, (9,), t)
    v = k.line(f"$ = tile.view {p} : {memory(shape, t)} to !tile.view<9x4x{t}>")
    y = k.line(f"$ = tile.gather {v}[{at}, %c0] bounds(drop) : !tile.view<9x4x{t}>[tensor<9xi32>, index] -> {tile((9, 4), t)}")
    return k.store(y, (9, 4), t)


COMBINES = ("add", "max", "min", "umax", "umin", "and", "or", "xor")


@case("scatter", variants=(None,) + COMBINES + ("packed", "packed add", "packed umin", "packed xor"))
def scatter(k, t, combine):
    if combine and combine.startswith("packed"):
        at = k.load((9,), "i32", np.array([4, 0, 7, 2, -1, 3, 1, 9, 6], "i4"))
        x, (v, kind) = k.load((9, 8), t), words(k, t)
        how = f" combine({combine[7:]})" if combine != "packed" else ""
        k.line(f"tile.scatter {x}, {v}[{at}, %c0]{how} bounds(drop) : {tile((9, 8), t)}, {kind}[tensor<9xi32>, index]")
        if how:
            k.line(f"tile.store {x}, {v}[%c0, %c0]{how} : {tile((9, 8), t)}, {kind}")
        return
    at = k.load((9,), "i32", k.random.permutation(12)[:9].astype("i4") if not combine else
                k.random.integers(0, 5, 9).astype("i4"))
    x, y = k.load((9,), t), k.parameter((12,), t, k.values((12,), t) if t in HELD else None)
    how = f" combine({combine})" if combine else ""
    k.line(f"tile.scatter {x}, {y}[{at}]{how} bounds(drop) : {tile((9,), t)}, {memory((12,), t)}[tensor<9xi32>]")


ATOMICS = ("add", "fadd", "max", "min", "umax", "umin", "and", "or", "xor", "xchg")


@case("atomic_rmw", variants=ATOMICS)
def atomic(k, t, kind):
    at = k.load((6,), "i32", k.random.permutation(9)[:6].astype("i4"))
    x, y = k.load((6,), t), k.parameter((9,), t, k.values((9,), t) if t in HELD else None)
    k.store(k.line(f"$ = tile.atomic_rmw {kind} {x}, {y}[{at}] relaxed device : {tile((6,), t)}, {memory((9,), t)}"
                   f"[tensor<6xi32>] -> {tile((6,), t)}"), (6,), t)


@case("atomic_cas")
def compare_and_swap(k, t, _):
    at = k.load((6,), "i32", np.arange(6, dtype="i4"))
    data = k.values((6,), t) if t in HELD else None
    x, z, y = k.load((6,), t, data), k.load((6,), t), k.parameter((6,), t, data)
    k.store(k.line(f"$ = tile.atomic_cas {x}, {z}, {y}[{at}] acq_rel device : {tile((6,), t)}, {memory((6,), t)}"
                   f"[tensor<6xi32>] -> {tile((6,), t)}"), (6,), t)


@case("atomic_load", "atomic_store")
def atomic_access(k, t, _):
    x, y = (k.parameter((3,), t, k.values((3,), t) if t in HELD else None) for _ in range(2))
    v = k.line(f"$ = tile.atomic_load {x}[%c0] acquire device : {memory((3,), t)} -> {t}")
    k.line(f"tile.atomic_store {v}, {y}[%c0] release device : {t}, {memory((3,), t)}")


@case("atomic_wait")
def wait(k, t, _):
    x = k.parameter((3,), t, np.array([4, 5, 6]).astype("i4" if t == "i32" else "i8"))
    n = k.line(f"$ = arith.constant 3 : {t}")
    k.line(f"tile.atomic_wait {x}[%c0] least {n} acquire device : {memory((3,), t)}, {t}")


PRECISIONS = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")


@case("mma", variants=("f16", "f32", "f64", "i32", "i64") + PRECISIONS)
def product(k, t, to):
    how = f" precision {to}" if to in PRECISIONS else ""
    to = "f32" if how else to
    a, b, c = k.load((6, 9), t), k.load((9, 5), t), k.load((6, 5), to)
    k.store(k.line(f"$ = tile.mma {a}, {b}, {c}{how} : {tile((6, 9), t)}, {tile((9, 5), t)} -> {tile((6, 5), to)}"), (6, 5), to)


@case("mma_sparse", variants=("f16", "f32", "f64", "i32", "i64"))
def sparse_product(k, t, to):
    at = np.array([0x44, 0x88, 0xC9, 0xEE, 0x9D], "u1")  # pairs of places that ascend
    a, b, c = k.load((6, 12), t), k.load((24, 5), t), k.load((6, 5), to)
    p = k.load((6, 3), "i8", k.random.choice(at, (6, 3)).view("i1"))
    k.store(k.line(f"$ = tile.mma_sparse {a} at {p}, {b}, {c} : {tile((6, 12), t)}, {tile((6, 3), 'i8')}, {tile((24, 5), t)} -> "
                   f"{tile((6, 5), to)}"), (6, 5), to)


@case("mma_scaled", variants=(("f8E8M0FNU", 32), ("f8E4M3FN", 16)))
def scaled_product(k, t, variant):
    s, block = variant
    n = 64 // block
    low = np.full((6, n), 0x7E if s == "f8E8M0FNU" else 0x38, "u1")
    a, b, c = k.load((6, 64), t), k.load((64, 5), t), k.load((6, 5), "f32")
    sa, sb = k.load((6, n), s, low), k.load((n, 5), s, low[:n, :1].repeat(5, 1) if n <= 6 else None)
    k.store(k.line(f"$ = tile.mma_scaled {a} scale {sa}, {b} scale {sb}, {c} block {block} : {tile((6, 64), t)}, "
                   f"{tile((6, n), s)}, {tile((64, 5), t)}, {tile((n, 5), s)} -> {tile((6, 5), 'f32')}"), (6, 5), "f32")


FOLDS = ("addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf", "addi", "muli", "maxsi", "minsi", "maxui", "minui",
         "andi", "ori", "xori")


@case("reduce", variants=FOLDS)
def reduce(k, t, fold):
    x = k.load(SHAPE, t)
    k.store(k.line(f"$ = tile.reduce {{arith.{fold}}} {x} axes [1] : {tile(SHAPE, t)} -> {tile((5,), t)}"), (5,), t)
    k.store(k.line(f"$ = tile.reduce {{arith.{fold}}} {x} axes [0, 1] : {tile(SHAPE, t)} -> {t}"), (), t)


@case("yield")
def reduce_by_region(k, t, _):
    x = k.load(SHAPE, t)
    neutral = f"{-2**63 if WIDTH[t] == 64 else -2**(WIDTH[t] - 1)} : {t}" if t[0] == "i" else (
        f"{2.0**-127 if t == 'f8E8M0FNU' else -1.0} : {t}")
    op = "maxsi" if t[0] == "i" else "maximumf"
    k.store(k.line(f"$ = tile.reduce {x} axes [1] neutral [{neutral}] : {tile(SHAPE, t)} -> {tile((5,), t)} {{\n  "
                   f"^bb0(%l: {t}, %r: {t}):\n    %m = arith.{op} %l, %r : {t}\n    tile.yield %m : {t}\n  }}"), (5,), t)


@case("scan", variants=("addf", "maximumf", "addi", "maxsi", "andi"))
def scan(k, t, fold):
    x = k.load(SHAPE, t)
    for how in ("", " reverse", " exclusive"):
        k.store(k.line(f"$ = tile.scan {{arith.{fold}}} {x} axis 1{how} : {tile(SHAPE, t)}"), SHAPE, t)


@case("sort", variants=("", " descending"))
def sort(k, t, how):
    x, y = k.load(SHAPE, t), k.line("$ = tile.iota dim 1 : tensor<5x7xi32>")
    k.lines.append(f"%k, %v = tile.sort {x}, {y} axis 1{how} : {tile(SHAPE, t)}, tensor<5x7xi32>")
    k.store("%k", SHAPE, t)
    k.store("%v", SHAPE, "i32")


@case("topk", variants=("", " descending"))
def topk(k, t, how):
    x, y = k.load(SHAPE, t), k.line("$ = tile.iota dim 1 : tensor<5x7xi32>")
    k.lines.append(f"%k, %v = tile.topk {x}, {y} axis 1{how} : {tile(SHAPE, t)}, tensor<5x7xi32> -> {tile((5, 3), t)}, "
                   "tensor<5x3xi32>")
    k.store("%k", (5, 3), t)
    k.store("%v", (5, 3), "i32")


@case("histogram")
def histogram(k, t, _):
    k.store(k.line(f"$ = tile.histogram {k.load((40,), t)} : {tile((40,), t)} -> tensor<9xi32>"), (9,), "i32")


@case("random")
def random_words(k, t, _):
    seed = k.line("$ = arith.constant 81985529216486895 : i64")
    k.store(k.line(f"$ = tile.random {seed}, {k.load((6,), t)} : i64, {tile((6,), t)} -> tensor<6x4xi32>"), (6, 4), "i32")


@case("convert_type", variants=tuple(itertools.product(
    ("i8", "i32", "f8E4M3FN", "f8E5M2", "f16", "bf16", "f32"),
    (" saturate", " rounding down", " rounding up", " rounding toward_zero", " saturate rounding nearest_away"))))
def convert_type(k, t, variant):
    to, how = variant
    k.store(k.line(f"$ = tile.convert_type {k.load(SHAPE, t)}{how} : {tile(SHAPE, t)} -> {tile(SHAPE, to)}"), SHAPE, to)


@case("iota")
def iota(k, t, _):
    k.store(k.line(f"$ = tile.iota dim 1 : {tile(SHAPE, t)}"), SHAPE, t)


@case("broadcast", "reshape", "transpose", "slice", "insert", "cat")
def arrange(k, t, _):
    x, row, few = k.load(SHAPE, t), k.load((7,), t), k.load((2, 3), t)
    one = k.line("$ = arith.constant 1 : index")
    k.store(k.line(f"$ = tile.broadcast {row} axes [0] : {tile((7,), t)} -> {tile(SHAPE, t)}"), SHAPE, t)
    k.store(k.line(f"$ = tile.reshape {x} : {tile(SHAPE, t)} -> {tile((35,), t)}"), (35,), t)
    k.store(k.line(f"$ = tile.transpose {x} [1, 0] : {tile(SHAPE, t)} -> {tile((7, 5), t)}"), (7, 5), t)
    k.store(k.line(f"$ = tile.slice {x}[{one}, 2] : {tile(SHAPE, t)} -> {tile((3, 4), t)}"), (3, 4), t)
    k.store(k.line(f"$ = tile.insert {few} into {x}[{one}, 2] : {tile((2, 3), t)}, {tile(SHAPE, t)} -> {tile(SHAPE, t)}"),
            SHAPE, t)
    k.store(k.line(f"$ = tile.cat {x}, {x} axis 0 : {tile(SHAPE, t)}, {tile(SHAPE, t)} -> {tile((10, 7), t)}"), (10, 7), t)


@case("bitcast", variants=("i1", "i2", "i4", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"))
def bitcast(k, t, to):
    columns = 16 * WIDTH[t] // WIDTH[to]
    k.store(k.line(f"$ = tile.bitcast {k.load((3, 16), t)} : {tile((3, 16), t)} -> {tile((3, columns), to)}"), (3, columns), to)


@case("alloc", "copy")
def local_buffer(k, t, _):
    buffer = f"!tile.buffer<4x8x{t}, #tile.layout<offset [8:d1, 4:d0]>, local>"
    v = k.line(f"$ = tile.view {k.parameter(SHAPE, t, k.values(SHAPE, t) if t in HELD else None)} : {memory(SHAPE, t)} to "
               f"!tile.view<4x8x{t}>")
    b = k.line(f"$ = tile.alloc : {buffer}")
    k.line(f"tile.copy {v}[%c0, %c0] to {b} : !tile.view<4x8x{t}> to {buffer}")
    k.store(k.line(f"$ = tile.load {b} : {buffer} -> {tile((4, 8), t)}"), (4, 8), t)


@case("slot", "copy_async", "join", "wait", "prefetch")
def ring(k, t, _):
    """The second tile is under way while the first is read."""
    shape, buffer = (4, 19), f"!tile.buffer<4x8x{t}, #tile.layout<offset [8:d1, 4:d0]>, local>"
    stages = buffer.replace("local>", "local, stages = 2>")
    x, y = (k.parameter(shape, t, k.values(shape, t) if t in HELD else None) for _ in range(2))
    x, y = (k.line(f"$ = tile.view {p} : {memory(shape, t)} to !tile.view<4x8x{t}>") for p in (x, y))
    r = k.line(f"$ = tile.alloc : {stages}")
    i = [k.line(f"$ = arith.constant {n} : index") for n in range(4)]
    token = None
    for now, after in zip(i, i[1:] + [None]):
        if after or not token:
            s = k.line(f"$ = tile.slot {r}[{now}] : {stages}")
            started = k.line(f"$ = tile.copy_async {x}[%c0, {now}] to {s} : !tile.view<4x8x{t}> to {buffer}")
        if token:
            k.line(f"tile.wait {token[0]}")
            b = k.line(f"$ = tile.slot {r}[{token[1]}] : {stages}")
            k.line(f"tile.prefetch {y}[%c0, {token[1]}] write : !tile.view<4x8x{t}>")
            v = k.line(f"$ = tile.load {b} : {buffer} -> {tile((4, 8), t)}")
            k.line(f"tile.store {v}, {y}[%c0, {token[1]}] : {tile((4, 8), t)}, !tile.view<4x8x{t}>")
        token = (k.line(f"$ = tile.join {started}"), now) if after else None


@case("convert_layout", "fence", "sync")
def layouts(k, t, _):
    lanes = 64 if (options.emulate or "").startswith("gfx9") else 32
    pieces = 128 // lanes
    one, other = (f"tensor<128x{t}, #tile.layout<reg [{pieces}:d0{a}], lane [{lanes}:d0{b}], warp [1:_]>>"
                  for a, b in ((f"*{lanes}", ""), ("", f"*{pieces}")))
    x, y = (k.parameter((128,), t, k.values((128,), t) if t in HELD else None) for _ in range(2))
    x, y = (k.line(f"$ = tile.view {p} : {memory((128,), t)} to !tile.view<128x{t}>") for p in (x, y))
    v = k.line(f"$ = tile.load {x}[%c0] : !tile.view<128x{t}> -> {one}")
    w = k.line(f"$ = tile.convert_layout {v} : {one} -> {other}")
    for fence in ("async", "acquire device", "release block", "acq_rel system"):
        k.line(f"tile.fence {fence}")
    k.line("tile.sync")
    k.line(f"tile.store {w}, {y}[%c0] : {other}, !tile.view<128x{t}>")


@case("print")
def report(k, t, _):
    x = k.load((3,), t)
    k.line(f"tile.print \"x = {{}}\", {x} : {tile((3,), t)}")
    k.store(x, (3,), t)


@case("assert")
def assertion(k, t, _):
    x = k.load((3,), t)
    one = k.line("$ = arith.constant dense<true> : tensor<3xi1>")
    k.line(f"tile.assert {one}, \"never\" : tensor<3xi1>")
    k.store(x, (3,), t)


MATH = {name: 1 for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "tanh", "erf", "erfc", "sin", "cos", "rsqrt", "sqrt",
                             "cbrt", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "absf", "ceil",
                             "floor", "round", "roundeven", "trunc", "ctlz", "cttz", "ctpop", "absi")}
MATH |= {name: 2 for name in ("powf", "atan2", "copysign", "fpowi", "ipowi")} | {"fma": 3}
ARITH = ("addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf", "addi", "subi", "muli", "divsi",
         "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi", "andi", "ori", "xori", "shli", "shrsi", "shrui",
         "maxsi", "minsi", "maxui", "minui")


@case("math.*", variants=tuple(MATH))
def function_of(k, t, name):
    """Upstream's functions, as a kernel takes them: on numbers in (0, 1), where all are defined."""
    if t[0] == "i":
        data = k.values(SHAPE, t)
    else:
        x = k.random.uniform(0.05, 0.95, SHAPE) + (1 if name == "acosh" else 0)
        data = (x.astype("f4").view("u4") >> 16).astype("u2") if t == "bf16" else x.astype(HELD.get(t, "f4"))
    operands = [k.load(SHAPE, t, data) for _ in range(MATH[name])]
    types = tile(SHAPE, t)
    if name == "ipowi":
        few = k.line(f"$ = arith.constant dense<{0 if WIDTH[t] < 4 else 3}> : {types}")
        operands[1] = k.line(f"$ = arith.andi {operands[1]}, {few} : {types}")
    if name == "fpowi":
        operands, types = [operands[0], k.numbers(SHAPE, "i32", -3, 4)], f"{types}, {tile(SHAPE, 'i32')}"
    k.store(k.line(f"$ = math.{name} {', '.join(operands)} : {types}"), SHAPE, t)


@case("arith.*", variants=ARITH)
def arithmetic(k, t, name):
    data = [k.random.integers(1, 8, SHAPE, "i1") if t == "f4E2M1FN" else None for _ in range(2)]  # 0 / 0 is no f4
    x, y = (k.load(SHAPE, t, d) for d in data)
    if t[0] == "i" and re.search("div|rem|sh[lr]", name):  # what is defined for every x: by 1 to 7, shifted by 0 or 1
        keep, more = (0, 0 if "sh" in name else 1) if WIDTH[t] < 4 else (1, 0) if "sh" in name else (6, 1)
        keep, more = (f"arith.constant dense<{n}> : {tile(SHAPE, t)}" for n in (keep, more))
        y = k.line(f"$ = arith.andi {y}, {k.line('$ = ' + keep)} : {tile(SHAPE, t)}")
        y = k.line(f"$ = arith.ori {y}, {k.line('$ = ' + more)} : {tile(SHAPE, t)}")
    k.store(k.line(f"$ = arith.{name} {x}, {y} : {tile(SHAPE, t)}"), SHAPE, t)


@case("casts", variants=tuple(t for t in INTEGERS + FLOATS))
def casts(k, t, to):
    """The op of arith that converts one to the other, if there is one, and select and comparisons."""
    x, shape = k.load(SHAPE, t), tile(SHAPE, t)
    wider = WIDTH[to] > WIDTH[t]
    if "index" in (t, to):
        names = ("index_cast", "index_castui")
    elif t[0] == to[0] == "i":
        names = ("extsi", "extui") if wider else ("trunci",)
    elif t[0] == "i":
        names = ("sitofp", "uitofp")
    elif to[0] == "i":
        names = ("fptosi",) if WIDTH[to] > 7 else ("bitcast",)
    else:
        names = ("extf",) if wider else ("truncf",)
    for name in names:
        k.store(k.line(f"$ = arith.{name} {x} : {shape} to {tile(SHAPE, to)}"), SHAPE, to)
    other = k.load(SHAPE, t)
    less = k.line(f"$ = arith.cmp{'i slt' if t[0] == 'i' else 'f olt'}, {x}, {other} : {shape}")
    k.store(k.line(f"$ = arith.select {less}, {x}, {other} : tensor<5x7xi1>, {shape}"), SHAPE, t)


# --- running ------------------------------------------------------------------------------------------------------------


def module(kernels):
    """One program of all kernels; its entry takes the parameters of all."""
    text, parameters, launches, functions = "", [], [], set()
    for number, k in enumerate(kernels):
        text += k.text(f"k{number}")
        functions.update(re.findall(r"@turn_(\w+)", text))
        names = [f"%a{len(parameters) + i}" for i in range(len(k.types))]
        parameters += [f"{name}: {t}" for name, t in zip(names, k.types)]
        launches.append(f"  tile.launch @k{number} grid(%c1) outs({', '.join(names)} : {', '.join(k.types)})\n")
    for t in sorted(functions):
        text += (f"tile.func private @turn_{t}(%x: {tile(SHAPE, t)}) -> {tile(SHAPE[::-1], t)} {{\n  %y = tile.transpose %x [1, 0] : "
                 f"{tile(SHAPE, t)} -> {tile(SHAPE[::-1], t)}\n  tile.return %y : {tile(SHAPE[::-1], t)}\n}}\n")
    return (text + f"func.func @main({', '.join(parameters)}) {{\n  %c1 = arith.constant 1 : index\n" + "".join(launches) +
            "  return\n}\n")


def refused(kernels, folder, passes=()):
    """What tile-opt says of those that it does not take; all are in one file, split."""
    file, line, lines, parts = folder / "verify.mlir", 1, [], []
    for k in kernels:
        lines.append(line)
        parts.append(module([k]))
        line += parts[-1].count("\n") + 1
    file.write_text("// -----\n".join(parts))
    command = [f"{options.build}/bin/tile-opt", "--split-input-file", *passes, str(file), "-o", "/dev/null"]
    said = subprocess.run(command, capture_output=True, text=True).stderr
    errors = re.findall(r"verify\.mlir:(\d+):\d+: error: (.*)", said)
    if "error" in said and not errors:
        sys.exit(f"tile-opt said what was not understood: {said[:2000]}")
    return {kernels[sum(start <= int(number) for start in lines) - 1]: text for number, text in reversed(errors)}


def pipeline():
    return f"--tile-to-{'rocdl' if options.emulate.startswith('gfx') else 'nvvm'}-pipeline=chip={options.emulate}"


def assembled(kernels, folder):
    """The messages when the kernels were made into code for their chip, or nothing."""
    file = folder / "program.mlir"
    file.write_text(module(kernels))
    form = "hsaco" if options.emulate.startswith("gfx") else "cubin"
    command = [f"{options.build}/bin/tile-translate", str(file), f"--tile-to-{form}", f"--chip={options.emulate}", "-o",
               str(folder / "code")]
    got = subprocess.run(command, capture_output=True, text=True)
    return "" if got.returncode == 0 else got.stderr + got.stdout


def run(kernels, folder):
    """The message of tile-run, or nothing when all outputs are right."""
    file = folder / "program.mlir"
    file.write_text(module(kernels))
    command = [f"{options.build}/bin/tile-run", str(file), "--check-against=interpret", "--threads=1"]
    if options.emulate:
        command.append(f"--target=emulate:{options.emulate}")
    for i, data in enumerate(itertools.chain.from_iterable(k.data for k in kernels)):
        np.save(folder / f"{i}.npy", data)
        command.append(f"--in={folder}/{i}.npy")
    got = subprocess.run(command, capture_output=True, text=True)
    return "" if got.returncode == 0 else got.stderr + got.stdout


def name_of(k):
    return f"{k.op} of {k.type}" + (f" ({k.variant})" if k.variant else "")


def batches(kernels):
    batch, arguments = [], 0
    for k in kernels:
        if batch and arguments + len(k.types) > MAX_ARGUMENTS:
            yield batch
            batch, arguments = [], 0
        batch.append(k)
        arguments += len(k.types)
    if batch:
        yield batch


def judge(kernels, folder, by=run):
    """Runs them together; when that fails, by halves, to find the ones at fault."""
    said = by(kernels, folder)
    if said and len(kernels) > 1:
        half = len(kernels) // 2
        return judge(kernels[:half], folder, by) | judge(kernels[half:], folder, by)
    return {kernels[0]: said} if said else {}


def tried(kernels, folder):
    """The message about each kernel whose result was not right."""
    failed = refused(kernels, folder, [pipeline()]) if options.emulate else {}
    for by in (run, assembled) if options.code else (run,):
        for batch in batches([k for k in kernels if k not in failed]):
            failed |= judge(batch, folder, by)
    return failed


def known(k, said):
    """The entry that says so of the kernel."""
    for entry in expected():
        if re.fullmatch(entry[0], k.op) and re.fullmatch(entry[1], f"{k.type} {k.variant}"):
            if not options.emulate or re.search(entry[2], said):
                return entry
    return None


def expected():
    """Entries that concern this run: op, "type variant", reason or message."""
    run_on = f"{options.emulate}{' code' if options.code else ''}"
    return [entry[1:] for entry in REFUSED if re.fullmatch(entry[0], run_on)] if options.emulate else KNOWN


def make(op):
    """The op's kernels."""
    made = []
    for t, variant in itertools.product(options.types, VARIANTS[op]):
        if op == "math.*" and WIDTH[t] < 16 and t[0] == "f" or op == "arith.*" and t == "i1" and re.search("(div|rem)si", variant):
            continue  # functions of narrow floats are upstream's matter; -1 divided by -1 is no i1
        k = Kernel(op, t, np.random.default_rng(17))
        k.variant = variant
        CASES[op](k, t, variant)
        made.append(k)
    return made


def main():
    rows = re.findall(r'^TESSERA_OP\(\w+, "(\w+)"', (ROOT / "dialects/tile/ops.def").read_text(), re.M)
    wrong = [f"{op}: has no case here" for op in rows if op not in CASES and op not in NOT_RUN]
    wrong += [f"{op}: is no op of the table" for op in {**CASES, **NOT_RUN} if op not in rows + UPSTREAM]
    counts = {"right": 0, "not taken by the verifier": 0, "memory no array holds": 0, "known to be wrong or refused": 0}
    done, met = set(), set()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for op in options.ops or CASES:
            if CASES[op] in done:
                continue
            done.add(CASES[op])
            made = make(op)
            held = [k for k in made if all(data is not None for data in k.data)]
            invalid = refused(held, folder)
            kernels = [k for k in held if k not in invalid]
            counts["memory no array holds"] += len(made) - len(held)
            counts["not taken by the verifier"] += len(held) - len(kernels)
            if not kernels and options.types == INTEGERS + FLOATS:
                wrong.append(f"{op}: its verifier takes none of the cases")
            failed = tried(kernels, folder)
            met.update(known(k, said) for k, said in failed.items())
            wrong += [f"{name_of(k)}: {said}" for k, said in failed.items() if not known(k, said)]
            counts["right"] += len(kernels) - len(failed)
            counts["known to be wrong or refused"] += sum(known(k, said) is not None for k, said in failed.items())
    if options.types == INTEGERS + FLOATS and not options.ops:
        wrong += [f"{op} of {t}: all are right; take them out of the list" for op, t, _ in set(expected()) - met]
    for text in wrong:
        print(text.strip()[:options.width])
    for op, t, reason in expected():
        print(f"known: {op} of {t}: {reason}")
    for reason in sorted(set(NOT_RUN.values())):
        print(f"left out: {', '.join(op for op, why in NOT_RUN.items() if why == reason)}: {reason}")
    print(", ".join(f"{number} {what}" for what, number in counts.items()))
    print(f"{len(wrong)} wrong")
    return 1 if wrong else 0


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--build", default="build")
parser.add_argument("--types", type=lambda text: text.split(","), default=INTEGERS + FLOATS)
parser.add_argument("--ops", type=lambda text: text.split(","))
parser.add_argument("--emulate", metavar="CHIP", help="convert for this GPU and run on its emulator")
parser.add_argument("--code", action="store_true", help="with --emulate: make code for the GPU, too")
parser.add_argument("--width", type=int, default=600, help="of what is printed about one failure")
options = parser.parse_args()
sys.exit(main())
