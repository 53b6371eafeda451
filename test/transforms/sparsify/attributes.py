"""sparse-propagate-attributes is sound. Use: attributes.py TILE_OPT TILE_RUN [--rounds=N] [--passes=…]

Per round a random program runs in the interpreter. Elements that the pass calls zero must be zero. Then every element
that it calls dead gets another finite value, all at once, and the results must stay, to the sign of a zero.
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from random_programs import Program, facts, mask_of


def run(tools, folder, text, inputs, count):
    (folder / "program.mlir").write_text(text)
    command = [tools.tile_run, folder / "program.mlir", "--target=interpret"]
    for i, x in enumerate(inputs):
        np.save(folder / f"x{i}.npy", x)
        command.append(f"--in={folder / f'x{i}.npy'}")
    command += [f"--out={folder / f'r{i}.npy'}" for i in range(count)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr + text)
    return [np.load(folder / f"r{i}.npy") for i in range(count)]


def same(a, b):
    return np.array_equal(a, b, equal_nan=True) and np.array_equal(np.signbit(a[~np.isnan(a)]), np.signbit(b[~np.isnan(b)]))


def check(seed, tools, folder, counts):
    rng = np.random.default_rng(seed)
    finite = bool(rng.random() < 0.5)
    program = Program(rng, finite).draw(int(rng.integers(3, 12)))
    (folder / "given.mlir").write_text(program.text())
    done = subprocess.run([tools.tile_opt, folder / "given.mlir", f"--sparse-propagate-attributes=finite={str(finite).lower()}",
                           "--mlir-print-elementsattrs-with-hex-if-larger=-1"],
                          capture_output=True, text=True)
    if done.returncode:
        return f"{seed}: {done.stderr}"
    known, inputs = facts(done.stdout), program.inputs()
    values = [line[0] for line in program.lines if line[2][0] != "i1"]
    seen = dict(zip(values, run(tools, folder, program.text(values), inputs, len(values))))
    if finite and not all(np.isfinite(v).all() for v in seen.values()):
        return None  # the program broke the promise
    change = {}
    for value, facts_of in known.items():
        if value not in seen:
            continue
        shape = program.shape_of(value)
        if "zero" in facts_of:
            zero = mask_of(facts_of["zero"], shape)
            counts["zero"] += int(zero.sum())
            if (seen[value][zero] != 0).any():
                return f"{seed}: %v{value} is called zero at {zero.tolist()} and is\n{seen[value]}\n{done.stdout}"
        if "dead" in facts_of:
            dead = mask_of(facts_of["dead"], shape)
            counts["dead"] += int(dead.sum())
            change[value] = (dead, rng.integers(-9, 10, shape).astype(np.float32) + np.float32(0.5))
    wanted = [seen[v] for v in program.results]
    got = run(tools, folder, program.text(change=change), inputs, len(program.results))
    if not all(same(a, b) for a, b in zip(got, wanted)):
        return f"{seed}: dead elements were read\n{done.stdout}\n{got}\nwanted\n{wanted}\n{program.text(change=change)}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tile_opt")
    parser.add_argument("tile_run")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    tools = parser.parse_args()
    wrong, counts = [], {"zero": 0, "dead": 0}
    for number in range(tools.rounds):
        with tempfile.TemporaryDirectory() as folder:
            wrong += filter(None, [check([tools.seed, number], tools, Path(folder), counts)])
    print(*wrong[:2], sep="\n")
    print(f"{tools.rounds} programs, {len(wrong)} wrong")
    print(f"found {'many' if min(counts.values()) > 5 * tools.rounds else 'few'} facts: {counts}")
    return bool(wrong)


sys.exit(main())
