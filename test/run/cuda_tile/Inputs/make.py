"""Makes the bytecode of this folder: python make.py FOLDER, with the package cuda-tile. No GPU is needed.
python make.py --list prints the functions of cuTile that no kernel calls.

The debug info names this file with its folder, so run a copy of it in a folder of a short name. Each kernel is a program of ours.
Files named K.tileirbc have version 13.1, K_134.tileirbc version 13.4; those of functions.py have the first version that has them.
"""
import re
import sys
import types
from pathlib import Path

import cuda.tile as ct
import functions
from cuda.tile.compilation import ArrayConstraint, CallingConvention, KernelSignature, ScalarConstraint, export_kernel

ZERO, LOW = ct.PaddingMode.ZERO, ct.PaddingMode.NEG_INF
Size = ct.Constant[int]


@ct.kernel
def add(x, y, out, n: Size):
    i = ct.bid(0)
    ct.store(out, index=(i,), tile=ct.load(x, index=(i,), shape=(n,)) + ct.load(y, index=(i,), shape=(n,)))


@ct.kernel
def matmul(a, b, c, tm: Size, tn: Size, tk: Size):
    i, j = ct.bid(0), ct.bid(1)
    total = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ZERO)
        y = ct.load(b, index=(k, j), shape=(tk, tn), padding_mode=ZERO)
        total = ct.mma(x, y, total)
    ct.store(c, index=(i, j), tile=total)


@ct.kernel
def softmax(x, y, n: Size):
    row = ct.bid(0)
    values = ct.load(x, index=(row, 0), shape=(1, n), padding_mode=LOW)
    powers = ct.exp(values - ct.max(values, axis=1, keepdims=True))
    ct.store(y, index=(row, 0), tile=powers / ct.sum(powers, axis=1, keepdims=True))


@ct.kernel
def layernorm(x, w, y, count, n: Size):
    row = ct.bid(0)
    values = ct.load(x, index=(row, 0), shape=(1, n), padding_mode=ZERO)
    mean = ct.sum(values, axis=1, keepdims=True) / ct.astype(count, ct.float32)
    inside = ct.arange(n, dtype=ct.int32) < count
    centered = ct.where(ct.reshape(inside, (1, n)), values - mean, 0.0)
    variance = ct.sum(centered * centered, axis=1, keepdims=True) / ct.astype(count, ct.float32)
    scale = ct.load(w, index=(0,), shape=(n,), padding_mode=ZERO)
    ct.store(y, index=(row, 0), tile=centered * ct.rsqrt(variance + 1e-5) * ct.reshape(scale, (1, n)))


@ct.kernel
def attention(q, k, v, out, scale, tm: Size, tn: Size, d: Size):
    i = ct.bid(0)
    rows = ct.load(q, index=(i, 0), shape=(tm, d), padding_mode=ZERO)
    top = ct.full((tm, 1), -1e30, dtype=ct.float32)
    norm = ct.full((tm, 1), 0, dtype=ct.float32)
    total = ct.full((tm, d), 0, dtype=ct.float32)
    for j in range(ct.num_tiles(k, axis=0, shape=(tn, d))):
        keys = ct.load(k, index=(j, 0), shape=(tn, d), padding_mode=ZERO)
        scores = ct.mma(rows, ct.transpose(keys), ct.full((tm, tn), 0, dtype=ct.float32)) * scale
        inside = j * tn + ct.arange(tn, dtype=ct.int32) < k.shape[0]
        scores = ct.where(ct.reshape(inside, (1, tn)), scores, -1e30)
        new = ct.maximum(top, ct.max(scores, axis=1, keepdims=True))
        powers = ct.exp(scores - new)
        factor = ct.exp(top - new)
        norm = norm * factor + ct.sum(powers, axis=1, keepdims=True)
        values = ct.load(v, index=(j, 0), shape=(tn, d), padding_mode=ZERO)
        total = ct.mma(ct.astype(powers, ct.float16), values, total * factor)
        top = new
    ct.store(out, index=(i, 0), tile=total / norm)


@ct.kernel
def gathers(x, places, y, sums, n: Size):
    block = ct.bid(0)
    at = block * n + ct.arange(n, dtype=ct.int32)
    found = ct.gather(x, ct.gather(places, at), padding_value=0)
    ct.scatter(y, at, found)
    ct.atomic_add(sums, at % 3, found)


