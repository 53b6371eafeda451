"""Attention from linalg on an emulated machine of sixteen cores of sm_100a: one kernel, whose products are tcgen05's, and
the result is the interpreter's.

attention.py BUILD
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test/gpu"))
import bench_cases  # noqa: E402


def main(build):
    with tempfile.TemporaryDirectory() as folder:
        machine = (ROOT / "lib/machine/sm_100a.machine").read_text()
        Path(folder, "sm_100a.machine").write_text(re.sub(r"^cores = .*$", "cores = 16", machine, flags=re.M))
        stats = Path(folder, "stats.json")
        done = subprocess.run([build / "bin/tile-run", "-", "--target=emulate:sm_100a", f"--tile-machine-path={folder}",
                               "--check-against=interpret", f"--stats={stats}"],
                              input=bench_cases.attention(4, 512, 512, 128, True, "f16").text, text=True, capture_output=True)
        if done.returncode or done.stderr or ": right" not in done.stdout:
            sys.exit(done.stdout + done.stderr)
        passes = json.loads(stats.read_text())["passes"]["tile-specialize-warps"]
    print(f"right, {passes['specialized']} kernel in three partitions")


main(Path(sys.argv[1]).resolve())
