"""Memory operations of kernels against numpy: atomics, fences, dynamic shared memory, masks, copies, buffers, math calls.

Each case is a kernel on 2 blocks of 64 threads over x and y (256 f32 each, y is 0 at the start); `expected` is y after.
Use: memory_ops.py TILE_RUN.
"""
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from emulate import Kernel  # noqa: E402

rng = np.random.default_rng(3)
x = rng.integers(-20, 20, 256).astype(np.float32)
flat = np.arange(128)


def written(values, at=flat):
    y = np.zeros(256, np.float32)
    y[at] = values
    return y


HEAD = """
    llvm.mlir.global external @dynamic() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x f32>
    llvm.mlir.global internal @fixed() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<3 x f32>
    llvm.mlir.global internal constant @table(dense<[10.0, 20.0, 30.0, 40.0]> : tensor<4xf32>) {addr_space = 1 : i32} : !llvm.array<4 x f32>
    llvm.func @__nv_expf(f32) -> f32
    llvm.func @__nv_powif(f32, i32) -> f32
    llvm.func @__nv_isnanf(f32) -> i32
    llvm.func @__ocml_tanh_f32(f32) -> f32
    llvm.func @twice(%v: f32) -> f32 {
      %r = llvm.fadd %v, %v : f32
      llvm.return %r : f32
    }
"""
IDS = {"nvvm": ("nvvm.read.ptx.sreg.tid.x", "nvvm.read.ptx.sreg.ctaid.x"),
       "rocdl": ("rocdl.workitem.id.x", "rocdl.workgroup.id.x")}
STORE = """      llvm.store %r, %py : f32, !llvm.ptr<1>
      llvm.return"""


def kernel(dialect, body):
    thread, block = IDS[dialect]
    return f"""
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{{HEAD}
    llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {{gpu.kernel}} {{
      %t = {thread} : i32
      %b = {block} : i32
      %c0 = llvm.mlir.constant(0 : i32) : i32
      %c1 = llvm.mlir.constant(1 : i32) : i32
      %c2 = llvm.mlir.constant(2 : i32) : i32
      %c3 = llvm.mlir.constant(3 : i32) : i32
      %c4 = llvm.mlir.constant(4 : i32) : i32
      %c63 = llvm.mlir.constant(63 : i32) : i32
      %c64 = llvm.mlir.constant(64 : i32) : i32
      %base = llvm.mul %b, %c64 : i32
      %i = llvm.add %base, %t : i32
      %px = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %py = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %v = llvm.load %px : !llvm.ptr<1> -> f32
{body}
    }}
  }}
  func.func @main(%x: memref<256xf32>, %y: memref<256xf32>) {{
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %threads = arith.constant 64 : index
    %bytes = arith.constant 256 : i32
    gpu.launch_func @kernels::@k blocks in (%two, %one, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %bytes args(%x : memref<256xf32>, %y : memref<256xf32>)
    return
  }}
}}
"""


