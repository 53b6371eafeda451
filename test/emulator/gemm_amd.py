"""C[M,N] = A[M,K] B[N,K]^T on AMD's chips as one writes it by hand: operands staged in LDS, one matrix instruction a step.

gpu and amdgpu ops, lowered by upstream's passes. Blocks of 4 waves, 2 x 2, make 2T x 2T of C, T the instruction's size.
M and N multiples of 2T, K of the instruction's. Use: gemm_amd.py TILE_RUN [mutants].
"""
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from emulate import Kernel  # noqa: E402


class Engine:
    """What differs: the instruction with its operands, and where a lane finds them (rows of lane mod T)."""

    def __init__(self, chip, op, size, k, element, accumulator, wave=64, replicated=False, modifiers=""):
        self.chip, self.op, self.size, self.k = chip, op, size, k
        self.element, self.accumulator, self.wave, self.modifiers = element, accumulator, wave, modifiers
        groups = 1 if replicated else wave // size   # lanes of one row that share its k
        self.length, self.results = k // groups, size * size // wave
        self.replicated = replicated

    def row(self, i):
        """Row of result i, beside the part that depends on the lane: (offset, factor of floor(lane / size))."""
        if self.op == "wmma":  # gfx11: 2 i + floor(lane / 16); gfx12: 8 floor(lane / 16) + i
            return (i, 8) if self.chip.startswith("gfx12") else (2 * i, 1)
        return i % 4 + 256 // self.size * (i // 4), 4

    def text(self):
        kind = f"{self.op} {self.size}x{self.size}x{self.k} %a * %b + %x{self.modifiers}"
        a, c = f"vector<{self.length}x{self.element}>", f"vector<{self.results}x{self.accumulator}>"
        return f"amdgpu.{kind} : {a}, {a}, {c}"


ENGINES = {
    "f16": Engine("gfx942", "mfma", 16, 16, "f16", "f32", modifiers=" blgp = none"),
    "f16 wide": Engine("gfx90a", "mfma", 32, 8, "f16", "f32", modifiers=" blgp = none"),
    "i8": Engine("gfx942", "mfma", 16, 32, "i8", "i32", modifiers=" blgp = none"),
    "gfx950 f16": Engine("gfx950", "mfma", 16, 32, "f16", "f32", modifiers=" blgp = none"),
    "gfx1100 f16": Engine("gfx1100", "wmma", 16, 16, "f16", "f32", wave=32, replicated=True),
    "gfx1201 f16": Engine("gfx1201", "wmma", 16, 16, "f16", "f32", wave=32),
}


def pipeline(chip):
    return (f"builtin.module(gpu.module(convert-scf-to-cf,convert-amdgpu-to-rocdl{{chipset={chip}}},"
            f"convert-gpu-to-rocdl{{chipset={chip} use-bare-ptr-memref-call-conv=1}}),convert-cf-to-llvm,"
            "gpu.module(canonicalize,cse,reconcile-unrealized-casts))")


