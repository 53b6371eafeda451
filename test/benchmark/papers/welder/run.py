"""Welder's comparison (Shi et al., OSDI 2023) on one block of each of its ten models, by the emulator's counts:
./dev reproduce welder [--size=small|medium] [--only=REGEX] [--chip=sm_80] [--shared=48,163,227] [--objectives=time,total-traffic,waves]
[--cpu] [--json=FILE]

For each model without --fusion (`none`: elementwise chains, epilogues, norms, attention) and for each objective of
tile-fuse-at-memory-level: kernels, transactions of global memory, bytes that are written and are no result, predicted cycles with
launches, and the largest difference from `none`, relative to the result's largest value. The chip has 48, 163 and 227 KB of shared memory
for a block in turn. --cpu adds the least of five times on this CPU, in ms, without fusion and by each objective. The paper's
numbers for each model are not at hand; its abstract reports up to 21.4, 8.7 and 2.8 times PyTorch, ONNX Runtime and Ansor on V100.
A second table has the paper's first example, a product of each head, mask and softmax: bytes of global memory, and how many times fewer
they are than without fusion. Beside it stands what the traffic model of the paper's artifact gives for the same sizes, which we computed by
an implementation of our own; the artifact counts no mask. --only=scores prints this table alone.
The predictions have not been compared with hardware. Blocks and sizes are smaller than the paper's; networks.py says what is left out.
A row that loses to `none` is printed as the others are.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent)]
import networks  # noqa: E402
from table import ROOT  # noqa: E402

SIZES = ("small", "medium")
# generator, and its arguments: small, medium
MODELS = {
    "MobileNetV2": (networks.mobilenetv2, (7, 8, 24), (14, 24, 144)),
    "BERT": (networks.bert, (24, 32, 2), (128, 128, 4)),
    "ViT": (networks.vit, (17, 48, 3), (50, 192, 3)),
    "Swin": (networks.swin, (16, 24, 3), (49, 96, 3)),
    "BSRN": (networks.bsrn, (6, 8), (24, 32)),
    "NAFNet": (networks.nafnet, (6, 8), (24, 32)),
    "Restormer": (networks.restormer, (6, 12), (24, 48)),
    "MobileViT": (networks.mobilevit, (5, 8, 24, 2), (16, 32, 96, 2)),
    "Conformer": (networks.conformer, (5, 24, 2), (16, 64, 4)),
    "NeRF": (networks.nerf, (96, 32), (2048, 64)),
}


# The paper's first example: heads, tokens, width of a head; by KB of shared memory, how many times less the artifact's model moves.
SCORES = {"small": {(8, 64, 32): {48: 2.00}}, "medium": {(8, 256, 64): {48: 1.15, 227: 2.14}, (768, 128, 64): {48: 1.60, 227: 2.00}}}


def run(program, flags, folder, repeat=1):
    stats, out = folder / "stats.json", folder / "out.npy"
    done = subprocess.run([ROOT / "build/bin/tile-run", program, "--seed=1", f"--stats={stats}", f"--out={out}", f"--repeat={repeat}", *flags],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{program.name} {' '.join(flags)}: {done.stderr[:2000]}")
    return json.loads(stats.read_text()), out


def difference(seen, expected):
    return float(abs(seen - expected).max() / max(abs(expected).max(), 1e-30))


def measure(program, policy, options, folder, expected):
    """Counts of one policy, and the result to compare with."""
    fusion = [] if policy == "none" else [f"--fusion={policy}"]
    counts, out = run(program, [f"--target=emulate:{options.chip}", "--predict", *fusion], folder)
    kept = numpy.load(out)
    row = {"kernels": counts["launches"], "transactions": counts["global_transactions"],
           "bytes": counts["global_bytes_read"] + counts["global_bytes_written"],
           "intermediate_bytes": counts["global_bytes_written"] - kept.nbytes, "cycles": counts["predicted_program_cycles"], "manifest": counts.get("manifest")}
    row["difference"] = difference(kept, expected) if expected is not None else 0.0
    if options.cpu:
        row["cpu_ms"] = run(program.with_name("plain.mlir"), ["--target=cpu", *fusion], folder, 5)[0]["time_ms_min"]
    return row, kept


def described(text, options, shared):
    machine = (f'#tile.machine<"{options.chip}", "shared.per_block.bytes" = {1024 * shared}, '
               f'"shared.bytes" = {1024 * (shared + 1)}>')
    return f"module attributes {{tile.machine = {machine}}} {{\n{text}}}\n"


def compare_scores(options, rows):
    """The table of the paper's first example; returns whether a result is wrong."""
    wrong = False
    print(f"\n{'product, mask, softmax':22} {'shared':>6} {'fusion':14} {'kernels':>7} {'bytes':>10} {'fewer':>5} {'artifact':>8} {'differs':>8}")
    for sizes, artifact in SCORES[options.size].items():
        text = networks.scores(*sizes)
        for shared in map(int, options.shared.split(",")):
            expected, apart = None, None
            with tempfile.TemporaryDirectory() as temporary:
                program = Path(temporary) / "scores.mlir"
                program.write_text(described(text, options, shared))
                program.with_name("plain.mlir").write_text(text)
                for policy in ["none", *options.objectives.split(",")]:
                    row, kept = measure(program, policy, options, Path(temporary), expected)
                    expected, apart = (kept, row) if apart is None else (expected, apart)
                    wrong |= not row["difference"] <= 1e-4
                    beside = f"{artifact[shared]:8.2f}" if shared in artifact and policy != "none" else f"{'-':>8}"
                    print(f"{'x'.join(map(str, sizes)):22} {shared:4} K {policy:14} {row['kernels']:7} {row['bytes']:10} "
                          f"{apart['bytes'] / row['bytes']:5.2f} {beside} {row['difference']:8.1e}", flush=True)
                    rows.append({"model": "scores", "sizes": sizes, "shared": shared, "fusion": policy, "artifact": artifact.get(shared), **row})
    return wrong


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--only", default="")
    parser.add_argument("--chip", default="sm_80")
    parser.add_argument("--shared", default="48,163,227")
    parser.add_argument("--objectives", default="time,total-traffic,waves")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--json")
    return parser.parse_args()


