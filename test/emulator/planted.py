"""A hundred and more defects planted in right kernels on four chips: the emulator must find each one, on one run.

A kernel is text in which TID, BARRIER, BLOCK, … stand for the words of a chip. Each runs whole first: nothing may be
found, and the result must be right. A defect then replaces one piece of that text, and names the kinds of finding that
are right for it. Use: planted.py TILE_RUN [--part=K/N]. The last line is 'F of T planted defects found'.
"""
import re
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from emulate import Kernel  # noqa: E402

NVIDIA, AMD = ["sm_80", "sm_90a"], ["gfx942", "gfx1100"]
ALL = NVIDIA + AMD

RACE, BOUNDS, UNWRITTEN, DEADLOCK = "race", "out of bounds", "uninitialized read", "deadlock"
DIVERGED, EARLY, OVERWRITE, MISALIGNED = "divergence", "read before the copy landed", "overwrite of a copy in flight", "misaligned"
TRAP, UNDEFINED, OPERAND, STACK = "trap", "undefined operation", "bad operand", "stack overflow"

NVIDIA_WORDS = {"TID": "nvvm.read.ptx.sreg.tid.x : i32", "BID": "nvvm.read.ptx.sreg.ctaid.x : i32",
                "BARRIER": "nvvm.barrier0", "BLOCK": '"block"', "DEVICE": '"device"', "MARK": "nvvm.kernel", "WARP": "32"}
AMD_WORDS = {"TID": "rocdl.workitem.id.x : i32", "BID": "rocdl.workgroup.id.x : i32",
             "BARRIER": 'llvm.fence syncscope("workgroup") release\n      rocdl.s.barrier\n      llvm.fence syncscope("workgroup") acquire',
             "BLOCK": '"workgroup"', "DEVICE": '"agent"', "MARK": "rocdl.kernel", "WARP": "64"}


def words(chip):
    if chip in NVIDIA:
        return NVIDIA_WORDS
    return {**AMD_WORDS, "WARP": "64" if chip == "gfx942" else "32"}


class Planted:
    """A kernel on blocks of 128 threads over x (512 i32) and y (512 i32, 0), and its result."""

    def __init__(self, body, expected, blocks=4, chips=ALL, memory="", functions="", host=None, dynamic=0):
        self.body, self.expected, self.blocks, self.chips = body, expected, blocks, chips
        self.memory, self.functions, self.host, self.dynamic = memory, functions, host or HOST, dynamic


CONSTANTS = "\n".join(f"      %c{n} = llvm.mlir.constant({n} : i32) : i32"
                      for n in (0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 63, 64, 126, 127, 128, 255, 256, 511, 512))
HOST = """    gpu.launch_func @kernels::@k blocks in (%blocks, %one, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %dynamic args(%x : memref<512xi32>, %y : memref<512xi32>)"""


def program(kernel, chip, replaced=("", "")):
    text = f"""
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    llvm.mlir.global internal @shared() {{addr_space = 3 : i32, alignment = 16 : i64}} : !llvm.array<128 x i32>
    llvm.mlir.global internal @second() {{addr_space = 3 : i32, alignment = 16 : i64}} : !llvm.array<128 x i32>
{kernel.memory}{kernel.functions}
    llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {{gpu.kernel, MARK}} {{
      %t = TID
      %b = BID
{CONSTANTS}
      %full = llvm.mlir.constant(-1 : i32) : i32
      %base = llvm.mul %b, %c128 : i32
      %i = llvm.add %base, %t : i32
      %px = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %py = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %s = llvm.mlir.addressof @shared : !llvm.ptr<3>
      %s2 = llvm.mlir.addressof @second : !llvm.ptr<3>
      %mine = llvm.getelementptr %s[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %first = llvm.icmp "eq" %t, %c0 : i32
{kernel.body}      llvm.return
    }}
  }}
  func.func @main(%x: memref<512xi32>, %y: memref<512xi32>) {{
    %one = arith.constant 1 : index
    %blocks = arith.constant {kernel.blocks} : index
    %threads = arith.constant 128 : index
    %dynamic = arith.constant {kernel.dynamic} : i32
{kernel.host}
    return
  }}
}}
"""
    if text.count(replaced[0]) < 1:
        sys.exit(f"the kernel has no {replaced[0]!r}")
    text = text.replace(replaced[0], replaced[1], 1) if replaced[0] else text
    for word, meaning in words(chip).items():
        text = re.sub(rf"\b{word}\b", lambda _: meaning, text)
    return text


