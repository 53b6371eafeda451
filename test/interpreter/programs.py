"""Runs every program of test/dialects/tile/programs on the interpreter, against numpy. Prints what is wrong.

The scheduled ones too: rings of asynchronous copies, barriers, partitions of warps. A program that nothing here runs is
an error.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from kernel_harness import InterpretedKernels  # noqa: E402

PROGRAMS = os.path.join(os.path.dirname(HERE), "dialects", "tile", "programs")
random = np.random.default_rng(11)
failures, met = [], set()


def ceil(a, b):
    return -(-a // b)


def f16(*shape):
    return random.uniform(-1, 1, shape).astype("f2")


def f32(*shape):
    return random.uniform(-1, 1, shape).astype("f4")


def empty(shape, dtype="f4"):
    return np.full(shape, np.nan if np.dtype(dtype).kind == "f" else 77, dtype)


def compare(file, name, what, got, want, tolerance):
    with np.errstate(invalid="ignore"):
        difference = np.abs(got.astype("f8") - want)
    if got.shape != np.shape(want) or not (difference <= tolerance * (1 + np.abs(want))).all():
        failures.append(name)
        print(f"{file}: {name}: {what} is wrong", got, want, sep="\n")


def check(file, name, arguments, grid, wants, tolerance=0.0):
    met.add(file)
    InterpretedKernels(os.path.join(PROGRAMS, file + ".mlir"), options.build, options.passes).run(name, arguments, grid)
    for number, want in wants.items():
        compare(file, name, f"argument {number}", arguments[number], want, tolerance)


def text_of(file, without=""):
    """A program's text, less the lines that match."""
    met.add(file)
    with open(os.path.join(PROGRAMS, file + ".mlir")) as program:
        return "".join(line for line in program if not (without and re.match(without, line)))


