"""Writes programs as projects in C, makes them with gcc and every warning as an error, and compares their results.

Usage: project.py TILE_TRANSLATE TILE_RUN EXAMPLE.mlir [MODEL.onnx TYPE-AND-SIZES...]
Programs of this folder and the example are compared with the interpreter, a model with the CPU. What the programs plan
for their buffers must be at most 1.1 times the most bytes in use at once, when they are compiled or when they run, and
no other memory be asked for.
"""
import json
import re
import subprocess
import sys
import tempfile

import numpy as np

from programs import LATE, SEVERAL, SOFTMAX

tile_translate, tile_run, example, *model = sys.argv[1:]
random = np.random.default_rng(11)
WEIGHTS = """
func.func @main(%x: tensor<7x40xf32>) -> (tensor<7x30xf32>, f32) {{
  %w = arith.constant dense<[{rows}]> : tensor<40x30xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x30xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<7x30xf32>) -> tensor<7x30xf32>
  %c = linalg.matmul ins(%x, %w : tensor<7x40xf32>, tensor<40x30xf32>) outs(%f : tensor<7x30xf32>) -> tensor<7x30xf32>
  %t = math.tanh %c : tensor<7x30xf32>
  %d = arith.addf %t, %c : tensor<7x30xf32>
  %i = arith.constant 3 : index
  %one = tensor.extract %d[%i, %i] : tensor<7x30xf32>
  return %d, %one : tensor<7x30xf32>, f32
}}
"""


def check(command, what):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{what}: {done.stdout}{done.stderr}")
    return done.returncode == 0


def shapes_of(main):
    """Types and sizes of the arguments, as main.c reads them."""
    for kind, shape in re.findall(r'read_array\(argv\[\d+\], "(.{2,3})", \d+, \d+, \(const uint64_t\[\]\){([^}]*)}', main):
        yield kind, [int(size) for size in shape.split(", ")]


def judge(name, program, target, arrays=None, tolerance=1e-5, is_planned=False, is_late=False):
    with tempfile.TemporaryDirectory() as scratch:
        folder = f"{scratch}/project"
        if not check([tile_translate, program, f"--emit-project={folder}", f"--stats={scratch}/stats.json"], name) or \
           not check(["make", "-s", "-C", folder, "CFLAGS=-O2 -march=native -Wall -Wextra -Werror -DREPORT_MEMORY"], name):
            return False
        with open(f"{folder}/main.c", encoding="utf-8") as file:
            main = file.read()
        if arrays is None:
            arrays = [random.standard_normal(shape).astype(kind) * 0.25 for kind, shape in shapes_of(main)]
        files = [f"{scratch}/in{number}.npy" for number in range(len(arrays))]
        for file, array in zip(files, arrays):
            np.save(file, array)
        if not check([tile_run, program, f"--target={target}", *[f"--in={file}" for file in files],
                      f"--out={scratch}/expected.npz"], name):
            return False
        with np.load(f"{scratch}/expected.npz") as out:
            expected = [out[key] for key in out.files]
        outputs = [f"{scratch}/out{number}.npy" for number in range(len(expected))]
        done = subprocess.run([f"{folder}/run", *files, *outputs], capture_output=True, text=True, check=False)
        plans = re.findall(r"memory: (\d+) bytes planned, (\d+) in use at once", done.stderr)
        good = done.returncode == 0 and all(int(planned) <= 1.1 * int(used) for planned, used in plans)
        if not good or len(plans) != is_late:
            print(f"{name}: {done.stderr}")
            return False
        for number, (file, wanted) in enumerate(zip(outputs, expected)):
            seen = np.load(file)
            finite = np.isfinite(wanted)
            difference = np.abs(seen[finite].astype(np.float64) - wanted[finite].astype(np.float64)).max(initial=0)
            if seen.shape != wanted.shape or not (seen == wanted)[~finite].all() or \
               not difference <= tolerance * (1 + np.abs(wanted[finite]).max(initial=0)):
                print(f"{name}: result {number} differs by {difference}")
                good = False
        with open(f"{folder}/program.c", encoding="utf-8") as file:
            source = file.read()
        with open(f"{scratch}/stats.json", encoding="utf-8") as file:
            plan = json.load(file)["passes"]["tile-plan-memory"]
        if is_planned and (re.search(r"= (allocate|tessera_local_alloc)\(", source) or
                           plan["arena_bytes"] > 1.1 * plan["least_bytes"]):
            print(f"{name}: plans {plan}, or asks for more memory")
            good = False
        return good


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


def text(scratch, program):
    path = f"{scratch}/p{random.integers(1 << 30)}.mlir"
    with open(path, "w", encoding="utf-8") as file:
        file.write(program)
    return path


with tempfile.TemporaryDirectory() as programs:
    if model:
        given = [random.standard_normal([int(size) for size in word.split("x")]).astype(np.float32) * 0.25
                 for word in model[1:]]
        results = [judge("model", model[0], "cpu", given, is_late=True)]
    else:
        rows = ", ".join("[" + ", ".join(f"{number:.6e}" for number in row) + "]"
                         for row in random.standard_normal((40, 30)))
        results = [judge("softmax", text(programs, SOFTMAX), "interpret", is_planned=True),
                   judge("several", text(programs, SEVERAL), "interpret"),
                   judge("weights", text(programs, WEIGHTS.format(rows=rows)), "interpret"),
                   *[judge("late", text(programs, LATE), "interpret", [normal(m, k), normal(k, n), np.bool_(m > 9)],
                           is_late=True) for m, n, k in [(13, 21, 34), (5, 3, 1), (0, 4, 3)]],
                   judge("example", example, "interpret", tolerance=1e-4, is_planned=True)]
print(f"{sum(results)} of {len(results)} right")
