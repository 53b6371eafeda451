"""What tile-bench measures: each operator as an MLIR program, its inputs, its exact answer, and its peers' own calls.

An operator is a class whose methods all take the case's arguments by name:
  program(…)          the module, with @main; tensors in, one tensor out
  arrays(random, …)   the inputs, in the order of @main (bf16 travels as uint16)
  exact(arrays, …)    the answer in float64 (int64 for integers) and, per element, the size of the terms that it sums
  work(…)             (operations, bytes moved at least)
  torch(torch, x, …)  PyTorch's best call on the same inputs (tensors), or None
  dense(arrays, …)    the two dense factors that OpenBLAS multiplies in place of a sparse one, if it is sparse
"""
import math
import re
import sys
from pathlib import Path

import attention_kernel
import grouped_kernel
import lowbit
import masks
import routing
import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "examples" / "transformer"))
import model  # noqa: E402

BYTES = {"f32": 4, "bf16": 2, "f16": 2, "i8": 1, "i32": 4}
UNIT = {"f32": 2.0**-24, "bf16": 2.0**-8, "f16": 2.0**-11, "i8": 0.0}
ARRAYS = {"f32": "float32", "bf16": "uint16", "f16": "float16", "i32": "int32"}  # numpy's types of results


def sums_of(dtype="f32", sums=None, **_):
    """The type of a product's result: of narrow factors f32 (i32), unless `sums` says otherwise."""
    return sums or ("i32" if dtype == "i8" else "f32")


def to_bf16(x):
    """float32 to the bits of bfloat16, nearest even."""
    bits = np.ascontiguousarray(x, "f4").view("u4")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("u2")


def widen(x):
    """An input as its exact values: float64, int64 for integers."""
    if x.dtype == np.uint16:
        return (x.astype("u4") << 16).view("f4").astype("f8")
    return x.astype("i8") if x.dtype.kind == "i" else x.astype("f8")


def draw(random, dtype, *shape):
    if dtype == "i8":
        return random.integers(-128, 128, shape).astype("i1")
    values = random.uniform(-1, 1, shape).astype("f4")
    return to_bf16(values) if dtype == "bf16" else values.astype("f2") if dtype == "f16" else values


# --- Text of programs -----------------------------------------------------------------------------------------------


def tensor(*shape, dtype="f32"):
    return "tensor<" + "".join(f"{size}x" for size in shape) + dtype + ">"


class Text:
    """A function under construction: values are (name, type) pairs."""

    def __init__(self, *arguments):
        self.arguments = [(f"%a{i}", kind) for i, kind in enumerate(arguments)]
        self.lines, self.count = [], 0

    def add(self, text, kind):
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}", kind

    def constant(self, value, dtype="f32"):
        return self.add(f"arith.constant {value} : {dtype}", dtype)

    def empty(self, kind):
        return self.add(f"tensor.empty() : {kind}", kind)

    def filled(self, kind, value=None):
        dtype = kind[:-1].split("x")[-1]
        number = self.constant(value or ("0" if dtype[0] == "i" else "0.0"), dtype)
        return self.add(f"linalg.fill ins({number[0]} : {dtype}) outs({self.empty(kind)[0]} : {kind}) -> {kind}", kind)

    def generic(self, dims, maps, kinds, inputs, out, body, iterators=None):
        """body names its arguments %x0, %x1, … and the output's %o, and ends with a linalg.yield."""
        names = ", ".join(f"affine_map<({dims}) -> ({m})>" for m in maps)
        kinds_text = ", ".join(f'"{"parallel" if k == "p" else "reduction"}"' for k in kinds)
        elements = [k[1][:-1].split("x")[-1] for k in (*inputs, out)]
        arguments = ", ".join(f"%{'o' if i == len(inputs) else f'x{i}'}: {e}" for i, e in enumerate(elements))
        ins = f"ins({', '.join(i[0] for i in inputs)} : {', '.join(i[1] for i in inputs)}) " if inputs else ""
        return self.add(f"linalg.generic {{indexing_maps = [{names}], iterator_types = [{kinds_text}]}} {ins}"
                        f"outs({out[0]} : {out[1]}) {{\n  ^bb0({arguments}):\n    " +
                        "\n    ".join(body.strip().split("\n")) + f"\n  }} -> {out[1]}", out[1])

    def named(self, op, inputs, out, attributes=""):
        return self.add(f"linalg.{op} {attributes}ins({', '.join(i[0] for i in inputs)} : "
                        f"{', '.join(i[1] for i in inputs)}) outs({out[0]} : {out[1]}) -> {out[1]}", out[1])

    def end(self, result):
        arguments = ", ".join(f"{n}: {k}" for n, k in self.arguments)
        return (f"func.func @main({arguments}) -> {result[1]} {{\n" + "\n".join(self.lines) +
                f"\n  return {result[0]} : {result[1]}\n}}\n")


MULTIPLY_ADD = """%p = arith.mulf %x0, %x1 : f32
%s = arith.addf %o, %p : f32
linalg.yield %s : f32"""
BIAS_RELU = """%zero = arith.constant 0.0 : f32
%s = arith.addf %x0, %x1 : f32
%r = arith.maximumf %s, %zero : f32
linalg.yield %r : f32"""
GELU = """%half = arith.constant 0.5 : f32
%one = arith.constant 1.0 : f32
%root = arith.constant 0.70710678 : f32
%z = arith.mulf %x0, %root : f32
%e = math.erf %z : f32
%t = arith.addf %e, %one : f32
%h = arith.mulf %x0, %half : f32
%r = arith.mulf %h, %t : f32
linalg.yield %r : f32"""


def exact_gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


# --- Products -------------------------------------------------------------------------------------------------------


class gemm:
    """C[m,n] = A[m,k] B[k,n]; narrow factors sum in 32 bits, or in `sums`."""

    @staticmethod
    def program(m, n, k, dtype="f32", sums=None):
        result = sums_of(dtype, sums)
        t = Text(tensor(m, k, dtype=dtype), tensor(k, n, dtype=dtype))
        return t.end(t.named("matmul", t.arguments, t.filled(tensor(m, n, dtype=result))))

    @staticmethod
    def arrays(random, m, n, k, dtype="f32", sums=None):
        return [draw(random, dtype, m, k), draw(random, dtype, k, n)]

    @staticmethod
    def exact(arrays, m, n, k, dtype="f32", sums=None):
        a, b = map(widen, arrays)
        if dtype == "i8":  # exact in float64 too, and much faster there
            return (a.astype("f8") @ b.astype("f8")).astype("i8"), 0.0
        return a @ b, abs(a) @ abs(b) * 2 * math.sqrt(k)

    @staticmethod
    def work(m, n, k, dtype="f32", sums=None):
        return 2 * m * n * k, (m * k + k * n) * BYTES[dtype] + m * n * BYTES[sums_of(dtype, sums)]

    @staticmethod
    def torch(torch, x, m, n, k, dtype="f32", sums=None):
        if dtype == "i8":
            return lambda: torch._int_mm(*x)
        if dtype in ("bf16", "f16"):
            return lambda: torch.mm(*x)  # its result has the factors' type
        out = torch.empty(m, n)
        return (lambda: torch.mv(x[0], x[1][:, 0], out=out[:, 0])) if n == 1 else lambda: torch.mm(*x, out=out)


