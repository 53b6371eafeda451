"""What the tables of programs apart and as one launch share: predicted runs on the emulator."""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def launch_cycles(chip):
    text = next(ROOT.glob(f"lib/machine/**/{chip}.machine")).read_text()
    number = {name: float(re.search(rf"^{re.escape(name)} *= *(\d+)", text, re.M)[1]) for name in ("clock.hz", "model.launch.ns")}
    return number["clock.hz"] * number["model.launch.ns"] * 1e-9


def measure(program, chip, flags, folder):
    """Counts of a run, and its result's bytes."""
    stats, out = folder / "stats.json", folder / "out.npy"
    done = subprocess.run([ROOT / "build/bin/tile-run", program, f"--target=emulate:{chip}", "--predict", "--seed=1", f"--stats={stats}",
                           f"--out={out}", *flags.split()], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{program}: {done.stderr}")
    counts = json.loads(stats.read_text())
    passes = counts["passes"].get("tile-co-schedule-kernels", {})
    return {"launches": counts["launches"], "cycles": counts["predicted_cycles"], "waits": counts["host_waits"],
            "read": counts["global_bytes_read"],
            "awaits": passes.get("awaits", 0), "fronts": passes.get("fronts", 0), "manifest": counts.get("manifest")}, out.read_bytes()
