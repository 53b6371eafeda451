"""Each kind of mistake in a kernel is an error at the op at fault, and the exit status is 1.

A case is the body of a kernel on blocks of 64 threads with x and y (64 f32 each); the line that is wrong ends with
"// here", and the text that must stand in the message follows. Use: findings.py TILE_RUN.
"""
import re
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from emulate import Kernel  # noqa: E402

CASES = {
    "out of bounds": ("""      %far = llvm.getelementptr %py[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %v, %far : f32, !llvm.ptr<1> // here""", "out of bounds"),
    "shared out of bounds": ("""      %far = llvm.getelementptr %mine[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f32
      llvm.store %v, %far : f32, !llvm.ptr<3> // here""", "out of bounds"),
    "null": ("""      %null = llvm.mlir.zero : !llvm.ptr<1>
      %w = llvm.load %null : !llvm.ptr<1> -> f32 // here""", "out of bounds"),
    "misaligned": ("""      %odd = llvm.getelementptr %x[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      %w = llvm.load %odd {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32> // here""", "misaligned"),
    "uninitialized": ("      %w = llvm.load %mine : !llvm.ptr<3> -> f32 // here", "uninitialized read"),
    "race in global memory": ("      llvm.store %v, %y : f32, !llvm.ptr<1> // here", "race"),
    "race in shared memory": ("""      llvm.store %v, %mine : f32, !llvm.ptr<3> // here
      %w = llvm.load %opposite : !llvm.ptr<3> -> f32""", "race"),
    "shuffle orders no memory": ("""      llvm.store %v, %mine : f32, !llvm.ptr<3>
      %s = nvvm.shfl.sync bfly %full, %t, %c1, %c31 : i32 -> i32
      %next = llvm.xor %t, %c1 : i32
      %p = llvm.getelementptr %s0[%next] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %w = llvm.load %p : !llvm.ptr<3> -> f32 // here""", "race"),
    "early read": ("""      nvvm.cp.async.shared.global %mine, %px, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
      nvvm.cp.async.commit.group
      nvvm.cp.async.wait.group 1
      %w = llvm.load %mine : !llvm.ptr<3> -> f32 // here""", "read before the copy landed"),
    "two barriers": ("""      %low = llvm.icmp "ult" %t, %c31 : i32
      llvm.cond_br %low, ^some, ^rest
    ^some:
      nvvm.barrier id = %c1 // here
      llvm.br ^end
    ^rest:
      nvvm.barrier id = %c2
      llvm.br ^end
    ^end:""", "d(ivergence|eadlock)"),
    "mma in half a warp": ("""      %low = llvm.icmp "ult" %t, %c31 : i32
      llvm.cond_br %low, ^some, ^end
    ^some:
      %h = llvm.mlir.zero : vector<2xf16>
      %r = nvvm.mma.sync A[%h, %h] B[%h] C[%v, %v, %v, %v] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 8>} : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)> // here
      llvm.br ^end
    ^end:""", "d(ivergence|eadlock)"),
    "shuffle from outside": ("""      %low = llvm.icmp "ult" %t, %c31 : i32
      %in = llvm.mlir.constant(0x7fffffff : i32) : i32
      llvm.cond_br %low, ^some, ^end
    ^some:
      %s = nvvm.shfl.sync idx %in, %t, %c31, %c31 : i32 -> i32 // here
      llvm.br ^end
    ^end:""", "bad operand: .*reads lane 31, which takes no part"),
    "deadlock": ("""      %low = llvm.icmp "ule" %t, %c31 : i32
      %both = llvm.mlir.constant(64 : i32) : i32
      llvm.cond_br %low, ^some, ^end
    ^some:
      nvvm.barrier id = %c1 number_of_threads = %both // here
      llvm.br ^end
    ^end:""", "deadlock"),
    "trap": ("""      %is = llvm.icmp "eq" %t, %c31 : i32
      llvm.cond_br %is, ^bad, ^end
    ^bad:
      "llvm.intr.trap"() : () -> () // here
      llvm.unreachable
    ^end:""", "trap"),
    "division by zero": ("""      %n = llvm.fptosi %v : f32 to i32
      %q = llvm.sdiv %c31, %n : i32 // here
      %r = llvm.sitofp %q : i32 to f32
      llvm.store %r, %py : f32, !llvm.ptr<1>""", "undefined operation: 31 is divided by zero"),
    "smallest divided by -1": ("""      %n = llvm.fptosi %v : f32 to i32
      %m = llvm.sub %n, %c2 : i32
      %least = llvm.mlir.constant(-2147483648 : i32) : i32
      %is = llvm.icmp "slt" %m, %c1 : i32
      %d = llvm.select %is, %full, %c1 : i1, i32
      %q = llvm.srem %least, %d : i32 // here
      %r = llvm.sitofp %q : i32 to f32
      llvm.store %r, %py : f32, !llvm.ptr<1>""", "undefined operation: the smallest integer -2147483648 is divided by -1"),
    "unreachable": ("""      %is = llvm.icmp "eq" %t, %c31 : i32
      llvm.cond_br %is, ^bad, ^end
    ^bad:
      llvm.unreachable // here
    ^end:""", "trap: llvm.unreachable"),
    "endless recursion": ("""      %q = llvm.call @recurse(%t) : (i32) -> i32
      %r = llvm.sitofp %q : i32 to f32
      llvm.store %r, %py : f32, !llvm.ptr<1>""", "stack overflow"),
    "a large alloca": ("""      %n = llvm.mlir.constant(1000000 : i32) : i32
      %a = llvm.alloca %n x i32 : (i32) -> !llvm.ptr
      %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      llvm.store volatile %t, %p : i32, !llvm.ptr""", "stack overflow"),
    "private memory past its end": ("""      %n = llvm.mlir.constant(4 : i32) : i32
      %a = llvm.alloca %n x i32 : (i32) -> !llvm.ptr
      %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      llvm.store volatile %t, %p : i32, !llvm.ptr // here""", "out of bounds: write of 4 bytes at byte [0-9]+ of private memory that has 16"),
    "private memory nobody wrote": ("""      %n = llvm.mlir.constant(4 : i32) : i32
      %a = llvm.alloca %n x i32 : (i32) -> !llvm.ptr
      %p = llvm.getelementptr %a[1] : (!llvm.ptr) -> !llvm.ptr, i32
      llvm.store %t, %a : i32, !llvm.ptr
      %w = llvm.load %p : !llvm.ptr -> i32 // here
      llvm.store %w, %py : i32, !llvm.ptr<1>""", "uninitialized read: read of 4 bytes at byte 4 of private memory"),
    "private memory past its end, behind a select": ("""      %a = llvm.alloca %c2 x i32 : (i32) -> !llvm.ptr
      %b = llvm.alloca %c2 x i32 : (i32) -> !llvm.ptr
      %is = llvm.icmp "eq" %t, %c1 : i32
      %either = llvm.select %is, %a, %b : i1, !llvm.ptr
      %p = llvm.getelementptr %either[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      llvm.store volatile %t, %p : i32, !llvm.ptr // here""", "out of bounds: write of 4 bytes of private memory outside"),
    "private memory nobody wrote, behind a branch": ("""      %a = llvm.alloca %c2 x i32 : (i32) -> !llvm.ptr
      %b = llvm.alloca %c2 x i32 : (i32) -> !llvm.ptr
      %is = llvm.icmp "eq" %t, %c1 : i32
      llvm.store %t, %a : i32, !llvm.ptr
      llvm.cond_br %is, ^read(%a : !llvm.ptr), ^read(%b : !llvm.ptr)
    ^read(%either: !llvm.ptr):
      %w = llvm.load %either : !llvm.ptr -> i32 // here
      llvm.store %w, %py : i32, !llvm.ptr<1>""", "uninitialized read: read of 4 bytes at byte 0 of private memory"),
    "private memory past its end, in a call": ("""      %a = llvm.alloca %c2 x i32 : (i32) -> !llvm.ptr
      %p = llvm.getelementptr %a[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      llvm.call @put(%p, %t) : (!llvm.ptr, i32) -> ()""", "out of bounds: write of 4 bytes of private memory outside"),
    "private memory of a function that has returned": ("""      %q = llvm.call @own() : () -> !llvm.ptr
      %w = llvm.load volatile %q : !llvm.ptr -> i32 // here
      llvm.store %w, %py : i32, !llvm.ptr<1>""", "out of bounds: read of 4 bytes of private memory outside"),
    "a vector divided by zero": ("""      %n = llvm.fptosi %v : f32 to i32
      %u = llvm.mlir.undef : vector<2xi32>
      %first = llvm.mlir.constant(0 : i32) : i32
      %one = llvm.insertelement %c31, %u[%first : i32] : vector<2xi32>
      %both = llvm.insertelement %c31, %one[%c1 : i32] : vector<2xi32>
      %by = llvm.insertelement %n, %both[%c1 : i32] : vector<2xi32>
      %q = llvm.urem %both, %by : vector<2xi32> // here
      %r = llvm.extractelement %q[%c1 : i32] : vector<2xi32>
      llvm.store %r, %py : i32, !llvm.ptr<1>""", "undefined operation: 31 is divided by zero"),
    "from one shared array into the next": ("""      %u0 = llvm.mlir.addressof @other : !llvm.ptr<3>
      %u = llvm.getelementptr %u0[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      llvm.store %v, %u : f32, !llvm.ptr<3>
      llvm.store %v, %mine : f32, !llvm.ptr<3>
      nvvm.barrier0
      %next = llvm.getelementptr %mine[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f32
      %w = llvm.load %next : !llvm.ptr<3> -> f32 // here
      llvm.store %w, %py : f32, !llvm.ptr<1>""", r"out of bounds: read at shared\+256, past the end of one array"),
    "an asynchronous copy into the next": ("""      %u0 = llvm.mlir.addressof @other : !llvm.ptr<3>
      llvm.store %v, %u0 : f32, !llvm.ptr<3>
      %next = llvm.getelementptr %mine[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f32
      nvvm.cp.async.shared.global %next, %px, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1> // here""", r"(out of bounds: asynchronous copy of 4 bytes at shared|out of bounds: asynchronous copy)"),
    "from one argument into another": ("""      %xi = llvm.ptrtoint %x : !llvm.ptr<1> to i64
      %yi = llvm.ptrtoint %y : !llvm.ptr<1> to i64
      %far = llvm.sub %xi, %yi : i64
      %p = llvm.getelementptr %y[%far] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      %w = llvm.load %p : !llvm.ptr<1> -> f32 // here
      llvm.store %w, %py : f32, !llvm.ptr<1>""", "out of bounds: read of 4 bytes at argument 1"),
    "half a warp leaves before a barrier": ("""      %low = llvm.icmp "ule" %t, %c31 : i32
      %odd = llvm.and %t, %c1 : i32
      %is = llvm.icmp "eq" %odd, %c1 : i32
      llvm.cond_br %is, ^end, ^rest
    ^rest:
      nvvm.barrier0 // here
      llvm.br ^end
    ^end:""", "divergence: lanes of warp [01] have ended without coming to barrier 0"),
    "assertion": ("""      %is = llvm.icmp "eq" %t, %c31 : i32
      %text = llvm.mlir.addressof @text : !llvm.ptr
      %n = llvm.mlir.constant(1 : i64) : i64
      llvm.cond_br %is, ^bad, ^end
    ^bad:
      llvm.call @__assertfail(%text, %text, %c31, %text, %n) : (!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i64) -> () // here
      llvm.unreachable
    ^end:""", "trap: .*assertion failed: i < n"),
}


