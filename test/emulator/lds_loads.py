"""AMD's loads into LDS land at the wait that covers them, counted as the chip counts: a wait too few is a finding.

A case is the body of a kernel on one wave of 64 threads over x (256 f32) and y (64 f32); it leaves its result in %r.
The line that is wrong ends with "// here". Use: lds_loads.py TILE_RUN.
"""
import re
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from emulate import Kernel  # noqa: E402

x = np.arange(256, dtype=np.float32) + 1


def gfx9(memory=63, lds=15):
    return f"rocdl.s.waitcnt {memory & 15 | memory >> 4 << 14 | 0x70 | lds << 8}"


def gfx11(memory=63, lds=63):
    return f"rocdl.s.waitcnt {memory << 10 | lds << 4 | 7}"


FIRST = "      rocdl.load.to.lds %px, %s, 4, 0, 0 : !llvm.ptr<1>\n"
SECOND = """      %px2 = llvm.getelementptr %px[64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      %s2 = llvm.getelementptr %s[64] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f32
      rocdl.load.to.lds %px2, %s2, 4, 0, 0 : !llvm.ptr<1>
"""
ORDINARY = """      %px3 = llvm.getelementptr %px[128] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      %late = llvm.load %px3 : !llvm.ptr<1> -> f32
"""
READ = "      %r = llvm.load %opposite : !llvm.ptr<3> -> f32 // here\n"
READ_SECOND = """      %p2 = llvm.getelementptr %opposite[64] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f32
      %r = llvm.load %p2 : !llvm.ptr<3> -> f32 // here
"""
EARLY = "read before the copy landed"
BARRIER = """      llvm.fence syncscope("workgroup") release
      rocdl.s.barrier
      llvm.fence syncscope("workgroup") acquire
"""

# chip, body, y or the finding
CASES = {
    "waited for": ("gfx942", FIRST + gfx9(memory=0) + "\n" + READ, x[63::-1]),
    "nothing waited for": ("gfx942", FIRST + READ, EARLY),
    "a barrier is no wait": ("gfx942", FIRST + BARRIER + READ, EARLY),
    "the wrong counter": ("gfx942", FIRST + gfx9(lds=0) + "\n" + READ, EARLY),
    "the first of two": ("gfx90a", FIRST + SECOND + gfx9(memory=1) + "\n" + READ, x[63::-1]),
    "the second of two": ("gfx90a", FIRST + SECOND + gfx9(memory=1) + "\n" + READ_SECOND, EARLY),
    "both": ("gfx942", FIRST + SECOND + gfx9(memory=0) + "\n" + READ_SECOND, x[127:63:-1]),
    "a load into a register counts": ("gfx942", FIRST + ORDINARY + gfx9(memory=1) + "\n" + READ, x[63::-1]),
    "before the load it does not": ("gfx942", ORDINARY + FIRST + gfx9(memory=1) + "\n" + READ, EARLY),
    "a store counts": ("gfx942", FIRST + "      llvm.store %zero, %py : f32, !llvm.ptr<1>\n" + gfx9(memory=1) + "\n" + READ,
                       x[63::-1]),
    "more than one field": ("gfx942", FIRST + SECOND + gfx9(memory=17) + "\n" + READ, EARLY),
    "half a wave waits alone": ("gfx942", f"""      %low = llvm.icmp "ult" %t, %c32 : i32
      llvm.cond_br %low, ^some, ^rest
    ^some:
{FIRST}      {gfx9(memory=0)}
      llvm.br ^rest
    ^rest:
{BARRIER}      %at = llvm.and %o, %c31 : i32
      %p = llvm.getelementptr %s[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %r = llvm.load %p : !llvm.ptr<3> -> f32
""", np.tile(x[31::-1], 2)),
    "overwritten under way": ("gfx942", FIRST + "      llvm.store %zero, %opposite : f32, !llvm.ptr<3> // here\n" +
                              gfx9(memory=0) + "\n" + READ.replace("// here", ""), "overwrite of a copy in flight"),
    "two bytes": ("gfx942", f"""      rocdl.load.to.lds %px16, %s, 2, 0, 0 : !llvm.ptr<1>
      {gfx9(memory=0)}
      %p16 = llvm.getelementptr %s[%o] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i16
      %h = llvm.load %p16 : !llvm.ptr<3> -> i16
      %r = llvm.uitofp %h : i16 to f32
""", x.view(np.uint16)[63::-1].astype(np.float32)),
    "two bytes, not waited for": ("gfx942", """      rocdl.load.to.lds %px16, %s, 2, 0, 0 : !llvm.ptr<1>
      %p16 = llvm.getelementptr %s[%o] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i16
      %h = llvm.load %p16 : !llvm.ptr<3> -> i16 // here
      %r = llvm.uitofp %h : i16 to f32
""", EARLY),
    "sixteen bytes": ("gfx950", f"""      %pv = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<4xf32>
      rocdl.load.to.lds %pv, %s, 16, 0, 0 : !llvm.ptr<1>
      {gfx9(memory=0)}
{READ}""", x[63::-1]),
    "sixteen bytes elsewhere": ("gfx942", "      rocdl.load.to.lds %px, %s, 16, 0, 0 : !llvm.ptr<1> // here\n" + READ.replace("// here", ""),
                                "'rocdl.load.to.lds' op loads 16 bytes for each lane; cdna3 loads 1, 2 or 4"),
    "no such load": ("gfx1100", FIRST.rstrip() + " // here\n" + gfx11() + "\n" + READ.replace("// here", ""),
                     "'rocdl.load.to.lds' op is no instruction of rdna3"),
    "no such wait": ("gfx1201", "      rocdl.s.waitcnt 0 // here\n      %r = llvm.load %px : !llvm.ptr<1> -> f32\n",
                     "'rocdl.s.waitcnt' op is no instruction of rdna4, which has s_wait_loadcnt and s_wait_dscnt"),
    "not yet": ("gfx942", "      rocdl.s.wait.loadcnt 0 // here\n      %r = llvm.load %px : !llvm.ptr<1> -> f32\n",
                "'rocdl.s.wait.loadcnt' op is no instruction of cdna3, which has s_waitcnt"),
}