@ct.kernel
def control(x, y, limit, n: Size):
    block = ct.bid(0)
    if block == 2:
        return
    values = ct.load(x, index=(block,), shape=(n,), padding_mode=ZERO)
    round = 0
    while round < limit:
        if round == 5:
            break
        if block == 1 and round == 1:
            round += 2
            continue
        values = values * 2.0
        round += 1
    for i in range(block):
        if i == 2:
            values = values + 1.0
        else:
            values = values - 0.25
    ct.store(y, index=(block,), tile=values)


@ct.kernel
def elementwise(x, y, out, n: Size):
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(n,), padding_mode=ZERO)
    b = ct.load(y, index=(i,), shape=(n,), padding_mode=ZERO)
    first = ct.exp2(a) + ct.log(b) + ct.log2(b) + ct.sin(a) * ct.cos(b) + ct.tan(a * 0.1) + ct.tanh(a)
    second = ct.sinh(a) - ct.cosh(b) + ct.sqrt(b) * ct.floor(a) + ct.ceil(a) + ct.pow(b, a) + ct.abs(-a)
    third = ct.where(ct.greater(a, b), ct.minimum(a, b), ct.maximum(a, 0.25 * b)) + ct.atan2(a, b)
    ct.store(out, index=(i,), tile=first + second * third)


