"""What the scripts of this folder share: each kernel is run on each target, and its arrays compared with what numpy has.

SCRIPT TILE_RUN [--tile-ir=TILE_TRANSLATE] TARGET…      with --tile-ir, after the way through CUDA Tile IR too
SCRIPT TILE_RUN [--ttir=TILE_TRANSLATE] TARGET…         only after the way through tile kernels to TTIR
SCRIPT --write=FOLDER                                   only writes the kernels there
"""
import os
import re
import subprocess
import sys
import tempfile

import numpy as np


def flag(name):
    return next((a[len(name) + 1:] for a in sys.argv if a.startswith(f"{name}=")), None)


translate, ttir_translate, folder_to_write = flag("--tile-ir"), flag("--ttir"), flag("--write")
tile_run, *targets = [a for a in sys.argv[1:] if not a.startswith("--")] or [None]
random = np.random.default_rng(17)
counts = {"kernels": 0, "right": 0, "wrong": 0}


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


def run(kernel, file, arguments, grid, wanted, tolerance, targets_, what):
    with tempfile.TemporaryDirectory() as scratch:
        inputs = []
        for number, argument in enumerate([*arguments, *(np.int64(size) for size in (*grid, 1, 1, 1)[:3])]):
            np.save(f"{scratch}/{number}.npy", argument)
            inputs.append(f"--in={scratch}/{number}.npy")
        for target in targets_:
            done = subprocess.run([tile_run, file, f"--entry=launch_{kernel.name}", f"--target={target}", *inputs,
                                   f"--out={scratch}/out.npz"], capture_output=True, text=True, check=False, timeout=300)
            stops = isinstance(wanted, str)
            good = done.returncode == 1 and wanted in done.stderr if stops else not done.returncode
            if good and not stops:
                with np.load(f"{scratch}/out.npz") as out:
                    for number, value in wanted.items():
                        seen = out[f"argument{number}"].astype(np.float64)
                        good &= np.allclose(seen, np.asarray(value, np.float64).ravel(), rtol=tolerance, atol=tolerance, equal_nan=True)
            counts["right" if good else "wrong"] += 1
            if not good:
                print(f"{kernel.name} {what} on {target} is wrong", *[line for line in done.stderr.splitlines() if "error" in line][:2])


def through_tile_kernels(file, folder, arguments, wanted):
    """The kernel as our TTIR, with its arguments and what is wanted of them: a tile kernel has what is written last, and the size of
    each array follows the array."""
    subprocess.run([ttir_translate, file, "--import-ttir", "-o", f"{folder}/tile.mlir"], check=True)
    subprocess.run([ttir_translate, f"{folder}/tile.mlir", "--tile-to-ttir", "-o", f"{folder}/back.ttir"], check=True)
    with open(f"{folder}/tile.mlir", encoding="utf-8") as text:
        launch = re.search(r"tile\.launch .*", text.read())[0]
    order = [int(number) for group in re.findall(r"(?:ins|outs)\(([^:]*)", launch) for number in re.findall(r"%arg(\d+)", group)]
    places, flat = {}, []
    for number in order:
        places[number] = len(flat)
        flat += [arguments[number], np.int64(arguments[number].size)] if np.ndim(arguments[number]) else [arguments[number]]
    return f"{folder}/back.ttir", flat, wanted if isinstance(wanted, str) else {places[number]: value for number, value in wanted.items()}


def judge(kernel, arguments, grid, wanted, tolerance=1e-5, exports=""):
    """wanted: by number of the argument what it holds afterwards, or the text of the error that the run ends with. exports: the version of
    CUDA Tile IR that can say it; None: no version can."""
    counts["kernels"] += 1
    if folder_to_write:
        with open(f"{folder_to_write}/{kernel.name}.ttir", "w", encoding="utf-8") as stream:
            stream.write(kernel.text())
        return
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/{kernel.name}.ttir"
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(kernel.text())
        if ttir_translate:
            file, arguments, wanted = through_tile_kernels(file, folder, arguments, wanted)
            run(kernel, file, arguments, grid, wanted, tolerance, targets, "from our TTIR")
            return
        run(kernel, file, arguments, grid, wanted, tolerance, targets, "from TTIR")
        if translate and exports is not None:
            through = f"{folder}/{kernel.name}.tileirbc"
            subprocess.run([translate, file, f"--tile-to-cuda-tile{exports}", "-o", through], check=True)
            run(kernel, through, arguments, grid, wanted, tolerance, targets[:1], "from CUDA Tile IR")


def report():
    print(f"{counts['kernels']} kernels, {counts['right']} right, {counts['wrong']} wrong")
