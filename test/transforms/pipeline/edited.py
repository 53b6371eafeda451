"""What tile-exchange-in-shared-memory, tile-plan-shared-memory, tile-insert-barriers, tile-count-waits and
tile-choose-accesses wrote is edited, and the edit is obeyed.

Use: edited.py BUILD CHIP. KERNEL sends a tile through two buffers in turn and an exchange. The emulator judges each
edit: a removed barrier and overlapping buffers are races, a wait that leaves the copy under way is found, a barrier that
is moved to another right place and buffers that are moved apart give the same results. So do narrower vectors, copies by
the threads themselves, and other threads that copy.
"""
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

BUILD, CHIP = sys.argv[1:]
KERNEL = """
#rows = #tile.layout<reg [8:d0*4], lane [32:d1], warp [4:d0]>
#columns = #tile.layout<reg [8:d1*4], lane [32:d0], warp [4:d1]>
#dense = #tile.layout<offset [32:d1, 32:d0]>
#turned = #tile.layout<offset [32:d0, 32:d1]>
func.func @main(%x: memref<32x32xf64>, %z: memref<32x32xf64>) {
  %one = arith.constant 1 : index
  tile.launch @twice grid(%one) ins(%x : memref<32x32xf64>) outs(%z : memref<32x32xf64>)
  return
}
tile.kernel @twice(%x: memref<32x32xf64>, %z: memref<32x32xf64>) attributes {machine = #tile.machine<"CHIP">, warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %A = tile.alloc : !tile.buffer<32x32xf64, #dense, shared>
  %B = tile.alloc : !tile.buffer<32x32xf64, #turned, shared>
  %X = tile.view %x : memref<32x32xf64> to !tile.view<32x32xf64>
  %Z = tile.view %z : memref<32x32xf64> to !tile.view<32x32xf64>
  %t = tile.copy_async %X[%c0, %c0] to %A : !tile.view<32x32xf64> to !tile.buffer<32x32xf64, #dense, shared>
  tile.wait %t
  tile.sync
  %a = tile.load %A : !tile.buffer<32x32xf64, #dense, shared> -> tensor<32x32xf64, #columns>
  %d = arith.addf %a, %a : tensor<32x32xf64, #columns>
  tile.store %d, %B : tensor<32x32xf64, #columns>, !tile.buffer<32x32xf64, #turned, shared>
  tile.sync
  %b = tile.load %B : !tile.buffer<32x32xf64, #turned, shared> -> tensor<32x32xf64, #rows>
  %c = tile.convert_layout %b : tensor<32x32xf64, #rows> -> tensor<32x32xf64, #columns>
  tile.store %c, %Z[%c0, %c0] : tensor<32x32xf64, #columns>, !tile.view<32x32xf64>
  tile.return
}
""".replace("CHIP", CHIP)
PASSES = "tile.kernel(tile-exchange-in-shared-memory,tile-plan-shared-memory,tile-insert-barriers,tile-count-waits,tile-choose-accesses)"
failures = []


def opt(text, passes):
    return subprocess.run([f"{BUILD}/bin/tile-opt", "-", f"--pass-pipeline=builtin.module({passes})"], input=text, text=True,
                          check=True, capture_output=True).stdout


def judged(text):
    """The first finding of the emulator, "right" or "wrong"."""
    x = np.random.default_rng(3).uniform(-1, 1, (32, 32)).astype("f8")
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/k.mlir", "w") as file:
            file.write(text)
        np.save(f"{folder}/x.npy", x)
        np.save(f"{folder}/z.npy", np.zeros_like(x))
        done = subprocess.run([f"{BUILD}/bin/tile-run", f"{folder}/k.mlir", f"--target=emulate:{CHIP}", f"--in={folder}/x.npy",
                               f"--in={folder}/z.npy", f"--out={folder}/x.npy", f"--out={folder}/z.npy",
                               f"--pass-pipeline=builtin.module({PIPELINE})"], capture_output=True, text=True)
        found = re.search(r"error: (race|read before the copy landed|overwrite of a copy in flight|uninitialized read)", done.stderr)
        if found:
            return found.group(1)
        if done.returncode:
            return done.stderr.strip().splitlines()[0]
        return "right" if np.array_equal(np.load(f"{folder}/z.npy"), 2 * x) else "wrong"


def pipeline():
    """The chip's pipeline from tile-exchange-in-shared-memory on: it leaves an ordered kernel as it is."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as empty:
        printed = subprocess.run([f"{BUILD}/bin/tile-opt", empty.name, f"--tile-to-nvvm-pipeline=chip={CHIP}",
                                  "--dump-pass-pipeline"], check=True, capture_output=True, text=True)
    text = printed.stderr + printed.stdout
    return "tile.kernel(" + text[text.index("tile-exchange-in-shared-memory"):text.index(",\n  convert-gpu-launch-to-runtime")]


def expect(what, text, *wanted):
    got = judged(text)
    print(f"{what}: {got}")
    if got not in wanted:
        failures.append(what)


PIPELINE = pipeline()
ordered = opt(KERNEL, PASSES)
lines = ordered.splitlines()
syncs = [i for i, line in enumerate(lines) if line.strip() == "tile.sync"]
print(f"{len(syncs)} barriers, {ordered.count(' at 0 ')} buffers at 0, {ordered.count('pending 0')} waits for all")
expect("as planned", ordered, "right")
for n, at in enumerate(syncs):
    expect(f"without barrier {n}", "\n".join(lines[:at] + lines[at + 1:]), "race")
expect("the first barrier before the wait", "\n".join(lines[:syncs[0] - 1] + [lines[syncs[0]], lines[syncs[0] - 1]] + lines[syncs[0] + 1:]), "race")
add = next(i for i, line in enumerate(lines) if "arith.addf" in line)
last = max(s for s in syncs if s < next(i for i, line in enumerate(lines) if "tile.store" in line))
moved = [line for i, line in enumerate(lines) if i != last]
moved.insert(add if last > add else add - 1, lines[last])
expect("the barrier before the second buffer, earlier", "\n".join(moved), "right")
second = ordered.index("tile.alloc", ordered.index("tile.alloc") + 1)
apart = ordered[:second] + re.sub(r"at \d+", "at 8192", ordered[second:], count=1)
expect("the second buffer elsewhere", apart, "right")
expect("the wait leaves the copy under way", ordered.replace("pending 0", "pending 1"), "read before the copy landed", "race")
# Accesses: narrower, without the engine, by other threads, which then move one element at a time.
print(f"vectors {sorted(re.findall(r'vector ([0-9]+)', ordered))}, engines {ordered.count('engine')}")
expect("elements one by one", re.sub(r"vector \d+ ", "vector 1 ", re.sub(r"threads\(#\w+\) ", "", ordered)), "right")
by_threads = ordered.replace('engine "cp.async" ', "")
expect("copies by the threads", by_threads, "right")
columns = "threads(#tile.layout<reg [8:d1*4], lane [32:d0], warp [4:d1]>) "
others = [re.sub(r"vector \d+ threads\(#\w+\) ", "vector 1 " + columns, text) for text in (ordered, by_threads)]
assert all(columns in text for text in others)
for text in others:
    expect("other threads copy", text, "right")
print(f"{len(failures)} wrong")
sys.exit(1 if failures else 0)