x = np.random.default_rng(5).integers(-1000, 1000, 512).astype(np.int32)
blocks = x.reshape(4, 128)
zero = np.zeros(512, np.int32)


def placed(values, at=0):
    y = zero.copy()
    y[at:at + len(values)] = values
    return y


# --- the kernels ------------------------------------------------------------------------------------------------------

REVERSE = Planted("""      %v = llvm.load %px : !llvm.ptr<1> -> i32
      llvm.store %v, %mine : i32, !llvm.ptr<3>
      BARRIER
      %o = llvm.sub %c127, %t : i32
      %other = llvm.getelementptr %s[%o] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %w = llvm.load %other : !llvm.ptr<3> -> i32
      llvm.store %w, %py : i32, !llvm.ptr<1>
""", blocks[:, ::-1].reshape(-1))

TREE = Planted("""      %v = llvm.load %px : !llvm.ptr<1> -> i32
      llvm.store %v, %mine : i32, !llvm.ptr<3>
      BARRIER // ahead
      llvm.br ^loop(%c64 : i32)
    ^loop(%stride: i32):
      %adds = llvm.icmp "ult" %t, %stride : i32
      llvm.cond_br %adds, ^add, ^next
    ^add:
      %to = llvm.add %t, %stride : i32
      %far = llvm.getelementptr %s[%to] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %a = llvm.load %mine : !llvm.ptr<3> -> i32
      %c = llvm.load %far : !llvm.ptr<3> -> i32
      %sum = llvm.add %a, %c : i32
      llvm.store %sum, %mine : i32, !llvm.ptr<3>
      llvm.br ^next
    ^next:
      BARRIER // inside
      %half = llvm.lshr %stride, %c1 : i32
      %more = llvm.icmp "ne" %half, %c0 : i32
      llvm.cond_br %more, ^loop(%half : i32), ^out
    ^out:
      llvm.cond_br %first, ^write, ^end
    ^write:
      %total = llvm.load %s : !llvm.ptr<3> -> i32
      %pb = llvm.getelementptr %y[%b] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %total, %pb : i32, !llvm.ptr<1>
      llvm.br ^end
    ^end:
""", placed(blocks.sum(axis=1)))

# A window of three over shared memory with a halo on both sides.
HALO = Planted("""      %v = llvm.load %px : !llvm.ptr<1> -> i32
      %room = llvm.mlir.addressof @halo : !llvm.ptr<3>
      %t1 = llvm.add %t, %c1 : i32
      %t2 = llvm.add %t, %c2 : i32
      %left = llvm.getelementptr %room[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %middle = llvm.getelementptr %room[%t1] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %right = llvm.getelementptr %room[%t2] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.store %v, %middle : i32, !llvm.ptr<3>
      llvm.cond_br %first, ^edges, ^inside
    ^edges:
      llvm.store %c0, %left : i32, !llvm.ptr<3>
      %end = llvm.getelementptr %room[129] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i32
      llvm.store %c0, %end : i32, !llvm.ptr<3>
      llvm.br ^inside
    ^inside:
      BARRIER
      %l = llvm.load %left : !llvm.ptr<3> -> i32
      %r = llvm.load %right : !llvm.ptr<3> -> i32
      %lr = llvm.add %l, %r : i32
      %w = llvm.add %lr, %v : i32
      llvm.store %w, %py : i32, !llvm.ptr<1>
""", (np.pad(blocks, ((0, 0), (1, 1)))[:, :-2] + blocks + np.pad(blocks, ((0, 0), (1, 1)))[:, 2:]).reshape(-1),
               memory="    llvm.mlir.global internal @halo() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<130 x i32>\n")

# Four tiles of 128, in two stages of shared memory, each loaded while the one before is used.
STAGES = """      %last = llvm.sub %c127, %t : i32
      COPY0
      llvm.br ^loop(%c0, %c0 : i32, i32)
    ^loop(%tile: i32, %sum: i32):
      %next = llvm.add %tile, %c1 : i32
      %more = llvm.icmp "ult" %next, %c4 : i32
      llvm.cond_br %more, ^ahead, ^wait
    ^ahead:
      %stage = llvm.and %next, %c1 : i32
      %room = llvm.mul %stage, %c128 : i32
      %at = llvm.mul %next, %c128 : i32
      %from = llvm.add %at, %t : i32
      %to = llvm.add %room, %t : i32
      COPY1
      WAIT1
      llvm.br ^use
    ^wait:
      WAIT0
      llvm.br ^use
    ^use:
      BARRIER // landed
      %which = llvm.and %tile, %c1 : i32
      %begin = llvm.mul %which, %c128 : i32
      %where = llvm.add %begin, %last : i32
      %p = llvm.getelementptr %stages[%where] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %w = llvm.load %p : !llvm.ptr<3> -> i32
      %new = llvm.add %sum, %w : i32
      BARRIER // used
      llvm.cond_br %more, ^loop(%next, %new : i32, i32), ^out
    ^out:
      llvm.store %new, %py : i32, !llvm.ptr<1>
"""
STAGE_MEMORY = "    llvm.mlir.global internal @stages() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<256 x i32>\n"
FIRST_PLACES = """%stages = llvm.mlir.addressof @stages : !llvm.ptr<3>
      %pt = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %pw = llvm.getelementptr %stages[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      """
