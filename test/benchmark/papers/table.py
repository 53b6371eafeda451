"""What the tables of programs apart and as one launch share: their options, and predicted runs on the emulator."""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SIZES = ("small", "medium", "paper")


def parse(doc, apart, together, policy="always"):
    """The options; `apart` and `together` name the flags of tile-run for the two ways; `policy` is what the second one is by default."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--batch", default="1,4")
    parser.add_argument("--only", default="")
    parser.add_argument("--chip", default="sm_80")
    parser.add_argument(f"--{apart}", default="--persistent=never")
    parser.add_argument(f"--{together}", default=f"--persistent={policy}")
    parser.add_argument("--json")
    return parser.parse_args()


def compare(options, models, apart, together, head, show, cycles="with_launches"):
    """Runs each model, {name: (generator, sizes of each size)}, both ways, prints the head and show(row, gain) of each row, and
    writes the JSON file; returns the exit status: 1 if bits differ. `cycles`: the gain is theirs, with_launches or with_waits."""
    launch, wait, rows = host_cycles(options.chip, "launch"), host_cycles(options.chip, "wait"), []
    print(f"emulate:{options.chip}, predicted; {options.size} sizes; a launch counts {launch:.0f} cycles, a wait of the host {wait:.0f}")
    print(head)
    for name, (generator, *sizes) in models.items():
        if not re.search(options.only, name, re.I):
            continue
        size = sizes[SIZES.index(options.size)]
        for batch in map(int, options.batch.split(",")):
            row = {"model": name, "batch": batch, "sizes": size}
            with tempfile.TemporaryDirectory() as temporary:
                folder = Path(temporary)
                program = folder / "model.mlir"
                program.write_text(generator(batch, *size))
                row[apart], expected = measure(program, options.chip, getattr(options, apart), folder)
                row[together], seen = measure(program, options.chip, getattr(options, together), folder)
            for counts in (row[apart], row[together]):
                counts["with_launches"] = counts["cycles"] + launch * counts["launches"]
                counts["with_waits"] = counts["program_cycles"]
            row["equal"] = expected == seen
            print(show(row, row[apart][cycles] / row[together][cycles]), flush=True)
            rows.append(row)
    if options.json:
        Path(options.json).write_text(json.dumps({"chip": options.chip, "launch_cycles": launch, "wait_cycles": wait, "rows": rows}, indent=1))
    return int(not all(row["equal"] for row in rows))


def host_cycles(chip, name):
    text = next(ROOT.glob(f"lib/machine/**/{chip}.machine")).read_text()
    number = {key: float(re.search(rf"^{re.escape(key)} *= *(\d+)", text, re.M)[1]) for key in ("clock.hz", f"model.{name}.ns")}
    return number["clock.hz"] * number[f"model.{name}.ns"] * 1e-9


def measure(program, chip, flags, folder):
    """Counts of a run, and its result's bytes."""
    stats, out = folder / "stats.json", folder / "out.npy"
    done = subprocess.run([ROOT / "build/bin/tile-run", program, f"--target=emulate:{chip}", "--predict", "--seed=1", f"--stats={stats}",
                           f"--out={out}", *flags.split()], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{program}: {done.stderr}")
    counts = json.loads(stats.read_text())
    passes = counts["passes"].get("tile-co-schedule-kernels", {})
    return {"launches": counts["launches"], "cycles": counts["predicted_cycles"],
            "program_cycles": counts["predicted_program_cycles"], "waits": counts["host_waits"],
            "read": counts["global_bytes_read"],
            "awaits": passes.get("awaits", 0), "fronts": passes.get("fronts", 0), "manifest": counts.get("manifest")}, out.read_bytes()
