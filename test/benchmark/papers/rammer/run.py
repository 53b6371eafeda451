"""Rammer's table (Ma et al., OSDI 2020) by the emulator's counts and predictions:
./dev reproduce rammer [--size=small|medium|paper] [--batch=1,4] [--only=REGEX] [--chip=sm_80] [--apart=FLAGS] [--together=FLAGS] [--json=FILE]

For each model: launches apart, how many fronts of launches (apart, all of a front could run at once), and what one launch
makes of it: how many launches are left, the awaits of its lanes, predicted cycles with launches, and whether the
results have the bits of separate launches. The gain stands beside the paper's, which is measured in ms on a V100, batch 1: without
co-scheduling (RammerBase) over with. The predictions have not been compared with hardware, and sizes but `paper` are
smaller than the paper's. FLAGS are of tile-run, so other policies can take the place of --persistent=never and always.
NASNet is not here. A model without a gain is printed as the others are.
"""
import argparse
import json
import re
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))
import models  # noqa: E402
from table import launch_cycles, measure  # noqa: E402

# ms without and with co-scheduling, V100, batch 1.
PAPER = {"ResNeXt": (10.9, 4.63), "AlexNet": (0.96, 0.96), "DeepSpeech2": (7.89, 4.69), "LSTM": (29.7, 4.73), "Seq2Seq": (9.27, 3.66)}
# generator, and its arguments behind the batch: small, medium, paper
MODELS = {
    "ResNeXt": (models.resnext, (5, 4, 8, 1), (8, 16, 16, 2), (32, 16, 64, 9)),
    "AlexNet": (models.alexnet, (12, 4, 5), (32, 16, 10), (227, 64, 1000)),
    "DeepSpeech2": (models.deepspeech, (12, 9, 4, 2, 24), (40, 33, 8, 3, 64), (300, 171, 32, 7, 256)),
    "LSTM": (models.lstm, (2, 3, 40), (4, 8, 64), (10, 100, 256)),
    "Seq2Seq": (models.seq2seq, (2, 3, 1, 2, 24), (4, 6, 2, 4, 64), (8, 100, 4, 30, 128)),
}
SIZES = ("small", "medium", "paper")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--batch", default="1,4")
    parser.add_argument("--only", default="")
    parser.add_argument("--chip", default="sm_80")
    parser.add_argument("--apart", default="--persistent=never")
    parser.add_argument("--together", default="--persistent=always")
    parser.add_argument("--json")
    options = parser.parse_args()
    launch, rows, wrong = launch_cycles(options.chip), [], 0
    print(f"emulate:{options.chip}, predicted; {options.size} sizes; a launch counts {launch:.0f} cycles")
    print(f"{'model':12} {'batch':>5} {'sizes':22} {'launches':>13} {'fronts':>6} {'awaits':>7} {'cycles apart':>13} {'together':>10} {'gain':>6} {'paper':>6}  bits")
    for name, (generator, *sizes) in MODELS.items():
        if not re.search(options.only, name, re.I):
            continue
        size = sizes[SIZES.index(options.size)]
        for batch in map(int, options.batch.split(",")):
            with tempfile.TemporaryDirectory() as temporary:
                folder = Path(temporary)
                program = folder / "model.mlir"
                program.write_text(generator(batch, *size))
                apart, expected = measure(program, options.chip, options.apart, folder)
                together, seen = measure(program, options.chip, options.together, folder)
            for counts in (apart, together):
                counts["with_launches"] = counts["cycles"] + launch * counts["launches"]
            equal = expected == seen
            wrong += not equal
            gain = apart["with_launches"] / together["with_launches"]
            paper = f"{PAPER[name][0] / PAPER[name][1]:6.2f}" if batch == 1 else "     -"
            print(f"{name:12} {batch:5} {'x'.join(map(str, size)):22} {apart['launches']:7} → {together['launches']:3} {together['fronts']:6} {together['awaits']:7} "
                  f"{apart['with_launches']:13.0f} {together['with_launches']:10.0f} {gain:6.2f} {paper}  {'equal' if equal else 'DIFFERENT'}",
                  flush=True)
            rows.append({"model": name, "batch": batch, "sizes": size, "apart": apart, "together": together, "equal": equal})
    if options.json:
        Path(options.json).write_text(json.dumps({"chip": options.chip, "launch_cycles": launch, "rows": rows}, indent=1))
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
