"""What staging and pipelining do to a GEMM, counted by the emulator and compared with what the passes promise.

One block a 128 x 128 tile, K in rounds of 32: a block reads its rows of A and columns of B once. Use: counted.py BUILD.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))
from kernel_harness import InterpretedKernels  # noqa: E402

PROGRAMS = os.path.join(HERE, "..", "..", "dialects", "tile", "programs")
BUILD, CHIP, TILE, ROUND = sys.argv[1], "sm_80", 128, 32
random = np.random.default_rng(5)
failures = []


def device_passes():
    """The pipeline to the chip behind its scheduling, without the host's part, which tile-run adds."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as empty:
        printed = subprocess.run([f"{BUILD}/bin/tile-opt", empty.name, f"--tile-to-nvvm-pipeline=chip={CHIP}",
                                  "--dump-pass-pipeline"], check=True, capture_output=True, text=True)
    text = printed.stderr + printed.stdout
    return text[text.index("convert-tile-to-nvvm"):text.index(",\n  convert-gpu-launch-to-runtime")]


class Scheduled(InterpretedKernels):
    target = f"emulate:{CHIP}"

    def __init__(self, file, passes, stats, first=""):
        schedule = f"tile.kernel({first}tile-assign-layouts{{chip={CHIP} warps=4}}{passes},canonicalize,cse)"
        super().__init__(os.path.join(PROGRAMS, file), BUILD, f"builtin.module({schedule},{device_passes()})")
        self.passes.append(f"--stats={stats}")


def gemm(size, passes):
    a, b = (random.uniform(-1, 1, (size, size)).astype("f2") for _ in "ab")
    bias, c = random.uniform(-1, 1, size).astype("f4"), np.full((size, size), np.nan, "f2")
    with tempfile.TemporaryDirectory() as folder:
        kernels = Scheduled("gemm_bias_relu.mlir", passes, f"{folder}/stats.json")
        kernels.run("gemm_bias_relu", [a, b, bias, c], (size // TILE, size // TILE))
        with open(f"{folder}/stats.json") as file:
            stats = json.load(file)
    want = np.maximum(a.astype("f8") @ b.astype("f8") + bias, 0)
    expect("the result", bool((abs(c - want) <= 1e-3 * (1 + abs(want)) * 16).all()), True)
    return stats


def expect(what, got, want):
    print(f"{what}: {got}, expected {want}")
    if got != want:
        failures.append(what)


size = 256
plain = gemm(size, "")
staged = gemm(size, ",tile-stage-in-shared-memory")
ahead = gemm(size, ",tile-stage-in-shared-memory,tile-pipeline-loops{stages=3}")
blocks, rounds = (size // TILE) ** 2, size // ROUND
operands = 2 * size**3 * 2 // TILE  # MNK (1/tm + 1/tn) elements of 2 bytes
bias = blocks * TILE * 4
for name, stats in (("plain", plain), ("staged", staged), ("pipelined", ahead)):
    expect(f"{name}: bytes read", stats["global_bytes_read"], operands + bias)
    expect(f"{name}: bank conflicts", stats["shared_bank_conflicts"], 0)
expect("plain: copies", plain["async_copies"], 0)
expect("staged: copies of 16 bytes", staged["async_copies"], operands // 16)
# Two rounds past the end copy nothing but zeros.
expect("pipelined: copies", ahead["async_copies"], operands // 16 * (rounds + 2) // rounds)
expect("staged: fewer barriers than two conversions a round need", staged["barriers"] < plain["barriers"], True)
expect("pipelined: one barrier a round less", staged["barriers"] - ahead["barriers"], blocks * rounds)
# Of an m16n8k16 each lane needs four words of A and two of B; a warp's 64 x 64 of C has 4 rows and 8 columns of them,
# two k to a round. ldmatrix brings four words at once. What is left are the conversions of the bias and of C.
fragments = blocks * rounds * 4 * 2 * (4 * 4 + 8 * 2) // 4
expect("staged: loads besides ldmatrix", 0 < staged["shared_loads"] - fragments < fragments // 4, True)
expect("pipelined: as many", ahead["shared_loads"], staged["shared_loads"])

# A pipelined loop inside loops: what an outer round left in the rings has been read before they are filled again.
x, w = random.uniform(-1, 1, (1, 9, 13, 40)).astype("f2"), random.uniform(-1, 1, (3, 3, 40, 24)).astype("f2")
y = np.full((1, 5, 7, 24), np.nan, "f2")
conv = Scheduled("conv.mlir", ",tile-stage-in-shared-memory,tile-pipeline-loops{stages=3}", os.devnull)
conv.run("conv3x3s2", [x, w, y], (1, 1, 1))
padded = np.pad(x.astype("f8"), ((0, 0), (1, 1), (1, 1), (0, 0)))
want = sum(padded[:, r:r + 10:2, s:s + 14:2][:, :5, :7] @ w[r, s].astype("f8") for r in range(3) for s in range(3))
expect("conv in nested loops", bool((abs(y - want) <= 2e-2 * (1 + abs(want))).all()), True)


def loop(first):
    """SUM, below: eight rounds, each of the same 256 weights, added to the same 256 sums."""
    x, w, sums = (random.uniform(-1, 1, n).astype("f4") for n in (8 * 256, 256, 256))
    want = sums + (x.reshape(8, 256) * w).sum(0, dtype="f8")
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/sum.mlir", "w") as file:
            file.write(SUM)
        Scheduled(f"{folder}/sum.mlir", "", f"{folder}/stats.json", first).run("sum", [x, w, sums], (1,))
        expect("the sums", bool((abs(sums - want) <= 1e-5).all()), True)
        with open(f"{folder}/stats.json") as file:
            return json.load(file)


SUM = """
tile.kernel @sum(%x: memref<2048xf32>, %w: memref<256xf32>, %s: memref<256xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %X = tile.view %x : memref<2048xf32> to !tile.view<256xf32>
  %W = tile.view %w : memref<256xf32> to !tile.view<256xf32>
  %S = tile.view %s : memref<256xf32> to !tile.view<256xf32>
  scf.for %k = %c0 to %c8 step %c1 {
    %a = tile.load %X[%k] : !tile.view<256xf32> -> tensor<256xf32>
    %b = tile.load %W[%c0] : !tile.view<256xf32> -> tensor<256xf32>
    %p = arith.mulf %a, %b : tensor<256xf32>
    tile.store %p, %S[%c0] combine(add) : tensor<256xf32>, !tile.view<256xf32>
  }
  tile.return
}
"""
# Hoisting after the sums have left: then nothing in the loop writes.
before, after = loop(""), loop("tile-reduce-atomics,tile-hoist-copies,")
expect("every round: atomics", before["atomics"], 8 * 256)
expect("reduced: atomics", after["atomics"], 256)
expect("hoisted: bytes read less", before["global_bytes_read"] - after["global_bytes_read"], 7 * 256 * 4 + 7 * 256 * 4)
print(f"{len(failures)} wrong")
sys.exit(1 if failures else 0)
