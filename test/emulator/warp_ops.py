"""Each nvvm and rocdl op that exchanges values within a warp, and small ops of a thread, against numpy.

Every case is a kernel of two blocks of 128 threads that reads x (i32), does one op and writes its result r (i32).
Use: warp_ops.py TILE_RUN.
"""
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from emulate import Kernel  # noqa: E402

THREADS, BLOCKS = 128, 2
rng = np.random.default_rng(11)
x = rng.integers(-50, 50, THREADS * BLOCKS).astype(np.int32)
flat = np.arange(THREADS * BLOCKS)


def by_lane(width, source):
    """x of lane source(lane) of the same warp."""
    lane = flat % width
    return x[flat - lane + source(lane)]


def reduced(width, ufunc, values=x):
    return np.repeat(ufunc.reduce(values.reshape(-1, width), axis=1), width)


def ballot(width, predicate):
    bits = predicate.reshape(-1, width).astype(np.uint64) << np.arange(width, dtype=np.uint64)
    return np.repeat(np.bitwise_or.reduce(bits, axis=1), width)


def as_i32(values):
    return np.asarray(values).astype(np.uint32).view(np.int32)


def matched(width):
    warps = x.reshape(-1, width)
    equal = warps[:, :, None] == warps[:, None, :]
    return (equal.astype(np.uint64) << np.arange(width, dtype=np.uint64)).sum(axis=2).reshape(-1)


def bytes_of(values):
    return values.astype(np.int32).view(np.uint8).reshape(-1, 4).astype(np.int64)


def signed(values):
    return np.where(values > 127, values - 256, values)


lane32, lane64 = flat % 32, flat % 64
CONSTANTS = "\n".join(f"      %c{n} = llvm.mlir.constant({v} : i32) : i32" for n, v in
                      {"0": 0, "1": 1, "2": 2, "3": 3, "4": 4, "5": 5, "31": 31, "full": -1, "segment": 0x181f,
                       "segmentup": 0x1800, "low": 0x0f0f0f0f, "sel": 0x3b21, "quad": 0x8000 | 0x4e}.items())