def kernel(body, shared=64):
    return f"""
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    llvm.mlir.global internal @shared() {{addr_space = 3 : i32, alignment = 16 : i64}} : !llvm.array<{shared} x f32>
    llvm.mlir.global internal constant @text("i < n\\00") {{addr_space = 0 : i32}}
    llvm.mlir.global internal @other() {{addr_space = 3 : i32, alignment = 16 : i64}} : !llvm.array<64 x f32>
    llvm.func @recurse(%n: i32) -> i32 {{
      %one = llvm.mlir.constant(1 : i32) : i32
      %more = llvm.add %n, %one : i32
      %deep = llvm.call @recurse(%more) : (i32) -> i32
      %product = llvm.mul %deep, %more : i32
      %sum = llvm.xor %product, %n : i32
      llvm.return %sum : i32
    }}
    llvm.func @put(%p: !llvm.ptr, %n: i32) {{
      llvm.store volatile %n, %p : i32, !llvm.ptr
      llvm.return
    }}
    llvm.func @own() -> !llvm.ptr {{
      %one = llvm.mlir.constant(1 : i32) : i32
      %a = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
      llvm.store volatile %one, %a : i32, !llvm.ptr
      llvm.return %a : !llvm.ptr
    }}
    llvm.func @__assertfail(!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i64)
    llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {{gpu.kernel, nvvm.reqntid = array<i32: 64, 1, 1>}} {{
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %c1 = llvm.mlir.constant(1 : i32) : i32
      %c2 = llvm.mlir.constant(2 : i32) : i32
      %c31 = llvm.mlir.constant(31 : i32) : i32
      %c63 = llvm.mlir.constant(63 : i32) : i32
      %full = llvm.mlir.constant(-1 : i32) : i32
      %minus = llvm.mlir.constant(-12345.0 : f32) : f32
      %px = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %py = llvm.getelementptr %y[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %s0 = llvm.mlir.addressof @shared : !llvm.ptr<3>
      %mine = llvm.getelementptr %s0[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %o = llvm.sub %c63, %t : i32
      %opposite = llvm.getelementptr %s0[%o] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %v = llvm.load %px : !llvm.ptr<1> -> f32
{body}
      llvm.return
    }}
  }}
  func.func @main(%x: memref<64xf32>, %y: memref<64xf32>) {{
    %one = arith.constant 1 : index
    %threads = arith.constant 64 : index
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%threads, %one, %one)
      args(%x : memref<64xf32>, %y : memref<64xf32>)
    return
  }}
}}
"""


def check(tool, name, body, message):
    text = kernel(body)
    line = text[:text.index("// here")].count("\n") + 1 if "// here" in text else "[0-9]+"
    done = Kernel(tool, "emulate:sm_80", text).start(text, [np.arange(64, dtype=np.float32), np.zeros(64, np.float32)])
    if done.returncode == 1 and re.search(rf":{line}:\d+: error: {message}", done.stderr):
        return 0
    print(f"{name}: exit {done.returncode}, no \"error: {message}\" at line {line}:\n{done.stderr[:1500]}")
    return 1


if __name__ == "__main__":
    wrong = sum(check(sys.argv[1], name, *case) for name, case in CASES.items())
    big = Kernel(sys.argv[1], "emulate:sm_80", kernel("", 65536)).start(kernel("", 65536), [np.zeros(64, np.float32)] * 2)
    if big.returncode != 1 or "shared memory" not in big.stderr:
        print(f"256 KiB of shared memory: {big.stderr}")
        wrong += 1
    print(f"{len(CASES) + 1} mistakes, {wrong} not found")
    sys.exit(wrong > 0)
