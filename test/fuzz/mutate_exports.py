"""Damages kernels of TTIR, CUDA Tile IR and tile, and writes them in each other's form: mutate_exports.py TILE_TRANSLATE COUNT [SEED]

The corpus is the kernels that test/run/triton_kernels/rare.py and test/run/cuda_tile/rare.py write, and the inputs of
test/run/ttir_export and cuda_tile_export. Most mutants differ by a number or a type, so that many are still read. Each ends
in time, with status 0, or with status 1, a message and no output file. A message that the tool crashed is a crash.
"""
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import mutate

RUN = Path(__file__).resolve().parents[1] / "run"
MUTATIONS = [mutate.nearby] * 4 + [mutate.RETYPE] * 2 + [mutate.lines(mutate.swap_lines), mutate.replace_token, mutate.BLOW_UP]


def corpus(folder):
    for script in ("triton_kernels", "cuda_tile"):
        subprocess.run([sys.executable, str(RUN / script / "rare.py"), f"--write={folder}"], check=True, stdout=subprocess.DEVNULL)
    inputs = [RUN / name / "Inputs/kernels.mlir" for name in ("ttir_export", "cuda_tile_export")]
    return [(path.suffix, path.read_bytes()) for path in [*sorted(Path(folder).iterdir()), *inputs]]


def fault(translate, file, flags, output):
    """What is wrong with how the tool ends; empty: nothing."""
    if os.path.exists(output):
        os.remove(output)
    try:
        done = subprocess.run([translate, file, *flags, "-o", output], capture_output=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return "hangs"
    message = done.stderr.decode(errors="replace")
    if done.returncode not in (0, 1) or "crashed" in message:
        return f"crashes: {message[-300:]}"
    if done.returncode and (not message.strip() or os.path.exists(output)):
        return "fails without a message, or leaves a file"
    return ""


def main(translate, count, seed="0"):
    rng, faults = random.Random(f"exports {seed}"), 0
    with tempfile.TemporaryDirectory() as scratch:
        os.mkdir(f"{scratch}/kernels")
        files = corpus(f"{scratch}/kernels")
        for number in range(int(count)):
            (suffix, data), (_, other) = rng.choice(files), rng.choice(files)
            for _ in range(rng.randint(1, 2)):
                data = rng.choice(MUTATIONS)(rng, data, other) or b" "
            file = f"{scratch}/mutant{suffix}"
            Path(file).write_bytes(data)
            forms = [["--tile-to-cuda-tile=13.5"], ["--tile-to-ttir"], ["--tile-to-ttir", "--descriptors"]]
            flags = ["--import-ttir"] if suffix == ".ttir" and number % 2 else forms[number % 3]
            found = fault(translate, file, flags, f"{scratch}/out")
            if found:
                faults += 1
                print(f"mutant {number} of seed {seed} {' '.join(flags)}: {found}")
    print(f"{count} mutants, {faults} faults")


main(*sys.argv[1:])
