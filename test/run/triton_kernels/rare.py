"""Kernels in TTIR with the ops that models' kernels rarely have: addresses and cast pointers, scaled products, waits for
other instances, histograms and gathers in all their forms, descriptors, prints. Arguments and last line: judge.py.
"""
import os
import sys

import ml_dtypes
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from judge import judge, normal, random, report  # noqa: E402
from writer import Kernel, Value, tile  # noqa: E402

F32, I32, I64 = "!tt.ptr<f32>", "!tt.ptr<i32>", "!tt.ptr<i64>"


def integers(low, high, *shape):
    return random.integers(low, high, shape).astype(np.int32)


def many(pointer, *shape):
    return tile(pointer, shape)


def load(k, pointers, type_, element, shape=(), mask=None, other=None):
    operands = ", ".join([pointers.name, *(value.name for value in (mask, other) if value)])
    return k.op(f"tt.load {operands} : {type_}", element, shape)


def store(k, pointers, type_, value, mask=None):
    k.lines.append(f"tt.store {', '.join([pointers.name, value.name, *([mask.name] if mask else [])])} : {type_}")


def cast(k, pointers, old, new):
    return k.op(f"tt.bitcast {pointers.name} : {old} -> {new}", new)


def pointers(k, name, at):
    made, _, type_ = k.pointers(name, at)
    return Value(k, made, type_), type_


#===--- addresses ---------------------------------------------------------------------------------------------------------===#


def address():
    """Addresses of elements, computed in i64: of a tile and of one element."""
    k = Kernel("address", {"x": "*f32", "out": "*f32", "n": "i32"})
    at = k.block(32)
    inside = at < k["n"].over(32)
    far = many(F32, 32)

    def place(name):
        start = k.op(f"tt.ptr_to_int %{name} : {F32} -> i64", "i64")
        return k.op(f"tt.int_to_ptr {(start.over(32) + at.to('i64') * 4).name} : {tile('i64', (32, ))} -> {far}", "")

    x = load(k, place("x"), far, "f32", (32, ), inside, k.constant(0.0, "f32", (32, )))
    first = k.op(f"tt.int_to_ptr {(k.op(f'tt.ptr_to_int %x : {F32} -> i64', 'i64') + 8).name} : i64 -> {F32}", "")
    store(k, place("out"), far, x + load(k, first, F32, "f32").over(32), inside)
    x = normal(45)
    judge(k, [x, np.zeros(45, np.float32), np.int32(45)], (2, ), {1: x + x[2]}, 1e-6)


def address_of_tile():
    """Differences of the addresses that a tile of pointers holds."""
    k = Kernel("address_of_tile", {"x": "*f16", "out": "*i64"})
    at = k.range(16) * 3
    x, type_ = pointers(k, "x", at)
    places = k.op(f"tt.ptr_to_int {x.name} : {type_} -> {tile('i64', (16, ))}", "i64", (16, ))
    k.store("out", k.range(16), places - k.op("tt.ptr_to_int %x : !tt.ptr<f16> -> i64", "i64").over(16))
    judge(k, [np.zeros(48, np.float16), np.zeros(16, np.int64)], (1, ), {1: np.arange(16) * 6}, 0)


def table_of_pointers():
    """Addresses are written into a table and read from it as pointers."""
    k = Kernel("table_of_pointers", {"x": "*f32", "y": "*f32", "table": "*i64", "out": "*f32"})
    for number, name in enumerate("xy"):
        place, _ = pointers(k, "table", k.constant(number))
        store(k, place, I64, k.op(f"tt.ptr_to_int %{name} : {F32} -> i64", "i64"))
    total = k.constant(0.0, "f32", (16, ))
    for number in range(2):
        place, _ = pointers(k, "table", k.constant(number))
        found = k.op(f"tt.load {cast(k, place, I64, f'!tt.ptr<{F32}>').name} : !tt.ptr<{F32}>", F32)
        base = k.op(f"tt.splat {found.name} : {F32} -> {many(F32, 16)}", "")
        moved = k.op(f"tt.addptr {base.name}, {k.range(16).name} : {many(F32, 16)}, tensor<16xi32>", "")
        total = total * 3.0 + load(k, moved, many(F32, 16), "f32", (16, ))
    k.store("out", k.range(16), total)
    x, y = normal(16), normal(16)
    judge(k, [x, y, np.zeros(2, np.int64), np.zeros(16, np.float32)], (1, ), {3: 3 * x + y}, 1e-6)