NEXT_PLACES = """%pf = llvm.getelementptr %x[%from] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %pr = llvm.getelementptr %stages[%to] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      """
# A wave's loads into LDS go to one place and 4 bytes a lane from there.
WAVE_PLACES = """%wave0 = llvm.and %t, %c64 : i32
      """


def staged(copy0, copy1, wait1, wait0, chips):
    body = STAGES
    for name, text in (("COPY0", FIRST_PLACES + copy0), ("COPY1", NEXT_PLACES + copy1), ("WAIT1", wait1), ("WAIT0", wait0)):
        body = body.replace(name, text)
    return Planted(body, placed(blocks.sum(axis=0)[::-1]), blocks=1, chips=chips, memory=STAGE_MEMORY)


CP_ASYNC = staged("""nvvm.cp.async.shared.global %pw, %pt, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
      nvvm.cp.async.commit.group // ahead""", """nvvm.cp.async.shared.global %pr, %pf, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
      nvvm.cp.async.commit.group // inside""", "nvvm.cp.async.wait.group 1", "nvvm.cp.async.wait.group 0", NVIDIA)

VMCNT0, VMCNT1 = 0x0f70, 0x0f71
LDS_LOADS = staged(WAVE_PLACES + """%pwave = llvm.getelementptr %stages[%wave0] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      rocdl.load.to.lds %pt, %pwave, 4, 0, 0 : !llvm.ptr<1>""", """%towave = llvm.add %room, %wave0 : i32
      %pto = llvm.getelementptr %stages[%towave] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      rocdl.load.to.lds %pf, %pto, 4, 0, 0 : !llvm.ptr<1>""", f"rocdl.s.waitcnt {VMCNT1}", f"rocdl.s.waitcnt {VMCNT0}", ["gfx942"])

STAGED_LOADS = staged("""%v0 = llvm.load %pt : !llvm.ptr<1> -> i32
      llvm.store %v0, %pw : i32, !llvm.ptr<3>""", """%v1 = llvm.load %pf : !llvm.ptr<1> -> i32
      llvm.store %v1, %pr : i32, !llvm.ptr<3>""", "", "", ["gfx1100"])

# Block b hands the sum of all before it to block b + 1, through y[128 b] with a flag in y[128 b + 1].
HANDOVER = Planted("""      llvm.cond_br %first, ^one, ^end
    ^one:
      %v = llvm.load %px : !llvm.ptr<1> -> i32
      %flag = llvm.getelementptr %py[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      %pbefore = llvm.getelementptr %py[-128] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      %fbefore = llvm.getelementptr %py[-127] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      %begins = llvm.icmp "eq" %b, %c0 : i32
      llvm.cond_br %begins, ^give(%c0 : i32), ^wait
    ^wait:
      %seen = llvm.load %fbefore atomic syncscope(DEVICE) acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      %ready = llvm.icmp "eq" %seen, %c1 : i32
      llvm.cond_br %ready, ^take, ^wait
    ^take:
      %sofar = llvm.load %pbefore : !llvm.ptr<1> -> i32
      llvm.br ^give(%sofar : i32)
    ^give(%old: i32):
      %new = llvm.add %old, %v : i32
      llvm.store %new, %py : i32, !llvm.ptr<1>
      llvm.store %c1, %flag atomic syncscope(DEVICE) release {alignment = 4 : i64} : i32, !llvm.ptr<1>
      llvm.br ^end
    ^end:
""", (np.stack([np.cumsum(blocks[:, 0]), np.ones(4, np.int32)], axis=1) @ np.eye(2, 128, dtype=np.int32)).reshape(-1))

