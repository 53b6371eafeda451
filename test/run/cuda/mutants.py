"""Damaged CUDA C++ is imported, or refused with a message: mutants.py TILE_TRANSLATE COUNT [SEED]

Each mutant of Inputs/*.cu goes through --import-cuda (clang, upstream's import, our table of PTX). Prints one line of
counts; exit status 1 after a crash, a hang or a failure without a message.
"""
import collections
import random
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "fuzz"))

import judge  # noqa: E402
import mutate  # noqa: E402

SECONDS = 30  # of processor time


def main():
    tool, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0
    files = [path.read_bytes() for path in sorted(HERE.glob("Inputs/*.cu"))]
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        path, output = Path(folder) / "mutant.cu", Path(folder) / "out.mlir"
        for number in range(seed, seed + count):
            rng = random.Random(f"cuda {number}")
            data = rng.choice(files)
            for _ in range(rng.choice([1, 1, 2, 3])):
                data = rng.choice(mutate.MUTATIONS)(rng, data, rng.choice(files)) or b" "
            path.write_bytes(data)
            status, text = judge.execute([tool, str(path), "--import-cuda", "--chip=sm_80", "-o", str(output)], SECONDS)
            word = judge.judge_damaged(status, text)
            counts[word] += 1
            if word in ("hang", "crash", "silent"):
                print(f"mutant {number}: {word}\n{text[-400:]}")
    print(f"{count} mutants: " + ", ".join(f"{counts[word]} {word}" for word in ("accepted", "refused", "crash", "hang", "silent")))
    return bool(counts["hang"] + counts["crash"] + counts["silent"])


if __name__ == "__main__":
    sys.exit(main())
