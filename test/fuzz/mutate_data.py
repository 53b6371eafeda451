"""Damages what programs are run with, and what Python reads. Use: mutate_data.py --tools=BUILD/bin [--seed=N] [--count=M]

By the seed's remainder: an array (.npy), an archive (.npz), the components of a sparse matrix (whole files, wrong numbers in
them), a machine file, a schedule in a program, the text of a program that Python reads and interprets, an ONNX model, a
program of JAX (StableHLO), or a compiled program. The tool must end in time, with status 0, or 1 and a message; of a
compiled program it must find every damage. A program that runs with a damaged schedule must still give the interpreter's
result. `--keep=FOLDER` keeps what failed; `--only=KIND` draws one kind.
"""
import argparse
import collections
import io
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import judge
import mutate

TREE = Path(__file__).resolve().parents[2]
COPY = "func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {\n  return %x : tensor<?x?xf32>\n}\n"
BOTH = "func.func @main(%x: tensor<?x?xf32>, %y: tensor<?xi16>) -> tensor<?x?xf32> {\n  return %x : tensor<?x?xf32>\n}\n"
SPARSE = """func.func @main(%a: tensor<?x?xf32, #sparse.FORMAT>, %b: tensor<?x3xf32>, %c: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %r = sparse.spmm %a, %b, %c : tensor<?x?xf32, #sparse.FORMAT>, tensor<?x3xf32>, tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}
"""
PRODUCT = """func.func @main(%a: tensor<13x24xf32>, %b: tensor<24x17xf32>, %c: tensor<13x17xf32>) -> tensor<13x17xf32> {
  %r = linalg.matmul {tile.schedule = #tile.schedule<SCHEDULE>} ins(%a, %b : tensor<13x24xf32>, tensor<24x17xf32>)
    outs(%c : tensor<13x17xf32>) -> tensor<13x17xf32>
  return %r : tensor<13x17xf32>
}
"""
NUMBERS = [0, 1, -1, 2, 7, 2**31 - 1, -2**31, 2**31, 2**62, 2**63 - 1, -2**63]
PYTHON = """import sys, tessera
try:
    module = tessera.parse(open(sys.argv[1], 'rb').read())
    names = [op.attributes['sym_name'].value for op in module if op.name == 'func.func' and op.regions[0].blocks] or ['main']
    print(module.run(target='interpret', max_steps=100000, entry=names[-1]).results)
except (tessera.Error, ValueError, TypeError, MemoryError) as error:
    print('error:', str(error)[:500])
    sys.exit(1)
"""


