"""Cocktailer's table (Zhang et al., OSDI 2023) by the emulator's counts and predictions:
./dev reproduce cocktailer [--size=small|medium|paper] [--batch=1,4] [--only=REGEX] [--chip=sm_80] [--host=FLAGS] [--device=FLAGS] [--json=FILE]

Loops that carry tensors: the host launches the kernels of each round, or the lanes of one launch go through the rounds. For each
model: launches, waits of the host, predicted cycles with launches, and whether the results have equal bits. The paper
says up to 8.2 times the fastest of its peers on a V100; it has no ratio of the two levels for each model here. The predictions have not
been compared with hardware, and sizes but `paper` are smaller than the paper's. FLAGS are of tile-run, for other policies.
A recurrent layer of one product a round is ours. Not here, as their control flow stays on the host: Seq2Seq's decoder
(while), Attention (a row of a cache for each round), BlockDrop and SkipNet (branches), RAE (recursion).
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

# generator, and its arguments behind the batch: small, medium, paper
MODELS = {
    "RNN": (models.rnn, (6, 24), (100, 64), (1000, 256)),
    "LSTM": (models.lstm_loop, (2, 5, 24), (4, 16, 64), (10, 64, 256)),
    "NASRNN": (models.nasrnn, (6, 24), (100, 64), (1000, 256)),
}
SIZES = ("small", "medium", "paper")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--batch", default="1,4")
    parser.add_argument("--only", default="")
    parser.add_argument("--chip", default="sm_80")
    parser.add_argument("--host", default="--persistent=never")
    parser.add_argument("--device", default="--persistent=always")
    parser.add_argument("--json")
    options = parser.parse_args()
    launch, rows, wrong = launch_cycles(options.chip), [], 0
    print(f"emulate:{options.chip}, predicted; {options.size} sizes; a launch counts {launch:.0f} cycles")
    print(f"{'model':8} {'batch':>5} {'sizes':12} {'launches':>13} {'waits':>9} {'cycles host':>12} {'device':>10} {'gain':>6}  bits")
    for name, (generator, *sizes) in MODELS.items():
        if not re.search(options.only, name, re.I):
            continue
        size = sizes[SIZES.index(options.size)]
        for batch in map(int, options.batch.split(",")):
            with tempfile.TemporaryDirectory() as temporary:
                folder = Path(temporary)
                program = folder / "model.mlir"
                program.write_text(generator(batch, *size))
                host, expected = measure(program, options.chip, options.host, folder)
                device, seen = measure(program, options.chip, options.device, folder)
            for counts in (host, device):
                counts["with_launches"] = counts["cycles"] + launch * counts["launches"]
            equal = expected == seen
            wrong += not equal
            gain = host["with_launches"] / device["with_launches"]
            print(f"{name:8} {batch:5} {'x'.join(map(str, size)):12} {host['launches']:7} → {device['launches']:3} "
                  f"{host['waits']:3} → {device['waits']:2} {host['with_launches']:12.0f} {device['with_launches']:10.0f} {gain:6.2f}  "
                  f"{'equal' if equal else 'DIFFERENT'}", flush=True)
            rows.append({"model": name, "batch": batch, "sizes": size, "host": host, "device": device, "equal": equal})
    if options.json:
        Path(options.json).write_text(json.dumps({"chip": options.chip, "launch_cycles": launch, "rows": rows}, indent=1))
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
