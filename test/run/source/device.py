"""Writes programs as CUDA C++ and HIP, and compares the emitted kernels with the programs, bit by bit.

Usage: device.py TILE_TRANSLATE TILE_RUN CHIP...
A kernel comes back through --target=emulate:CHIP as any .cu or .hip file does. Prints what is wrong, then two counts.
"""
import re
import subprocess
import sys
import tempfile

import numpy as np

from programs import FUNCTIONS, HALVES, INTEGERS, MATMUL, NARROW, ROWS, SOFTMAX, TRANSPOSE

tile_translate, tile_run, chips = sys.argv[1], sys.argv[2], sys.argv[3:]
random = np.random.default_rng(7)
counts = {"right": 0, "wrong": 0}

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
