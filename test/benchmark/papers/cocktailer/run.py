"""Cocktailer's table (Zhang et al., OSDI 2023) by the emulator's counts and predictions:
./dev reproduce cocktailer [--size=small|medium|paper] [--batch=1,4] [--only=REGEX] [--chip=sm_80] [--host=FLAGS] [--device=FLAGS] [--json=FILE]

Loops that carry tensors and branches: the host launches the kernels of each round and reads what decides, or the lanes of one
launch go through the rounds where the model predicts a gain (--persistent=model). For each model: launches, waits of the host,
predicted cycles with launches and waits, and whether the results have equal bits. Launches and waits count what the machine file
says (model.launch.ns, model.wait.ns), so most of a gain by data-dependent control flow is the waits' price. The paper
says up to 8.2 times the fastest of its peers on a V100; it has no ratio of the two levels for each model here. The predictions have not
been compared with hardware, and sizes but `paper` are smaller than the paper's. FLAGS are of tile-run, for other policies.
A recurrent layer of one product a round is ours, and so is that layer with a condition on its state (WhileRNN). Seq2Seq is the
decoder, without attention. BlockDrop and SkipNet have blocks of two products instead of convolutions. RAE
is a function that calls itself over an unbalanced tree drawn from a seed. Attention decodes one token a round and writes a row of both
caches, whose first axis is the rows here, so that a row lies side by side; its masks are data.
"""
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))
import models  # noqa: E402
from table import compare, parse  # noqa: E402

# generator, and its arguments behind the batch: small, medium, paper
MODELS = {
    "RNN": (models.rnn, (6, 24), (100, 64), (1000, 256)),
    "LSTM": (models.lstm_loop, (2, 5, 24), (4, 16, 64), (10, 64, 256)),
    "NASRNN": (models.nasrnn, (6, 24), (100, 64), (1000, 256)),
    "WhileRNN": (models.while_rnn, (6, 24), (100, 64), (1000, 256)),
    "Seq2Seq": (models.decoder, (6, 24, 40), (50, 64, 400), (50, 256, 3797)),
    "Attention": (models.attention, (2, 3, 4, 8), (4, 16, 16, 32), (12, 32, 32, 64)),
    "BlockDrop": (models.blockdrop, (3, 24), (6, 64), (54, 256)),
    "SkipNet": (models.skipnet, (3, 24), (6, 64), (33, 256)),
    "RAE": (models.rae, (15, 24), (63, 64), (127, 512)),
}


def show(row, gain):
    host, device = row["host"], row["device"]
    return (f"{row['model']:9} {row['batch']:5} {'x'.join(map(str, row['sizes'])):12} {host['launches']:7} → {device['launches']:3} "
            f"{host['waits']:3} → {device['waits']:2} {host['with_waits']:12.0f} {device['with_waits']:10.0f} {gain:6.2f}  "
            f"{'equal' if row['equal'] else 'DIFFERENT'}")


def main():
    head = f"{'model':9} {'batch':>5} {'sizes':12} {'launches':>13} {'waits':>9} {'cycles host':>12} {'device':>10} {'gain':>6}  bits"
    return compare(parse(__doc__, "host", "device", "model"), MODELS, "host", "device", head, show, "with_waits")


if __name__ == "__main__":
    sys.exit(main())