# The last block to come sums what all left: y[0] is the counter, y[1] the sum, y[8 + b] what block b left.
LAST_BLOCK = Planted("""      llvm.cond_br %first, ^one, ^end
    ^one:
      %v = llvm.load %px : !llvm.ptr<1> -> i32
      %at = llvm.add %b, %c8 : i32
      %left = llvm.getelementptr %y[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %v, %left : i32, !llvm.ptr<1>
      llvm.fence syncscope(DEVICE) release
      %came = llvm.atomicrmw add %y, %c1 syncscope(DEVICE) monotonic : !llvm.ptr<1>, i32
      %is = llvm.icmp "eq" %came, %c3 : i32
      llvm.cond_br %is, ^last, ^end
    ^last:
      llvm.fence syncscope(DEVICE) acquire
      llvm.br ^loop(%c0, %c0 : i32, i32)
    ^loop(%j: i32, %sum: i32):
      %from = llvm.add %j, %c8 : i32
      %p = llvm.getelementptr %y[%from] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %w = llvm.load %p : !llvm.ptr<1> -> i32
      %new = llvm.add %sum, %w : i32
      %next = llvm.add %j, %c1 : i32
      %more = llvm.icmp "ult" %next, %c4 : i32
      llvm.cond_br %more, ^loop(%next, %new : i32, i32), ^out
    ^out:
      %result = llvm.getelementptr %y[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      llvm.store %new, %result : i32, !llvm.ptr<1>
      llvm.br ^end
    ^end:
""", placed([4, blocks[:, 0].sum()]) + placed(blocks[:, 0], 8))

HISTOGRAM = Planted("""      %v = llvm.load %px : !llvm.ptr<1> -> i32
      %bin = llvm.and %v, %c127 : i32
      llvm.store %c0, %mine : i32, !llvm.ptr<3>
      BARRIER // cleared
      %pbin = llvm.getelementptr %s[%bin] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %old = llvm.atomicrmw add %pbin, %c1 syncscope(BLOCK) monotonic : !llvm.ptr<3>, i32
      BARRIER // counted
      %n = llvm.load %mine : !llvm.ptr<3> -> i32
      %out = llvm.getelementptr %y[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %old2 = llvm.atomicrmw add %out, %n syncscope(DEVICE) monotonic : !llvm.ptr<1>, i32
""", placed(np.bincount(x & 127, minlength=128)))

# The sum of each warp by exchanges, then of all warps by the first one.
EXCHANGE = """      %v = llvm.load %px : !llvm.ptr<1> -> i32
      %lane = llvm.and %t, %c31 : i32
      %warp = llvm.lshr %t, %c5 : i32
SUM      %leads = llvm.icmp "eq" %lane, %c0 : i32
      llvm.cond_br %leads, ^lead, ^met
    ^lead:
      %pwarp = llvm.getelementptr %s[%warp] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.store %v5, %pwarp : i32, !llvm.ptr<3>
      llvm.br ^met
    ^met:
      BARRIER
      llvm.cond_br %first, ^write, ^end
    ^write:
      llvm.br ^loop(%c0, %c0 : i32, i32)
    ^loop(%j: i32, %sum: i32):
      %p = llvm.getelementptr %s[%j] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %w = llvm.load %p : !llvm.ptr<3> -> i32
      %new = llvm.add %sum, %w : i32
      %next = llvm.add %j, %c1 : i32
      %more = llvm.icmp "ult" %next, %c4 : i32
      llvm.cond_br %more, ^loop(%next, %new : i32, i32), ^out
    ^out:
      %pb = llvm.getelementptr %y[%b] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %new, %pb : i32, !llvm.ptr<1>
      llvm.br ^end
    ^end:
"""
SHUFFLES = "".join(f"""      %g{i} = nvvm.shfl.sync bfly %full, %v{i}, %c{1 << i}, %c31 : i32 -> i32
      %v{i + 1} = llvm.add %v{i}, %g{i} : i32
""" for i in range(5)).replace("%v0", "%v")
PERMUTES = "      %lane4 = llvm.shl %t, %c2 : i32\n" + "".join(f"""      %a{i} = llvm.xor %lane4, %c{4 << i} : i32
      %g{i} = rocdl.ds_bpermute %a{i}, %v{i} : (i32, i32) -> i32
      %v{i + 1} = llvm.add %v{i}, %g{i} : i32
""" for i in range(5)).replace("%v0", "%v")
SHUFFLED = Planted(EXCHANGE.replace("SUM", SHUFFLES), placed(blocks.sum(axis=1)), chips=NVIDIA)
PERMUTED = Planted(EXCHANGE.replace("SUM", PERMUTES), placed(blocks.sum(axis=1)), chips=AMD)

