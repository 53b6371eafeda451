"""Writes programs as CUDA C++ and HIP, and compares the emitted kernels with the programs, bit by bit.

Usage: device.py TILE_TRANSLATE TILE_RUN CHIP...
A kernel comes back through --target=emulate:CHIP as any .cu or .hip file does. Prints what is wrong, then two counts.
"""
import re
import subprocess
import sys
import tempfile

import numpy as np

tile_translate, tile_run, chips = sys.argv[1], sys.argv[2], sys.argv[3:]
random = np.random.default_rng(7)
counts = {"right": 0, "wrong": 0}

MATMUL = """
func.func @main(%a: tensor<{m}x{k}x{t}>, %b: tensor<{k}x{n}x{t}>) -> tensor<{m}x{n}x{s}> {{
  %z = arith.constant {zero} : {s}
  %e = tensor.empty() : tensor<{m}x{n}x{s}>
  %f = linalg.fill ins(%z : {s}) outs(%e : tensor<{m}x{n}x{s}>) -> tensor<{m}x{n}x{s}>
  %c = linalg.matmul ins(%a, %b : tensor<{m}x{k}x{t}>, tensor<{k}x{n}x{t}>)
    outs(%f : tensor<{m}x{n}x{s}>) -> tensor<{m}x{n}x{s}>
  return %c : tensor<{m}x{n}x{s}>
}}
"""
FUNCTIONS = """
func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %e = math.exp %x : tensor<1000xf32>
  %t = math.tanh %e : tensor<1000xf32>
  %y = arith.mulf %t, %x : tensor<1000xf32>
  %r = arith.addf %y, %e : tensor<1000xf32>
  return %r : tensor<1000xf32>
}
"""
ROWS = """
func.func @main(%x: tensor<7x300xf32>) -> tensor<7xf32> {
  %z = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<7xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<7xf32>) -> tensor<7xf32>
  %r = linalg.reduce ins(%x : tensor<7x300xf32>) outs(%f : tensor<7xf32>) dimensions = [1]
    (%a: f32, %b: f32) { %m = arith.maximumf %a, %b : f32 linalg.yield %m : f32 }
  return %r : tensor<7xf32>
}
"""
SOFTMAX = """
func.func @main(%x: tensor<5x201xf32>) -> tensor<5x201xf32> {
  %e = tensor.empty() : tensor<5x201xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<5x201xf32>) outs(%e : tensor<5x201xf32>) -> tensor<5x201xf32>
  return %r : tensor<5x201xf32>
}
"""
TRANSPOSE = """
func.func @main(%x: tensor<37x21xi16>) -> tensor<21x37xi16> {
  %e = tensor.empty() : tensor<21x37xi16>
  %r = linalg.transpose ins(%x : tensor<37x21xi16>) outs(%e : tensor<21x37xi16>) permutation = [1, 0]
  return %r : tensor<21x37xi16>
}
"""
INTEGERS = """
#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<333xi32>, %y: tensor<333xi32>) -> tensor<333xi32> {
  %e = tensor.empty() : tensor<333xi32>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
    ins(%x, %y : tensor<333xi32>, tensor<333xi32>) outs(%e : tensor<333xi32>) {
    ^bb0(%a: i32, %b: i32, %o: i32):
      %five = arith.constant -5 : i32
      %three = arith.constant 3 : i32
      %sum = arith.addi %a, %b : i32
      %product = arith.muli %sum, %five : i32
      %shifted = arith.shrsi %product, %three : i32
      %quotient = arith.divsi %shifted, %three : i32
      %rest = arith.remsi %a, %five : i32
      %low = arith.trunci %b : i32 to i8
      %wide = arith.extsi %low : i8 to i32
      %c = arith.cmpi ult, %a, %b : i32
      %one = arith.select %c, %quotient, %rest : i32
      %two = arith.maxsi %one, %wide : i32
      %word = arith.extui %c : i1 to i32
      %far = arith.constant 1 : i32
      %near = arith.constant 0 : i32
      %chosen = arith.select %c, %far, %near : i32
      %thirty = arith.constant 31 : i32
      %top = arith.shli %chosen, %thirty : i32
      %sum_of = arith.addi %top, %word : i32
      %mixed = arith.ori %two, %sum_of : i32
      %all = arith.xori %mixed, %product : i32
      linalg.yield %all : i32
  } -> tensor<333xi32>
  return %r : tensor<333xi32>
}
"""
NARROW = """
#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<100xf16>) -> tensor<100xbf16> {
  %e = tensor.empty() : tensor<100xbf16>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
    ins(%x : tensor<100xf16>) outs(%e : tensor<100xbf16>) {
    ^bb0(%a: f16, %o: bf16):
      %b = arith.addf %a, %a : f16
      %w = arith.extf %b : f16 to f32
      %n = arith.truncf %w : f32 to bf16
      linalg.yield %n : bf16
  } -> tensor<100xbf16>
  return %r : tensor<100xbf16>
}
"""
HALVES = """
#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<100xf16>, %y: tensor<100xf16>) -> tensor<100xf16> {
  %e = tensor.empty() : tensor<100xf16>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
    ins(%x, %y : tensor<100xf16>, tensor<100xf16>) outs(%e : tensor<100xf16>) {
    ^bb0(%a: f16, %b: f16, %o: f16):
      %p = arith.mulf %a, %b : f16
      %s = arith.addf %p, %a : f16
      linalg.yield %s : f16
  } -> tensor<100xf16>
  return %r : tensor<100xf16>
}
"""