#===--- pointers to another type ------------------------------------------------------------------------------------------===#


def float_extremes():
    """Maximum and minimum of floats, as Triton writes them: of signed integers, or of unsigned ones below zero."""
    k = Kernel("float_extremes", {"x": "*f32", "out": "*f32", "n": "i32"})
    at = k.block(32)
    inside = at < k["n"].over(32)
    x = k.load("x", at, inside, 0.0)
    bits, positive = x.convert("tt.bitcast", "i32"), (x >= 0.0) & inside
    for place, kinds in enumerate((("max", "umin"), ("min", "umax"))):
        base, type_ = pointers(k, "out", (at & 3) + 4 * place)
        base = cast(k, base, type_, many(I32, 32))
        for kind, mask in zip(kinds, (positive, (x < 0.0) & inside)):
            k.op(f"tt.atomic_rmw {kind}, relaxed, gpu, {base.name}, {bits.name}, {mask.name} : ({many(I32, 32)}, {bits.type}, {mask.type}) "
                 f"-> {bits.type}", "i32", (32, ))
    x = normal(75)
    first = np.array([0.25, -0.25, -9, 9] * 2, np.float32)
    wanted = [max(first[i], x[i::4].max()) for i in range(4)] + [min(first[4 + i], x[i::4].min()) for i in range(4)]
    judge(k, [x, first, np.int32(75)], (3, ), {1: wanted}, 0)


def exchanged_bits():
    """One element of an array of floats is exchanged as an integer."""
    k = Kernel("exchanged_bits", {"x": "*f32", "out": "*i32"})
    place = cast(k, Value(k, "%x", ""), F32, I32)
    one, two = k.constant(0x3F800000), k.constant(0x40000000)
    old = k.op(f"tt.atomic_cas acq_rel, gpu, {place.name}, {one.name}, {two.name} : ({I32}, i32, i32) -> i32", "i32")
    new = k.op(f"tt.atomic_load acquire, gpu, {place.name} : ({I32}) -> i32", "i32")
    k.store("out", k.constant(0), old)
    k.store("out", k.constant(1), new)
    judge(k, [np.array([1.0], np.float32), np.zeros(2, np.int32)], (1, ), {0: [2.0], 1: [0x3F800000, 0x40000000]}, 0)


def booleans():
    """Arrays of booleans are read and written as bytes: tiles with a mask, and one element."""
    k = Kernel("booleans", {"x": "*i1", "y": "*i1", "out": "*i32", "n": "i32"})
    at = k.block(32)
    inside, byte = at < k["n"].over(32), many("!tt.ptr<i8>", 32)
    place, type_ = pointers(k, "x", at)
    x = load(k, cast(k, place, type_, byte), byte, "i8", (32, ), inside, k.constant(5, "i8", (32, )))
    k.store("out", at, x.extend("i32"))
    place, type_ = pointers(k, "y", at)
    store(k, cast(k, place, type_, byte), byte, x.equals(0).extend("i8"), inside)
    one = cast(k, Value(k, "%x", ""), "!tt.ptr<i1>", "!tt.ptr<i8>")
    place, _ = pointers(k, "out", k.id() + 64)
    store(k, place, I32, load(k, one, "!tt.ptr<i8>", "i8").extend("i32"))
    x = random.integers(0, 2, 45).astype(bool)
    x[0] = True
    out = np.full(66, 5, np.int32)
    out[:45], out[64:] = x, 1
    judge(k, [x, np.zeros(45, bool), np.zeros(66, np.int32), np.int32(45)], (2, ), {1: ~x, 2: out}, 0)