# Warps 0 and 1 fill what warps 2 and 3 read, met at a barrier of their own.
NAMED = Planted("""      %reads = llvm.icmp "ugt" %t, %c63 : i32
      llvm.cond_br %reads, ^read, ^fill
    ^fill:
      %v = llvm.load %px : !llvm.ptr<1> -> i32
      llvm.store %v, %mine : i32, !llvm.ptr<3>
      nvvm.barrier.arrive id = %c1 number_of_threads = %c128
      llvm.br ^end
    ^read:
      nvvm.barrier id = %c1 number_of_threads = %c128
      %o = llvm.sub %t, %c64 : i32
      %other = llvm.getelementptr %s[%o] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %w = llvm.load %other : !llvm.ptr<3> -> i32
      llvm.store %w, %py : i32, !llvm.ptr<1>
      llvm.br ^end
    ^end:
""", np.concatenate([np.zeros((4, 64), np.int32), blocks[:, :64]], axis=1).reshape(-1), chips=NVIDIA)

# Private memory, division, calls.
PRIVATE = Planted("""      %v = llvm.load %px : !llvm.ptr<1> -> i32
      %own = llvm.alloca %c4 x i32 : (i32) -> !llvm.ptr
      %which = llvm.and %t, %c3 : i32
      llvm.store %c1, %own : i32, !llvm.ptr
      %own1 = llvm.getelementptr %own[1] : (!llvm.ptr) -> !llvm.ptr, i32
      llvm.store %c2, %own1 : i32, !llvm.ptr
      %own2 = llvm.getelementptr %own[2] : (!llvm.ptr) -> !llvm.ptr, i32
      llvm.store %c3, %own2 : i32, !llvm.ptr
      %own3 = llvm.getelementptr %own[3] : (!llvm.ptr) -> !llvm.ptr, i32
      llvm.store %c4, %own3 : i32, !llvm.ptr
      %pick = llvm.getelementptr %own[%which] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      %d = llvm.load %pick : !llvm.ptr -> i32
      %q = llvm.sdiv %v, %d : i32
      %w = llvm.call @twice(%q) : (i32) -> i32
      llvm.store %w, %py : i32, !llvm.ptr<1>
""", 2 * (np.trunc(x / (np.arange(512) % 4 + 1))).astype(np.int32), functions="""    llvm.func @twice(%n: i32) -> i32 {
      %r = llvm.add %n, %n : i32
      llvm.return %r : i32
    }
""")

# 16x8x16 by ldmatrix and mma: warp 0 multiplies ones of f16 that lie in shared memory.
MATRIX = Planted("""      %one = llvm.mlir.constant(1006648320 : i32) : i32
      %pm = llvm.getelementptr %s2[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.store %one, %pm : i32, !llvm.ptr<3>
      BARRIER
      %in = llvm.icmp "ult" %t, %c32 : i32
      llvm.cond_br %in, ^product, ^end
    ^product:
      %row = llvm.and %t, %c15 : i32
      %e = llvm.mul %row, %c4 : i32
      %pa = llvm.getelementptr %s2[%e] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %ab = nvvm.ldmatrix %pa {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 2 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
      %a0 = llvm.extractvalue %ab[0] : !llvm.struct<(i32, i32)>
      %a1 = llvm.extractvalue %ab[1] : !llvm.struct<(i32, i32)>
      %h0 = llvm.bitcast %a0 : i32 to vector<2xf16>
      %h1 = llvm.bitcast %a1 : i32 to vector<2xf16>
      %z = llvm.mlir.constant(0.0 : f32) : f32
      %r = nvvm.mma.sync A[%h0, %h1] B[%h0] C[%z, %z, %z, %z] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 8>} : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
      %f = llvm.extractvalue %r[0] : !llvm.struct<(f32, f32, f32, f32)>
      %w = llvm.fptosi %f : f32 to i32
      llvm.store %w, %py : i32, !llvm.ptr<1>
      llvm.br ^end
    ^end:
""", np.tile(np.repeat([8, 0], [32, 96]), 4).astype(np.int32), chips=NVIDIA)