def run_host(text, entry, arguments, outputs):
    """Calls a host function; its first `outputs` results (or memrefs, where it has none)."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/program.mlir", "w") as program:
            program.write(text)
        command = [f"{options.build}/bin/tile-run", f"{folder}/program.mlir", f"--entry={entry}", "--target=interpret"]
        command += [f"--pass-pipeline={options.passes}"] if options.passes else []
        for i, argument in enumerate(arguments):
            np.save(f"{folder}/in{i}.npy", np.array(argument, order="C"))
            command.append(f"--in={folder}/in{i}.npy")
        subprocess.run(command + [f"--out={folder}/out{i}.npy" for i in range(outputs)], check=True)
        return [np.load(f"{folder}/out{i}.npy") for i in range(outputs)]


def philox(seed, counters):
    """Salmon et al.: ten rounds of Philox4x32, written for whole arrays."""
    mask = np.uint64(0xFFFFFFFF)
    x = [counters & mask, counters >> np.uint64(32), np.zeros_like(counters), np.zeros_like(counters)]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = x[0] * np.uint64(0xD2511F53), x[2] * np.uint64(0xCD9E8D57)
        x = [(b >> np.uint64(32)) ^ x[1] ^ np.uint64(key[0]), b & mask,
             (a >> np.uint64(32)) ^ x[3] ^ np.uint64(key[1]), a & mask]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(x, axis=-1)


def products():
    for m, n, k in ((128, 128, 64), (8, 136, 40)):
        a, b, bias = f16(m, k), f16(k, n), f32(n)
        product = a.astype("f8") @ b.astype("f8")
        check("gemm_sm80", "gemm_bias_relu", [a, b, bias, empty((m, n), "f2")], (ceil(m, 128), ceil(n, 128)),
              {3: np.maximum(product + bias, 0)}, 2e-3)
        check("gemm_gfx942", "gemm_nt", [a, np.ascontiguousarray(b.T), empty((m, n))], (ceil(m, 128), ceil(n, 128)),
              {2: product}, 1e-5)
    for m, n, k in ((128, 256, 64), (40, 264, 320)):
        a, b = f16(m, k), f16(k, n)
        for chip in ("sm90a", "sm100a"):
            check(f"gemm_{chip}", "gemm", [a, b, empty((m, n), "f2")], (ceil(m, 128), ceil(n, 256)),
                  {2: a.astype("f8") @ b.astype("f8")}, 2e-3)


def counting():
    x = random.integers(-128, 128, 10001).astype("i1")
    bins = random.integers(0, 100, 256).astype("i4")
    check("histogram", "histogram", [x, bins.copy()], (2,),
          {1: bins + np.bincount(x.view("u1"), minlength=256)})
    x = f32(3, 2500)
    x[0, 7] = np.nan
    x[1, :] = 0.25
    order = np.argsort(np.where(np.isnan(x), -np.inf, -x), axis=1, kind="stable")[:, :8]
    values = np.take_along_axis(x, order, 1)
    results = [x, empty((3, 8)), empty((3, 8), "i4")]
    check("topk", "topk", results, (3,), {2: order})
    if not np.array_equal(results[1], values, equal_nan=True):
        failures.append("topk")
        print("topk: values are wrong", results[1], values, sep="\n")


def scans():
    x = f32(2, 2100)
    check("prefix_sum", "row_scan", [x, empty((2, 2100))], (2,), {1: np.cumsum(x.astype("f8"), axis=1)}, 1e-5)
    x, zero = f32(3000), np.zeros((), "i4")
    arguments = [x, empty(3000), empty(3), np.zeros(3, "i4"), zero]
    check("prefix_sum", "chained_scan", arguments, (3,), {1: np.cumsum(x.astype("f8"))}, 1e-5)


def others():
    x, seed, threshold = f32(2000), 0x123456789ABCDEF, 1 << 30
    bits = philox(seed, np.arange(512, dtype=np.uint64)).reshape(-1)[:2000]
    want = np.where(bits >= threshold, x * np.float32(4 / 3), 0)
    check("dropout", "dropout", [x, np.int64(seed), np.int32(threshold), np.float32(4 / 3), empty(2000)], (2,),
          {4: want}, 1e-7)
    m, n, k, kept = 130, 64, 256, 24
    a, value = f16(m, k), f16(kept, n)
    row = np.sort(random.permutation(k)[:kept * 2].reshape(kept, 2), axis=0).astype("i4")
    want = np.concatenate([a[:, row[:, j]].astype("f8") @ value[:, 32 * j:32 * j + 32].astype("f8") for j in (0, 1)], 1)
    check("nm_spmm", "spmm_nm_vector32", [a, value, row, empty((m, n), "f2")], (2, 2), {3: want}, 2e-3)


def simple():
    a, b = f32(3000), f32(3000)
    check("vector_add", "vector_add", [a, b, empty(3000)], (3,), {2: a + b})
    x = 3 * f32(5, 1000)
    e = np.exp(x.astype("f8") - x.max(axis=1, keepdims=True))
    check("softmax", "softmax", [x, empty((5, 1000))], (2,), {1: e / e.sum(axis=1, keepdims=True)}, 1e-6)
    x, gamma, beta, epsilon = f16(3, 1999), f32(1999), f32(1999), np.float32(1e-3)
    wide = x.astype("f8")
    mean, rstd = wide.mean(axis=1), 1 / np.sqrt(wide.var(axis=1) + epsilon)
    y = (wide - mean[:, None]) * rstd[:, None] * gamma + beta
    check("layernorm", "layernorm", [x, gamma, beta, epsilon, empty((3, 1999), "f2"), empty((3, 2))], (3,),
          {4: y, 5: np.stack([mean, rstd], 1)}, 1e-3)
    a, b, bias = f16(8, 40), f16(40, 136), f32(136)
    check("gemm_bias_relu", "gemm_bias_relu", [a, b, bias, empty((8, 136), "f2")], (1, 2),
          {3: np.maximum(a.astype("f8") @ b.astype("f8") + bias, 0)}, 2e-3)


def lookups():
    table, token = f16(50, 200), random.integers(-1, 50, 100).astype("i4")
    want = np.where(token[:, None] >= 0, table[token].astype("f8"), 0)
    check("embedding", "lookup", [table, token, empty((100, 200), "f2")], (2, 2), {2: want})
    grad, start = f16(100, 200), f32(50, 200)
    want = start.astype("f8")
    np.add.at(want, token[token >= 0], grad.astype("f8")[token >= 0])
    check("embedding", "lookup_backward", [grad, token, start.copy()], (2, 2), {2: want}, 1e-6)
    x, at = f32(2048), random.permutation(2048).astype("i4")
    check("embedding", "permute", [x, at, empty(2048)], (2,), {2: x[at]})


def attention():
    heads, length = 2, 150
    q, k, v = f16(1, heads, length, 128), f16(1, heads, length, 128), f16(1, heads, length, 128)
    scale = np.float32(np.log2(np.e) / np.sqrt(128))
    s = np.where(np.tri(length, dtype=bool), q.astype("f8") @ k.astype("f8").swapaxes(2, 3) * scale, -np.inf)
    p = np.exp2(s - s.max(axis=-1, keepdims=True))
    arguments = [q, k, v, scale, empty(q.shape, "f2"), empty((1, heads, length))]
    check("attention", "attention", arguments, (2, heads, 1),
          {4: p / p.sum(axis=-1, keepdims=True) @ v.astype("f8"), 5: s.max(axis=-1) + np.log2(p.sum(axis=-1))}, 2e-3)


def convolution():
    batch, size, channels, filters = 2, 11, 5, 7
    x, w = f16(batch, size, size, channels), f16(3, 3, channels, filters)
    padded, out = np.pad(x.astype("f8"), ((0, 0), (1, 1), (1, 1), (0, 0))), (size + 2 - 3) // 2 + 1
    want = sum(np.einsum("nhwc,ck->nhwk", padded[:, r:r + 2 * out - 1:2, s:s + 2 * out - 1:2], w[r, s].astype("f8"))
               for r in range(3) for s in range(3))
    check("conv", "conv3x3s2", [x, w, empty((batch, out, out, filters), "f2")],
          (ceil(out, 8) * ceil(out, 16), 1, batch), {2: want}, 2e-3)


def packed():
    m, n, k = 70, 130, 256
    a, q = f16(m, k), random.integers(0, 16, (n, k))
    scale, zero = f16(n, k // 128), random.integers(0, 16, (n, k // 128)).astype("i1")
    words = np.zeros((n, k // 8), "u8")
    for t in range(8):  # element t of a word sits at nibble (t mod 2) * 4 + t / 2
        words |= q[:, t::8].astype("u8") << np.uint64(4 * ((t % 2) * 4 + t // 2))
    weight = (q - np.repeat(zero, 128, 1)).astype("f2") * np.repeat(scale, 128, 1)
    check("int4_gemm", "gemm_w4a16", [a, words.astype("u4").view("i4"), scale, zero, empty((m, n), "f2")],
          (ceil(m, 64), ceil(n, 128)), {4: a.astype("f8") @ weight.T.astype("f8")}, 2e-3)


# Addresses come from the memrefs of the host.
GROUPS = """
func.func @grouped(%a0: memref<?x?xf16>, %b0: memref<?x?xf16>, %c0: memref<?x?xf16>,
                   %a1: memref<?x?xf16>, %b1: memref<?x?xf16>, %c1: memref<?x?xf16>, %size: memref<?x3xindex>) {
  %n = arith.constant 2 : index
  %programs = arith.constant 3 : index
  %table = memref.alloc(%n) : memref<?x3xi64>
""" + "".join(f"""
  %i{i} = arith.constant {i // 3} : index
  %j{i} = arith.constant {i % 3} : index
  %p{i} = memref.extract_aligned_pointer_as_index %{"abc"[i % 3]}{i // 3} : memref<?x?xf16> -> index
  %x{i} = arith.index_cast %p{i} : index to i64
  memref.store %x{i}, %table[%i{i}, %j{i}] : memref<?x3xi64>""" for i in range(6)) + """
  tile.launch @grouped_gemm grid(%programs) outs(%table, %size : memref<?x3xi64>, memref<?x3xindex>)
  return
}
"""


def grouped():
    arguments, sizes = [], np.array([[140, 24, 30], [9, 130, 70]])
    for m, n, k in sizes:
        arguments += [f16(m, k), f16(k, n), empty((m, n), "f2")]
    got = run_host(text_of("grouped_gemm") + GROUPS, "grouped", arguments + [sizes], 6)
    for g in range(2):
        want = arguments[3 * g].astype("f8") @ arguments[3 * g + 1].astype("f8")
        compare("grouped_gemm", "grouped_gemm", f"group {g}", got[3 * g + 2], want, 2e-3)


# One step of x = b - A x.
SWEEP = """
tile.kernel @sweep(%a: memref<?x?xf32>, %b: memref<?xf32>, %x: memref<?xf32>, %y: memref<?xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %A = tile.view %a : memref<?x?xf32> to !tile.view<64x64xf32>
  %B = tile.view %b : memref<?xf32> to !tile.view<64xf32>
  %X = tile.view %x : memref<?xf32> to !tile.view<64xf32>
  %Y = tile.view %y : memref<?xf32> to !tile.view<64xf32>
  %n = tile.num_tiles %A dim 1 : !tile.view<64x64xf32>
  %start = tile.load %B[%i] : !tile.view<64xf32> -> tensor<64xf32>
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%s = %start) -> (tensor<64xf32>) {
    %row = tile.load %A[%i, %j] : !tile.view<64x64xf32> -> tensor<64x64xf32>
    %v = tile.load %X[%j] : !tile.view<64xf32> -> tensor<64xf32>
    %vb = tile.broadcast %v axes [0] : tensor<64xf32> -> tensor<64x64xf32>
    %p = arith.mulf %row, %vb : tensor<64x64xf32>
    %t = tile.reduce {arith.addf} %p axes [1] : tensor<64x64xf32> -> tensor<64xf32>
    %d = arith.subf %s, %t : tensor<64xf32>
    scf.yield %d : tensor<64xf32>
  }
  tile.store %r, %Y[%i] : tensor<64xf32>, !tile.view<64xf32>
  tile.return
}
"""


def hosts():
    x, w, bias = f32(5, 40), f16(40, 24), f32(24)
    e = np.exp(x.astype("f8"))
    text = text_of("destination_style", "tile.kernel private") + text_of("softmax") + text_of("gemm_bias_relu")
    got = run_host(text, "main", [x, w, bias], 1)
    want = np.maximum((e / e.sum(axis=1, keepdims=True)) @ w.astype("f8") + bias, 0)
    compare("destination_style", "main", "the result", got[0], want, 2e-3)
    n, limit = 100, np.float32(1e-9)
    a, b, x = f32(n, n) / n, f32(n), f32(n)
    got = run_host(text_of("while", "tile.kernel private @sweep") + SWEEP, "solve", [a, b, x, limit], 2)
    steps, old, distance = 0, x.astype("f8"), np.inf
    while distance > limit:
        new = b - a.astype("f8") @ old
        distance, old, steps = ((new - old) ** 2).sum(), new, steps + 1
    compare("while", "solve", "the solution", got[0], np.linalg.solve(np.eye(n) + a.astype("f8"), b), 1e-4)
    compare("while", "solve", "the number of steps", got[1], steps, 0)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--build", required=True)
parser.add_argument("--passes", default="", help="a pipeline to run on every program first")
options = parser.parse_args()
for group in (products, counting, scans, others, simple, lookups, attention, convolution, packed, grouped, hosts):
    group()
for file in sorted(os.listdir(PROGRAMS)):
    if file.endswith(".mlir") and file[:-5] not in met:
        failures.append(file)
        print(f"{file}: nothing runs it")
print(f"{len(failures)} wrong")
sys.exit(1 if failures else 0)