def bits_of_floats():
    """Floats are read and written as integers."""
    k = Kernel("bits_of_floats", {"x": "*f32", "out": "*f32", "n": "i32"})
    at = k.block(32)
    inside, word = at < k["n"].over(32), many(I32, 32)
    place, type_ = pointers(k, "x", at)
    x = load(k, cast(k, place, type_, word), word, "i32", (32, ), inside, k.constant(0, "i32", (32, )))
    place, type_ = pointers(k, "out", at)
    store(k, cast(k, place, type_, word), word, x ^ -2147483648, inside)
    x = normal(45)
    judge(k, [x, np.zeros(45, np.float32), np.int32(45)], (2, ), {1: -x}, 0)


#===--- pointers to different arrays --------------------------------------------------------------------------------------===#


def chosen_array():
    """`p = x if odd else y`, by a select and by an if with offsets."""
    k = Kernel("chosen_array", {"x": "*f32", "y": "*f32", "out": "*f32"})
    odd = (k.id() & 1).equals(1)
    chosen = k.op(f"arith.select {odd.name}, %x, %y : {F32}", F32)
    base = k.op(f"tt.splat {chosen.name} : {F32} -> {many(F32, 16)}", "")
    at = k.block(16)
    a = load(k, k.op(f"tt.addptr {base.name}, {at.name} : {many(F32, 16)}, tensor<16xi32>", ""), many(F32, 16), "f32", (16, ))
    result, step = k.fresh(), k.constant(1)
    k.lines += [f"{result} = scf.if {odd.name} -> ({F32}) {{",
                f"%moved = tt.addptr %y, {step.name} : {F32}, i32", f"scf.yield %moved : {F32}", "} else {", f"scf.yield %x : {F32}", "}"]
    b = load(k, Value(k, result, ""), F32, "f32")
    k.store("out", at, a * 2.0 + b.over(16))
    x, y = normal(48), normal(48)
    parts = [2 * (x if i & 1 else y)[16 * i:16 * i + 16] + (y[1] if i & 1 else x[0]) for i in range(3)]
    judge(k, [x, y, np.zeros(48, np.float32)], (3, ), {2: np.concatenate(parts)}, 1e-6)


#===--- scaled products ---------------------------------------------------------------------------------------------------===#

KINDS = {"e4m3": ("f8E4M3FN", ml_dtypes.float8_e4m3fn), "e5m2": ("f8E5M2", ml_dtypes.float8_e5m2), "e2m1": ("i8", None),
         "bf16": ("bf16", ml_dtypes.bfloat16), "fp16": ("f16", np.float16)}
NUMPY = {"i8": np.int8}
E2M1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6])


def factor(kind, rows, k):
    """rows x k: what lies in memory (bits), and the numbers."""
    if kind == "e2m1":
        codes = random.integers(0, 16, (rows, k))
        return (codes[:, 0::2] | codes[:, 1::2] << 4).astype(np.uint8).view(np.int8), E2M1[codes]
    values = (normal(rows, k) * 2).astype(KINDS[kind][1])
    return values.view({1: np.int8, 2: np.int16}[values.itemsize]), values.astype(np.float64)