def saved(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def damage(rng, data):
    """Bytes, of a file that is partly text: a number or a word of the header exchanged, or any byte."""
    kind = rng.random()
    places = list(re.finditer(rb"\d+", data[:200]))
    if kind < 0.3 and places:
        at = rng.choice(places)
        return data[:at.start()] + str(rng.choice(NUMBERS)).encode() + data[at.end():]
    if kind < 0.45:
        words = [b"<f4", b"'descr'", b"False", b"(", b")", b"{", b"NUMPY", b"'shape'"]
        return data.replace(rng.choice(words), rng.choice([*words, b"True", b">f8", b"|O", b"(((("]), 1)
    return rng.choice([mutate.flip, mutate.flip, mutate.truncate])(rng, data, data) or b"x"


def npy(rng, folder):
    (folder / "p.mlir").write_text(COPY)
    (folder / "x.npy").write_bytes(damage(rng, saved(np.ones((rng.randrange(5), 3), np.float32))))
    return ["tile-run", "p.mlir", "--in=x.npy"], []


def npz(rng, folder):
    (folder / "p.mlir").write_text(BOTH)
    file = io.BytesIO()
    rng.choice([np.savez, np.savez_compressed])(file, x=np.ones((4, 3), np.float32), y=np.arange(50, dtype=np.int16))
    (folder / "x.npz").write_bytes(damage(rng, file.getvalue()))
    return ["tile-run", "p.mlir", "--in=x.npz", "--target=interpret"], []


def component(rng, array):
    array = array.copy()
    kind = rng.randrange(6)
    if kind == 0 and array.size and array.dtype.kind == "i":
        array.flat[rng.randrange(array.size)] = np.int64(rng.choice(NUMBERS)).astype(array.dtype)
    elif kind == 1:
        array = array[:rng.randrange(len(array) + 1)] if array.ndim else array
    elif kind == 2:
        array = np.concatenate([np.atleast_1d(array)] * 2)
    elif kind == 3:
        array = array.astype(rng.choice([np.int8, np.int64, np.uint32, np.float64]))
    elif kind == 4:
        array = array[::-1] if array.ndim else array
    else:
        array = array.reshape(-1, 1)
    return array


def sparse(rng, folder):
    form = rng.choice(["csr", "csc", "coo"])
    (folder / "p.mlir").write_text(SPARSE.replace("FORMAT", form))
    parts = {"format": np.array(form.encode()), "shape": np.array([6, 5]), "data": np.ones(7, np.float32)}
    if form == "coo":
        parts.update(row=np.array([0, 0, 1, 3, 3, 4, 5], np.int32), col=np.array([0, 2, 1, 0, 4, 3, 2], np.int32))
    else:
        parts.update(indices=np.array([0, 2, 1, 0, 4, 3, 2], np.int32),
                     indptr=np.array([0, 2, 3, 3, 5, 6, 7] if form == "csr" else [0, 2, 3, 3, 5, 7], np.int32))
    for name in rng.sample(sorted(parts), rng.choice([1, 1, 2])):
        parts[name] = component(rng, parts[name]) if name != "format" else np.array(rng.choice([b"csr", b"coo", b"x", b""]))
    np.savez(folder / "a.npz", **parts)
    np.save(folder / "b.npy", np.ones((5, 3), np.float32))
    np.save(folder / "c.npy", np.zeros((6, 3), np.float32))
    return ["tile-run", "p.mlir", "--in=a.npz", "--in=b.npy", "--in=c.npy"], rng.choice([[], ["--target=interpret"]])


def machine(rng, folder):
    files = sorted((TREE / "lib" / "machine").glob("*.machine"))
    file = rng.choice(files)
    text = file.read_bytes()
    for _ in range(rng.choice([1, 1, 3])):
        text = rng.choice([mutate.BLOW_UP, mutate.BLOW_UP, mutate.MUTATIONS[0], mutate.MUTATIONS[2], mutate.MUTATIONS[5]])(
            rng, text, rng.choice(files).read_bytes())
    (folder / file.name).write_bytes(text)
    (folder / "p.mlir").write_text(PRODUCT.replace("{tile.schedule = #tile.schedule<SCHEDULE>} ", ""))
    name = file.stem
    if name == "native":
        return ["tile-run", "p.mlir", "--tile-machine-path=."], []
    cpu = not name.startswith(("sm", "gfx"))
    return ["tile-opt", "p.mlir", "--tile-machine-path=.", "-o", "/dev/null",
            f"--tile-to-{'cpu' if cpu else 'nvvm' if name.startswith('sm') else 'rocdl'}-pipeline=chip={name}"], []


KEYS = {"kind": '"x"', "block": [4, 8, 16], "register": [4, 16], "warps": [1, 2, 1], "split": 2, "stages": 3, "group": [4],
        "order": [0, 1], "atom": '"x"'}


def schedule(rng, folder):
    """One that fits the product, or nearly: an entry may be left out, added, or have another number or length."""
    def number(most):
        return rng.randrange(1, most + 1)
    on_gpu = rng.random() < 0.4
    if on_gpu:
        entries = {"kind": '"product"', "block": [2 ** number(5), 2 ** number(5), 2 ** number(5)], "warps": [1, 1, 1], "stages": number(4)}
    else:
        rows, columns = number(8), 16 * number(3)
        entries = {"kind": rng.choice(['"direct"', '"packed"']), "block": [rows * number(4), columns * number(2), number(30)],
                   "register": [rows, columns]}
    for _ in range(rng.choice([0, 1, 1, 2])):
        key = rng.choice(sorted(entries))
        value = entries[key]
        if rng.random() < 0.2:
            del entries[key]
        elif rng.random() < 0.3:
            key = rng.choice(sorted(KEYS))
            entries[key] = KEYS[key]
        elif isinstance(value, list):
            entries[key] = [rng.choice([x, x, 2 * x, x + 1, *NUMBERS]) if isinstance(x, int) else x for x in value][:rng.choice([2, 3, 3, 3])]
        elif isinstance(value, int):
            entries[key] = rng.choice(NUMBERS)
        if not entries:
            break
    (folder / "p.mlir").write_text(PRODUCT.replace("SCHEDULE", ", ".join(f"{key} = {value}" for key, value in entries.items())))
    return ["tile-run", "p.mlir", "--check-against=interpret", f"--target={'emulate:sm_80' if on_gpu else 'cpu'}"], []


def python(rng, folder):
    data = rng.choice(FILES) if rng.random() < 0.6 else mutate.drawn(rng)
    for _ in range(rng.choice([1, 1, 2])):
        data = rng.choice([mutate.nearby, rng.choice(mutate.MUTATIONS)])(rng, data, rng.choice(FILES)) or b" "
    (folder / "p.mlir").write_bytes(data)
    return [sys.executable, "-c", PYTHON, "p.mlir"], []


MODELS = []


def models():
    """The models of the importer's tests. They are written by a process: its modules are called as ours are."""
    if not MODELS:
        with tempfile.TemporaryDirectory() as place:
            subprocess.run([sys.executable, TREE / "test/import/onnx/programs.py", place], check=True)
            MODELS[:] = [file.read_bytes() for file in sorted(Path(place).rglob("*.onnx")) if file.stat().st_size]
    return MODELS


def splice(rng, data, other):
    at, begin = rng.randrange(len(data)), rng.randrange(len(other))
    return data[:at] + other[begin:begin + rng.randrange(1, 40)] + data[at + rng.randrange(3):]


def onnx(rng, folder):
    data = rng.choice(models())
    for _ in range(rng.choice([1, 1, 1, 2])):
        data = rng.choice([mutate.flip, mutate.flip, mutate.flip, splice, mutate.truncate])(rng, data, rng.choice(models())) or b"x"
    (folder / "p.onnx").write_bytes(data)
    return rng.choice([["tile-run", "p.onnx", "--target=interpret", "--size=3", "--max-steps=1000000"],
                       ["tile-translate", "--import-onnx", "p.onnx", "-o", "/dev/null"]]), []


def stablehlo(rng, folder):
    data = rng.choice(JAX)
    for _ in range(rng.choice([1, 1, 2])):
        data = rng.choice([mutate.nearby, *mutate.MUTATIONS])(rng, data, rng.choice(JAX)) or b" "
    (folder / "p.mlir").write_bytes(data)
    return rng.choice([["tile-run", "p.mlir", "--target=interpret", "--max-steps=1000000"],
                       ["tile-opt", "p.mlir", "--convert-stablehlo-to-linalg", "--canonicalize", "-o", "/dev/null"],
                       ["tile-translate", "--import-stablehlo", "p.mlir", "-o", "/dev/null"]]), []


COMPILED = {}  # by folder of tools


def compiled(tools):
    if tools not in COMPILED:
        with tempfile.TemporaryDirectory() as place:
            file = Path(place, "p.so")
            subprocess.run([Path(tools, "tile-translate"), TREE / "examples/softmax/softmax.mlir", "--tile-to-program", "-o", file], check=True)
            COMPILED[tools] = file.read_bytes()
    return COMPILED[tools]


def program(rng, folder, tools):
    whole = compiled(tools)
    (folder / "p.so").write_bytes(rng.choice([mutate.flip, mutate.flip, mutate.truncate])(rng, whole, whole))
    return ["tile-exec", "p.so", "--size=4"], []


FILES = mutate.corpus()
JAX = [p.read_bytes() for p in sorted((TREE / "test" / "run" / "stablehlo").glob("*.mlir"))]
KINDS = {f.__name__: f for f in (npy, npz, sparse, machine, schedule, python, onnx, stablehlo, program)}


def crashes_upstream(options, file):
    """Does the unmodified mlir-opt crash on the same text?"""
    status, _ = judge.execute([options.mlir_opt, "--allow-unregistered-dialect", str(file), "-o", "/dev/null"], 20)
    return status is None or status < 0 or status > 1


def run(seed, options):
    name = options.only or list(KINDS)[seed % len(KINDS)]
    rng = random.Random(f"data {seed}")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        command, more = program(rng, folder, options.tools) if name == "program" else KINDS[name](rng, folder)
        tool = command[0] if os.path.isabs(command[0]) else str(Path(options.tools).resolve() / command[0])
        status, text = judge.execute(["env", "-C", place, f"PYTHONPATH={TREE / 'python'}", f"TESSERA_HOME={Path(options.tools).resolve().parent}",
                                      "TESSERA_CACHE=none", tool, *command[1:], *more], options.timeout)
        wrong = ("hang" if status is None else "crash" if status not in (0, 1) or "error: crashed" in text or "out of stack" in text else
                 "wrong" if "the check failed" in text else "silent" if status == 1 and "error" not in text else
                 "wrong" if status == 0 and name == "program" and (folder / "p.so").read_bytes() != compiled(options.tools) else None)
        if wrong == "crash" and name == "python" and crashes_upstream(options, folder / "p.mlir"):
            return seed, name, "upstream's", text
        if wrong and options.keep:
            subprocess.run(["cp", "-r", place, str(Path(options.keep, f"data_{seed}_{name}"))], check=True)
    return seed, name, wrong or ("accepted" if status == 0 else "refused"), text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", default=str(TREE / "build" / "bin"))
    parser.add_argument("--mlir-opt", default="/usr/lib/llvm-22/bin/mlir-opt")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=int, default=20, help="seconds of CPU that a tool may take")
    parser.add_argument("--only", choices=sorted(KINDS))
    parser.add_argument("--keep", help="folder for what failed")
    options = parser.parse_args()
    if options.keep:
        Path(options.keep).mkdir(parents=True, exist_ok=True)
    counts, kinds, begun = collections.Counter(), collections.Counter(), time.time()
    with ThreadPoolExecutor(options.jobs) as pool:
        for seed, name, word, text in pool.map(lambda seed: run(seed, options), range(options.seed, options.seed + options.count)):
            counts[word] += 1
            kinds[name] += word == "accepted"
            if word not in ("accepted", "refused", "upstream's"):
                print(f"mutant {seed}: {name}: {word}: {text[-400:]}", flush=True)
    words = ("accepted", "refused", "upstream's", "crash", "hang", "wrong", "silent")
    print(f"{options.count} mutants: {', '.join(f'{counts[w]} {w}' for w in words)} ({time.time() - begun:.0f} s)")
    print("accepted by kind: " + ", ".join(f"{kinds[name]} {name}" for name in KINDS))
    return any(counts[word] for word in words[3:])


if __name__ == "__main__":
    sys.exit(main())