def gemm(engine, m, n, k):
    size, threads, side = engine.size, 4 * engine.wave, 2 * engine.size
    element, accumulator = engine.element, engine.accumulator
    per = side * engine.k // threads  # elements a thread copies
    constants = "\n".join(f"      %c{i} = arith.constant {i} : index"
                          for i in sorted({0, 1, 2, size, side, engine.k, k, engine.wave, engine.length, per,
                                           engine.k // per, 8, 4} | {engine.row(i)[0] for i in range(engine.results)}))
    zero = "0.0" if accumulator == "f32" else "0"
    lane_k = "%c0" if engine.replicated else "%klane"
    stores = "\n".join(f"""
      %i{r} = arith.addi %rowb, %c{engine.row(r)[0]} : index
      %e{r} = vector.extract %d[{r}] : {accumulator} from vector<{engine.results}x{accumulator}>
      memref.store %e{r}, %C[%i{r}, %col] : memref<{m}x{n}x{accumulator}>""" for r in range(engine.results))
    shared = f"memref<{side}x{engine.k}x{element}, #gpu.address_space<workgroup>>"
    return f"""
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @gemm(%A: memref<{m}x{k}x{element}>, %B: memref<{n}x{k}x{element}>, %C: memref<{m}x{n}x{accumulator}>)
        workgroup(%sA : {shared} {{llvm.align = 16 : i64}}, %sB : {shared} {{llvm.align = 16 : i64}})
        kernel attributes {{known_block_size = array<i32: {threads}, 1, 1>}} {{
{constants}
      %cper = arith.constant {engine.k // per} : index
      %factor = arith.constant {engine.row(0)[1]} : index
      %t = gpu.thread_id x
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %m0 = arith.muli %bx, %c{side} : index
      %n0 = arith.muli %by, %c{side} : index
      %w = arith.divui %t, %c{engine.wave} : index
      %l = arith.remui %t, %c{engine.wave} : index
      %sr = arith.divui %t, %cper : index
      %sc0 = arith.remui %t, %cper : index
      %sc = arith.muli %sc0, %c{per} : index
      %gm = arith.addi %m0, %sr : index
      %gn = arith.addi %n0, %sr : index
      %wm0 = arith.remui %w, %c2 : index
      %wn0 = arith.divui %w, %c2 : index
      %wm = arith.muli %wm0, %c{size} : index
      %wn = arith.muli %wn0, %c{size} : index
      %line = arith.remui %l, %c{size} : index
      %group = arith.divui %l, %c{size} : index
      %klane = arith.muli %group, %c{engine.length} : index
      %ar = arith.addi %wm, %line : index
      %br = arith.addi %wn, %line : index
      %z = arith.constant dense<{zero}> : vector<{engine.results}x{accumulator}>
      %d = scf.for %k = %c0 to %c{k} step %c{engine.k} iter_args(%x = %z) -> vector<{engine.results}x{accumulator}> {{
        %kc = arith.addi %k, %sc : index
        %ga = vector.load %A[%gm, %kc] : memref<{m}x{k}x{element}>, vector<{per}x{element}>
        %gb = vector.load %B[%gn, %kc] : memref<{n}x{k}x{element}>, vector<{per}x{element}>
        vector.store %ga, %sA[%sr, %sc] : {shared}, vector<{per}x{element}>
        vector.store %gb, %sB[%sr, %sc] : {shared}, vector<{per}x{element}>
        gpu.barrier
        %a = vector.load %sA[%ar, {lane_k}] : {shared}, vector<{engine.length}x{element}>
        %b = vector.load %sB[%br, {lane_k}] : {shared}, vector<{engine.length}x{element}>
        %y = {engine.text()}
        gpu.barrier
        scf.yield %y : vector<{engine.results}x{accumulator}>
      }}
      %row0 = arith.addi %m0, %wm : index
      %col = arith.addi %n0, %br : index
      %below = arith.muli %group, %factor : index
      %rowb = arith.addi %row0, %below : index
{stores}
      gpu.return
    }}
  }}
  func.func @main(%A: memref<{m}x{k}x{element}>, %B: memref<{n}x{k}x{element}>, %C: memref<{m}x{n}x{accumulator}>) {{
    %gx = arith.constant {m // side} : index
    %gy = arith.constant {n // side} : index
    %one = arith.constant 1 : index
    %threads = arith.constant {threads} : index
    gpu.launch_func @kernels::@gemm blocks in (%gx, %gy, %one) threads in (%threads, %one, %one)
      args(%A : memref<{m}x{k}x{element}>, %B : memref<{n}x{k}x{element}>, %C : memref<{m}x{n}x{accumulator}>)
    return
  }}
}}
"""


def arrays(engine, m, n, k):
    rng = np.random.default_rng(m * 7 + n * 5 + k)
    numpy_type = {"f16": np.float16, "i8": np.int8, "f32": np.float32, "i32": np.int32}
    return [rng.integers(-8, 9, (m, k)).astype(numpy_type[engine.element]),
            rng.integers(-6, 7, (n, k)).astype(numpy_type[engine.element]),
            np.full((m, n), 99, numpy_type[engine.accumulator])]


def check(tool, name, m, n, k):
    engine = ENGINES[name]
    data = arrays(engine, m, n, k)
    outputs, stats = Kernel(tool, f"emulate:{engine.chip}", gemm(engine, m, n, k), pipeline(engine.chip)).run(data)
    if not np.array_equal(outputs[2].astype(np.float64), data[0].astype(np.float64) @ data[1].astype(np.float64).T):
        sys.exit(f"{name} {m} x {n} x {k}: wrong")
    if stats["mma_flops"] != 2 * m * n * k:
        sys.exit(f"{name}: {stats['mma_flops']} mma flops")


if __name__ == "__main__":
    tile_run = sys.argv[1]
    known = sys.argv[2:] if sys.argv[2:] != ["mutants"] else []
    if sys.argv[2:] == ["mutants"]:
        for name, ops in (("f16", ["rocdl.s.barrier", "rocdl.barrier"]), ("i8", ["rocdl.s.barrier", "rocdl.barrier"])):
            engine = ENGINES[name]
            kernel = Kernel(tile_run, f"emulate:{engine.chip}", gemm(engine, 32, 32, 4 * engine.k),
                            pipeline(engine.chip))
            found = kernel.check_mutants(arrays(engine, 32, 32, 4 * engine.k), ops)
            if found != 2:
                sys.exit(f"{found} mutants")
        print("4 mutants found")
        sys.exit(0)
    for name in known or ENGINES:
        check(tile_run, name, 128, 64, 6 * ENGINES[name].k)
        check(tile_run, name, 64, 192, ENGINES[name].k)
    print("all right")
