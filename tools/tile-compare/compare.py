#!/usr/bin/env python3
"""tile-compare A B [PROGRAM|FOLDER…]: two ways of compiling or running the same programs, side by side.

A side is one argument of words:
  --target=…, --pass-pipeline=…, --threads=…   flags of tile-run
  NAME=VALUE                                    put in place of ${NAME} in the program: sizes, a schedule, a machine's field
  FILE.mlir                                     this side's program, where the sides have different ones
An empty side is tile-run without flags. Programs of a FOLDER are its .mlir files.

  tile-compare --page=page.html '' '--pass-pipeline=builtin.module(my-pass,tile-to-cpu-pipeline)' net.mlir
  tile-compare '--target=emulate:sm_80 shared=49152' '--target=emulate:sm_80 shared=98304' kernels/ --at-most=global_transactions:1.0

  tile-compare --policies=construct,fixed,random kernels/      the matrix of programs and policies (--policies=x --help)

For each program: are the results equal, and times (median and quartiles of interleaved runs) and counts of both, with B by A.
Exit status 0: equal and within every threshold; 1: not, or something failed; 2: the command line makes no sense."""
import argparse
import json
import os
import shlex
import statistics
import string
import subprocess
import sys
import tempfile
from pathlib import Path

import ablation
import page

TIMES = ("time_ms_median", "compile_ms")
# What is shown besides of --stats, in this order; whatever else is a number stands in --json.
COUNTS = ("fallback_ops", "launches", "global_bytes_read", "global_bytes_written", "global_transactions", "shared_bytes",
          "shared_bank_conflicts", "barriers", "mma_flops", "flops", "instructions", "registers", "spill_bytes",
          "shared_memory_bytes")


class Failed(Exception):
    """A tool failed on a program: what it wrote."""


class Side:
    """One of the two ways: flags of tile-run, values for the program's places, perhaps a program of its own."""

    def __init__(self, name, text):
        self.name, self.text = name, text
        self.flags, self.values, self.program = [], {}, None
        for word in shlex.split(text):
            if word.startswith("--"):
                self.flags.append(word)
            elif "=" in word:
                self.values.update([word.split("=", 1)])
            elif self.program is None:
                self.program = Path(word)
            else:
                raise ValueError(f"{name} has two programs: {self.program} and {word}")

    def flag(self, name, default=None):
        return next((flag.split("=", 1)[1] for flag in self.flags if flag.startswith(f"--{name}=")), default)

    def write(self, program, folder):
        """The program with this side's values, in a file of the folder under the program's name."""
        program = self.program or program
        text = string.Template(program.read_text()).safe_substitute(self.values)
        path = folder / self.name / program.name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    def pipeline(self):
        """What tile-run would do, for tile-opt; None where there are no passes."""
        target = self.flag("target", "cpu")
        if self.flag("pass-pipeline"):
            return self.flag("pass-pipeline")
        if target.startswith("emulate:"):
            chip = target.split(":", 1)[1]
            return f"builtin.module(tile-to-{'nvvm' if chip.startswith('sm_') else 'rocdl'}-pipeline{{chip={chip}}})"
        return "builtin.module(tile-to-cpu-pipeline)" if target == "cpu" else None


class Comparison:
    """Both sides on one program. The results of A are what B is checked against."""

    def __init__(self, program, sides, options, folder):
        self.name, self.sides, self.options, self.folder = program.stem, sides, options, folder
        self.files = {side.name: side.write(program, folder) for side in sides}
        self.runs = {side.name: [] for side in sides}
        self.passes, self.error, self.equal = {}, None, None

    def tool(self, name, *line):
        ended = subprocess.run([self.options.build / "bin" / name, *map(str, line)], capture_output=True, text=True)
        if ended.returncode:
            raise Failed(ended.stderr.strip() or f"{name} ended with status {ended.returncode}")
        return ended.stdout

    def run(self, side, *more):
        stats = self.folder / f"{side.name}.json"
        line = [self.files[side.name], *side.flags, f"--entry={self.options.entry}", f"--seed={self.options.seed}",
                f"--repeat={self.options.repeat}", f"--stats={stats}", *more]
        self.tool("tile-run", *line)
        self.runs[side.name].append(json.loads(stats.read_text()))

    def check(self):
        """The first run of each, with results."""
        first, second = self.sides
        results = self.folder / f"{self.name}.npz"
        self.run(first, f"--out={results}")
        try:
            self.run(second, f"--check-against={results}", f"--rtol={self.options.rtol}", f"--atol={self.options.atol}")
            self.equal = True
        except Failed as failed:
            if "the check failed" not in str(failed) and "expected" not in str(failed):
                raise
            self.equal, self.difference = False, str(failed)
            self.run(second)

    def look_at_passes(self):
        for side in self.sides:
            pipeline = side.pipeline()
            if pipeline:
                out = self.folder / "differences.json"
                self.tool("tile-opt", self.files[side.name], f"--pass-pipeline={pipeline}", f"--tile-write-differences={out}",
                          "-o", os.devnull)
                self.passes[side.name] = json.loads(out.read_text())["passes"]

    def compare(self):
        try:
            self.check()
            for _ in range(self.options.runs - 1):
                for side in self.sides:
                    self.run(side)
            if self.options.page:
                self.look_at_passes()
        except Failed as failed:
            self.error = str(failed)
        return self

    def rows(self):
        """(key, A's value, B's, B by A, spread of A, spread of B) of what both have."""
        a, b = (self.runs[side.name] for side in self.sides)
        keys = [key for key in (*TIMES, *COUNTS) if a and b and all(key in run for run in a + b)]
        for key in keys:
            x, y = ([run[key] for run in runs] for runs in (a, b))
            middle = statistics.median(x), statistics.median(y)
            ratio = middle[1] / middle[0] if middle[0] else (1.0 if middle[1] == 0 else float("inf"))
            yield key, *middle, ratio, quartiles(x), quartiles(y)

    def breaches(self):
        """What of this program breaks a threshold or differs, as sentences."""
        if self.error:
            return [self.error]
        found = [] if self.equal else [f"the results differ: {self.difference}"]
        ratios = {key: ratio for key, _, _, ratio, _, _ in self.rows()}
        for key, most in self.options.at_most:
            if key not in ratios:
                found.append(f"{key} is not known of both sides")
            elif not ratios[key] <= most:
                found.append(f"{key} of B is {ratios[key]:.3f} times A's, at most {most:g} wanted")
        return found

    def as_json(self):
        return {"program": self.name, "equal": self.equal, "breaches": self.breaches(), "runs": self.runs}


