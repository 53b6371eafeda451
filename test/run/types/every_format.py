"""Every format of weights x all its codes at each place of a word x ragged groups x 1, 2, 7, 16 and 33 rows, on every judge: elements,
products and parts against numpy (quantized.py).

Usage: every_format.py [--long] TILE_RUN TARGET…    Without --long each format has one number of rows for each target, in turn.
"""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import quantized  # noqa: E402

ROWS = (1, 2, 7, 16, 33)
INTEGERS = [f"{sign}{bits}" for bits in range(1, 9) for sign in ("i", "ui")]
FLOATS = ["f8E4M3FN", "f8E5M2", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN"]
ZEROS = ["", ", zero = ui4", ", zero = f16", ", zero = f32, zero_after_scale", ", zero = i8"]
SCALES = ["f32", "f16", "bf16", "f8E8M0FNU", "f8E4M3FN"]
# k = 112 leaves a part of a group of 32, 48 of 80; 16 columns and more have a code of 8 bits at each place of a row.
SHAPES = [((1, 32), (24, 112)), ((1, 0), (17, 96)), ((1, 16), (24, 64)), ((0, 0), (19, 64)), ((1, 48), (24, 80))]
CASES = [(codes, SHAPES[i % 5][0], SCALES[i % 3], ZEROS[i % 5] if i % 4 else "", "f32", SHAPES[i % 5][1]) for i, codes in enumerate(INTEGERS)] + [
    (codes, SHAPES[i % 3][0], SCALES[3 + i % 2] if i % 3 else "f32", "", "f32", SHAPES[i % 3][1]) for i, codes in enumerate(FLOATS)] + [
    ("ui4", (1, 32), "f32", ", table = f32", "f32", (24, 96)), ("f4E2M1FN", (1, 16), "f8E4M3FN", ", tensor_scale = f32", "f32", (24, 112)),
    ("ui4", (1, 32), "f16", ", zero = ui4, order = i32", "f32", (24, 112)),
]


def main():
    is_long = sys.argv[1] == "--long"
    tool, *targets = sys.argv[2:] if is_long else sys.argv[1:]
    count, wrong = 0, 0
    quantized.CASES = CASES
    with tempfile.TemporaryDirectory() as temporary:
        for number, case in enumerate(CASES):
            for t, target in enumerate(targets):
                for m in ROWS if is_long else (ROWS[(number + 2 * t) % 5],):
                    quantized.M = m
                    outcome = quantized.check(tool, target, Path(temporary), number)
                    count, wrong = count + 1, wrong + (outcome != "right")
                    if outcome != "right":
                        print(f"{target} {m} rows, {case}: {outcome}", flush=True)
    print(f"{count} programs, {wrong} wrong")


main()
