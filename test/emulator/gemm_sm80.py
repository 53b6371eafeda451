"""C[M,N] = A[M,K] B[N,K]^T on emulate:sm_80, as one writes it by hand: cp.async into shared memory, ldmatrix, mma.sync.

nvgpu and gpu ops, lowered by upstream's passes. Blocks of 4 warps make 64 x 32 of C; copies run STAGES steps ahead.
Tails in M and N are guarded, those in K come as zeros from short copies. Use: gemm_sm80.py TILE_RUN.
"""
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from emulate import Kernel  # noqa: E402

PIPELINE = ("builtin.module(convert-nvgpu-to-nvvm,gpu.module(convert-vector-to-scf,convert-scf-to-cf,"
            "convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=1},expand-strided-metadata,lower-affine,"
            "convert-arith-to-llvm,convert-index-to-llvm),convert-cf-to-llvm,"
            "gpu.module(canonicalize,cse,reconcile-unrealized-casts))")


def gemm(m, n, k, stages, pitch=16):
    """`pitch`: elements of a row in shared memory, which decides the bank conflicts (see `conflicts`)."""
    constants = "\n".join(f"      %c{i} = arith.constant {i} : index"
                          for i in sorted({0, 1, 2, 3, 4, 8, 16, 24, 32, 64, 128, stages, m, n, k}))
    copies = f"""
        %slot{{0}} = arith.remui %step{{0}}, %c{stages} : index
        %k{{0}} = arith.muli %step{{0}}, %c16 : index
        %kc{{0}} = arith.addi %k{{0}}, %chunk : index
        %left{{0}} = arith.subi %c{k}, %kc{{0}} : index
        %some{{0}} = arith.maxsi %left{{0}}, %c0 : index
        %most{{0}} = arith.minsi %some{{0}}, %c8 : index
        %na{{0}} = arith.select %inA, %most{{0}}, %c0 : index
        %nb{{0}} = arith.select %inB, %most{{0}}, %c0 : index
        %in{{0}} = arith.minsi %kc{{0}}, %last : index
        %cpA{{0}} = nvgpu.device_async_copy %A[%ra, %in{{0}}], %sA[%slot{{0}}, %r, %chunk], 8, %na{{0}} {{{{bypassL1}}}}
          : memref<{m}x{k}xf16> to memref<{stages}x64x{pitch}xf16, #ws>
        scf.if %loadsB {{{{
          %cpB{{0}} = nvgpu.device_async_copy %B[%rb, %in{{0}}], %sB[%slot{{0}}, %r, %chunk], 8, %nb{{0}} {{{{bypassL1}}}}
            : memref<{n}x{k}xf16> to memref<{stages}x32x{pitch}xf16, #ws>
        }}}}
        %g{{0}} = nvgpu.device_async_create_group %cpA{{0}}"""
    ahead = "\n".join(f"      %stepp{i} = arith.constant {i} : index" + copies.format(f"p{i}")
                      for i in range(stages - 1))
    loads = "\n".join(f"""        %b{j} = nvgpu.ldmatrix %sB[%slot, %br{j}, %bc] {{numTiles = 2 : i32, transpose = false}}
          : memref<{stages}x32x{pitch}xf16, #ws> -> vector<2x2xf16>
        %y{j} = nvgpu.mma.sync(%a, %b{j}, %x{j}) {{mmaShape = [16, 8, 16]}}
          : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>""" for j in range(4))
    stores = "\n".join(f"""
      %col{j}{i}{e} = arith.addi %q{j}, %c{e} : index
      %okr{j}{i}{e} = arith.cmpi ult, %row{i}, %c{m} : index
      %okc{j}{i}{e} = arith.cmpi ult, %col{j}{i}{e}, %c{n} : index
      %ok{j}{i}{e} = arith.andi %okr{j}{i}{e}, %okc{j}{i}{e} : i1
      %d{j}{i}{e} = vector.extract %acc#{j}[{i}, {e}] : f32 from vector<2x2xf32>
      scf.if %ok{j}{i}{e} {{ memref.store %d{j}{i}{e}, %C[%row{i}, %col{j}{i}{e}] : memref<{m}x{n}xf32> }}"""
                       for j in range(4) for i in range(2) for e in range(2))
    columns = "\n".join(f"      %q{j} = arith.addi %qbase, %c{8 * j} : index" for j in range(4))
    rows_b = "\n".join(f"      %br{j} = arith.addi %brow, %c{8 * j} : index" for j in range(4))
    accumulators = ", ".join(f"%x{j} = %zero" for j in range(4))
    steps = -(-k // 16)
    return f"""
#ws = #gpu.address_space<workgroup>
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @gemm(%A: memref<{m}x{k}xf16>, %B: memref<{n}x{k}xf16>, %C: memref<{m}x{n}xf32>)
        workgroup(%sA : memref<{stages}x64x{pitch}xf16, #ws> {{llvm.align = 16 : i64}},
                  %sB : memref<{stages}x32x{pitch}xf16, #ws> {{llvm.align = 16 : i64}})
        kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
{constants}
      %steps = arith.constant {steps} : index
      %lastRowA = arith.constant {m - 1} : index
      %lastRowB = arith.constant {n - 1} : index
      %last = arith.constant {max(k - 8, 0)} : index
      %t = gpu.thread_id x
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %m0 = arith.muli %bx, %c64 : index
      %n0 = arith.muli %by, %c32 : index
      %w = arith.divui %t, %c32 : index
      %l = arith.remui %t, %c32 : index
      %r = arith.divui %t, %c2 : index
      %half = arith.remui %t, %c2 : index
      %chunk = arith.muli %half, %c8 : index
      %gra = arith.addi %m0, %r : index
      %grb = arith.addi %n0, %r : index
      %inA = arith.cmpi ult, %gra, %c{m} : index
      %inB = arith.cmpi ult, %grb, %c{n} : index
      %ra = arith.minui %gra, %lastRowA : index
      %rb = arith.minui %grb, %lastRowB : index
      %loadsB = arith.cmpi ult, %t, %c64 : index
      %zero = arith.constant dense<0.0> : vector<2x2xf32>
      %wr = arith.muli %w, %c16 : index
      %l16 = arith.remui %l, %c16 : index
      %ar = arith.addi %wr, %l16 : index
      %ah = arith.divui %l, %c16 : index
      %ac = arith.muli %ah, %c8 : index
      %brow = arith.remui %l, %c8 : index
      %bh = arith.divui %l, %c8 : index
      %bm = arith.remui %bh, %c2 : index
      %bc = arith.muli %bm, %c8 : index
{rows_b}
{ahead}
      %acc:4 = scf.for %step = %c0 to %steps step %c1 iter_args({accumulators})
          -> (vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>) {{
        %one = arith.constant {stages - 1} : index
        %stepn = arith.addi %step, %one : index
        {copies.format("n").strip()}
        nvgpu.device_async_wait %gn {{numGroups = {stages - 1} : i32}}
        gpu.barrier
        %slot = arith.remui %step, %c{stages} : index
        %a = nvgpu.ldmatrix %sA[%slot, %ar, %ac] {{numTiles = 4 : i32, transpose = false}}
          : memref<{stages}x64x{pitch}xf16, #ws> -> vector<4x2xf16>
{loads}
        gpu.barrier
        scf.yield %y0, %y1, %y2, %y3 : vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>, vector<2x2xf32>
      }}
      %lr = arith.divui %l, %c4 : index
      %lc = arith.remui %l, %c4 : index
      %lc2 = arith.muli %lc, %c2 : index
      %rbase = arith.addi %m0, %wr : index
      %row0 = arith.addi %rbase, %lr : index
      %row1 = arith.addi %row0, %c8 : index
      %qbase = arith.addi %n0, %lc2 : index
{columns}
{stores}
      gpu.return
    }}
  }}
  func.func @main(%A: memref<{m}x{k}xf16>, %B: memref<{n}x{k}xf16>, %C: memref<{m}x{n}xf32>) {{
    %gx = arith.constant {-(-m // 64)} : index
    %gy = arith.constant {-(-n // 32)} : index
    %one = arith.constant 1 : index
    %threads = arith.constant 128 : index
    gpu.launch_func @kernels::@gemm blocks in (%gx, %gy, %one) threads in (%threads, %one, %one)
      args(%A : memref<{m}x{k}xf16>, %B : memref<{n}x{k}xf16>, %C : memref<{m}x{n}xf32>)
    return
  }}
}}
"""


def arrays(m, n, k):
    rng = np.random.default_rng(m * 7 + n * 5 + k)
    return [rng.integers(-8, 9, (m, k)).astype(np.float16), rng.integers(-6, 7, (n, k)).astype(np.float16),
            np.full((m, n), np.nan, np.float32)]


def conflicts(m, n, k, stages, pitch):
    """In chunks of 16 bytes; 8 chunks lie side by side in the banks: the 8 rows of one phase of ldmatrix lie at
    multiples of the pitch, the 8 lanes of one phase of a copy at row t / 2, chunk t mod 2. Pitch 16: 2 chunks, rows 0
    and 4 meet, copies are dense. Pitch 24: 3 chunks, rows never meet, in each phase of a copy one pair of lanes does."""
    blocks, steps = -(-m // 64) * -(-n // 32), -(-k // 16)
    if pitch == 16:
        return blocks * steps * 4 * (4 + 4 * 2)  # warps * phases of A and four Bs
    return blocks * (steps + stages - 1) * (4 + 2) * 4  # warps that copy A and B * phases


def check(tool, m, n, k, stages, pitch):
    data = arrays(m, n, k)
    for seed in (1, 2):
        outputs, stats = Kernel(tool, "emulate:sm_80", gemm(m, n, k, stages, pitch), PIPELINE).run(
            data, [f"--seed={seed}"])
        expected = data[0].astype(np.float64) @ data[1].astype(np.float64).T
        if not np.array_equal(outputs[2].astype(np.float64), expected):
            sys.exit(f"{m} x {n} x {k}, {stages} stages: wrong")
    blocks, steps = -(-m // 64) * -(-n // 32), -(-k // 16)
    flops = blocks * steps * 4 * 4 * 2 * 16 * 8 * 16
    if stats["mma_flops"] != flops or stats["barriers"] != blocks * steps * 2:
        sys.exit(f"{m} x {n} x {k}: {stats['mma_flops']} mma flops, expected {flops}; {stats['barriers']} barriers")
    if stats["shared_bank_conflicts"] != conflicts(m, n, k, stages, pitch):
        sys.exit(f"pitch {pitch}: {stats['shared_bank_conflicts']} bank conflicts, expected "
                 f"{conflicts(m, n, k, stages, pitch)}")


def check_trace(tool):
    kernel = Kernel(tool, "emulate:sm_80", gemm(64, 32, 32, 2), PIPELINE)
    kernel.run(arrays(64, 32, 32), [f"--trace={kernel.folder}/trace.json"])
    events = json.loads((kernel.folder / "trace.json").read_text())["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    rows = {(event["pid"], event["tid"]) for event in spans}
    if len(rows) < 4 or not any(event["dur"] > 0 for event in spans):
        sys.exit(f"the trace shows {len(rows)} rows, {len(spans)} spans")


if __name__ == "__main__":
    tile_run = sys.argv[1]
    if sys.argv[2:] == ["mutants"]:
        found = 0
        for stages in (1, 2, 3):
            kernel = Kernel(tile_run, "emulate:sm_80", gemm(64, 32, 80, stages), PIPELINE)
            found += kernel.check_mutants(arrays(64, 32, 80), ["nvvm.barrier0", "nvvm.cp.async.wait.group",
                                                               "nvvm.cp.async.commit.group"])
        print(f"{found} mutants found")
        sys.exit(0 if found == 15 else 1)
    check(tile_run, 256, 256, 256, 1, 16)
    check(tile_run, 256, 256, 256, 2, 24)
    check(tile_run, 64, 32, 16, 1, 16)
    check(tile_run, 100, 40, 72, 3, 24)
    check(tile_run, 1, 1, 8, 2, 16)
    check(tile_run, 67, 33, 200, 2, 24)
    check_trace(tile_run)
    print("all right")
