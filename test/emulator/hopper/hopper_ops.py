"""What is new from sm_90 on, as nvvm's ops say it: barriers in memory, clusters of blocks.

Each kernel is right on sm_90a, and without any one of its synchronizing ops it is found to be wrong.
Use: hopper_ops.py TILE_RUN.
"""
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
from emulate import Kernel  # noqa: E402

x = np.random.default_rng(3).integers(-1000, 1000, 512).astype(np.int32)

CONSTANTS = "\n".join(f"      %c{n} = llvm.mlir.constant({n} : i32) : i32" for n in (0, 1, 2, 4, 31, 64, 127, 128))


def program(body, threads=128, blocks=4, more=""):
    return f"""
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    llvm.mlir.global internal @shared() {{addr_space = 3 : i32, alignment = 16 : i64}} : !llvm.array<128 x i32>
    llvm.mlir.global internal @barriers() {{addr_space = 3 : i32, alignment = 8 : i64}} : !llvm.array<4 x i64>
    llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {{gpu.kernel, nvvm.kernel{more}}} {{
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %b = nvvm.read.ptx.sreg.ctaid.x : i32
{CONSTANTS}
      %ticks = llvm.mlir.constant(1000 : i32) : i32
      %first = llvm.icmp "eq" %t, %c0 : i32
      %base = llvm.mul %b, %c128 : i32
      %i = llvm.add %base, %t : i32
      %px = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %py = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %s = llvm.mlir.addressof @shared : !llvm.ptr<3>
      %b0 = llvm.mlir.addressof @barriers : !llvm.ptr<3>
      %b1 = llvm.getelementptr %b0[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %mine = llvm.getelementptr %s[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %o = llvm.sub %c127, %t : i32
      %other = llvm.getelementptr %s[%o] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
{body}      llvm.return
    }}
  }}
  func.func @main(%x: memref<512xi32>, %y: memref<512xi32>) {{
    %one = arith.constant 1 : index
    %blocks = arith.constant {blocks} : index
    %threads = arith.constant {threads} : index
    gpu.launch_func @kernels::@k blocks in (%blocks, %one, %one) threads in (%threads, %one, %one)
      args(%x : memref<512xi32>, %y : memref<512xi32>)
    return
  }}
}}
"""


# Each block is reversed through shared memory twice: by a barrier waited for by parity, then by state.
REVERSED_TWICE = program("""      nvvm.mbarrier.init %b0, %c128, predicate = %first : !llvm.ptr<3>, i32, i1
      llvm.cond_br %first, ^makes, ^made
    ^makes:
      nvvm.mbarrier.init %b1, %c128 : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
      llvm.br ^made
    ^made:
      nvvm.barrier0
      %v = llvm.load %px : !llvm.ptr<1> -> i32
      llvm.store %v, %mine : i32, !llvm.ptr<3>
      nvvm.mbarrier.arrive %b0 : !llvm.ptr<3>
      nvvm.mbarrier.try_wait.parity %b0, %c0, %ticks : !llvm.ptr<3>, i32, i32
      %w = llvm.load %other : !llvm.ptr<3> -> i32
      %state = nvvm.mbarrier.arrive %b1 : !llvm.ptr<3> -> i64
      llvm.br ^look
    ^look:
      %over = nvvm.mbarrier.test.wait %b1, %state : !llvm.ptr<3>, i64 -> i1
      llvm.cond_br %over, ^go, ^look
    ^go:
      %w1 = llvm.add %w, %c1 : i32
      llvm.store %w1, %mine : i32, !llvm.ptr<3>
      nvvm.mbarrier.arrive.expect_tx %b0, %c0 : !llvm.ptr<3>, i32
      nvvm.mbarrier.try_wait.parity %b0, %c1, %ticks : !llvm.ptr<3>, i32, i32
      %z = llvm.load %other : !llvm.ptr<3> -> i32
      llvm.store %z, %py : i32, !llvm.ptr<1>
""")

# Two blocks exchange what they have: each writes into the other one's memory and arrives at its barrier.
EXCHANGED = program("""      %r = nvvm.read.ptx.sreg.cluster.ctarank : i32
      %other_rank = llvm.sub %c1, %r : i32
      nvvm.mbarrier.init %b0, %c128, predicate = %first : !llvm.ptr<3>, i32, i1
      nvvm.cluster.arrive {aligned}
      nvvm.cluster.wait {aligned}
      %v = llvm.load %px : !llvm.ptr<1> -> i32
      %there = nvvm.mapa %mine, %other_rank : !llvm.ptr<3> -> !llvm.ptr<7>
      llvm.store %v, %there : i32, !llvm.ptr<7>
      %peer = nvvm.mapa %b0, %other_rank : !llvm.ptr<3> -> !llvm.ptr<7>
      nvvm.mbarrier.arrive %peer {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
      llvm.br ^look
    ^look:
      %over = nvvm.mbarrier.try_wait %b0, %c0 {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<3>, i32 -> i1
      llvm.cond_br %over, ^go, ^look
    ^go:
      %w = llvm.load %other : !llvm.ptr<3> -> i32
      llvm.store %w, %py : i32, !llvm.ptr<1>
""", more=", nvvm.cluster_dim = array<i32: 2, 1, 1>")

OPS = ["nvvm.mbarrier.init", "nvvm.mbarrier.arrive", "nvvm.mbarrier.arrive.expect_tx", "nvvm.mbarrier.try_wait.parity",
       "nvvm.barrier0"]
CLUSTER_OPS = ["nvvm.mbarrier.init", "nvvm.cluster.arrive", "nvvm.cluster.wait", "nvvm.mbarrier.arrive"]


def main(tile_run):
    kernel = Kernel(tile_run, "emulate:sm_90a", REVERSED_TWICE)
    arrays = [x, np.zeros_like(x)]
    outputs, _ = kernel.run(arrays)
    np.testing.assert_array_equal(outputs[1], x + 1)
    print(f"barriers in memory: {kernel.check_mutants(arrays, OPS)} mutants found")
    kernel = Kernel(tile_run, "emulate:sm_90a", EXCHANGED)
    outputs, _ = kernel.run(arrays)
    np.testing.assert_array_equal(outputs[1], x.reshape(2, 2, 128)[:, ::-1, ::-1].reshape(512))
    narrower = EXCHANGED.replace(" {scope = #nvvm.mem_scope<cluster>}", "", 1)  # an arrival of scope .cta
    done = kernel.start(narrower, arrays)
    assert done.returncode == 1 and "in no order" in done.stderr, done.stderr
    print(f"clusters: {kernel.check_mutants(arrays, CLUSTER_OPS)} mutants found")


main(sys.argv[1])