# What the host does: memory of its own between two launches.
HOSTED = Planted(REVERSE.body, blocks.reshape(-1), host="""    %m = memref.alloc() : memref<512xi32>
    %d = memref.alloc() : memref<512xi32>
    gpu.launch_func @kernels::@k blocks in (%blocks, %one, %one) threads in (%threads, %one, %one)
      args(%x : memref<512xi32>, %m : memref<512xi32>)
    gpu.launch_func @kernels::@k blocks in (%blocks, %one, %one) threads in (%threads, %one, %one)
      args(%m : memref<512xi32>, %y : memref<512xi32>)
    memref.dealloc %m : memref<512xi32>
    memref.dealloc %d : memref<512xi32>""")

KERNELS = {"reverse": REVERSE, "tree": TREE, "halo": HALO, "cp.async": CP_ASYNC, "loads into LDS": LDS_LOADS,
           "staged loads": STAGED_LOADS, "handover": HANDOVER, "last block": LAST_BLOCK, "histogram": HISTOGRAM,
           "shuffled": SHUFFLED, "permuted": PERMUTED, "named": NAMED, "private": PRIVATE, "matrix": MATRIX,
           "hosted": HOSTED}

# --- the defects: kernel, what is wrong, the text, what stands there instead, what is right to find -------------------

RELEASE = "syncscope(DEVICE) release {alignment"
ACQUIRE = "syncscope(DEVICE) acquire {alignment"
IF_LOW = """%low = llvm.icmp "ult" %t, %c32 : i32
      llvm.cond_br %low, ^a, ^z
    ^a:
      {}
      llvm.br ^z
    ^z:"""

