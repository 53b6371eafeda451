"""Attention whose neighbouring programs share the copies of keys and values: cluster_attention.py TILE_RUN.

The emulator gives what the interpreter gives, and reads each query once, and keys and values once for each pair of
programs: the closed form. Where a causal mask gives programs other numbers of rounds, they form no clusters.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from specialize_attention import Case


def run(tile_run, case, blocks):
    """Bytes read from global memory, and the kernels that form clusters."""
    folder = Path(tempfile.mkdtemp())
    programs = -(-case.sizes[0] // case.tile[0])
    text = case.program().replace("tile.kernel @attention", "tile.kernel private @attention")
    text = text.replace("%grid = arith.ceildivui %n, %rows : index", f"%grid = arith.constant {programs} : index")
    machine = 'machine = #tile.machine<"sm_90a">'
    text = text.replace(machine, f"{machine}, schedule = #tile.schedule<cluster = [{blocks}]>")
    (folder / "attention.mlir").write_text(text)
    command = [tile_run, folder / "attention.mlir", "--target=emulate:sm_90a", "--check-against=interpret",
               f"--stats={folder}/stats.json"]
    for i, array in enumerate(case.data()[0]):
        np.save(folder / f"in{i}.npy", array)
        command.append(f"--in={folder}/in{i}.npy")
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode or done.stderr or ": right" not in done.stdout:
        sys.exit(f"{case.name}: {done.stdout}{done.stderr}")
    stats = json.loads((folder / "stats.json").read_text())
    return stats["global_bytes_read"], stats["passes"]["tile-form-clusters"]["clusters"]


def expected(case, blocks):
    queries, keys = case.sizes
    rows, _, depth, channels = case.tile
    readers = -(-queries // rows) // blocks
    return 2 * case.heads * (queries * depth + readers * keys * (depth + channels))


def main(tile_run):
    for case in [Case("long", (64, 64, 128, 128), (128, 461), heads=1), Case("heads", (64, 64, 64, 64), (250, 135))]:
        for blocks in (1, 2):
            assert run(tile_run, case, blocks) == (expected(case, blocks), int(blocks > 1)), (case.name, blocks)
    assert run(tile_run, Case("causal", (64, 64, 64, 64), (128, 135), mask="causal"), 2)[1] == 0
    print("2 kernels read keys and values once for each pair of programs")


main(sys.argv[1])