def quartiles(values):
    return statistics.quantiles(values, n=4, method="inclusive")[::2] if len(values) > 1 else [values[0]] * 2


def shown(value):
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"


def print_text(comparison):
    print(f"{comparison.name}: " + ("failed" if comparison.error else "results equal" if comparison.equal else "RESULTS DIFFER"))
    for key, a, b, ratio, spread_a, spread_b in comparison.rows():
        spread = " ".join(f"[{shown(low)} to {shown(high)}]" for low, high in (spread_a, spread_b)) if key in TIMES else ""
        print(f"  {key:24} {shown(a):>16} {shown(b):>16}  B/A {ratio:.3f}  {spread}")
    for breach in comparison.breaches():
        print(f"  {breach}")
    sys.stdout.flush()


def programs_of(sides, paths):
    if all(side.program for side in sides):
        if paths:
            raise ValueError("both sides name a program, and there are others")
        return [sides[0].program]
    if not paths:
        raise ValueError("which program?")
    found = [program for path in paths for program in (sorted(path.glob("*.mlir")) if path.is_dir() else [path])]
    missing = [path for path in (*found, *(side.program for side in sides if side.program)) if not path.is_file()]
    if missing or not found:
        raise ValueError(f"there is no program {missing[0] if missing else paths[0]}")
    return found


def threshold(text):
    key, _, most = text.partition(":")
    return key, float(most)


def parse():
    parser = argparse.ArgumentParser(prog="tile-compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("a", metavar="A"), parser.add_argument("b", metavar="B")
    parser.add_argument("programs", nargs="*", type=Path, metavar="PROGRAM", help="files and folders")
    parser.add_argument("--page", type=Path, help="write an HTML page with what every pass of both sides did")
    parser.add_argument("--json", type=Path, help="write all statistics of all runs")
    parser.add_argument("--runs", type=int, default=3, help="of each side, taking turns (default: 3)")
    parser.add_argument("--repeat", type=int, default=5, help="timed calls in a run (default: 5)")
    parser.add_argument("--at-most", type=threshold, action="append", default=[], metavar="KEY:RATIO",
                        help="B's KEY may be at most RATIO times A's (time_ms_median:1.1); may be given again")
    parser.add_argument("--entry", default="main"), parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tile-machine-path", metavar="DIR", help="a folder of NAME.machine files, ahead of the chips built in")
    parser.add_argument("--rtol", type=float, default=1e-4, help="of results (default: 1e-4)")
    parser.add_argument("--atol", type=float, default=1e-5, help="of results (default: 1e-5)")
    # Sides begin with dashes: what argparse would take for flags is kept from it.
    line = sys.argv[1:]
    sides = [i for i, word in enumerate(line) if not word or " " in word or word.startswith(("--target", "--pass-pipeline", "--threads"))]
    options = parser.parse_args([f"\0{word}" if i in sides else word for i, word in enumerate(line)])
    options.a, options.b = options.a.lstrip("\0"), options.b.lstrip("\0")
    if options.tile_machine_path:
        os.environ["TESSERA_MACHINE_PATH"] = options.tile_machine_path
    if options.runs < 1:
        parser.error("--runs: at least one")
    try:
        options.sides = [Side("A", options.a), Side("B", options.b)]
        options.programs = programs_of(options.sides, options.programs)
    except ValueError as error:
        parser.error(str(error))
    return options


def main():
    if any(word.startswith("--policies") for word in sys.argv[1:]):
        return ablation.main(sys.argv[1:])
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        done = []
        for number, program in enumerate(options.programs):
            own = Path(folder) / str(number)
            own.mkdir()
            done.append(Comparison(program, options.sides, options, own).compare())
            print_text(done[-1])
        if options.page:
            options.page.write_text(page.render(done, options))
    if options.json:
        options.json.write_text(json.dumps([comparison.as_json() for comparison in done], indent=1) + "\n")
    return 1 if any(comparison.breaches() for comparison in done) else 0


if __name__ == "__main__":
    sys.exit(main())