def run(command, scratch, arrays):
    """The arrays that the run gives, by name; None after a failure, which is printed."""
    files = []
    for number, array in enumerate(arrays):
        np.save(f"{scratch}/{number}.npy", array)
        files.append(f"--in={scratch}/{number}.npy")
    done = subprocess.run([tile_run, *command, *files, f"--out={scratch}/out.npz"], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        print(done.stderr)
        return None
    with np.load(f"{scratch}/out.npz") as out:
        return {name: out[name] for name in out.files}


def arguments_of(source, arrays, result):
    """The kernel's arguments, in its order: arrays flat, each followed by those of its sizes that are parameters."""
    signature = re.search(r"__global__ void (?:__launch_bounds__\([^)]*\) )?(\w+)\((.*)\) {", source)
    parameters = signature.group(2).split(", ")
    waiting, values, output = [*arrays, np.zeros_like(result)], [], None
    for parameter in parameters:
        if "*" in parameter:
            array = waiting.pop(0)
            sizes = list(array.shape)
            output = len(values)
            values.append(array.ravel())
        else:
            values.append(np.int64(sizes.pop(0)))
    grid = re.search(r"Launch: grid \(([^)]*)\), block \(([^)]*)\), dynamic shared memory (\d+)", source)
    sizes = [*grid.group(1).split(", "), *grid.group(2).split(", "), grid.group(3)]
    return signature.group(1), values + [np.int64(size) for size in sizes], output


def judge(name, program, *arrays):
    for chip in chips:
        form = "cuda" if chip.startswith("sm_") else "hip"
        with tempfile.TemporaryDirectory() as scratch:
            with open(f"{scratch}/p.mlir", "w", encoding="utf-8") as file:
                file.write(program)
            kernels = f"{scratch}/p.{'cu' if form == 'cuda' else 'hip'}"
            done = subprocess.run([tile_translate, f"{scratch}/p.mlir", f"--tile-to-{form}-source", f"--chip={chip}",
                                   "-o", kernels], capture_output=True, text=True, check=False)
            good = done.returncode == 0
            expected = run([f"{scratch}/p.mlir", f"--target=emulate:{chip}"], scratch, arrays) if good else None
            if expected:
                with open(kernels, encoding="utf-8") as file:
                    source = file.read()
                result = next(iter(expected.values()))
                entry, values, output = arguments_of(source, arrays, result)
                seen = run([kernels, f"--target=emulate:{chip}", f"--entry=launch_{entry}"], scratch, values)
                good = seen is not None and seen[f"argument{output}"].tobytes() == result.tobytes()
            counts["right" if expected and good else "wrong"] += 1
            if not (expected and good):
                print(f"{name} on {chip}: wrong: {done.stderr}")


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


judge("functions", FUNCTIONS, normal(1000) * 3)
judge("rows", ROWS, normal(7, 300))
judge("softmax", SOFTMAX, normal(5, 201))
judge("transpose", TRANSPOSE, random.integers(-999, 999, (37, 21)).astype(np.int16))
judge("integers", INTEGERS, *(random.integers(-2**31, 2**31, (2, 333)).astype(np.int32)))
judge("narrow", NARROW, normal(100).astype(np.float16))
judge("halves", HALVES, normal(100).astype(np.float16), normal(100).astype(np.float16))
for t, s, zero, m, n, k in [("f16", "f32", "0.0", 100, 72, 40), ("f32", "f32", "0.0", 33, 50, 17),
                            ("f64", "f64", "0.0", 24, 16, 20)]:
    kind = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[t]
    judge(f"matmul {t}", MATMUL.format(t=t, s=s, zero=zero, m=m, n=n, k=k), normal(m, k).astype(kind),
          normal(k, n).astype(kind))
print(f"{counts['right']} right, {counts['wrong']} wrong")