def scaled_product(left, right, has_left, has_right, m=32, n=16, depth=64):
    name = f"scaled_{left}_{right}" + "_left" * has_left + "_right" * has_right
    k = Kernel(name, {"a": "*i16" if left in ("bf16", "fp16") else "*i8", "b": "*i16" if right in ("bf16", "fp16") else "*i8", "sa": "*i8",
                      "sb": "*i8", "out": "*f32"})

    def matrix(parameter, kind, rows, columns, wide):
        value = k.load(parameter, k.grid(k.range(rows), k.range(columns), wide))
        return value if kind == "e2m1" else value.convert("tt.bitcast", KINDS[kind][0])

    a = matrix("a", left, m, depth // (2 if left == "e2m1" else 1), depth // (2 if left == "e2m1" else 1))
    b = matrix("b", right, n, depth // (2 if right == "e2m1" else 1), depth // (2 if right == "e2m1" else 1)).transpose()
    scales = [matrix(parameter, "e2m1", rows, depth // 32, depth // 32) if has else None
              for parameter, rows, has in (("sa", m, has_left), ("sb", n, has_right))]
    word = lambda scale: f" scale {scale.name}" if scale else ""
    of = lambda value, scale: value.type + (f", {scale.type}" if scale else "")
    c = k.constant(1.0, "f32", (m, n))
    d = k.op(f"tt.dot_scaled {a.name}{word(scales[0])}, {b.name}{word(scales[1])}, {c.name} lhs = {left} rhs = {right} {{fastMath = false}} : "
             f"{of(a, scales[0])} * {of(b, scales[1])} -> {c.type}", "f32", (m, n))
    k.store("out", k.grid(k.range(m), k.range(n), n), d)
    (x, of_x), (y, of_y) = factor(left, m, depth), factor(right, n, depth)
    sx, sy = (random.integers(120, 133, (rows, depth // 32)).astype(np.uint8) for rows in (m, n))
    if has_left:
        of_x = of_x * np.repeat(2.0**(sx.astype(int) - 127), 32, 1)
    if has_right:
        of_y = of_y * np.repeat(2.0**(sy.astype(int) - 127), 32, 1)
    judge(k, [x.ravel(), y.ravel(), sx.view(np.int8).ravel(), sy.view(np.int8).ravel(), np.zeros(m * n, np.float32)], (1, ),
          {4: of_x @ of_y.T + 1}, 2e-4, exports="=13.5")


#===--- waits -------------------------------------------------------------------------------------------------------------===#


def chain(timeout):
    """Each instance waits for the one before it and adds to its sum."""
    k = Kernel("chain_until" if timeout else "chain", {"x": "*i32", "flags": "*i32", "sums": "*i32"})
    i = k.id()
    before, _ = pointers(k, "flags", i)
    more = f" timeout {k.constant(1000000, 'i64').name}" if timeout else ""
    seen = k.op(f"tt.atomic_poll acquire, gpu, {before.name}, {k.constant(7).name}{more} : {I32}, i32 -> i1", "i1")
    total = k.load("sums", i) + k.load("x", i * 32 + k.constant(0)).over(1).reduce(0, lambda a, b: a + b)
    k.store("sums", i + 1, total + seen.extend("i32"))
    after, _ = pointers(k, "flags", i + 1)
    k.lines.append(f"tt.atomic_store release, gpu, {after.name}, {k.constant(7).name} : {I32}")
    x, count = integers(0, 100, 5 * 32), 5
    flags, sums = np.zeros(count + 1, np.int32), np.zeros(count + 1, np.int32)
    flags[0] = 7
    judge(k, [x, flags, sums], (count, ), {1: np.full(count + 1, 7), 2: np.concatenate([[0], np.cumsum(x[::32] + 1)])}, 0)


def never():
    """A wait that ends by its timeout."""
    k = Kernel("never", {"flag": "*i32", "out": "*i32"})
    seen = k.op(f"tt.atomic_poll relaxed, sys, %flag, {k.constant(3).name} timeout {k.constant(20, 'i64').name} : {I32}, i32 -> i1", "i1")
    k.store("out", k.constant(0), seen.extend("i32") + 10)
    judge(k, [np.array([2], np.int32), np.zeros(1, np.int32)], (1, ), {1: [10]}, 0)


def lock():
    """A spin lock around a plain update: compare and swap until it is free, then an exchange frees it."""
    k = Kernel("lock", {"locked": "*i32", "total": "*i32"})
    zero, one = k.constant(0), k.constant(1)
    result = k.fresh()
    k.lines += [f"{result} = scf.while (%none = {zero.name}) : (i32) -> i32 {{",
                f"%old = tt.atomic_cas acq_rel, gpu, %locked, {zero.name}, {one.name} : ({I32}, i32, i32) -> i32",
                f"%taken = arith.cmpi ne, %old, {zero.name} : i32", "scf.condition(%taken) %old : i32", "} do {", "^bb0(%again: i32):",
                f"scf.yield {zero.name} : i32", "}"]
    k.store("total", zero, k.load("total", zero) * 2 + 1)
    k.op(f"tt.atomic_rmw exch, acq_rel, gpu, %locked, {zero.name}, {k.constant(1, 'i1').name} : ({I32}, i32, i1) -> i32", "i32")
    judge(k, [np.zeros(1, np.int32), np.array([1], np.int32)], (6, ), {0: [0], 1: [127]}, 0)


#===--- counts and places on the chip -------------------------------------------------------------------------------------===#


def histogram(masked, element="i32"):
    k = Kernel(f"histogram_{element}" + "_masked" * masked, {"x": f"*{element}", "out": "*i32", "n": "i32"})
    at = k.range(128)
    inside = at < k["n"].over(128)
    x = k.load("x", at, inside, 0)
    more = f", {inside.name}" if masked else ""
    k.store("out", k.range(16), k.op(f"tt.histogram {x.name}{more} : {x.type} -> tensor<16xi32>", "i32", (16, )))
    n = 77
    x = random.integers(0, 16, 128).astype({"i32": np.int32, "i64": np.int64, "i8": np.int8}[element])
    counts = np.bincount(x[:n].astype(int), minlength=16)
    counts[0] += 0 if masked else 128 - n
    judge(k, [x, np.zeros(16, np.int32), np.int32(n)], (1, ), {1: counts}, 0)


def gather(axis, element, index):
    k = Kernel(f"gather_{axis}_{element}_{index}", {"x": f"*{element}", "places": f"*{index}", "out": f"*{element}"})
    shape, wanted = (8, 16), (4, 16) if axis == 0 else (8, 32)
    x = k.load("x", k.grid(k.range(8), k.range(16), 16))
    at = k.grid(k.range(wanted[0]), k.range(wanted[1]), wanted[1])
    places = k.load("places", at)
    k.store("out", at, k.op(f"tt.gather {x.name}[{places.name}] {{axis = {axis} : i32}} : ({x.type}, {places.type}) -> {tile(element, wanted)}",
                            element, wanted))
    x = random.integers(-100, 100, shape).astype({"f32": np.float32, "i8": np.int8}[element])
    places = random.integers(0, shape[axis], wanted).astype({"i32": np.int32, "i64": np.int64}[index])
    judge(k, [x.ravel(), places.ravel(), np.zeros(wanted, x.dtype).ravel()], (1, ), {2: np.take_along_axis(x, places, axis)}, 0)


#===--- descriptors -------------------------------------------------------------------------------------------------------===#


def reduced_block(kind, combine, element="i32"):
    k = Kernel(f"reduced_block_{kind}_{element}", {"x": f"*{element}", "out": f"*{element}", "m": "i32", "n": "i32"})
    stride, one = k["n"].to("i64"), k.constant(1, "i64")
    describe = lambda name: k.op(f"tt.make_tensor_descriptor %{name}, [%m, %n], [{stride.name}, {one.name}] : <{element}>, <8x16x{element}>", "").name
    source, out = describe("x"), describe("out")
    i, j, type_ = k.id(0) * 8, k.id(1) * 16, f"!tt.tensordesc<8x16x{element}>"
    x = k.op(f"tt.descriptor_load {source}[{i.name}, {j.name}] : {type_} -> tensor<8x16x{element}>", element, (8, 16))
    k.lines.append(f"tt.descriptor_reduce {kind}, {out}[{i.name}, {j.name}], {x.name} : {type_}, tensor<8x16x{element}>")
    draw = (lambda: normal(11, 21)) if element == "f32" else (lambda: integers(-1000, 1000, 11, 21))
    x, y = draw(), draw()
    judge(k, [x.ravel(), y.copy().ravel(), np.int32(11), np.int32(21)], (2, 2), {1: combine(y, x)}, 1e-6)


def rows_at_a_column():
    """Rows by number from a column on: read, and written elsewhere."""
    k = Kernel("rows_at_a_column", {"x": "*f16", "rows": "*i32", "out": "*f16", "m": "i32", "n": "i32"})
    stride, one = k["n"].to("i64"), k.constant(1, "i64")
    describe = lambda name: k.op(f"tt.make_tensor_descriptor %{name}, [%m, %n], [{stride.name}, {one.name}] : <f16>, <1x16xf16>", "").name
    source, out, type_ = describe("x"), describe("out"), "!tt.tensordesc<1x16xf16>"
    rows, column = k.load("rows", k.range(8)), k.id() * 16 + 5
    x = k.op(f"tt.descriptor_gather {source}[{rows.name}, {column.name}] : ({type_}, tensor<8xi32>, i32) -> tensor<8x16xf16>", "f16", (8, 16))
    back = k.op(f"arith.subi {k.constant(10, 'i32', (8, )).name}, {rows.name} : tensor<8xi32>", "i32", (8, ))
    k.lines.append(f"tt.descriptor_scatter {out}[{back.name}, {column.name}], {x.name} : {type_}, tensor<8xi32>, i32, tensor<8x16xf16>")
    x, rows = normal(11, 43).astype(np.float16), random.permutation(11)[:8].astype(np.int32)
    wanted = np.zeros((11, 43), np.float16)
    wanted[10 - rows, 5:] = x[rows, 5:]
    judge(k, [x.ravel(), rows, np.zeros(11 * 43, np.float16), np.int32(11), np.int32(43)], (3, ), {2: wanted}, 0)


#===--- debugging ---------------------------------------------------------------------------------------------------------===#


def prints():
    """What is printed: the text stands in rare.test."""
    k = Kernel("prints", {"x": "*i32", "out": "*i32"})
    x = k.load("x", k.range(4))
    k.lines.append(f'tt.print " x: " {{hex = false, isSigned = array<i32: 1>}} : {x.name} : {x.type}')
    k.lines.append(f'tt.print " id: " {{hex = false, isSigned = array<i32: 1>}} : {k.id().name} : i32')
    k.lines.append('tt.print " here" {hex = false, isSigned = array<i32>}')
    k.lines.append(f'tt.assert {(x > 0).name}, "positive" : tensor<4xi1>')
    k.store("out", k.range(4), x + 1)
    x = np.array([3, 1, 4, 15], np.int32)
    judge(k, [x, np.zeros(4, np.int32)], (1, ), {1: x + 1}, 0)


def stops():
    """An assertion that does not hold stops the program with its text."""
    k = Kernel("stops", {"x": "*i32", "out": "*i32"})
    x = k.load("x", k.range(4))
    k.lines.append(f'tt.assert {(x > 1).name}, "more than one" : tensor<4xi1>')
    k.store("out", k.range(4), x)
    judge(k, [np.array([3, 1, 4, 15], np.int32), np.zeros(4, np.int32)], (1, ), "more than one")


address()
address_of_tile()
table_of_pointers()
float_extremes()
exchanged_bits()
booleans()
bits_of_floats()
chosen_array()
for left, right in (("e4m3", "e5m2"), ("e2m1", "e4m3"), ("e5m2", "e2m1")):
    scaled_product(left, right, True, True)
for left, right, has in (("bf16", "e2m1", (False, True)), ("e4m3", "bf16", (True, False)), ("fp16", "e5m2", (False, True)),
                         ("e4m3", "e4m3", (True, False)), ("e5m2", "e4m3", (False, False))):
    scaled_product(left, right, *has)
chain(False)
chain(True)
never()
lock()
histogram(False)
histogram(True)
histogram(True, "i64")
histogram(False, "i8")
for places in ((0, "f32", "i32"), (1, "f32", "i64"), (1, "i8", "i32")):
    gather(*places)
for kind, combine in (("min", np.minimum), ("max", np.maximum), ("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor),
                      ("add", np.add)):
    reduced_block(kind, combine)
reduced_block("add", np.add, "f32")
rows_at_a_column()
prints()
stops()
report()