class gemm_weights(gemm):
    """C[m,n] = A[m,k] B[k,n] where the program has B as a constant; its argument B is there for the peers."""

    @staticmethod
    def program(m, n, k):
        t = Text(tensor(m, k), tensor(k, n))
        b = t.add(f'arith.constant dense<"0x{gemm_weights.weights(n, k).tobytes().hex()}"> : {tensor(k, n)}', tensor(k, n))
        return t.end(t.named("matmul", [t.arguments[0], b], t.filled(tensor(m, n))))

    @staticmethod
    def weights(n, k):
        return draw(np.random.default_rng(11), "f32", k, n)

    @staticmethod
    def arrays(random, m, n, k):
        return [draw(random, "f32", m, k), gemm_weights.weights(n, k)]


class batched:
    """C[b,m,n] = A[b,m,k] B[b,k,n]."""

    @staticmethod
    def program(b, m, n, k):
        t = Text(tensor(b, m, k), tensor(b, k, n))
        return t.end(t.named("batch_matmul", t.arguments, t.filled(tensor(b, m, n))))

    @staticmethod
    def arrays(random, b, m, n, k):
        return [draw(random, "f32", b, m, k), draw(random, "f32", b, k, n)]

    @staticmethod
    def exact(arrays, b, m, n, k):
        x, y = map(widen, arrays)
        return x @ y, abs(x) @ abs(y) * 2 * math.sqrt(k)

    @staticmethod
    def work(b, m, n, k):
        return 2 * b * m * n * k, 4 * b * (m * k + k * n + m * n)

    @staticmethod
    def torch(torch, x, b, m, n, k):
        out = torch.empty(b, m, n)
        return lambda: torch.bmm(*x, out=out)