NVVM = {
    "shfl idx": ("%r = nvvm.shfl.sync idx %cfull, %x, %c5, %c31 : i32 -> i32", by_lane(32, lambda l: 0 * l + 5)),
    "shfl bfly": ("%r = nvvm.shfl.sync bfly %cfull, %x, %c3, %c31 : i32 -> i32", by_lane(32, lambda l: l ^ 3)),
    "shfl down in segments of 8": ("%r = nvvm.shfl.sync down %cfull, %x, %c2, %csegment : i32 -> i32",
                                   by_lane(32, lambda l: np.where(l % 8 < 6, l + 2, l))),
    "shfl up": ("%r = nvvm.shfl.sync up %cfull, %x, %c4, %c0 : i32 -> i32",
                by_lane(32, lambda l: np.where(l >= 4, l - 4, l))),
    "shfl with predicate": ("""%p = nvvm.shfl.sync up %cfull, %x, %c4, %csegmentup {return_value_and_is_valid} : i32 -> !llvm.struct<(i32, i1)>
      %valid = llvm.extractvalue %p[1] : !llvm.struct<(i32, i1)>
      %r = llvm.zext %valid : i1 to i32""", lane32 % 8 >= 4),
    "shfl of f32": ("""%f = llvm.sitofp %x : i32 to f32
      %s = nvvm.shfl.sync bfly %cfull, %f, %c1, %c31 : f32 -> f32
      %r = llvm.fptosi %s : f32 to i32""", by_lane(32, lambda l: l ^ 1)),
    "vote any": ("""%v = nvvm.vote.sync any %cfull, %positive -> i1
      %r = llvm.zext %v : i1 to i32""", reduced(32, np.logical_or, x > 0)),
    "vote all": ("""%v = nvvm.vote.sync all %cfull, %positive -> i1
      %r = llvm.zext %v : i1 to i32""", reduced(32, np.logical_and, x > 0)),
    "vote ballot": ("%r = nvvm.vote.sync ballot %cfull, %positive -> i32", as_i32(ballot(32, x > 0))),
    "match any": ("%r = nvvm.match.sync any %cfull, %x : i32 -> i32", as_i32(matched(32))),
    "match all": ("""%same = llvm.lshr %lane, %c5 : i32
      %p = nvvm.match.sync all %cfull, %same : i32 -> !llvm.struct<(i32, i1)>
      %r = llvm.extractvalue %p[0] : !llvm.struct<(i32, i1)>""", np.full(flat.size, -1)),
    "match all of different": ("""%p = nvvm.match.sync all %cfull, %lane : i32 -> !llvm.struct<(i32, i1)>
      %r = llvm.extractvalue %p[0] : !llvm.struct<(i32, i1)>""", np.zeros(flat.size)),
    "redux add": ("%r = nvvm.redux.sync add %x, %cfull : i32 -> i32", reduced(32, np.add)),
    "redux min": ("%r = nvvm.redux.sync min %x, %cfull : i32 -> i32", reduced(32, np.minimum)),
    "redux umax": ("%r = nvvm.redux.sync umax %x, %cfull : i32 -> i32",
                   as_i32(reduced(32, np.maximum, x.view(np.uint32)))),
    "redux xor": ("%r = nvvm.redux.sync xor %x, %cfull : i32 -> i32", reduced(32, np.bitwise_xor)),
    "elect": ("""%e = nvvm.elect.sync -> i1
      %r = llvm.zext %e : i1 to i32""", lane32 == 0),
    "lane masks": ("""%lt = nvvm.read.ptx.sreg.lanemask.lt : i32
      %r = llvm.intr.ctpop(%lt) : (i32) -> i32""", lane32),
    "lane and warp": ("""%l = nvvm.read.ptx.sreg.laneid : i32
      %w = nvvm.read.ptx.sreg.warpid : i32
      %w2 = llvm.shl %w, %c5 : i32
      %r = llvm.add %l, %w2 : i32""", flat % THREADS),
    "barrier popc": ("%r = nvvm.barrier #nvvm.reduction<popc> %px -> i32",
                     np.repeat((x > 0).reshape(BLOCKS, -1).sum(axis=1), THREADS)),
    "barrier or": ("%r = nvvm.barrier #nvvm.reduction<or> %px -> i32", np.ones(flat.size)),
    "barrier and": ("%r = nvvm.barrier #nvvm.reduction<and> %px -> i32", np.zeros(flat.size)),
    "prmt": ("%r = nvvm.prmt #nvvm.permute_mode<default> %csel, %x, %lane : i32",
             None),
    "tf32": ("""%f = llvm.sitofp %x : i32 to f32
      %third = llvm.mlir.constant(3.0 : f32) : f32
      %q = llvm.fdiv %f, %third : f32
      %r = nvvm.convert.float.to.tf32 %q {rnd = #nvvm.fp_rnd_mode<rna>}""",
             (((x / np.float32(3)).astype(np.float32).view(np.uint32) + 0x1000) & 0xffffe000).view(np.int32)),
    "dp4a": ("""%v = llvm.bitcast %x : i32 to vector<4xi8>
      %w = llvm.bitcast %clow : i32 to vector<4xi8>
      %r = nvvm.dot.accumulate.4way %v <signed>, %w <unsigned>, %x : vector<4xi8>, vector<4xi8>""",
             signed(bytes_of(x)) @ np.full(4, 15) + x),
}
NVVM["prmt"] = (NVVM["prmt"][0], as_i32(sum(
    (np.where(True, np.concatenate([bytes_of(x), bytes_of(lane32)], axis=1)[:, n & 7], 0) if not n & 8 else
     np.where(np.concatenate([bytes_of(x), bytes_of(lane32)], axis=1)[:, n & 7] > 127, 255, 0)).astype(np.uint32) << (8 * i)
    for i, n in enumerate([1, 2, 0xb, 3]))))

