"""What the tests of programs with run-time masks share: they run each program under many masks, against numpy.

judge(forms, masks, program, draw, fewer): the exit status. `program(form)` is the text of a program and
`draw(rng, mask, form)` its arguments and the expected result. The command line is FOLDER_OF_TOOLS TARGET… [--mutant];
with --mutant every comparison has to fail. On the CPU a program is compiled once for all masks. Elsewhere each run
compiles, so that `fewer(forms, masks)` says what is tried there.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

DTYPES = {"f64": "f8", "f32": "f4", "f16": "f2", "i32": "i4"}


def draw_operands(rng, element, rows, inner, columns):
    """Small integers, so that sums are exact: the masked factor, the dense one, and what is added to."""
    return [rng.integers(-3, 4, shape).astype(DTYPES[element]) for shape in ((rows, inner), (inner, columns), (rows, columns))]


def shown_elements(mask, tile, rows, inner):
    return np.repeat(np.repeat(mask, tile[0], 0), tile[1], 1)[:rows, :inner]


def hide_unused_rows(rng, b, shown):
    """Rows of the dense factor that nobody reads hold infinities and nans."""
    unused = ~shown.any(0)
    b[unused] = rng.choice([np.inf, -np.inf, np.nan], (int(unused.sum()), b.shape[1]))


def judge(forms, masks, program, draw, fewer=lambda forms, masks: (forms, masks)):
    tools, targets = Path(sys.argv[1]), [t for t in sys.argv[2:] if t != "--mutant"]
    runs = wrong = 0
    for target in targets:
        compiled = target == "cpu"
        some_forms, some_masks = (forms, masks) if compiled else fewer(forms, masks)
        for number, form in enumerate(some_forms):
            rng = np.random.default_rng(number)
            with tempfile.TemporaryDirectory() as folder:
                folder = Path(folder)
                text, binary = folder / "program.mlir", folder / "program.so"
                text.write_text(program(form))
                if compiled:
                    subprocess.run([tools / "tile-translate", text, "--tile-to-program", "-o", binary], check=True)
                for mask in some_masks:
                    arrays, want = draw(rng, mask, form)
                    files = [f"--out={folder / 'r.npy'}"]
                    for i, array in enumerate(arrays):
                        np.save(folder / f"{i}.npy", array)
                        files.append(f"--in={folder / f'{i}.npy'}")
                    command = [tools / "tile-exec", binary] if compiled else [tools / "tile-run", text, f"--target={target}"]
                    done = subprocess.run([*command, *files], capture_output=True, text=True)
                    seen = np.load(folder / "r.npy") if done.returncode == 0 else None
                    runs += 1
                    if seen is None or not (seen == want + ("--mutant" in sys.argv)).all():
                        wrong += 1
                        print(f"{form} {mask} on {target}: {done.stderr}\n{seen}\nwanted\n{want}")
    print(f"{runs} products, {wrong} wrong")
    return bool(wrong)