CASES = [
    ("atomic add to one place", "nvvm", """      %old = llvm.atomicrmw fadd %y, %v syncscope("device") monotonic : !llvm.ptr<1>, f32
      llvm.return""", written([x[:128].sum()], [0])),
    ("atomic max as integers, block by block", "nvvm", """      %slot = llvm.getelementptr %y[%b] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %n = llvm.fptosi %v : f32 to i32
      %old = llvm.atomicrmw max %slot, %n syncscope("block") acq_rel : !llvm.ptr<1>, i32
      llvm.return""", written(np.array([max(x[:64].max(), 0), max(x[64:128].max(), 0)]).astype(np.int32).view(np.float32), [0, 1])),
    ("atomics of 16 bits", "nvvm", """      %h = llvm.fptrunc %v : f32 to f16
      %b16 = llvm.fptrunc %v : f32 to bf16
      %second = llvm.getelementptr %y[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      %third = llvm.getelementptr %y[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      %z = llvm.mlir.zero : vector<2xf16>
      %pair = llvm.insertelement %h, %z[%c1 : i32] : vector<2xf16>
      %o1 = llvm.atomicrmw fadd %y, %h monotonic : !llvm.ptr<1>, f16
      %o2 = llvm.atomicrmw fadd %second, %pair monotonic : !llvm.ptr<1>, vector<2xf16>
      %o3 = llvm.atomicrmw fadd %third, %b16 monotonic : !llvm.ptr<1>, bf16
      llvm.return""", written([np.array([x[:128].sum(), 0], np.float16).view(np.float32)[0],
                              np.array([0, x[:128].sum()], np.float16).view(np.float32)[0],
                              (x[:128].sum().view(np.uint32) >> 16).view(np.float32)], [0, 1, 2])),
    ("compare and swap: one wins", "nvvm", """      %one = llvm.mlir.constant(1.0 : f32) : f32
      %bits = llvm.bitcast %one : f32 to i32
      %p = llvm.cmpxchg %y, %c0, %bits seq_cst monotonic : !llvm.ptr<1>, i32
      %won = llvm.extractvalue %p[1] : !llvm.struct<(i32, i1)>
      %r = llvm.uitofp %won : i1 to f32
      %place = llvm.getelementptr %y[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      %old = llvm.atomicrmw fadd %place, %r monotonic : !llvm.ptr<1>, f32
      llvm.return""", written([1, 1], [0, 1])),
    ("a message through a flag, with fences", "nvvm", """      %first = llvm.icmp "eq" %t, %c0 : i32
      %flag = llvm.getelementptr %y[255] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.cond_br %first, ^block, ^end
    ^block:
      %writes = llvm.icmp "eq" %b, %c0 : i32
      llvm.cond_br %writes, ^write, ^wait
    ^write:
      llvm.store %v, %y : f32, !llvm.ptr<1>
      llvm.fence syncscope("device") release
      %old = llvm.atomicrmw xchg %flag, %c1 syncscope("device") monotonic : !llvm.ptr<1>, i32
      llvm.br ^end
    ^wait:
      %seen = llvm.load volatile %flag atomic syncscope("device") monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      %ready = llvm.icmp "eq" %seen, %c1 : i32
      llvm.cond_br %ready, ^read, ^wait
    ^read:
      llvm.fence syncscope("device") acquire
      %w = llvm.load %y : !llvm.ptr<1> -> f32
      %out = llvm.getelementptr %y[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %w, %out : f32, !llvm.ptr<1>
      llvm.br ^end
    ^end:
      llvm.return""", written(np.array([x[0], x[0], np.array([1], np.int32).view(np.float32)[0]]), [0, 1, 255])),
    ("dynamic shared memory, reversed", "nvvm", """      %s = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
      %mine = llvm.getelementptr %s[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      llvm.store %v, %mine : f32, !llvm.ptr<3>
      nvvm.barrier0
      %o = llvm.sub %c63, %t : i32
      %other = llvm.getelementptr %s[%o] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %r = llvm.load %other : !llvm.ptr<3> -> f32
""" + STORE, written(x[:128].reshape(2, 64)[:, ::-1].reshape(-1))),
    ("shared memory by a generic pointer", "nvvm", """      %s = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
      %g = llvm.addrspacecast %s : !llvm.ptr<3> to !llvm.ptr
      %mine = llvm.getelementptr %g[%t] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      llvm.store %v, %mine : f32, !llvm.ptr
      %a = llvm.ptrtoint %s : !llvm.ptr<3> to i32
      %bytes = llvm.shl %t, %c2 : i32
      %at = llvm.add %a, %bytes : i32
      %back = llvm.inttoptr %at : i32 to !llvm.ptr<3>
      %r = llvm.load %back : !llvm.ptr<3> -> f32
""" + STORE, written(x[:128])),
    ("stmatrix, then ldmatrix transposed", "nvvm", """      %s = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
      %c5 = llvm.mlir.constant(5 : i32) : i32
      %c7 = llvm.mlir.constant(7 : i32) : i32
      %c8 = llvm.mlir.constant(8 : i32) : i32
      %c16 = llvm.mlir.constant(16 : i32) : i32
      %c31 = llvm.mlir.constant(31 : i32) : i32
      %full = llvm.mlir.constant(-1 : i32) : i32
      %lane = llvm.and %t, %c31 : i32
      %warp = llvm.lshr %t, %c5 : i32
      %row0 = llvm.mul %warp, %c8 : i32
      %in8 = llvm.and %lane, %c7 : i32
      %row = llvm.add %row0, %in8 : i32
      %offset = llvm.mul %row, %c16 : i32
      %p = llvm.getelementptr %s[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %low = llvm.add %lane, %lane : i32
      %high0 = llvm.add %low, %c1 : i32
      %high = llvm.shl %high0, %c16 : i32
      %word = llvm.or %low, %high : i32
      nvvm.stmatrix %p, %word {layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32
      nvvm.bar.warp.sync %full : i32
      %w = nvvm.ldmatrix %p {num = 1 : i32, layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> i32
      %r = llvm.bitcast %w : i32 to f32
""" + STORE, written(((16 * (flat % 4) + flat % 32 // 4) | (16 * (flat % 4) + 8 + flat % 32 // 4) << 16).astype(np.int32).view(np.float32))),
    ("constant table", "nvvm", """      %p = llvm.mlir.addressof @table : !llvm.ptr<1>
      %j = llvm.and %t, %c3 : i32
      %e = llvm.getelementptr %p[%j] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %r = llvm.load %e : !llvm.ptr<1> -> f32
""" + STORE, written((flat % 4 + 1) * 10)),
    ("masked load and store", "nvvm", """      %four = llvm.mul %i, %c2 : i32
      %p = llvm.getelementptr %x[%four] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %q = llvm.getelementptr %y[%four] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %m = llvm.mlir.constant(dense<[true, false]> : vector<2xi1>) : vector<2xi1>
      %n = llvm.mlir.constant(dense<true> : vector<2xi1>) : vector<2xi1>
      %off = llvm.mlir.constant(dense<7.0> : vector<2xf32>) : vector<2xf32>
      %w = llvm.intr.masked.load %p, %m, %off {alignment = 4 : i32} : (!llvm.ptr<1>, vector<2xi1>, vector<2xf32>) -> vector<2xf32>
      llvm.intr.masked.store %w, %q, %n {alignment = 4 : i32} : vector<2xf32>, vector<2xi1> into !llvm.ptr<1>
      llvm.return""", np.where(np.arange(256) % 2, 7, x)),
    ("memcpy through a private array", "nvvm", """      %room = llvm.alloca %c4 x f32 : (i32) -> !llvm.ptr
      "llvm.intr.memcpy"(%room, %px, %c4) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr<1>, i32) -> ()
      %r = llvm.load %room : !llvm.ptr -> f32
""" + STORE, written(x[:128])),
    ("memcpy.inline through a private array", "nvvm", """      %room = llvm.alloca %c4 x f32 : (i32) -> !llvm.ptr
      "llvm.intr.memcpy.inline"(%room, %px) <{isVolatile = false, len = 4 : i32}> : (!llvm.ptr, !llvm.ptr<1>) -> ()
      %r = llvm.load %room : !llvm.ptr -> f32
""" + STORE, written(x[:128])),
    ("math and calls", "nvvm", """      %zero = llvm.fsub %v, %v : f32
      %e = llvm.call @__nv_expf(%zero) : (f32) -> f32
      %d = llvm.call @twice(%e) : (f32) -> f32
      %p = llvm.call @__nv_powif(%v, %c2) : (f32, i32) -> f32
      %n = llvm.call @__nv_isnanf(%v) : (f32) -> i32
      %nf = llvm.sitofp %n : i32 to f32
      %q = llvm.fadd %p, %nf : f32
      %r = llvm.fadd %d, %q : f32
""" + STORE, written(x[:128] ** 2 + 2)),
    ("ocml", "rocdl", """      %zero = llvm.fsub %v, %v : f32
      %e = llvm.call @__ocml_tanh_f32(%zero) : (f32) -> f32
      %r = llvm.fadd %e, %v : f32
""" + STORE, written(x[:128])),
    ("loads into LDS", "rocdl", """      %s = llvm.mlir.addressof @dynamic : !llvm.ptr<3>
      rocdl.global.load.lds %px, %s, 4, 0, 0
      rocdl.s.waitcnt 0
      rocdl.s.barrier
      %o = llvm.sub %c63, %t : i32
      %other = llvm.getelementptr %s[%o] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %r = llvm.load %other : !llvm.ptr<3> -> f32
""" + STORE, written(x[:128].reshape(2, 64)[:, ::-1].reshape(-1))),
    ("buffers: zeros and nothing beyond the end", "rocdl", """      %n = llvm.mlir.constant(400 : i64) : i64
      %stride = llvm.mlir.constant(0 : i16) : i16
      %rx = rocdl.make.buffer.rsrc %x, %stride, %n, %c0 : !llvm.ptr<1> to !llvm.ptr<8>
      %ry = rocdl.make.buffer.rsrc %y, %stride, %n, %c0 : !llvm.ptr<1> to !llvm.ptr<8>
      %o = llvm.shl %i, %c2 : i32
      %o2 = llvm.add %o, %o : i32
      %r = rocdl.raw.ptr.buffer.load %rx, %o2, %c0, %c0 : f32
      %one = llvm.mlir.constant(1.0 : f32) : f32
      %r1 = llvm.fadd %r, %one : f32
      rocdl.raw.ptr.buffer.store %r1, %ry, %o, %c0, %c0 : f32
      llvm.return""", written(np.where(2 * flat < 100, x[(2 * flat) % 256], 0)[:100] + 1, flat[:100])),
]


if __name__ == "__main__":
    wrong = 0
    for name, dialect, body, expected in CASES:
        target = "emulate:sm_80" if dialect == "nvvm" else "emulate:gfx942"
        for seed in (1, 2, 3):
            outputs, _ = Kernel(sys.argv[1], target, kernel(dialect, body)).run([x, np.zeros_like(x)], [f"--seed={seed}"])
            if outputs[1].tobytes() != np.asarray(expected, np.float32).tobytes():
                at = np.flatnonzero(outputs[1].view(np.int32) != np.asarray(expected, np.float32).view(np.int32))[0]
                print(f"{name}: y[{at}] is {outputs[1][at]}, expected {expected[at]}")
                wrong += 1
    print(f"{len(CASES)} cases, {wrong} wrong")
    sys.exit(wrong > 0)
