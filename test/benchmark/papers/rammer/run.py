"""Rammer's table (Ma et al., OSDI 2020) by the emulator's counts and predictions:
./dev reproduce rammer [--size=small|medium|paper] [--batch=1,4] [--only=REGEX] [--chip=sm_80] [--apart=FLAGS] [--together=FLAGS] [--json=FILE]

For each model: launches apart, how many fronts of launches (apart, all of a front could run at once), and what one launch
makes of it: how many launches are left, the awaits of its lanes, predicted cycles with launches, and whether the
results have the bits of separate launches. The gain stands beside the paper's, which is measured in ms on a V100, batch 1: without
co-scheduling (RammerBase) over with. The predictions have not been compared with hardware, and sizes but `paper` are
smaller than the paper's. FLAGS are of tile-run, so other policies can take the place of --persistent=never and always.
NASNet is not here. A model without a gain is printed as the others are.
"""
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))
import models  # noqa: E402
from table import compare, parse  # noqa: E402

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


def show(row, gain):
    name, batch, apart, together = row["model"], row["batch"], row["apart"], row["together"]
    paper = f"{PAPER[name][0] / PAPER[name][1]:6.2f}" if batch == 1 else "     -"
    return (f"{name:12} {batch:5} {'x'.join(map(str, row['sizes'])):22} {apart['launches']:7} → {together['launches']:3} {together['fronts']:6} "
            f"{together['awaits']:7} {apart['with_launches']:13.0f} {together['with_launches']:10.0f} {gain:6.2f} {paper}  "
            f"{'equal' if row['equal'] else 'DIFFERENT'}")


def main():
    head = (f"{'model':12} {'batch':>5} {'sizes':22} {'launches':>13} {'fronts':>6} {'awaits':>7} {'cycles apart':>13} {'together':>10} "
            f"{'gain':>6} {'paper':>6}  bits")
    return compare(parse(__doc__, "apart", "together"), MODELS, "apart", "together", head, show)


if __name__ == "__main__":
    sys.exit(main())
