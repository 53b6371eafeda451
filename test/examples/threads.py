"""Runs every example with several thread counts and compares the outputs byte for byte.

Use: threads.py EXAMPLES FOLDER TILE_RUN TILE_TRANSLATE TILE_EXEC"""
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

examples, folder, tile_run, tile_translate, tile_exec = (Path(a) for a in sys.argv[1:])
THREADS = [1, 2, 3, 8]
rng = np.random.default_rng(17)


def arguments(name, text):
    """Random arrays for the types of @main; dynamic sizes become 517."""
    header = re.search(r"func\.func @main\((.*?)\)\s*->", text, re.DOTALL).group(1)
    flags = []
    for i, shape in enumerate(re.findall(r"tensor<((?:[?\d]+x)*)f32>", header)):
        sizes = [517 if size == "?" else int(size) for size in shape.split("x")[:-1]]
        path = folder / f"{name}{i}.npy"
        np.save(path, rng.normal(size=sizes).astype(np.float32))
        flags.append(f"--in={path}")
    return flags


def outputs(command, name):
    seen = []
    for threads in THREADS:
        out = folder / f"{name}_{threads}.npy"
        subprocess.run([*command, f"--threads={threads}", "--repeat=3", f"--out={out}"], check=True)
        seen.append(out.read_bytes())
    return seen


for name in ("digits", "softmax", "transformer"):  # those of ./dev demo
    file = examples / name / f"{name}.mlir"
    given = arguments(name, file.read_text())
    program = folder / f"{name}.so"
    subprocess.run([tile_translate, file, "--tile-to-program", "-o", program], check=True)
    seen = outputs([tile_run, file, *given], name) + outputs([tile_exec, program, *given], name)
    assert np.isfinite(np.load(folder / f"{name}_1.npy")).all(), name
    assert all(bytes_ == seen[0] for bytes_ in seen), f"{name}: bits differ"
    print(f"{name}: alike for {', '.join(map(str, THREADS))} threads")