def kernel(body):
    return f"""
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    llvm.mlir.global internal @shared() {{addr_space = 3 : i32, alignment = 16 : i64}} : !llvm.array<256 x f32>
    llvm.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {{gpu.kernel, rocdl.kernel}} {{
      %t = rocdl.workitem.id.x : i32
      %c31 = llvm.mlir.constant(31 : i32) : i32
      %c32 = llvm.mlir.constant(32 : i32) : i32
      %c63 = llvm.mlir.constant(63 : i32) : i32
      %zero = llvm.mlir.constant(0.0 : f32) : f32
      %o = llvm.sub %c63, %t : i32
      %px = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %px16 = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i16
      %py = llvm.getelementptr %y[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %s = llvm.mlir.addressof @shared : !llvm.ptr<3>
      %opposite = llvm.getelementptr %s[%o] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
{body}
      llvm.store %r, %py : f32, !llvm.ptr<1>
      llvm.return
    }}
  }}
  func.func @main(%x: memref<256xf32>, %y: memref<64xf32>) {{
    %one = arith.constant 1 : index
    %threads = arith.constant 64 : index
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%threads, %one, %one)
      args(%x : memref<256xf32>, %y : memref<64xf32>)
    return
  }}
}}
"""


def check(tool, name, chip, body, expected):
    one = Kernel(tool, f"emulate:{chip}", kernel(body))
    if not isinstance(expected, str):
        got = one.run([x, np.zeros(64, np.float32)])[0][1]
        if np.array_equal(got, expected):
            return 0
        print(f"{name}: y is {got}")
        return 1
    done = one.start(one.text, [x, np.zeros(64, np.float32)])
    line = one.text[:one.text.index("// here")].count("\n") + 1
    if done.returncode == 1 and re.search(rf":{line}:\d+: error: {re.escape(expected)}", done.stderr):
        return 0
    print(f"{name}: exit {done.returncode}, no '{expected}' at line {line}:\n{done.stderr[:1500]}")
    return 1


if __name__ == "__main__":
    wrong = sum(check(sys.argv[1], name, *case) for name, case in CASES.items())
    print(f"{len(CASES)} cases, {wrong} wrong")
    sys.exit(wrong > 0)