ROCDL = {
    "ds_bpermute": ("""%other = llvm.xor %lane, %c5 : i32
      %b = llvm.shl %other, %c2 : i32
      %r = rocdl.ds_bpermute %b, %x : (i32, i32) -> i32""", by_lane(64, lambda l: l ^ 5)),
    "ds_swizzle quad": ("%r = rocdl.ds_swizzle %x, %cquad : (i32, i32) -> i32", by_lane(64, lambda l: l ^ 2)),
    "readlane": ("%r = rocdl.readlane %x, %c31 : (i32, i32) -> i32", by_lane(64, lambda l: 0 * l + 31)),
    "readfirstlane": ("%r = rocdl.readfirstlane %x : i32", by_lane(64, lambda l: 0 * l)),
    "readlane of f64": ("""%f = llvm.sitofp %x : i32 to f64
      %s = rocdl.readlane %f, %c5 : (f64, i32) -> f64
      %r = llvm.fptosi %s : f64 to i32""", by_lane(64, lambda l: 0 * l + 5)),
    "ballot": ("""%b = rocdl.ballot %positive : i64
      %n = llvm.intr.ctpop(%b) : (i64) -> i64
      %r = llvm.trunc %n : i64 to i32""", reduced(64, np.add, (x > 0).astype(np.int32))),
    "mbcnt": ("""%lo = rocdl.mbcnt.lo %cfull, %c0 : (i32, i32) -> i32
      %r = rocdl.mbcnt.hi %cfull, %lo : (i32, i32) -> i32""", lane64),
    "dpp row_shr 1": ("%r = rocdl.update.dpp %cfull, %x with 273, 15, 15, false : i32",
                      np.where(lane64 % 16 == 0, -1, np.roll(x, 1))),
    "dpp row_shr 1 with zeros": ("%r = rocdl.update.dpp %cfull, %x with 273, 15, 15, true : i32",
                                 np.where(lane64 % 16 == 0, 0, np.roll(x, 1))),
    "dpp row_bcast 15 into odd rows": ("%r = rocdl.update.dpp %c0, %x with 322, 10, 15, false : i32",
                                       np.where(lane64 // 16 % 2 == 1, x[flat // 16 * 16 - 1], 0)),
    "fmed3": ("""%f = llvm.sitofp %x : i32 to f32
      %lo = llvm.mlir.constant(-10.0 : f32) : f32
      %hi = llvm.mlir.constant(10.0 : f32) : f32
      %m = rocdl.fmed3 %f, %lo, %hi : f32
      %r = llvm.fptosi %m : f32 to i32""", np.clip(x, -10, 10)),
    "fp8 there and back": ("""%f = llvm.sitofp %x : i32 to f32
      %p = rocdl.cvt.pk.fp8.f32 %f, %f -> %c0[false] : i32
      %b = rocdl.cvt.f32.fp8 %p[1] : f32
      %r = llvm.fptosi %b : f32 to i32""", None),
    "ids": ("""%d = rocdl.workgroup.dim.x : i32
      %g = rocdl.grid.dim.x : i32
      %w = rocdl.wavefrontsize : i32
      %dg = llvm.mul %d, %g : i32
      %r = llvm.add %dg, %w : i32""", np.full(flat.size, THREADS * BLOCKS + 64)),
}


def e4m3(values):
    """To the nearest of e4m3's, ties to even: 3 bits after the leading one (all of these numbers are normal or 0)."""
    magnitude = np.abs(values).astype(np.float64)
    step = 2.0 ** (np.floor(np.log2(np.maximum(magnitude, 1))) - 3)
    return np.sign(values) * np.round(magnitude / step) * step


ROCDL["fp8 there and back"] = (ROCDL["fp8 there and back"][0], e4m3(x))

IDS = {"nvvm": "%t = nvvm.read.ptx.sreg.tid.x : i32\n      %b0 = nvvm.read.ptx.sreg.ctaid.x : i32",
       "rocdl": "%t = rocdl.workitem.id.x : i32\n      %b0 = rocdl.workgroup.id.x : i32"}


def kernel(dialect, op, width):
    size = THREADS * BLOCKS
    return f"""
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    llvm.func @k(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {{gpu.kernel}} {{
{CONSTANTS}
      {IDS[dialect]}
      %threads = llvm.mlir.constant({THREADS} : i32) : i32
      %width = llvm.mlir.constant({width} : i32) : i32
      %base = llvm.mul %b0, %threads : i32
      %i = llvm.add %base, %t : i32
      %lane = llvm.urem %t, %width : i32
      %pin = llvm.getelementptr %in[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %pout = llvm.getelementptr %out[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %x = llvm.load %pin : !llvm.ptr<1> -> i32
      %positive = llvm.icmp "sgt" %x, %c0 : i32
      %px = llvm.zext %positive : i1 to i32
      {op}
      llvm.store %r, %pout : i32, !llvm.ptr<1>
      llvm.return
    }}
  }}
  func.func @main(%in: memref<{size}xi32>, %out: memref<{size}xi32>) {{
    %one = arith.constant 1 : index
    %blocks = arith.constant {BLOCKS} : index
    %threads = arith.constant {THREADS} : index
    gpu.launch_func @kernels::@k blocks in (%blocks, %one, %one) threads in (%threads, %one, %one)
      args(%in : memref<{size}xi32>, %out : memref<{size}xi32>)
    return
  }}
}}
"""


def check(tool, target, dialect, width, cases):
    wrong = 0
    for name, (op, expected) in cases.items():
        outputs, _ = Kernel(tool, target, kernel(dialect, op, width)).run([x, np.zeros_like(x)])
        expected = np.asarray(expected).astype(np.int64)
        if not np.array_equal(outputs[1].astype(np.int64), expected):
            at = np.flatnonzero(outputs[1] != expected)[0]
            print(f"{dialect} {name}: thread {at} has {outputs[1][at]}, expected {expected[at]}")
            wrong += 1
    return wrong


if __name__ == "__main__":
    wrong = (check(sys.argv[1], "emulate:sm_80", "nvvm", 32, NVVM) +
             check(sys.argv[1], "emulate:gfx942", "rocdl", 64, ROCDL))
    print(f"{len(NVVM) + len(ROCDL)} ops, {wrong} wrong")
    sys.exit(wrong > 0)
