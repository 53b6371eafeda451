"""The table construct of tile-bench: what it takes to choose tiles for the other tables' operators, on this CPU and on GPUs, and how the
choice stands, by the model, against the best of all aligned tiles (policy=exhaustive-model). Bars: 5 ms and 5,000 evaluations an
operator, 1.25 of the best. Peers have no such step to compare with; how choices measure is `./dev reproduce roller`'s to say.
"""
import re
import subprocess

from operators import OPERATORS
from tables import TABLES, title

CHIPS = ["native", "sm_80", "sm_90a", "gfx942"]
CASES = TABLES["gemm"] + TABLES["conv"] + TABLES["norm"][::4] + TABLES["elementwise"]
MOST_MS, MOST_EVALUATIONS, MOST_COST = 5, 5000, 1.25


def run(options, file, chip, search):
    """Milliseconds of the pass, and of each op with a schedule (its evaluations, its predicted cycles)."""
    passes = f"linalg-generalize-named-ops,canonicalize,tile-construct-tiles{{chip={chip} policy={search}}}"
    done = subprocess.run([options.build / "bin/tile-opt", file, f"--pass-pipeline=builtin.module(func.func({passes}))", "--mlir-timing",
                           "--mlir-timing-display=list"], capture_output=True, text=True, check=True)
    seconds = re.search(r"([0-9.]+) \( *[0-9.]+%\) +tile-construct-tiles", done.stderr)
    text = done.stdout
    for name, schedule in re.findall(r"^(#\w+) = (#tile\.schedule<.*>)$", text, re.M):
        text = re.sub(rf"tile\.schedule = {name}\b", f"tile.schedule = {schedule}", text)
    ops = [tuple(int(re.search(rf"{key} = (\d+)", found)[1]) for key in ("evaluations", "time"))
           for found in re.findall(r"tile\.schedule = (#tile\.schedule<.*?>)", text)]
    return 1e3 * float(seconds[1]), ops


def row_of(case, chip, options, folder):
    file = folder / "construct.mlir"
    file.write_text(OPERATORS[case[0]].program(**case[1]))
    runs = [run(options, file, chip, "construct") for _ in range(3)]
    ops, best = runs[0][1], run(options, file, chip, "exhaustive-model")[1]
    ms = min(ms for ms, _ in runs)  # wall time: what else the machine did is not the pass
    cost = max((ours[1] / all_[1] for ours, all_ in zip(ops, best) if all_[1]), default=1)
    return {"name": f"{title(*case)} {chip}", "ops": len(ops), "ms": ms,
            "evaluations": max((evaluations for evaluations, _ in ops), default=0), "cost": cost,
            "right": ms < MOST_MS * max(len(ops), 1) and cost <= MOST_COST and all(e < MOST_EVALUATIONS for e, _ in ops)}


def table(options, folder):
    """Prints the table; its rows for the report."""
    print("\nconstruct: operators of a program, milliseconds for all of them, evaluations of the one with most, worst predicted cost beside the best tile's")
    print(f"{'':48}" + "".join(f"{chip:>28}" for chip in CHIPS))
    rows = []
    for case in CASES:
        found = [row_of(case, chip, options, folder) for chip in CHIPS]
        print(f"{title(*case):48}" + "".join(f"{row['ops']:>7}{row['ms']:8.2f}{row['evaluations']:6}{row['cost']:6.2f}{' ' if row['right'] else '!'}" for row in found),
              flush=True)
        rows += found
    missed = [row["name"] for row in rows if not row["right"]]
    print(f"at most {max(row['ms'] for row in rows):.2f} ms, {max(row['evaluations'] for row in rows)} evaluations, "
          f"cost {max(row['cost'] for row in rows):.3f}; {len(rows)} rows, {len(missed)} miss a bar")
    return rows