def main():
    options = parse()
    rows, wrong = [], False
    print(f"emulate:{options.chip}, predicted; {options.size} sizes; cycles with launches and the wait for the result")
    print(f"{'model':12} {'shared':>6} {'fusion':14} {'kernels':>7} {'transactions':>12} {'between':>9} {'cycles':>9} {'gain':>5} {'differs':>8}"
          + ("   CPU ms" if options.cpu else ""))
    for name, (generator, *sizes) in MODELS.items():
        if not re.search(options.only, name, re.I):
            continue
        text = generator(*sizes[SIZES.index(options.size)])
        for shared in map(int, options.shared.split(",")):
            expected, apart = None, None
            with tempfile.TemporaryDirectory() as temporary:
                program = Path(temporary) / f"{name}.mlir"
                program.write_text(described(text, options, shared))
                program.with_name("plain.mlir").write_text(text)
                for policy in ["none", *options.objectives.split(",")]:
                    row, kept = measure(program, policy, options, Path(temporary), expected)
                    expected, apart = (kept, row) if apart is None else (expected, apart)
                    wrong |= not row["difference"] <= 1e-4
                    print(f"{name:12} {shared:4} K {policy:14} {row['kernels']:7} {row['transactions']:12} {row['intermediate_bytes']:9} "
                          f"{row['cycles']:9.0f} {apart['cycles'] / row['cycles']:5.2f} {row['difference']:8.1e}"
                          + (f" {row['cpu_ms']:8.4f}" if options.cpu else ""), flush=True)
                    rows.append({"model": name, "shared": shared, "fusion": policy, **row})
    if re.search(options.only, "scores", re.I):
        wrong |= compare_scores(options, rows)
    if options.json:
        Path(options.json).write_text(json.dumps({"chip": options.chip, "size": options.size, "rows": rows}, indent=1))
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