DEFECTS = [
    ("reverse", "no barrier", "      BARRIER\n", "", RACE),
    ("reverse", "the barrier before the store", "      llvm.store %v, %mine : i32, !llvm.ptr<3>\n      BARRIER\n",
     "      BARRIER\n      llvm.store %v, %mine : i32, !llvm.ptr<3>\n", RACE),
    ("reverse", "the barrier in a branch", "      BARRIER\n", "      " + IF_LOW.format("BARRIER") + "\n", f"{RACE}|{DIVERGED}|{DEADLOCK}"),
    ("reverse", "one too far in shared memory", "%o = llvm.sub %c127, %t", "%o = llvm.sub %c128, %t", BOUNDS),
    ("reverse", "one too far in x", "%px = llvm.getelementptr %x[%i]", "%far = llvm.add %i, %c1 : i32\n      %px = llvm.getelementptr %x[%far]", BOUNDS),
    ("reverse", "a block too many", "%blocks = arith.constant 4", "%blocks = arith.constant 5", BOUNDS),
    ("reverse", "two threads write one place of y", "%py = llvm.getelementptr %y[%i]",
     "%pair = llvm.lshr %i, %c1 : i32\n      %py = llvm.getelementptr %y[%pair]", RACE),
    ("reverse", "half of shared memory is not written", "      llvm.store %v, %mine : i32, !llvm.ptr<3>\n",
     "      " + IF_LOW.format("llvm.store %v, %mine : i32, !llvm.ptr<3>") + "\n", UNWRITTEN),
    ("tree", "no barrier ahead of the loop", "      BARRIER // ahead\n", "", RACE),
    ("tree", "no barrier inside the loop", "      BARRIER // inside\n", "", RACE),
    ("tree", "the first stride is too long", "llvm.br ^loop(%c64 : i32)", "llvm.br ^loop(%c128 : i32)", BOUNDS),
    ("tree", "no test of the thread", 'llvm.icmp "ult" %t, %stride', 'llvm.icmp "ult" %c0, %stride', f"{RACE}|{BOUNDS}"),
    ("tree", "all threads write the result", "llvm.cond_br %first, ^write, ^end", "llvm.br ^write", RACE),
    ("halo", "no barrier", "      BARRIER\n", "", RACE),
    ("halo", "the right edge is not set", "      llvm.store %c0, %end : i32, !llvm.ptr<3>\n", "", UNWRITTEN),
    ("halo", "no room for the right edge", "!llvm.array<130 x i32>", "!llvm.array<129 x i32>", BOUNDS),
    ("cp.async", "no wait inside", "      nvvm.cp.async.wait.group 1\n", "", EARLY),
    ("cp.async", "one wait too few at the end", "nvvm.cp.async.wait.group 0", "nvvm.cp.async.wait.group 1", EARLY),
    ("cp.async", "no commit ahead", "      nvvm.cp.async.commit.group // ahead\n", "", EARLY),
    ("cp.async", "no commit inside", "      nvvm.cp.async.commit.group // inside\n", "", EARLY),
    ("cp.async", "no barrier after the wait", "      BARRIER // landed\n", "", f"{RACE}|{EARLY}"),
    ("cp.async", "no barrier before the stage is used again", "      BARRIER // used\n", "", f"{RACE}|{OVERWRITE}"),
    ("cp.async", "both in one stage", "%room = llvm.mul %stage, %c128", "%room = llvm.mul %stage, %c0", f"{OVERWRITE}|{EARLY}|{RACE}"),
    ("loads into LDS", "no wait inside", f"      rocdl.s.waitcnt {VMCNT1}\n", "", EARLY),
    ("loads into LDS", "no wait at the end", f"      rocdl.s.waitcnt {VMCNT0}\n", "", EARLY),
    ("loads into LDS", "one wait too few at the end", f"rocdl.s.waitcnt {VMCNT0}", f"rocdl.s.waitcnt {VMCNT1}", EARLY),
    ("loads into LDS", "the wait for the wrong counter", f"rocdl.s.waitcnt {VMCNT0}", f"rocdl.s.waitcnt {0xc07f}", EARLY),
    ("loads into LDS", "no barrier after the wait", "      BARRIER // landed\n", "", f"{RACE}|{EARLY}"),
    ("loads into LDS", "no barrier before the stage is used again", "      BARRIER // used\n", "", f"{RACE}|{OVERWRITE}"),
    ("staged loads", "no barrier after the stores", "      BARRIER // landed\n", "", f"{RACE}|{UNWRITTEN}"),
    ("staged loads", "no barrier before the stage is used again", "      BARRIER // used\n", "", RACE),
    ("staged loads", "both in one stage", "%room = llvm.mul %stage, %c128", "%room = llvm.mul %stage, %c0", f"{RACE}|{UNWRITTEN}"),
    ("handover", "the flag is set without release", RELEASE, "syncscope(DEVICE) monotonic {alignment", RACE),
    ("handover", "the flag is read without acquire", ACQUIRE, "syncscope(DEVICE) monotonic {alignment", RACE),
    ("handover", "one look at the flag", "llvm.cond_br %ready, ^take, ^wait", "llvm.br ^take", RACE),
    ("handover", "the flag is of the block's scope", RELEASE, "syncscope(BLOCK) release {alignment", RACE),
    ("handover", "nobody sets the flag", "      llvm.store %c1, %flag atomic " + RELEASE + " = 4 : i64} : i32, !llvm.ptr<1>\n", "", DEADLOCK),
    ("handover", "a plain flag", "llvm.load %fbefore atomic " + ACQUIRE + " = 4 : i64}", "llvm.load %fbefore", RACE),
    ("last block", "no release fence", "      llvm.fence syncscope(DEVICE) release\n", "", RACE),
    ("last block", "no acquire fence", "      llvm.fence syncscope(DEVICE) acquire\n", "", RACE),
    ("last block", "one too early", 'llvm.icmp "eq" %came, %c3', 'llvm.icmp "eq" %came, %c2', RACE),
    ("last block", "the counter is no atomic", "%came = llvm.atomicrmw add %y, %c1 syncscope(DEVICE) monotonic : !llvm.ptr<1>, i32",
     "%came = llvm.load %y : !llvm.ptr<1> -> i32\n      %more0 = llvm.add %came, %c1 : i32\n      llvm.store %more0, %y : i32, !llvm.ptr<1>", RACE),
    ("histogram", "not cleared", "      llvm.store %c0, %mine : i32, !llvm.ptr<3>\n", "", UNWRITTEN),
    ("histogram", "no barrier after clearing", "      BARRIER // cleared\n", "", RACE),
    ("histogram", "no barrier after counting", "      BARRIER // counted\n", "", RACE),
    ("histogram", "a bin too many", "%bin = llvm.and %v, %c127", "%bin = llvm.and %v, %c255", BOUNDS),
    ("histogram", "the sum in y is no atomic", "%old2 = llvm.atomicrmw add %out, %n syncscope(DEVICE) monotonic : !llvm.ptr<1>, i32",
     "%o2 = llvm.load %out : !llvm.ptr<1> -> i32\n      %n2 = llvm.add %o2, %n : i32\n      llvm.store %n2, %out : i32, !llvm.ptr<1>", RACE),
    ("shuffled", "no barrier", "      BARRIER\n", "", f"{RACE}|{UNWRITTEN}"),
    ("shuffled", "half a warp is not named", "%full = llvm.mlir.constant(-1", "%full = llvm.mlir.constant(65535", f"{OPERAND}|{DIVERGED}"),
    ("shuffled", "warps share a place", "%pwarp = llvm.getelementptr %s[%warp]", "%pwarp = llvm.getelementptr %s[%lane]", RACE),
    ("permuted", "no barrier", "      BARRIER\n", "", f"{RACE}|{UNWRITTEN}"),
    ("permuted", "the barrier without fences", "      BARRIER\n", "      rocdl.s.barrier\n", f"{RACE}|{UNWRITTEN}"),
    ("named", "nobody arrives", "      nvvm.barrier.arrive id = %c1 number_of_threads = %c128\n", "", DEADLOCK),
    ("named", "the other barrier", "nvvm.barrier id = %c1", "nvvm.barrier id = %c2", DEADLOCK),
    ("named", "for too few threads", "nvvm.barrier id = %c1 number_of_threads = %c128", "nvvm.barrier id = %c1 number_of_threads = %c64", f"{OPERAND}|{RACE}|{UNWRITTEN}"),
    ("private", "past the end", "%which = llvm.and %t, %c3", "%which = llvm.and %t, %c7", BOUNDS),
    ("private", "one place is not written", "      llvm.store %c4, %own3 : i32, !llvm.ptr\n", "", UNWRITTEN),
    ("private", "division by zero", "llvm.store %c1, %own : i32", "llvm.store %c0, %own : i32", UNDEFINED),
    ("private", "recursion without end", "%r = llvm.add %n, %n : i32", "%m = llvm.call @twice(%n) : (i32) -> i32\n      %p = llvm.mul %n, %m : i32\n      %r = llvm.xor %p, %n : i32", STACK),
    ("matrix", "no barrier", "      BARRIER\n", "", f"{RACE}|{UNWRITTEN}"),
    ("matrix", "half a warp", 'llvm.icmp "ult" %t, %c32', 'llvm.icmp "ult" %t, %c16', f"{DIVERGED}|{DEADLOCK}"),
    ("matrix", "a row that is not aligned", "%e = llvm.mul %row, %c4", "%e = llvm.mul %row, %c3", MISALIGNED),
    ("matrix", "rows past the end", "%e = llvm.mul %row, %c4", "%e = llvm.mul %row, %c16", BOUNDS),
    ("hosted", "the wrong memory", "args(%x : memref<512xi32>, %m", "args(%x : memref<512xi32>, %d", UNWRITTEN),
    ("hosted", "freed too early", "    gpu.launch_func", "    memref.dealloc %m : memref<512xi32>\n    gpu.launch_func", BOUNDS),
    ("hosted", "freed twice", "    memref.dealloc %d", "    memref.dealloc %m", "the program released memory twice"),
]


