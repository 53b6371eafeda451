"""Causal attention that hides keys by a finite number, on sm_90a by TMA and wgmma: hidden keys matter (-1), or do not
(-1e30), and the emulator gives what the interpreter does.

finite_masks.py BUILD
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test" / "gpu"))
import bench_cases  # noqa: E402

CASES = [(1, 190, 250, 64, "f16", "-1.0"), (1, 190, 250, 64, "f16", "-1.0e30"), (1, 190, 250, 128, "bf16", "-1.0"),
         (1, 250, 140, 64, "f16", "-1.0")]


def main():
    build, wrong = Path(sys.argv[1]), 0
    for heads, queries, keys, d, element, hidden in CASES:
        text = bench_cases.attention(heads, queries, keys, d, True, element, hidden).text
        text = 'module attributes {tile.machine = #tile.machine<"sm_90a", "cores" = 1>} {\n' + text + "}\n"
        with tempfile.TemporaryDirectory() as place:
            stats = Path(place, "stats.json")
            done = subprocess.run([build / "bin/tile-run", "-", "--target=emulate:sm_90a", "--check-against=interpret",
                                   f"--stats={stats}"], input=text, text=True, capture_output=True)
            passes = json.loads(stats.read_text())["passes"] if stats.exists() else {}
            count = passes.get("tile-specialize-warps", {}).get("specialized", 0)
        if done.returncode or count != 1:
            wrong += 1
            print(heads, queries, keys, d, element, hidden, count, done.stdout, done.stderr)
    print(f"{len(CASES)} cases, {wrong} wrong")


main()