@ct.kernel
def integers(x, y, out, n: Size):
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(n,))
    b = ct.load(y, index=(i,), shape=(n,))
    wide = ct.astype(a, ct.int64) * 3 - ct.astype(b, ct.int64)
    total = (a // b) * 7 + a % b + (a & b) - (a | 5) + (a ^ b) + (a << 3) + (a >> 2) + ct.cdiv(a, b)
    total = total + ct.where(wide > 10, ct.minimum(a, b), ct.maximum(a, b)) + ct.astype(wide, ct.int32)
    ct.store(out, index=(i,), tile=total)


@ct.kernel
def reductions(x, sums, places, scans, n: Size, m: Size):
    i = ct.bid(0)
    a = ct.load(x, index=(i, 0), shape=(n, m))
    ct.store(sums, index=(i, 0), tile=ct.sum(a, axis=0, keepdims=True) + ct.max(a, axis=0, keepdims=True) - ct.min(a, axis=0, keepdims=True))
    ct.store(places, index=(i,), tile=ct.argmax(a, axis=1) * 1000 + ct.argmin(a, axis=1))
    ct.store(scans, index=(i, 0), tile=ct.cumsum(a, axis=1) + ct.cumsum(a, axis=0, reverse=True))


@ct.kernel
def shapes(x, y, out, n: Size):
    a = ct.load(x, index=(0, 0), shape=(n, n))
    b = ct.load(y, index=(0, 0), shape=(n, n))
    both = ct.cat((a, b), axis=1)
    part = ct.extract(both, (1, 1), shape=(n // 2, n))
    turned = ct.permute(part, (1, 0))
    line = ct.reshape(turned, (n * n // 2,))
    ct.store(out, index=(0,), tile=line)
    ct.store(out, index=(1,), tile=line * 3.0)


@ct.kernel
def turned(x, y, tm: Size, tn: Size):
    i, j = ct.bid(0), ct.bid(1)
    ct.store(y, index=(i, j), tile=ct.load(x, index=(i, j), shape=(tm, tn), order="F", padding_mode=ZERO))


@ct.kernel
def formats(x, half, brain, small, n: Size):
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(n,))
    ct.store(half, index=(i,), tile=ct.astype(a, ct.float16))
    ct.store(brain, index=(i,), tile=ct.astype(ct.astype(a, ct.bfloat16) * 2.0, ct.float32))
    ct.store(small, index=(i,), tile=ct.astype(a * 100.0, ct.int8))


@ct.kernel
def products(a, b, c, tm: Size, tn: Size, tk: Size):
    z = ct.bid(0)
    x = ct.load(a, index=(z, 0, 0), shape=(1, tm, tk), padding_mode=ZERO)
    y = ct.load(b, index=(z, 0, 0), shape=(1, tk, tn), padding_mode=ZERO)
    ct.store(c, index=(z, 0, 0), tile=ct.mma(x, y, ct.full((1, tm, tn), 1, dtype=ct.int32)))


F32, F16, I32, I8 = ct.float32, ct.float16, ct.int32, ct.int8


def array(rank, dtype):
    return ArrayConstraint(dtype=dtype, ndim=rank, index_dtype=I32, stride_lower_bound_incl=0,
                           stride_constant=[None] * (rank - 1) + [1], base_addr_divisible_by=4, alias_groups=(),
                           may_alias_internally=False)


KERNELS = [
    (add, [array(1, F32)] * 3 + [128]),
    (matmul, [array(2, F16), array(2, F16), array(2, F32), 32, 16, 32]),
    (softmax, [array(2, F32)] * 2 + [64]),
    (layernorm, [array(2, F32), array(1, F32), array(2, F32), ScalarConstraint(I32), 64]),
    (attention, [array(2, F16)] * 3 + [array(2, F32), ScalarConstraint(F32), 32, 32, 32]),
    (gathers, [array(1, F32), array(1, I32), array(1, F32), array(1, F32), 64]),
    (control, [array(1, F32)] * 2 + [ScalarConstraint(I32), 32]),
    (elementwise, [array(1, F32)] * 3 + [64]),
    (integers, [array(1, I32)] * 3 + [64]),
    (reductions, [array(2, F32), array(2, F32), array(1, I32), array(2, F32), 8, 32]),
    (shapes, [array(2, F32)] * 2 + [array(1, F32), 16]),
    (turned, [array(2, F32)] * 2 + [16, 8]),
    (formats, [array(1, F32), array(1, F16), array(1, F32), array(1, I8), 64]),
    (products, [array(3, I8), array(3, I8), array(3, I32), 16, 16, 32]),
]
NEWER = {"matmul", "control", "reductions", "gathers"}
# Those of functions.py, with their versions.
MORE = [
    (functions.arithmetic, "13.1", [array(1, F32)] * 3 + [64]),
    (functions.bits, "13.1", [array(1, I32)] * 3 + [32]),
    (functions.atomics, "13.1", [array(1, I32), array(1, I32), array(2, I32), 16]),
    (functions.folds, "13.2", [array(2, F32), array(2, F32), array(1, F32), array(1, I32), array(2, F32), 4, 16]),
    (functions.compile_time, "13.3", [array(1, F32)] * 2 + [ScalarConstraint(I32), 16]),
    (functions.bytes_of, "13.4", [array(1, F32), array(1, I8), array(1, F32), 16]),
    (functions.advanced, "13.4", [array(2, F32), array(1, I32), array(2, F32), 8, 16]),
    (functions.named_product, "13.4", [array(2, F16)] * 2 + [array(2, F32), 16]),
    (functions.scaled_product, "13.4", [array(2, I8)] * 4 + [array(2, F32), 16, 32, 64]),
    (functions.printed, "13.4", [array(1, F32)] * 2 + [8]),
]


def write(folder, kernel, parameters, version, end=""):
    name = kernel._pyfunc.__name__
    export_kernel(kernel, [KernelSignature(parameters, CallingConvention.cutile_python_v1(), symbol=name)], f"{folder}/{name}{end}.tileirbc",
                  gpu_code="sm_100", output_format="tileir_bytecode", bytecode_version=version)


def without_kernel():
    """The functions of cuTile that no kernel calls; operators of Python do not count."""
    texts = [Path(module.__file__).read_text(encoding="utf-8") for module in (sys.modules[__name__], functions)]
    called = functions.CALLED_BY_HOSTS.union(*(re.findall(r"\bct\.(\w+)", text) for text in texts))
    return [name for name in dir(ct) if isinstance(getattr(ct, name), types.FunctionType) and name[0] != "_" and name not in called]


if __name__ == "__main__" and sys.argv[1] == "--list":
    print("functions without a kernel:", *without_kernel() or ["none"])
elif __name__ == "__main__":
    for kernel, parameters in KERNELS:
        name = kernel._pyfunc.__name__
        write(sys.argv[1], kernel, parameters, "13.1" if name != "elementwise" else "13.2")
        if name in NEWER:
            write(sys.argv[1], kernel, parameters, "13.4", "_134")
    for kernel, version, parameters in MORE:
        write(sys.argv[1], kernel, parameters, version)
