"""Kernels of our own in TTIR, 78 of them, of the kinds that models have: activations, norms, losses, reductions, scans,
products, places by index, quantization, early returns, functions of libdevice. Sizes are odd and ragged. Arguments and
last line: judge.py.
"""
import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from judge import judge, normal, random, report  # noqa: E402
from writer import Kernel  # noqa: E402

N, ROWS, COLUMNS, BLOCK = 150, 5, 45, 64
erf = np.vectorize(math.erf)


#===--- elementwise: x, y → out -------------------------------------------------------------------------------------------===#


def elementwise(name, body, reference, element="f32", other=None, out=None, low=-3.0, high=3.0, tolerance=1e-5):
    out = out or element
    kernel = Kernel(name, {"x": f"*{element}", "y": f"*{other or element}", "out": f"*{out}", "n": "i32"})
    at = kernel.block(BLOCK)
    inside = at < kernel["n"].over(BLOCK)
    value = body(kernel.load("x", at, inside), kernel.load("y", at, inside))
    kernel.store("out", at, value, inside)
    types = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "i8": np.int8, "i64": np.int64}

    def draw(kind):
        if kind[0] == "i":
            return random.integers(-100, 100, N).astype(types[kind])
        return random.uniform(low, high, N).astype(types[kind])

    x, y = draw(element), draw(other or element)
    wide = [values.astype(np.int64 if values.dtype.kind == "i" else np.float64) for values in (x, y)]
    judge(kernel, [x, y, np.zeros(N, types[out]), np.int32(N)], (-(-N // BLOCK), ), {2: reference(*wide)}, tolerance)


def sigmoid(x):
    return 1.0 / (1.0 + (0.0 - x).math("exp"))


def softplus(x):
    return x.maximum(0.0) + (1.0 + (0.0 - x.math("absf")).math("exp")).math("log")


def exact(x):
    return 1 / (1 + np.exp(-x))


elementwise("relu", lambda x, y: x.maximum(0.0), lambda x, y: np.maximum(x, 0))
elementwise("leaky_relu", lambda x, y: (x > 0.0).where(x, x * 0.01), lambda x, y: np.where(x > 0, x, 0.01 * x))
elementwise("sigmoid", lambda x, y: sigmoid(x), lambda x, y: exact(x))
elementwise("silu", lambda x, y: x * sigmoid(x), lambda x, y: x * exact(x))
elementwise("swiglu", lambda x, y: x * sigmoid(x) * y, lambda x, y: x * exact(x) * y)
elementwise("gelu", lambda x, y: x * 0.5 * (1.0 + (x * 0.70710678).math("erf")), lambda x, y: x * 0.5 * (1 + erf(x / 2**0.5)))
elementwise("gelu_tanh", lambda x, y: x * 0.5 * (1.0 + ((x + x * x * x * 0.044715) * 0.79788456).call("__nv_tanhf")),
            lambda x, y: x * 0.5 * (1 + np.tanh((x + 0.044715 * x**3) * (2 / np.pi)**0.5)))
elementwise("geglu_backward", lambda x, y: y * sigmoid(x * 1.702) * (1.0 + x * 1.702 * (1.0 - sigmoid(x * 1.702))),
            lambda x, y: y * exact(1.702 * x) * (1 + 1.702 * x * (1 - exact(1.702 * x))))
elementwise("softplus", lambda x, y: softplus(x), lambda x, y: np.log1p(np.exp(x)))
elementwise("mish", lambda x, y: x * softplus(x).call("__nv_tanhf"), lambda x, y: x * np.tanh(np.log1p(np.exp(x))))
elementwise("elu", lambda x, y: (x > 0.0).where(x, x.math("exp") - 1.0), lambda x, y: np.where(x > 0, x, np.expm1(x)))
elementwise("hard_swish", lambda x, y: x * (x + 3.0).maximum(0.0).minimum(6.0) / 6.0, lambda x, y: x * np.clip(x + 3, 0, 6) / 6)
elementwise("squared_relu", lambda x, y: x.maximum(0.0) * x.maximum(0.0), lambda x, y: np.maximum(x, 0)**2)
elementwise("rsqrt", lambda x, y: x.call("__nv_rsqrtf"), lambda x, y: x**-0.5, low=0.1)
elementwise("power", lambda x, y: x.call("__nv_powf", y), lambda x, y: x**y, low=0.2, tolerance=1e-4)
elementwise("expm1", lambda x, y: x.call("__nv_expm1f"), lambda x, y: np.expm1(x))
elementwise("log1p", lambda x, y: x.call("__nv_log1pf"), lambda x, y: np.log1p(x), low=-0.9)
elementwise("rotate", lambda x, y: x.math("cos") * y - x.math("sin") * x, lambda x, y: np.cos(x) * y - np.sin(x) * x)
elementwise("add_halves", lambda x, y: (x.to("f32") * 1.5 + y.to("f32")).to("f16"), lambda x, y: x * 1.5 + y, "f16", tolerance=2e-3)
elementwise("through_bf16", lambda x, y: (x.to("bf16").to("f32") + y), lambda x, y: x + y, tolerance=2e-2)
elementwise("quantize", lambda x, y: (x * 12.7 + (x > 0.0).where(0.5, x * 0.0 - 0.5)).to("i8"),
            lambda x, y: np.trunc(np.float32(x) * np.float32(12.7) + np.where(x > 0, 0.5, -0.5)), out="i8")
elementwise("dequantize", lambda x, y: x.to("f32") * y, lambda x, y: x * y, "i8", "f32", "f32")
elementwise("integers", lambda x, y: (x * 7 + (y >> 2)) ^ (x & y) | (y << 1), lambda x, y: (x * 7 + (y >> 2)) ^ (x & y) | (y << 1), "i32")
elementwise("remainders", lambda x, y: x / 7 + y % 5 - x.minimum(y), lambda x, y: np.trunc(x / 7) + np.fmod(y, 5) - np.minimum(x, y), "i32")
elementwise("widen", lambda x, y: x.to("i64") * y.to("i64"), lambda x, y: x * y, "i32", out="i64")
elementwise("binary_cross_entropy", lambda x, y: softplus(x) - x * (y > 0.0).to("f32"), lambda x, y: np.log1p(np.exp(x)) - x * (y > 0))
elementwise("huber", lambda x, y: ((x - y).math("absf") < 1.0).where((x - y) * (x - y) * 0.5, (x - y).math("absf") - 0.5),
            lambda x, y: np.where(abs(x - y) < 1, (x - y)**2 / 2, abs(x - y) - 0.5))

#===--- rows: one program has one row --------------------------------------------------------------------------------------===#


def rows(name, body, reference, out="row", element="f32", tolerance=1e-5, other=0.0, positive=False):
    """out: "row" as x, "scalar" one number a row."""
    kernel = Kernel(name, {"x": "*f32", "out": f"*{element}", "columns": "i32"})
    row, at = kernel.id(), kernel.range(BLOCK)
    inside = at < kernel["columns"].over(BLOCK)
    places = (row * kernel["columns"]).over(BLOCK) + at
    value = body(kernel, kernel.load("x", places, inside, other), inside, at)
    kernel.store("out", *((places, value, inside) if out == "row" else (row, value)))
    x = abs(normal(ROWS, COLUMNS)) + 0.1 if positive else normal(ROWS, COLUMNS)
    made = np.zeros(x.size if out == "row" else ROWS, np.int32 if element == "i32" else np.float32)
    judge(kernel, [x.ravel(), made, np.int32(COLUMNS)], (ROWS, ), {1: reference(x.astype(np.float64))}, tolerance)


def mean(x):
    return x.sum() / float(COLUMNS)


def masked(x, inside, value=0.0):
    return inside.where(x, value)


def stable(x):
    return (x - x.max().over(BLOCK)).math("exp")


LOW = float("-inf")
softmax = lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True)
variance = lambda x: x.var(1, keepdims=True)
rows("softmax", lambda k, x, m, at: stable(x) / stable(x).sum().over(BLOCK), softmax, other=LOW)
rows("log_softmax", lambda k, x, m, at: x - x.max().over(BLOCK) - stable(x).sum().math("log").over(BLOCK), lambda x: np.log(softmax(x)), other=LOW)
rows("logsumexp", lambda k, x, m, at: x.max() + stable(x).sum().math("log"), lambda x: np.log(np.exp(x).sum(1)), "scalar", other=LOW)
rows("row_sum", lambda k, x, m, at: x.sum(), lambda x: x.sum(1), "scalar")
rows("row_mean", lambda k, x, m, at: mean(x), lambda x: x.mean(1), "scalar")
rows("row_max", lambda k, x, m, at: x.max(), lambda x: x.max(1), "scalar", other=LOW)
rows("row_product", lambda k, x, m, at: x.reduce(0, lambda a, b: a * b), lambda x: x.prod(1), "scalar", other=1.0)
rows("argmax", lambda k, x, m, at: x.reduce(0, lambda a, i, b, j: (
    ((a > b) | (a.equals(b) & (i < j))).where(a, b), ((a > b) | (a.equals(b) & (i < j))).where(i, j)), at)[1],
     lambda x: x.argmax(1), "scalar", "i32", other=LOW)
rows("l2_norm", lambda k, x, m, at: x / ((x * x).sum() + 1e-6).math("sqrt").over(BLOCK),
     lambda x: x / np.sqrt((x * x).sum(1, keepdims=True) + 1e-6))
rows("rms_norm", lambda k, x, m, at: x * (mean(x * x) + 1e-6).math("rsqrt").over(BLOCK),
     lambda x: x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6))


def centered(x, m):
    return masked(x - mean(x).over(BLOCK), m)


rows("layer_norm", lambda k, x, m, at: centered(x, m) * (mean(centered(x, m) * centered(x, m)) + 1e-5).math("rsqrt").over(BLOCK),
     lambda x: (x - x.mean(1, keepdims=True)) / np.sqrt(variance(x) + 1e-5))
rows("variance", lambda k, x, m, at: mean(centered(x, m) * centered(x, m)), lambda x: x.var(1), "scalar")
rows("cumulative_sum", lambda k, x, m, at: x.scan(0, lambda a, b: a + b), lambda x: x.cumsum(1))
rows("cumulative_max", lambda k, x, m, at: x.scan(0, lambda a, b: a.maximum(b)), lambda x: np.maximum.accumulate(x, 1), other=LOW)
rows("reverse_sum", lambda k, x, m, at: x.scan(0, lambda a, b: a + b, reverse=True), lambda x: x[:, ::-1].cumsum(1)[:, ::-1])
rows("decay", lambda k, x, m, at: x.scan(0, lambda a, s, b, t: (a * t + b, s * t), x * 0.0 + 0.5)[0],
     lambda x: np.stack([sum(x[:, j] * 0.5**(i - j) for j in range(i + 1)) for i in range(COLUMNS)], 1))
rows("entropy", lambda k, x, m, at: 0.0 - masked(x / x.sum().over(BLOCK) * (x / x.sum().over(BLOCK)).math("log"), m).sum(),
     lambda x: -(x / x.sum(1, keepdims=True) * np.log(x / x.sum(1, keepdims=True))).sum(1), "scalar", positive=True)
rows("count_positive", lambda k, x, m, at: (x > 0.0).to("i32").sum(), lambda x: (x > 0).sum(1), "scalar", "i32")

#===--- control flow, places by index, products ----------------------------------------------------------------------------===#


def chunked_sum():
    """A row longer than a block: a loop that moves on."""
    k = Kernel("chunked_sum", {"x": "*f32", "out": "*f32", "columns": "i32"})
    row, at, columns = k.id(), k.range(32), k["columns"]

    def body(start, total):
        place = start.over(32) + at
        inside = place < columns.over(32)
        return total + k.load("x", (row * columns).over(32) + place, inside, 0.0)

    total = k.loop(columns, 32, [k.constant(0.0, "f32", (32, ))], body)
    k.store("out", row, total.sum())
    x = normal(3, 117)
    judge(k, [x.ravel(), np.zeros(3, np.float32), np.int32(117)], (3, ), {1: x.astype(np.float64).sum(1)})


def cross_entropy():
    """An early return where the label is to be ignored."""
    k = Kernel("cross_entropy", {"x": "*f32", "labels": "*i32", "loss": "*f32", "columns": "i32"})
    row, at, columns = k.id(), k.range(BLOCK), k["columns"]
    label = k.load("labels", row)
    k.return_unless(label >= 0)
    inside = at < columns.over(BLOCK)
    x = k.load("x", (row * columns).over(BLOCK) + at, inside, LOW)
    top = x.max()
    total = (x - top.over(BLOCK)).math("exp").sum().math("log") + top
    k.store("loss", row, total - k.load("x", row * columns + label))
    x, labels = normal(6, COLUMNS), np.array([3, -1, 44, 0, -7, 12], np.int32)
    wanted = np.where(labels < 0, 0, np.log(np.exp(x.astype(np.float64)).sum(1)) - x[np.arange(6), labels.clip(0)])
    judge(k, [x.ravel(), labels, np.zeros(6, np.float32), np.int32(COLUMNS)], (6, ), {2: wanted})


def embedding():
    k = Kernel("embedding", {"ids": "*i32", "table": "*f32", "out": "*f32", "width": "i32"})
    row, at, width = k.id(), k.range(BLOCK), k["width"]
    inside = at < width.over(BLOCK)
    values = k.load("table", (k.load("ids", row) * width).over(BLOCK) + at, inside)
    k.store("out", (row * width).over(BLOCK) + at, values, inside)
    table, ids = normal(11, 50), random.integers(0, 11, 7).astype(np.int32)
    judge(k, [ids, table.ravel(), np.zeros(350, np.float32), np.int32(50)], (7, ), {2: table[ids]}, 0)


def scatter_add():
    k = Kernel("scatter_add", {"x": "*f32", "ids": "*i32", "out": "*f32", "n": "i32"})
    at = k.block(BLOCK)
    inside = at < k["n"].over(BLOCK)
    k.atomic("fadd", "out", k.load("ids", at, inside, 0), k.load("x", at, inside, 0.0), inside)
    x, ids = normal(N), random.integers(0, 9, N).astype(np.int32)
    judge(k, [x, ids, np.zeros(9, np.float32), np.int32(N)], (3, ), {2: np.bincount(ids, x.astype(np.float64), 9)})


def greatest():
    k = Kernel("greatest", {"x": "*i32", "out": "*i32", "n": "i32"})
    at = k.block(BLOCK)
    inside = at < k["n"].over(BLOCK)
    k.atomic("max", "out", k.constant(0), k.load("x", at, inside, -1000).max(), k.constant(1, "i1"))
    x = random.integers(-500, 500, N).astype(np.int32)
    judge(k, [x, np.full(1, -9999, np.int32), np.int32(N)], (3, ), {1: [x.max()]})


def histogram():
    k = Kernel("histogram", {"x": "*i32", "out": "*i32"})
    found = k.op(f"tt.histogram {k.load('x', k.range(128)).name} : tensor<128xi32> -> tensor<16xi32>", "i32", (16, ))
    k.store("out", k.range(16), found)
    x = random.integers(0, 16, 128).astype(np.int32)
    judge(k, [x, np.zeros(16, np.int32)], (1, ), {1: np.bincount(x, minlength=16)})


def rope():
    k = Kernel("rope", {"x": "*f32", "angles": "*f32", "half": "i32"})
    row, at, half = k.id(), k.range(32), k["half"]
    inside = at < half.over(32)
    first = (row * half * 2).over(32) + at
    second = first + half.over(32)
    a, b, angle = k.load("x", first, inside), k.load("x", second, inside), k.load("angles", (row * half).over(32) + at, inside)
    k.store("x", first, a * angle.math("cos") - b * angle.math("sin"), inside)
    k.store("x", second, b * angle.math("cos") + a * angle.math("sin"), inside)
    x, angles = normal(4, 2, 27), normal(4, 27)
    a, b, t = x[:, 0].astype(np.float64), x[:, 1].astype(np.float64), angles.astype(np.float64)
    wanted = np.stack([a * np.cos(t) - b * np.sin(t), b * np.cos(t) + a * np.sin(t)], 1)
    judge(k, [x.ravel(), angles.ravel(), np.int32(27)], (4, ), {0: wanted})


def transpose():
    k = Kernel("transpose", {"x": "*f32", "y": "*f32", "m": "i32", "n": "i32"})
    rows_, columns, m, n = k.block(16, 0), k.block(32, 1), k["m"], k["n"]
    inside = k.both(rows_ < m.over(16), columns < n.over(32))
    x = k.load("x", k.grid(rows_, columns, n), inside, 0.0)
    k.store("y", k.grid(columns, rows_, m), x.transpose(), k.both(columns < n.over(32), rows_ < m.over(16)))
    x = normal(21, 43)
    judge(k, [x.ravel(), np.zeros(x.size, np.float32), np.int32(21), np.int32(43)], (2, 2), {1: x.T}, 0)


def pool():
    """Pairs of neighbours by reshape."""
    k = Kernel("pool", {"x": "*f32", "y": "*f32", "n": "i32"})
    at, half = k.block(64), k.block(32)
    x = k.load("x", at, at < k["n"].over(64), LOW)
    k.store("y", half, x.reshape(32, 2).max(1), half < (k["n"] / 2).over(32))
    x = normal(150)
    judge(k, [x, np.zeros(75, np.float32), np.int32(150)], (3, ), {1: x.reshape(75, 2).max(1)}, 0)


def interleave():
    k = Kernel("interleave", {"x": "*f32", "y": "*f32", "out": "*f32"})
    x, y = k.load("x", k.range(32)), k.load("y", k.range(32))
    both = k.op(f"tt.join {x.name}, {y.name} : tensor<32xf32> -> tensor<32x2xf32>", "f32", (32, 2))
    k.store("out", k.range(64), both.reshape(64))
    x, y = normal(32), normal(32)
    judge(k, [x, y, np.zeros(64, np.float32)], (1, ), {2: np.stack([x, y], 1)}, 0)


def split_halves():
    k = Kernel("split_halves", {"x": "*f32", "even": "*f32", "odd": "*f32"})
    pairs = k.load("x", k.range(64)).reshape(32, 2)
    name = k.fresh()
    k.lines.append(f"{name}, {name}b = tt.split {pairs.name} : tensor<32x2xf32> -> tensor<32xf32>")
    even, odd = (type(pairs)(k, text, "f32", (32, )) for text in (name, f"{name}b"))
    k.store("even", k.range(32), even)
    k.store("odd", k.range(32), odd)
    x = normal(64)
    judge(k, [x, np.zeros(32, np.float32), np.zeros(32, np.float32)], (1, ), {1: x[::2], 2: x[1::2]}, 0)


def product(name, element, sum_, precision="ieee", activation=None, tolerance=1e-4):
    k = Kernel(name, {"a": f"*{element}", "b": f"*{element}", "c": f"*{sum_}", "m": "i32", "n": "i32", "k": "i32"})
    m, n, depth = k["m"], k["n"], k["k"]
    rows_, columns, at = k.block(16, 0), k.block(16, 1), k.range(32)

    def body(start, total):
        places = start.over(32) + at
        a = k.load("a", k.grid(rows_, places, depth), k.both(rows_ < m.over(16), places < depth.over(32)), 0.0)
        b = k.load("b", k.grid(places, columns, n), k.both(places < depth.over(32), columns < n.over(16)), 0.0)
        return k.dot(a, b, total, precision)

    total = k.loop(depth, 32, [k.constant(0, sum_, (16, 16))], body)
    total = activation(total) if activation else total
    k.store("c", k.grid(rows_, columns, n), total, k.both(rows_ < m.over(16), columns < n.over(16)))
    types = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i32": np.int32}
    draw = (lambda *s: random.integers(-9, 9, s).astype(np.int8)) if element == "i8" else (lambda *s: normal(*s).astype(types[element]))
    a, b = draw(37, 75), draw(75, 21)
    c = a.astype(np.float64) @ b.astype(np.float64)
    c = np.maximum(c, 0) if activation else c
    judge(k, [a.ravel(), b.ravel(), np.zeros(37 * 21, types[sum_]), *map(np.int32, (37, 21, 75))], (3, 2), {2: c}, tolerance)


def matrix_vector():
    k = Kernel("matrix_vector", {"a": "*f32", "x": "*f32", "y": "*f32", "m": "i32", "n": "i32"})
    m, n = k["m"], k["n"]
    rows_, at = k.block(8), k.range(BLOCK)
    a = k.load("a", k.grid(rows_, at, n), k.both(rows_ < m.over(8), at < n.over(BLOCK)), 0.0)
    x = k.load("x", at, at < n.over(BLOCK), 0.0)
    k.store("y", rows_, (a * x.expand(0).over(8, BLOCK)).sum(1), rows_ < m.over(8))
    a, x = normal(19, 53), normal(53)
    judge(k, [a.ravel(), x, np.zeros(19, np.float32), np.int32(19), np.int32(53)], (3, ), {2: a.astype(np.float64) @ x})


for build in (chunked_sum, cross_entropy, embedding, scatter_add, greatest, histogram, rope, transpose, pool, interleave, split_halves,
              matrix_vector):
    build()
product("matmul_f32", "f32", "f32")
product("matmul_tf32", "f32", "f32", "tf32", tolerance=3e-2)
product("matmul_f16", "f16", "f32", activation=lambda x: x.maximum(0.0), tolerance=2e-3)
product("matmul_i8", "i8", "i32", tolerance=0)
#===--- ops of TTIR that the kernels above do not have ------------------------------------------------------------------------===#

elementwise("clamp", lambda x, y: x.kernel.op(f"tt.clampf {x.name}, {x._like(-1.0).name}, {x._like(0.75).name}, propagateNan = none : {x.type}",
                                              "f32", x.shape), lambda x, y: np.clip(x, -1, 0.75))
elementwise("precise", lambda x, y: x.unary("tt.precise_sqrt").binary("tt.precise_divf", y), lambda x, y: np.sqrt(x) / y, low=0.1, tolerance=1e-6)
elementwise("approximate", lambda x, y: x.binary("tt.approx_divf", y), lambda x, y: x / y, low=0.1)
elementwise("mulhi", lambda x, y: x.binary("tt.mulhiui", y), lambda x, y: ((x & 0xFFFFFFFF) * (y & 0xFFFFFFFF) >> 32).astype(np.int32), "i32",
            tolerance=0)
elementwise("bits", lambda x, y: (x.convert("tt.bitcast", "i32") & 0x7FFFFFFF).convert("tt.bitcast", "f32"), lambda x, y: abs(x), tolerance=0)
elementwise("through_f8", lambda x, y: x.convert("tt.fp_to_fp", "f8E4M3FN", ", rounding = rtne").convert("tt.fp_to_fp", "f32") + y,
            lambda x, y: x + y, tolerance=2e-1)
elementwise("cut", lambda x, y: x.convert("tt.fp_to_fp", "f16", ", rounding = rtz").to("f32"), lambda x, y: x, tolerance=1e-3)
elementwise("assembly", lambda x, y: x.kernel.op('tt.elementwise_inline_asm "ex2.approx.f32 $0, $1;" {constraints = "=f,f", packed_element = 1 : '
                                                 f"i32, pure = true}} {x.name} : {x.type} -> {x.type}", "f32", x.shape), lambda x, y: 2**x)


def concatenate():
    k = Kernel("concatenate", {"x": "*f32", "y": "*f32", "out": "*f32"})
    x, y = k.load("x", k.range(32)), k.load("y", k.range(32))
    k.store("out", k.range(64), k.op(f"tt.cat {x.name}, {y.name} : tensor<32xf32> -> tensor<64xf32>", "f32", (64, )))
    x, y = normal(32), normal(32)
    judge(k, [x, y, np.zeros(64, np.float32)], (1, ), {2: np.concatenate([x, y])}, 0)


def pick():
    k = Kernel("pick", {"x": "*f32", "places": "*i32", "out": "*f32"})
    x, places = k.load("x", k.range(64)), k.load("places", k.range(64))
    k.store("out", k.range(64), k.op(f"tt.gather {x.name}[{places.name}] {{axis = 0 : i32}} : (tensor<64xf32>, tensor<64xi32>) -> tensor<64xf32>",
                                     "f32", (64, )))
    x, places = normal(64), random.integers(0, 64, 64).astype(np.int32)
    judge(k, [x, places, np.zeros(64, np.float32)], (1, ), {2: x[places]}, 0)


def only_element():
    k = Kernel("only_element", {"x": "*f32", "out": "*f32"})
    one = k.load("x", k.id().over(1))
    k.store("out", k.id(), k.op(f"tt.unsplat {one.name} : tensor<1xf32>", "f32") * 2.0)
    x = normal(3)
    judge(k, [x, np.zeros(3, np.float32)], (3, ), {1: x * 2}, 0)


def persistent():
    """Each program takes every n-th block, and asserts what holds."""
    k = Kernel("persistent", {"x": "*f32", "out": "*f32", "n": "i32"})
    total = k.op("tt.get_num_programs x : i32", "i32")

    def body(block, carried):
        at = (block * 32).over(32) + k.range(32)
        inside = at < k["n"].over(32)
        k.lines.append(f'tt.assert {(at >= 0).name}, "places" : tensor<32xi1>')
        k.store("out", at, k.load("x", at, inside, 0.0) * 3.0, inside)
        return carried + 1

    k.loop((k["n"] + 31) / 32, total, [k.constant(0)], body, k.id())
    x = normal(N)
    judge(k, [x, np.zeros(N, np.float32), np.int32(N)], (3, ), {1: x * 3})


def atomics():
    """One element: exchanged where it is as expected, read and written in an order."""
    k = Kernel("atomics", {"x": "*i32"})
    pointer = "!tt.ptr<i32>"
    old = k.op(f"tt.atomic_cas acq_rel, gpu, %x, {k.constant(5).name}, {k.constant(7).name} : ({pointer}, i32, i32) -> i32", "i32")
    new = k.op(f"tt.atomic_load acquire, gpu, %x : ({pointer}) -> i32", "i32")
    place, _, _ = k.pointers("x", k.constant(1))
    k.lines.append(f"tt.atomic_store release, gpu, {place}, {(old * 100 + new).name} : {pointer}")
    judge(k, [np.array([5, 0], np.int32)], (1, ), {0: [7, 507]}, 0)


def descriptors():
    """Tiles of a matrix by descriptors: read, written, added, and rows by their numbers."""
    k = Kernel("descriptors", {"x": "*f32", "rows": "*i32", "out": "*f32", "m": "i32", "n": "i32"})
    stride, one = k["n"].to("i64"), k.constant(1, "i64")
    make = lambda name, shape: k.op(f"tt.make_tensor_descriptor %{name}, [%m, %n], [{stride.name}, {one.name}] : <f32>, <{shape}xf32>", "").name
    source, out, line = make("x", "8x16"), make("out", "8x16"), make("x", "1x16")
    i, j = (k.id(0) * 8).name, k.id(1) * 16
    value = k.op(f"tt.descriptor_load {source}[{i}, {j.name}] : !tt.tensordesc<8x16xf32> -> tensor<8x16xf32>", "f32", (8, 16))
    k.lines.append(f"tt.descriptor_store {out}[{i}, {j.name}], {(value * 2.0).name} : !tt.tensordesc<8x16xf32>, tensor<8x16xf32>")
    found = k.op(f"tt.descriptor_gather {line}[{k.load('rows', k.range(8)).name}, {j.name}] : (!tt.tensordesc<1x16xf32>, tensor<8xi32>, i32) -> "
                 "tensor<8x16xf32>", "f32", (8, 16))
    k.lines.append(f"tt.descriptor_reduce add, {out}[{i}, {j.name}], {found.name} : !tt.tensordesc<8x16xf32>, tensor<8x16xf32>")
    x, rows_ = normal(8, 27), random.integers(0, 8, 8).astype(np.int32)
    judge(k, [x.ravel(), rows_, np.zeros(8 * 27, np.float32), np.int32(8), np.int32(27)], (1, 2), {2: 2 * x + x[rows_]}, 1e-6)


def scattered_rows():
    k = Kernel("scattered_rows", {"x": "*f32", "rows": "*i32", "out": "*f32", "m": "i32", "n": "i32"})
    stride, one = k["n"].to("i64"), k.constant(1, "i64")
    out = k.op(f"tt.make_tensor_descriptor %out, [%m, %n], [{stride.name}, {one.name}] : <f32>, <1x16xf32>", "").name
    at = k.grid(k.range(8), k.range(16), 16)
    k.lines.append(f"tt.descriptor_scatter {out}[{k.load('rows', k.range(8)).name}, {k.constant(0).name}], {k.load('x', at).name} : "
                   "!tt.tensordesc<1x16xf32>, tensor<8xi32>, i32, tensor<8x16xf32>")
    x, rows_ = normal(8, 16), random.permutation(11)[:8].astype(np.int32)
    wanted = np.zeros((11, 13), np.float32)
    wanted[rows_] = x[:, :13]
    judge(k, [x.ravel(), rows_, np.zeros(11 * 13, np.float32), np.int32(11), np.int32(13)], (1, ), {2: wanted}, 0)


def block_pointers():
    """Triton 3.5's block pointers: rows of a matrix are summed block by block."""
    k = Kernel("block_pointers", {"x": "*f32", "out": "*f32", "m": "i32", "n": "i32"})
    m, n, one, zero = k["m"].to("i64"), k["n"].to("i64"), k.constant(1, "i64"), k.constant(0)
    start = k.op(f"tt.make_tensor_ptr %x, [{m.name}, {n.name}], [{n.name}, {one.name}], [{(k.id() * 8).name}, {zero.name}] "
                 "{order = array<i32: 1, 0>} : <tensor<8x16xf32>>", "!tt.ptr<tensor<8x16xf32>>")

    def body(_, block, total):
        value = k.op(f"tt.load {block.name} {{boundaryCheck = array<i32: 0, 1>, padding = 1 : i32}} : !tt.ptr<tensor<8x16xf32>>", "f32", (8, 16))
        moved = k.op(f"tt.advance {block.name}, [{k.constant(0).name}, {k.constant(16).name}] : <tensor<8x16xf32>>", block.element)
        return moved, total + value.sum(1)

    _, total = k.loop(k["n"], 16, [start, k.constant(0.0, "f32", (8, ))], body)
    at = k.block(8)
    k.store("out", at, total, at < k["m"].over(8))
    x = normal(11, 43)
    judge(k, [x.ravel(), np.zeros(11, np.float32), np.int32(11), np.int32(43)], (2, ), {1: x.astype(np.float64).sum(1)})


def dependent_grids():
    """Triton's hints for grids that depend on each other change nothing."""
    k = Kernel("dependent_grids", {"x": "*f32", "out": "*f32"})
    k.lines.append("tt.grid_dependency_wait")
    k.store("out", k.range(64), k.load("x", k.range(64)) + 1.0)
    k.lines.append("tt.grid_dependency_launch_dependents")
    x = normal(64)
    judge(k, [x, np.zeros(64, np.float32)], (1, ), {1: x + 1})


for build in (concatenate, pick, only_element, persistent, atomics, descriptors, scattered_rows, block_pointers, dependent_grids):
    build()
report()