def outcome(tool, chip, text):
    one = Kernel(tool, f"emulate:{chip}", text)
    done = one.start(text, [x, zero])
    return one, done


def check_whole(tool, name, chip):
    one, done = outcome(tool, chip, program(KERNELS[name], chip))
    if done.returncode:
        print(f"{name} on {chip}: the whole kernel was refused:\n{done.stderr[:1500]}")
        return False
    y = one.outputs([x, zero])[1]
    if not np.array_equal(y, KERNELS[name].expected):
        print(f"{name} on {chip}: the whole kernel gives {y[:16]}, expected {KERNELS[name].expected[:16]}")
        return False
    return True


def is_found(tool, chip, name, what, old, new, kinds):
    _, done = outcome(tool, chip, program(KERNELS[name], chip, (old, new)))
    if done.returncode == 1 and re.search(rf"error: .*({kinds})", done.stderr):
        return True
    print(f"{name} on {chip}, {what}: exit {done.returncode}, expected {kinds}:\n{done.stderr[:800]}")
    return False


def planted():
    """Every defect on every chip: (chip, kernel, what is wrong, the text, what stands there instead, right findings)."""
    return [(chip, *defect) for defect in DEFECTS for chip in KERNELS[defect[0]].chips]


def part_of(rows, part):
    index, count = (int(n) for n in part.split("/"))
    return rows[index::count]


if __name__ == "__main__":
    tool = sys.argv[1]
    part = next((flag.removeprefix("--part=") for flag in sys.argv[2:] if flag.startswith("--part=")), "0/1")
    rows = part_of(planted(), part)
    wrong = [pair for pair in sorted({(row[1], row[0]) for row in rows}) if not check_whole(tool, *pair)]
    found = sum(is_found(tool, *row) for row in rows)
    print(f"{found} of {len(rows)} planted defects found")
    sys.exit(found != len(rows) or bool(wrong))