class grouped:
    """C[rows of group g] = A[rows of group g] B[g], one launch for all groups (grouped_kernel.py). Groups are of all sizes, one of
    them empty."""

    @staticmethod
    def offsets(tokens, groups):
        """A sixth of the rows are the first group's, none the second's, the others' are drawn."""
        cuts = np.random.default_rng(groups).integers(tokens // 6, tokens + 1, groups - 2) if groups > 2 else []
        return np.array([0, *[tokens // 6] * min(2, groups - 1), *sorted(cuts), tokens][:groups] + [tokens], "i4")

    @staticmethod
    def program(tokens, groups, n, k):
        return grouped_kernel.program(tokens, groups, n, k)

    peer_program = staticmethod(lambda **arguments: None)

    @staticmethod
    def arrays(random, tokens, groups, n, k):
        return [draw(random, "f32", tokens, k), draw(random, "f32", groups, k, n), grouped.offsets(tokens, groups)]

    @staticmethod
    def parts(arrays, out):
        """What each group multiplies and where it goes; empty groups have none."""
        at = arrays[2]
        return [(arrays[0][i:j], arrays[1][g], out[i:j]) for g, (i, j) in enumerate(zip(at[:-1], at[1:])) if i < j]

    @staticmethod
    def exact(arrays, tokens, groups, n, k):
        out, terms = np.zeros((tokens, n)), np.zeros((tokens, n))
        for (a, b, c), (_, _, t) in zip(grouped.parts(arrays, out), grouped.parts(arrays, terms)):
            c[...], t[...] = widen(a) @ widen(b), abs(widen(a)) @ abs(widen(b)) * 2 * math.sqrt(k)
        return out, terms

    @staticmethod
    def work(tokens, groups, n, k):
        return 2 * tokens * n * k, 4 * (tokens * (k + n) + groups * k * n)

    @staticmethod
    def torch(torch, x, tokens, groups, n, k):
        out = torch.empty(tokens, n)
        parts = grouped.parts(x, out)

        def call():
            for a, b, c in parts:
                torch.mm(a, b, out=c)
            return out
        return call


class gemm_bias_relu:
    """relu(A B + bias); `kernel`: written by hand in tile, else from linalg."""

    @staticmethod
    def program(m, n, k, kernel=False):
        t = Text(tensor(m, k), tensor(k, n), tensor(n))
        if not kernel:
            c = t.named("matmul", t.arguments[:2], t.filled(tensor(m, n)))
            return t.end(t.generic("i, j", ["i, j", "j", "i, j"], "pp", [c, t.arguments[2]],
                                   t.empty(tensor(m, n)), BIAS_RELU))
        text = (Path(__file__).parent / "gemm_bias_relu.mlir").read_text()
        rows = t.add(f"arith.constant {-(-m // 512)} : index", "index")[0]
        casts, kinds = [], ["tensor<?x?xf32>", "tensor<?x?xf32>", "tensor<?xf32>", "tensor<?x?xf32>"]
        for value, kind in zip([*t.arguments, t.empty(tensor(m, n))], kinds):
            casts.append(t.add(f"tensor.cast {value[0]} : {value[1]} to {kind}", kind)[0])
        c = t.add(f"tile.launch @gemm_bias_relu grid({rows}) ins({', '.join(casts[:3])} : {', '.join(kinds[:3])}) "
                  f"outs({casts[3]} : {kinds[3]}) -> {kinds[3]}", kinds[3])
        return text + t.end(t.add(f"tensor.cast {c[0]} : {kinds[3]} to {tensor(m, n)}", tensor(m, n)))

    @staticmethod
    def arrays(random, m, n, k, kernel=False):
        return [draw(random, "f32", *s) for s in ((m, k), (k, n), (n,))]

    @staticmethod
    def exact(arrays, m, n, k, kernel=False):
        a, b, bias = map(widen, arrays)
        return np.maximum(a @ b + bias, 0), (abs(a) @ abs(b) + abs(bias)) * 2 * math.sqrt(k)

    @staticmethod
    def work(m, n, k, kernel=False):
        return 2 * m * n * k, 4 * (m * k + k * n + m * n + n)

    @staticmethod
    def torch(torch, x, m, n, k, kernel=False):
        return lambda: torch.relu_(torch.addmm(x[2], x[0], x[1]))


class conv:
    """y[n,p,q,f] = sum over r, s, c of x[n, p stride + r, q stride + s, c] w[r,s,c,f]; x is padded beforehand."""

    @staticmethod
    def sizes(n, h, w, c, f, r, s, stride=1):
        return (h - r) // stride + 1, (w - s) // stride + 1

    @staticmethod
    def program(n, h, w, c, f, r, s, stride=1):
        p, q = conv.sizes(n, h, w, c, f, r, s, stride)
        t = Text(tensor(n, h, w, c), tensor(r, s, c, f))
        strides = f"{{strides = dense<{stride}> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}} "
        return t.end(t.named("conv_2d_nhwc_hwcf", t.arguments, t.filled(tensor(n, p, q, f)), strides))

    @staticmethod
    def arrays(random, n, h, w, c, f, r, s, stride=1):
        return [draw(random, "f32", n, h, w, c), draw(random, "f32", r, s, c, f)]

    @staticmethod
    def exact(arrays, n, h, w, c, f, r, s, stride=1):
        x, y = map(widen, arrays)
        p, q = conv.sizes(n, h, w, c, f, r, s, stride)
        out, terms = np.zeros((n, p, q, f)), np.zeros((n, p, q, f))
        for i in range(r):
            for j in range(s):
                part = x[:, i:i + stride * (p - 1) + 1:stride, j:j + stride * (q - 1) + 1:stride]
                out += part @ y[i, j]
                terms += abs(part) @ abs(y[i, j])
        return out, terms * 2 * math.sqrt(r * s * c)

    @staticmethod
    def work(n, h, w, c, f, r, s, stride=1):
        p, q = conv.sizes(n, h, w, c, f, r, s, stride)
        return 2 * n * p * q * f * r * s * c, 4 * (n * h * w * c + r * s * c * f + n * p * q * f)

    @staticmethod
    def torch(torch, x, n, h, w, c, f, r, s, stride=1):
        image = x[0].permute(0, 3, 1, 2)  # channels last in memory, as ours
        weight = x[1].permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
        return lambda: torch.conv2d(image, weight, stride=stride).permute(0, 2, 3, 1)


class conv_channels_first:
    """The same of images n, c, h, w and weights f, c, r, s."""

    @staticmethod
    def program(n, h, w, c, f, r, s, stride=1):
        p, q = conv.sizes(n, h, w, c, f, r, s, stride)
        t = Text(tensor(n, c, h, w), tensor(f, c, r, s))
        strides = f"{{strides = dense<{stride}> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}} "
        return t.end(t.named("conv_2d_nchw_fchw", t.arguments, t.filled(tensor(n, f, p, q)), strides))

    @staticmethod
    def arrays(random, n, h, w, c, f, r, s, stride=1):
        return [draw(random, "f32", n, c, h, w), draw(random, "f32", f, c, r, s)]

    @staticmethod
    def exact(arrays, n, h, w, c, f, r, s, stride=1):
        last = [arrays[0].transpose(0, 2, 3, 1), arrays[1].transpose(2, 3, 1, 0)]
        return tuple(x.transpose(0, 3, 1, 2) for x in conv.exact(last, n, h, w, c, f, r, s, stride))

    work = conv.work

    @staticmethod
    def torch(torch, x, n, h, w, c, f, r, s, stride=1):
        return lambda: torch.conv2d(x[0], x[1], stride=stride)


class depthwise:
    """y[n,p,q,c] = sum over r, s of x[n, p stride + r, q stride + s, c] w[r,s,c]; x is padded beforehand."""

    @staticmethod
    def program(n, h, w, c, r, s, stride=1):
        p, q = conv.sizes(n, h, w, c, c, r, s, stride)
        t = Text(tensor(n, h, w, c), tensor(r, s, c))
        strides = f"{{strides = dense<{stride}> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}} "
        return t.end(t.named("depthwise_conv_2d_nhwc_hwc", t.arguments, t.filled(tensor(n, p, q, c)), strides))

    @staticmethod
    def arrays(random, n, h, w, c, r, s, stride=1):
        return [draw(random, "f32", n, h, w, c), draw(random, "f32", r, s, c)]

    @staticmethod
    def exact(arrays, n, h, w, c, r, s, stride=1):
        x, y = map(widen, arrays)
        p, q = conv.sizes(n, h, w, c, c, r, s, stride)
        out, terms = np.zeros((n, p, q, c)), np.zeros((n, p, q, c))
        for i in range(r):
            for j in range(s):
                part = x[:, i:i + stride * (p - 1) + 1:stride, j:j + stride * (q - 1) + 1:stride] * y[i, j]
                out += part
                terms += abs(part)
        return out, terms * 2 * math.sqrt(r * s)

    @staticmethod
    def work(n, h, w, c, r, s, stride=1):
        p, q = conv.sizes(n, h, w, c, c, r, s, stride)
        return 2 * n * p * q * c * r * s, 4 * (n * h * w * c + r * s * c + n * p * q * c)

    @staticmethod
    def torch(torch, x, n, h, w, c, r, s, stride=1):
        image = x[0].permute(0, 3, 1, 2)
        weight = x[1].permute(2, 0, 1)[:, None].contiguous(memory_format=torch.channels_last)
        return lambda: torch.conv2d(image, weight, stride=stride, groups=c).permute(0, 2, 3, 1)


class attention:
    """softmax(q kᵀ / sqrt d) v for every head; the queries are the last ones of the keys. Heads may share keys: then
    `group` of them are rows of one product."""

    @staticmethod
    def program(heads, queries, keys, d, causal=False, group=1):
        rows, t = queries * group, None
        t = Text(tensor(heads, rows, d), tensor(heads, keys, d), tensor(heads, keys, d))
        scores = t.generic("h, i, j, k", ["h, i, k", "h, j, k", "h, i, j"], "pppr", t.arguments[:2],
                           t.filled(tensor(heads, rows, keys)), MULTIPLY_ADD)
        mask = f"""%i = linalg.index 1 : index
%j = linalg.index 2 : index
%shift = arith.constant {keys - queries} : index
%last = arith.addi %i, %shift : index
%low = arith.constant -1.0e30 : f32
%seen = arith.cmpi sle, %j, %last : index
%r = arith.select %seen, %m, %low : f32
linalg.yield %r : f32""" if causal else "linalg.yield %m : f32"
        scaled = t.generic("h, i, j", ["h, i, j", "h, i, j"], "ppp", [scores], t.empty(scores[1]),
                           f"%scale = arith.constant {1 / math.sqrt(d):.9e} : f32\n%m = arith.mulf %x0, %scale : f32\n" +
                           mask)
        p = t.add(f"linalg.softmax dimension(2) ins({scaled[0]} : {scaled[1]}) outs({t.empty(scaled[1])[0]} : "
                  f"{scaled[1]}) -> {scaled[1]}", scaled[1])
        return t.end(t.named("batch_matmul", [p, t.arguments[2]], t.filled(tensor(heads, rows, d))))

    @staticmethod
    def arrays(random, heads, queries, keys, d, causal=False, group=1):
        return [draw(random, "f32", heads, rows, d) for rows in (queries * group, keys, keys)]

    @staticmethod
    def exact(arrays, heads, queries, keys, d, causal=False, group=1):
        q, k, v = map(widen, arrays)
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(d)
        if causal:
            scores = np.where(np.tri(queries, keys, keys - queries, dtype=bool), scores, -np.inf)
        p = softmax(scores)
        return p @ v, 64 * (p @ abs(v))  # the scores' own errors reach the result through exp

    @staticmethod
    def work(heads, queries, keys, d, causal=False, group=1):
        pairs = queries * keys - (queries * (queries - 1) // 2 if causal else 0)
        return 4 * heads * group * pairs * d, 4 * heads * d * (2 * queries * group + 2 * keys)

    @staticmethod
    def torch(torch, x, heads, queries, keys, d, causal=False, group=1):
        q, k, v = (a[None] for a in x)
        call = torch.nn.functional.scaled_dot_product_attention
        if causal and queries != keys:
            seen = torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries)
            return lambda: call(q, k, v, attn_mask=seen)[0]
        return lambda: call(q, k, v, is_causal=causal)[0]


class online_attention:
    """The same as one kernel with online softmax (attention_kernel.py), and its other forms: sliding window, heads that share keys, a
    bias for every pair (triangle attention has a gate too), numbers of keys that differ by head."""

    @staticmethod
    def program(heads, queries, keys, d, **form):
        return attention_kernel.program(heads, queries, keys, d, **form)

    @staticmethod
    def peer_program(heads, queries, keys, d, causal=False, **form):
        return None if form else attention.program(heads, queries, keys, d, causal)

    @staticmethod
    def arrays(random, heads, queries, keys, d, group=1, bias=False, gate=False, lengths=False, **form):
        shapes = [(heads, queries, d), (heads // group, keys, d), (heads // group, keys, d)]
        shapes += [(heads, queries, keys)] * bias + [(heads, queries, d)] * gate
        more = [(keys - np.arange(heads) * keys // (2 * heads)).astype("i4")] if lengths else []
        return [draw(random, "f32", *shape) for shape in shapes] + more

    @staticmethod
    def seen(queries, keys, causal=False, window=0, **form):
        key, query = np.arange(keys), np.arange(queries)[:, None] + keys - queries
        return ((key <= query) | (not causal)) & ((key > query - window) | (not window))

    @staticmethod
    def exact(arrays, heads, queries, keys, d, group=1, bias=False, gate=False, lengths=False, **form):
        q, k, v = map(widen, arrays[:3])
        k, v = (np.repeat(x, group, axis=0) for x in (k, v))
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(d) + (widen(arrays[3]) if bias else 0)
        seen = online_attention.seen(queries, keys, **form)[None]
        if lengths:
            seen = seen & (np.arange(keys) < arrays[-1][:, None, None])
        p = softmax(np.where(seen, scores, -np.inf))
        scale = 1 / (1 + np.exp(-widen(arrays[3 + bias]))) if gate else 1
        return scale * (p @ v), 64 * scale * (p @ abs(v))

    @staticmethod
    def work(heads, queries, keys, d, group=1, bias=False, gate=False, lengths=False, **form):
        pairs = int(online_attention.seen(queries, keys, **form).sum()) * heads
        if lengths:  # about
            pairs = pairs * 3 // 4
        return 4 * pairs * d, 4 * d * (2 * heads * queries + 2 * heads // group * keys)

    @staticmethod
    def torch(torch, x, heads, queries, keys, d, group=1, bias=False, gate=False, lengths=False, causal=False, window=0):
        q, k, v = (a[None] for a in x[:3])
        call = torch.nn.functional.scaled_dot_product_attention
        mask = x[3][None] if bias else None
        plain = causal and queries == keys and not (window or lengths or bias)
        if window or lengths or (causal and not plain):
            seen = torch.from_numpy(online_attention.seen(queries, keys, causal, window)).expand(heads, queries, keys)
            if lengths:
                seen = seen & (torch.arange(keys) < x[-1][:, None, None])
            mask = (seen if mask is None else torch.where(seen, mask[0], -math.inf))[None].contiguous()
        options = {"attn_mask": mask, "is_causal": plain, "enable_gqa": group > 1}
        return (lambda: (torch.sigmoid(x[3 + bias]) * call(q, k, v, **options)[0])) if gate else lambda: call(q, k, v, **options)[0]


class peaked_attention(attention):
    """Attention whose scores differ so much that most weights are 0 or close to it, as after training: no slower."""

    @staticmethod
    def arrays(random, **sizes):
        q, k, v = attention.arrays(random, **sizes)
        return [64 * q, k, v]

    @staticmethod
    def exact(arrays, **sizes):
        result, terms = attention.exact(arrays, **sizes)
        return result, 64 * terms  # so are the scores' errors


class linalg_attention(online_attention):
    """The same forms from linalg: heads that share keys are a dimension that keys have not."""

    @staticmethod
    def program(heads, queries, keys, d, causal=False, group=1, window=0, bias=False, gate=False, lengths=False):
        shared = heads // group
        t = Text(tensor(heads, queries, d), *[tensor(shared, keys, d)] * 2, *[tensor(heads, queries, keys)] * bias,
                 *[tensor(heads, queries, d)] * gate, *[tensor(heads, dtype="i32")] * lengths)

        def split(value, *rest, dtype="f32"):
            sizes = (shared, group, *rest)
            axes = ", ".join(["[0, 1]"] + [f"[{i + 2}]" for i in range(len(rest))])
            return t.add(f"tensor.expand_shape {value[0]} [{axes}] output_shape [{', '.join(map(str, sizes))}] : {value[1]} into "
                         f"{tensor(*sizes, dtype=dtype)}", tensor(*sizes, dtype=dtype))

        q, (k, v) = split(t.arguments[0], queries, d), t.arguments[1:3]
        kind = tensor(shared, group, queries, keys)
        scores = t.generic("h, g, i, j, k", ["h, g, i, k", "h, j, k", "h, g, i, j"], "ppppr", [q, k], t.filled(kind), MULTIPLY_ADD)
        inputs, maps = [scores], ["h, g, i, j"]
        body = f"%scale = arith.constant {1 / math.sqrt(d):.9e} : f32\n%low = arith.constant -1.0e30 : f32\n%s0 = arith.mulf %x0, %scale : f32\n"
        if bias:
            body += f"%s1 = arith.addf %s0, %x{len(inputs)} : f32\n"
            inputs.append(split(t.arguments[3], queries, keys))
            maps.append("h, g, i, j")
        last, seen = ("%s1" if bias else "%s0"), []
        if causal or window or lengths:
            body += f"%i0 = linalg.index 2 : index\n%j = linalg.index 3 : index\n%shift = arith.constant {keys - queries} : index\n%i = arith.addi %i0, %shift : index\n"
        if causal:
            seen.append("arith.cmpi sle, %j, %i : index")
        if window:
            body += f"%window = arith.constant {window} : index\n%oldest = arith.subi %i, %window : index\n"
            seen.append("arith.cmpi sgt, %j, %oldest : index")
        if lengths:
            body += f"%end = arith.index_cast %x{len(inputs)} : i32 to index\n"
            inputs.append(split(t.arguments[-1], dtype="i32"))
            maps.append("h, g")
            seen.append("arith.cmpi slt, %j, %end : index")
        for at, condition in enumerate(seen):
            body += f"%c{at} = {condition}\n%m{at} = arith.select %c{at}, {last}, %low : f32\n"
            last = f"%m{at}"
        x = t.generic("h, g, i, j", [*maps, "h, g, i, j"], "pppp", inputs, t.empty(kind), body + f"linalg.yield {last} : f32")
        p = t.add(f"linalg.softmax dimension(3) ins({x[0]} : {kind}) outs({t.empty(kind)[0]} : {kind}) -> {kind}", kind)
        y = t.generic("h, g, i, e, j", ["h, g, i, j", "h, j, e", "h, g, i, e"], "ppppr", [p, v],
                      t.filled(tensor(shared, group, queries, d)), MULTIPLY_ADD)
        if gate:
            y = t.generic("h, g, i, e", ["h, g, i, e"] * 3, "pppp", [y, split(t.arguments[3 + bias], queries, d)],
                          t.empty(tensor(shared, group, queries, d)), """%n = arith.negf %x1 : f32
%e = math.exp %n : f32
%one = arith.constant 1.0 : f32
%t = arith.addf %e, %one : f32
%r = arith.divf %x0, %t : f32
linalg.yield %r : f32""")
        out = tensor(heads, queries, d)
        return t.end(t.add(f"tensor.collapse_shape {y[0]} [[0, 1], [2], [3]] : {y[1]} into {out}", out))


# --- Rows -----------------------------------------------------------------------------------------------------------


class row_softmax:
    @staticmethod
    def program(m, n):
        t = Text(tensor(m, n))
        kind = tensor(m, n)
        return t.end(t.add(f"linalg.softmax dimension(1) ins(%a0 : {kind}) outs({t.empty(kind)[0]} : {kind}) -> {kind}", kind))

    @staticmethod
    def arrays(random, m, n):
        return [4 * draw(random, "f32", m, n)]

    @staticmethod
    def exact(arrays, m, n):
        y = softmax(widen(arrays[0]))
        return y, 16 * y

    @staticmethod
    def work(m, n):
        return 5 * m * n, 8 * m * n

    @staticmethod
    def torch(torch, x, m, n):
        out = torch.empty(m, n)
        return lambda: torch.softmax(x[0], 1, out=out)


class layernorm:
    @staticmethod
    def program(m, n):
        t = Text(tensor(m, n), tensor(n), tensor(n))
        rows = t.filled(tensor(m))
        total = t.generic("i, j", ["i, j", "i"], "pr", [t.arguments[0]], rows, "%s = arith.addf %o, %x0 : f32\nlinalg.yield %s : f32")
        squares = t.generic("i, j", ["i, j", "i", "i"], "pr", [t.arguments[0], total], rows, f"""
%width = arith.constant {n}.0 : f32
%mean = arith.divf %x1, %width : f32
%d = arith.subf %x0, %mean : f32
%d2 = arith.mulf %d, %d : f32
%r = arith.addf %o, %d2 : f32
linalg.yield %r : f32""")
        inputs = [t.arguments[0], total, squares, t.arguments[1], t.arguments[2]]
        return t.end(t.generic("i, j", ["i, j", "i", "i", "j", "j", "i, j"], "pp", inputs, t.empty(tensor(m, n)), f"""
%width = arith.constant {n}.0 : f32
%epsilon = arith.constant 1.0e-5 : f32
%mean = arith.divf %x1, %width : f32
%variance = arith.divf %x2, %width : f32
%stable = arith.addf %variance, %epsilon : f32
%scale = math.rsqrt %stable : f32
%d = arith.subf %x0, %mean : f32
%y = arith.mulf %d, %scale : f32
%g = arith.mulf %y, %x3 : f32
%r = arith.addf %g, %x4 : f32
linalg.yield %r : f32"""))

    @staticmethod
    def arrays(random, m, n):
        return [draw(random, "f32", m, n), draw(random, "f32", n), draw(random, "f32", n)]

    @staticmethod
    def exact(arrays, m, n):
        return model.norm(*map(widen, arrays)), 64.0

    @staticmethod
    def work(m, n):
        return 8 * m * n, 8 * m * n + 8 * n

    @staticmethod
    def torch(torch, x, m, n):
        return lambda: torch.nn.functional.layer_norm(x[0], (n,), x[1], x[2], 1e-5)


class rmsnorm:
    @staticmethod
    def program(m, n):
        t = Text(tensor(m, n), tensor(n))
        squares = t.generic("i, j", ["i, j", "i"], "pr", [t.arguments[0]], t.filled(tensor(m)),
                            "%p = arith.mulf %x0, %x0 : f32\n%s = arith.addf %o, %p : f32\nlinalg.yield %s : f32")
        return t.end(t.generic("i, j", ["i, j", "i", "j", "i, j"], "pp", [t.arguments[0], squares, t.arguments[1]],
                               t.empty(tensor(m, n)), f"""
%width = arith.constant {n}.0 : f32
%epsilon = arith.constant 1.0e-5 : f32
%mean = arith.divf %x1, %width : f32
%stable = arith.addf %mean, %epsilon : f32
%scale = math.rsqrt %stable : f32
%y = arith.mulf %x0, %scale : f32
%r = arith.mulf %y, %x2 : f32
linalg.yield %r : f32"""))

    @staticmethod
    def arrays(random, m, n):
        return [draw(random, "f32", m, n), draw(random, "f32", n)]

    @staticmethod
    def exact(arrays, m, n):
        x, g = map(widen, arrays)
        return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-5) * g, 64.0

    @staticmethod
    def work(m, n):
        return 4 * m * n, 8 * m * n + 4 * n

    @staticmethod
    def torch(torch, x, m, n):
        return lambda: torch.rms_norm(x[0], (n,), x[1], 1e-5)


class rope:
    """Rotary embedding of Llama: element i < d/2 of a head and element i + d/2 turn by the token's angle i."""

    @staticmethod
    def program(tokens, heads, d):
        whole, half = tensor(tokens, heads, d), tensor(tokens, heads, d // 2)
        t = Text(whole, tensor(tokens, d // 2), tensor(tokens, d // 2))
        x, cosine, sine = t.arguments
        kinds = f"[0, 0, %d] [{tokens}, {heads}, {d // 2}] [1, 1, 1]"
        low, high = (t.add(f"tensor.extract_slice {x[0]}{kinds % at} : {whole} to {half}", half) for at in (0, d // 2))
        out = t.empty(whole)
        for at, operation, a, b in ((0, "subf", low, high), (d // 2, "addf", high, low)):
            turned = t.generic("i, h, j", ["i, h, j", "i, h, j", "i, j", "i, j", "i, h, j"], "ppp", [a, b, cosine, sine], t.empty(half), f"""
%a = arith.mulf %x0, %x2 : f32
%b = arith.mulf %x1, %x3 : f32
%r = arith.{operation} %a, %b : f32
linalg.yield %r : f32""")
            out = t.add(f"tensor.insert_slice {turned[0]} into {out[0]}{kinds % at} : {half} into {whole}", whole)
        return t.end(out)

    @staticmethod
    def arrays(random, tokens, heads, d):
        angle = np.outer(np.arange(tokens) + 7, 500000.0 ** (-np.arange(d // 2) * 2 / d))
        return [draw(random, "f32", tokens, heads, d), np.cos(angle).astype("f4"), np.sin(angle).astype("f4")]

    @staticmethod
    def exact(arrays, tokens, heads, d):
        x, cosine, sine = map(widen, arrays)
        low, high, cosine, sine = x[..., :d // 2], x[..., d // 2:], cosine[:, None], sine[:, None]
        return np.concatenate([low * cosine - high * sine, high * cosine + low * sine], axis=-1), 4.0

    @staticmethod
    def work(tokens, heads, d):
        return 3 * tokens * heads * d, 8 * tokens * heads * d + 4 * tokens * d

    @staticmethod
    def torch(torch, x, tokens, heads, d):
        pairs, cosine, sine = x[0].view(tokens, heads, 2, d // 2), x[1][:, None], x[2][:, None]
        low, high = pairs[:, :, 0], pairs[:, :, 1]
        out = torch.empty(tokens, heads, 2, d // 2)

        def call():
            torch.mul(low, cosine, out=out[:, :, 0]).addcmul_(high, sine, value=-1)
            torch.mul(high, cosine, out=out[:, :, 1]).addcmul_(low, sine)
            return out.view(tokens, heads, d)
        return call


# --- Elements -------------------------------------------------------------------------------------------------------


class add:
    @staticmethod
    def program(n):
        t = Text(tensor(n), tensor(n))
        return t.end(t.named("add", t.arguments, t.empty(tensor(n))))

    @staticmethod
    def arrays(random, n):
        return [draw(random, "f32", n), draw(random, "f32", n)]

    @staticmethod
    def exact(arrays, n):
        return widen(arrays[0]) + widen(arrays[1]), 4.0

    @staticmethod
    def work(n):
        return n, 12 * n

    @staticmethod
    def torch(torch, x, n):
        out = torch.empty(n)
        return lambda: torch.add(*x, out=out)


class function:
    """An activation of n elements; approximate: its math op has fastmath<afn>, which lets ours be off by 1 ulp, as PyTorch's."""
    BODIES = {"gelu": GELU, "exp": "%r = math.exp %x0 : f32\nlinalg.yield %r : f32",
              "tanh": "%r = math.tanh %x0 : f32\nlinalg.yield %r : f32",
              "silu": """%one = arith.constant 1.0 : f32
%m = arith.negf %x0 : f32
%e = math.exp %m : f32
%d = arith.addf %e, %one : f32
%r = arith.divf %x0, %d : f32
linalg.yield %r : f32"""}
    EXACT = {"gelu": exact_gelu, "exp": np.exp, "tanh": np.tanh, "silu": lambda x: x / (1 + np.exp(-x))}

    @staticmethod
    def program(of, n, approximate=False):
        t = Text(tensor(n))
        body = re.sub(r"(math\.\w+ %\w+)", r"\1 fastmath<afn>", function.BODIES[of]) if approximate else function.BODIES[of]
        return t.end(t.generic("i", ["i", "i"], "p", t.arguments, t.empty(tensor(n)), body))

    @staticmethod
    def arrays(random, of, n, approximate=False):
        return [4 * draw(random, "f32", n)]

    @staticmethod
    def exact(arrays, of, n, approximate=False):
        y = function.EXACT[of](widen(arrays[0]))
        return y, 64.0 if of == "gelu" else 8 * abs(y)  # IREE's tanh is off by 5 ulp

    @staticmethod
    def work(of, n, approximate=False):
        return 8 * n, 8 * n

    @staticmethod
    def torch(torch, x, of, n, approximate=False):
        out, nn = torch.empty(n), torch._C._nn
        call = {"gelu": nn.gelu, "exp": torch.exp, "tanh": torch.tanh, "silu": nn.silu}[of]
        return lambda: call(x[0], out=out)


class transpose:
    @staticmethod
    def program(m, n):
        t = Text(tensor(m, n))
        return t.end(t.add(f"linalg.transpose ins(%a0 : {tensor(m, n)}) outs({t.empty(tensor(n, m))[0]} : {tensor(n, m)}) "
                           "permutation = [1, 0]", tensor(n, m)))

    @staticmethod
    def arrays(random, m, n):
        return [draw(random, "f32", m, n)]

    @staticmethod
    def exact(arrays, m, n):
        return widen(arrays[0]).T, 0.0

    @staticmethod
    def work(m, n):
        return 0, 8 * m * n

    @staticmethod
    def torch(torch, x, m, n):
        out = torch.empty(n, m)
        return lambda: out.copy_(x[0].T)


class row_sum:
    @staticmethod
    def program(m, n):
        t = Text(tensor(m, n))
        return t.end(t.generic("i, j", ["i, j", "i"], "pr", t.arguments, t.filled(tensor(m)),
                               "%s = arith.addf %o, %x0 : f32\nlinalg.yield %s : f32"))

    @staticmethod
    def arrays(random, m, n):
        return [draw(random, "f32", m, n)]

    @staticmethod
    def exact(arrays, m, n):
        x = widen(arrays[0])
        return x.sum(axis=1), abs(x).sum(axis=1) * 2 * math.sqrt(n)

    @staticmethod
    def work(m, n):
        return m * n, 4 * m * n

    @staticmethod
    def torch(torch, x, m, n):
        out = torch.empty(m)
        return lambda: torch.sum(x[0], 1, out=out)


class column_sum:
    @staticmethod
    def program(m, n):
        t = Text(tensor(m, n))
        return t.end(t.generic("i, j", ["i, j", "j"], "rp", t.arguments, t.filled(tensor(n)),
                               "%s = arith.addf %o, %x0 : f32\nlinalg.yield %s : f32"))

    arrays, work = row_sum.arrays, row_sum.work

    @staticmethod
    def exact(arrays, m, n):
        x = widen(arrays[0])
        return x.sum(axis=0), abs(x).sum(axis=0) * 2 * math.sqrt(m)

    @staticmethod
    def torch(torch, x, m, n):
        out = torch.empty(n)
        return lambda: torch.sum(x[0], 0, out=out)


class row_max:
    @staticmethod
    def program(m, n):
        t = Text(tensor(m, n))
        return t.end(t.generic("i, j", ["i, j", "i"], "pr", t.arguments, t.filled(tensor(m), "0xFF800000"),
                               "%s = arith.maximumf %o, %x0 : f32\nlinalg.yield %s : f32"))

    arrays, work = row_sum.arrays, row_sum.work

    @staticmethod
    def exact(arrays, m, n):
        return widen(arrays[0]).max(axis=1), 0.0

    @staticmethod
    def torch(torch, x, m, n):
        out = torch.empty(m)
        return lambda: torch.amax(x[0], 1, out=out)


# --- Models ---------------------------------------------------------------------------------------------------------


class mlp:
    """x → gelu(x W1 + b1) W2 + b2."""

    @staticmethod
    def program(m, width, hidden):
        t = Text(tensor(m, width), tensor(width, hidden), tensor(hidden), tensor(hidden, width), tensor(width))
        x, w1, b1, w2, b2 = t.arguments
        h = t.named("matmul", [x, w1], t.filled(tensor(m, hidden)))
        body = "%x9 = arith.addf %x0, %x1 : f32\n" + re.sub(r"%x0\b", "%x9", GELU)
        h = t.generic("i, j", ["i, j", "j", "i, j"], "pp", [h, b1], t.empty(tensor(m, hidden)), body)
        y = t.named("matmul", [h, w2], t.filled(tensor(m, width)))
        return t.end(t.generic("i, j", ["i, j", "j", "i, j"], "pp", [y, b2], t.empty(tensor(m, width)),
                               "%s = arith.addf %x0, %x1 : f32\nlinalg.yield %s : f32"))

    @staticmethod
    def arrays(random, m, width, hidden):
        shapes = ((m, width), (width, hidden), (hidden,), (hidden, width), (width,))
        return [draw(random, "f32", *s) / np.float32(math.sqrt(s[0]) if i in (1, 3) else 1) for i, s in enumerate(shapes)]

    @staticmethod
    def exact(arrays, m, width, hidden):
        x, w1, b1, w2, b2 = map(widen, arrays)
        h = exact_gelu(x @ w1 + b1)
        return h @ w2 + b2, (abs(h) @ abs(w2) + abs(b2)) * 2 * math.sqrt(hidden)

    @staticmethod
    def work(m, width, hidden):
        return 4 * m * width * hidden, 4 * (2 * m * width + 2 * width * hidden + hidden + width)

    @staticmethod
    def torch(torch, x, m, width, hidden):
        f = torch.nn.functional
        return lambda: torch.addmm(x[4], f.gelu(torch.addmm(x[2], x[0], x[1])), x[3])


class transformer_block:
    """examples/transformer: two sequences of 128 tokens, width 256, 8 heads."""

    @staticmethod
    def program():
        return (ROOT / "examples/transformer/transformer.mlir").read_text()

    @staticmethod
    def arrays(random):
        return model.arguments()

    @staticmethod
    def exact(arrays):
        return model.reference(*arrays), 1e-4 / UNIT["f32"] / 4

    @staticmethod
    def work():
        return model.flops(), 4 * sum(a.size for a in model.arguments())

    @staticmethod
    def torch(torch, x):
        f, w, b, s, h = torch.nn.functional, model.WIDTH, model.BATCH, model.TOKENS, model.HEADS
        x0, g1, e1, wq, bq, wk, bk, wv, bv, wo, bo, g2, e2, w1, b1, w2, b2 = x

        def heads(a):
            return a.view(b, s, h, w // h).transpose(1, 2)

        def call():
            rows = x0.view(-1, w)
            n = f.layer_norm(rows, (w,), g1, e1)
            q, k, v = (heads(torch.addmm(c, n, a)) for a, c in ((wq, bq), (wk, bk), (wv, bv)))
            mixed = f.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(-1, w)
            y = rows + torch.addmm(bo, mixed, wo)
            hidden = f.gelu(torch.addmm(b1, f.layer_norm(y, (w,), g2, e2), w1))
            return (y + torch.addmm(b2, hidden, w2)).view(b, s, w)
        return call


class bottleneck:
    """ResNet's block: 1×1, 3×3 and 1×1 convolutions with bias and relu, plus the input."""

    @staticmethod
    def program(n, h, w, c, f):
        t = Text(tensor(n, h, w, c), tensor(1, 1, c, f), tensor(f), tensor(3, 3, f, f), tensor(f), tensor(1, 1, f, c), tensor(c))
        x, w1, b1, w2, b2, w3, b3 = t.arguments
        same = "{strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} "

        def layer(x, weight, bias, channels, body=BIAS_RELU, *more):
            y = t.named("conv_2d_nhwc_hwcf", [x, weight], t.filled(tensor(n, h, w, channels)), same)
            return t.generic("a, i, j, c", ["a, i, j, c", "c", *["a, i, j, c"] * len(more), "a, i, j, c"], "pppp",
                             [y, bias, *more], t.empty(tensor(n, h, w, channels)), body)
        y = layer(x, w1, b1, f)
        zero = t.constant("0.0")[0]
        padded = tensor(n, h + 2, w + 2, f)
        y = t.add(f"tensor.pad {y[0]} low[0, 1, 1, 0] high[0, 1, 1, 0] {{\n  ^bb0(%i: index, %j: index, %k: index, %l: index):\n"
                  f"    tensor.yield {zero} : f32\n  }} : {y[1]} to {padded}", padded)
        y = layer(y, w2, b2, f)
        return t.end(layer(y, w3, b3, c, """%zero = arith.constant 0.0 : f32
%s = arith.addf %x0, %x1 : f32
%t = arith.addf %s, %x2 : f32
%r = arith.maximumf %t, %zero : f32
linalg.yield %r : f32""", x))

    @staticmethod
    def arrays(random, n, h, w, c, f):
        shapes = ((n, h, w, c), (1, 1, c, f), (f,), (3, 3, f, f), (f,), (1, 1, f, c), (c,))
        return [draw(random, "f32", *s) / np.float32(math.sqrt(math.prod(s[:3])) if i in (1, 3, 5) else 1)
                for i, s in enumerate(shapes)]

    @staticmethod
    def exact(arrays, n, h, w, c, f):
        x, w1, b1, w2, b2, w3, b3 = map(widen, arrays)
        y = np.maximum(x @ w1[0, 0] + b1, 0)
        y = np.pad(y, ((0, 0), (1, 1), (1, 1), (0, 0)))
        y = np.maximum(conv.exact([y, w2], n, h + 2, w + 2, f, f, 3, 3)[0] + b2, 0)
        return np.maximum(y @ w3[0, 0] + b3 + x, 0), 64.0

    @staticmethod
    def work(n, h, w, c, f):
        weights = 2 * c * f + 9 * f * f
        return 2 * n * h * w * weights, 4 * (2 * n * h * w * c + weights)

    @staticmethod
    def torch(torch, x, n, h, w, c, f):
        image = x[0].permute(0, 3, 1, 2)
        w1, w2, w3 = (a.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last) for a in (x[1], x[3], x[5]))

        def call():
            y = torch.relu_(torch.conv2d(image, w1, x[2]))
            y = torch.relu_(torch.conv2d(y, w2, x[4], padding=1))
            return torch.relu_(torch.conv2d(y, w3, x[6]).add_(image)).permute(0, 2, 3, 1)
        return call


# --- Sparse ---------------------------------------------------------------------------------------------------------


class spmm:
    """C[m,n] = A[m,k] B[k,n], A stored sparsely: `vector` 3 of each 32 columns, 32 rows sharing them; `bsr` 32x32 blocks and
    `csr` elements, a tenth of either. OpenBLAS multiplies the dense A. Operations are those on stored elements."""

    ENCODINGS = {"vector": "#sparse.nm<n = 3, m = 32, vector = [32, 1]>", "bsr": "#sparse.bsr<block = [32, 32]>", "csr": "#sparse.csr"}

    @staticmethod
    def types(arrays, dtype):
        own = [dtype if a.dtype in (np.float32, np.dtype("i1")) else "i32" for a in arrays[:-1]]
        own[0] = "i8" if arrays[0].dtype == np.uint8 else own[0]
        return [tensor(*a.shape, dtype=kind) for a, kind in zip(arrays, own)]

    @staticmethod
    def program(m, n, k, stored, dtype="f32"):
        # The pattern is not known to the compiler; how much is stored is, as it is for the caller's buffers.
        parts = spmm.types(spmm.arrays(np.random.default_rng(7), m, n, k, stored, dtype), dtype)
        result = tensor(m, n, dtype="i32" if dtype == "i8" else "f32")
        t = Text(*parts, tensor(k, n, dtype=dtype))
        encoded = f"tensor<{m}x{k}x{dtype}, {spmm.ENCODINGS[stored]}>"
        a = t.add(f"sparse.assemble({', '.join(name for name, _ in t.arguments[:-1])}) : {', '.join(parts)} -> {encoded}", encoded)
        b, c = t.arguments[-1], t.filled(result)
        return t.end(t.add(f"sparse.spmm {a[0]}, {b[0]}, {c[0]} : {a[1]}, {b[1]}, {c[1]}", result))

    LEVELS = {"bsr": "(i floordiv 32 : dense, j floordiv 32 : compressed, i mod 32 : dense, j mod 32 : dense)", "csr": "(i : dense, j : compressed)"}

    @staticmethod
    def sparsifier(arrays, m, n, k, stored, dtype="f32"):
        """The product of upstream's sparse_tensor, added to the last argument; none where it cannot express the format."""
        if stored not in spmm.LEVELS or dtype != "f32":
            return None
        positions, coordinates, values = (tensor(a.size, dtype=kind) for a, kind in zip(arrays, ("i32", "i32", dtype)))
        a, b, c = f"tensor<{m}x{k}x{dtype}, #stored>", tensor(k, n), tensor(m, n)
        return f"""#stored = #sparse_tensor.encoding<{{map = (i, j) -> {spmm.LEVELS[stored]}, posWidth = 32, crdWidth = 32}}>
func.func @main(%p: {positions}, %i: {coordinates}, %v: {values}, %b: {b}, %c: {c} {{bufferization.writable = true}}) -> {c} attributes {{llvm.emit_c_interface}} {{
  %a = sparse_tensor.assemble (%p, %i), %v : ({positions}, {coordinates}), {values} to {a}
  %r = linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
  return %r : {c}
}}"""

    @staticmethod
    def arrays(random, m, n, k, stored, dtype="f32"):
        b = draw(random, dtype, k, n)
        if stored == "vector":
            places = np.sort(random.permuted(np.tile(np.arange(32, dtype="u1"), (m // 32, k // 32, 1)), axis=2)[:, :, :3], axis=2)
            return [places, draw(random, dtype, m // 32, k // 32, 3, 32), b]
        side = 32 if stored == "bsr" else 1
        pattern = random.random((m // side, k // side)) < 0.1
        positions = np.concatenate([[0], np.cumsum(pattern.sum(axis=1))]).astype("i4")
        shape = (int(positions[-1]),) + ((side, side) if side > 1 else ())
        return [positions, np.nonzero(pattern)[1].astype("i4"), draw(random, dtype, *shape), b]

    @staticmethod
    def dense(arrays, m, n, k, stored, dtype="f32"):
        a = np.zeros((m, k), arrays[-2].dtype)
        if stored == "vector":
            places, values = arrays[:2]
            columns = places + 32 * np.arange(k // 32)[None, :, None]
            for line in range(32):
                a[np.arange(m // 32)[:, None, None] * 32 + line, columns] = values[..., line]
            return [a, arrays[-1]]
        positions, columns, values = arrays[:3]
        lines = np.repeat(np.arange(len(positions) - 1), np.diff(positions))
        side = values.shape[1] if values.ndim == 3 else 1
        a.reshape(m // side, side, k // side, side)[lines, :, columns] = values.reshape(-1, side, side)
        return [a, arrays[-1]]

    @staticmethod
    def exact(arrays, **arguments):
        a, b = map(widen, spmm.dense(arrays, **arguments))
        a, b = a.astype("f8"), b.astype("f8")  # exact for i8 too
        exact = a @ b
        return (exact.astype("i8"), 0) if arguments.get("dtype") == "i8" else (exact, 2 * math.sqrt(a.shape[1]) * (abs(a) @ abs(b)))

    @staticmethod
    def work(m, n, k, stored, dtype="f32"):
        share = 3 / 32 if stored == "vector" else 0.1
        return 2 * m * n * k * share, BYTES[dtype] * (m * k * share + k * n) + 4 * m * n

    @staticmethod
    def torch(torch, x, **arguments):
        return None


class pack:
    """Values of a matrix packed to 3 of each 32 columns, 32 rows sharing them, with the check of every window."""

    @staticmethod
    def program(m, k):
        encoded = f"tensor<{m}x{k}xf32, {spmm.ENCODINGS['vector']}>"
        places, values = tensor(m // 32, k // 32, 3, dtype="i8"), tensor(m // 32, k // 32, 3, 32)
        t = Text(tensor(m, k))
        w = t.add(f"sparse.pack {t.arguments[0][0]} : {t.arguments[0][1]} -> {encoded}", encoded)
        t.count += 1
        t.lines.append(f"  %v{t.count}:2 = sparse.disassemble {w[0]} : {encoded} -> {places}, {values}")
        return t.end((f"%v{t.count}#1", values))

    @staticmethod
    def arrays(random, m, k):
        case = dict(m=m, n=1, k=k, stored="vector")
        return spmm.dense(spmm.arrays(random, **case), **case)[:1]

    @staticmethod
    def exact(arrays, m, k):
        blocks = arrays[0].reshape(m // 32, 32, k // 32, 32)
        places = np.sort(np.argsort(abs(blocks).sum(axis=1) == 0, axis=-1, kind="stable")[..., :3], axis=-1)
        values = np.take_along_axis(blocks.transpose(0, 2, 3, 1), places[..., None], axis=2)
        return values.astype("f8"), abs(values)

    @staticmethod
    def work(m, k):
        return 0, 4 * m * k * (1 + 3 / 32)

    @staticmethod
    def torch(torch, x, m, k):
        return None


OPERATORS = {kind.__name__: kind for kind in (
    gemm, gemm_weights, batched, grouped, gemm_bias_relu, conv, conv_channels_first, depthwise, attention, peaked_attention, linalg_attention, online_attention, row_softmax,
    layernorm, rmsnorm, rope, add, function, transpose, row_sum, column_sum, row_max, mlp, transformer_block, bottleneck, spmm, pack, lowbit.lowbit,
    lowbit.lowbit_rows, masks.masked, routing.routed)}
