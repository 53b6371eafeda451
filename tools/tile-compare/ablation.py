"""tile-compare --policies=construct,random,… [PROGRAM|FOLDER…]: the ablation matrix, programs x policies. For each policy of
tile-construct-tiles: the cost that the model predicts, what the kernels ask of memory, counted, and the time, measured.

  tile-compare --policies=construct,exhaustive-model,random --seed=3 kernels/
  tile-compare --policies=construct,fixed --target=emulate:sm_80 gemm.mlir

predicted: microseconds, the sum over all ops that have a schedule. counted: bytes read and written, on a GPU by the emulator,
on the CPU by the interpreter, which runs the kernels. measured: the median of tile-run, on the CPU alone. A dash: not known.
Exit status 0: all ran and the results are equal; 1: not; 2: the command line makes no sense."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

COLUMNS = ("predicted us", "counted bytes", "measured ms")


class Failed(Exception):
    """A tool failed on a program: what it wrote."""


class Cell:
    """One program under one policy."""

    def __init__(self, options, program, policy, folder):
        self.options, self.program, self.policy, self.folder = options, program, policy, Path(folder)
        self.chip = options.target.split(":", 1)[1] if options.target.startswith("emulate:") else None

    def tool(self, name, *line):
        ended = subprocess.run([self.options.build / "bin" / name, *map(str, line)], capture_output=True, text=True)
        if ended.returncode:
            raise Failed(ended.stderr.strip() or f"{name} ended with status {ended.returncode}")
        return ended

    def option(self):
        seed = f" seed={self.options.seed}" if self.policy == "random" else ""
        return f"tile-construct-tiles{{policy={self.policy}{seed}}}"

    def to_schedules(self):
        """The passes until every op has its schedule."""
        set_machine = f"tile-set-machine{{chip={self.chip}}}," if self.chip else ""
        return (f"{set_machine}func.func(linalg-generalize-named-ops),tile-group-ops{{ops=elementwise}},"
                f"func.func(canonicalize,cse,{self.option()},tile-split-reductions)")

    def predicted(self):
        text = self.tool("tile-opt", self.program, f"--pass-pipeline=builtin.module({self.to_schedules()})").stdout
        aliases = dict(re.findall(r"^(#\w+) = (#tile\.schedule<.*>)$", text, re.M))
        found = [aliases.get(name, name) for name in re.findall(r"tile\.schedule = (#tile\.schedule<[^>]*>|#\w+)", text)]
        times = [int(time) for schedule in found for time in re.findall(r"\btime = (\d+)", schedule)]
        return sum(times) / 1000 if times else None

    def run(self, *more):
        stats, results = self.folder / "stats.json", self.folder / f"{self.program.stem}.npz"
        check = [f"--check-against={results}", "--rtol=1e-4", "--atol=1e-4"] if results.exists() else [f"--out={results}"]
        self.tool("tile-run", *more, f"--entry={self.options.entry}", "--seed=0", f"--stats={stats}", *check)
        return json.loads(stats.read_text())

    def counted(self):
        if self.chip:
            stats = self.run(self.program, f"--target={self.options.target}", f"--policy={self.policy}")
            return stats["global_bytes_read"] + stats["global_bytes_written"]
        kernels = self.folder / "kernels.mlir"
        passes = f"{self.to_schedules()},tile-group-ops,convert-linalg-to-tile"
        self.tool("tile-opt", self.program, f"--pass-pipeline=builtin.module({passes})", "-o", kernels)
        stats = self.run(kernels, "--target=interpret")
        return stats["view_bytes_read"] + stats["view_bytes_written"]

    def measured(self):
        if self.chip:
            return None
        return self.run(self.program, f"--policy={self.policy}", f"--repeat={self.options.repeat}")["time_ms_median"]

    def values(self):
        return [self.predicted(), self.counted() if self.options.count else None, self.measured()]


def shown(value):
    return "-" if value is None else f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4g}"


def parse(line):
    parser = argparse.ArgumentParser(prog="tile-compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--policies", required=True, type=lambda text: text.split(","), metavar="NAME,NAME…")
    parser.add_argument("programs", nargs="+", type=Path, metavar="PROGRAM", help="files and folders")
    parser.add_argument("--target", default="cpu", help="cpu (default) or emulate:CHIP")
    parser.add_argument("--seed", type=int, default=0, help="of the policy random (default: 0)")
    parser.add_argument("--repeat", type=int, default=5, help="timed calls (default: 5)")
    parser.add_argument("--no-count", dest="count", action="store_false", help="leave the bytes out: counting is slow")
    parser.add_argument("--json", type=Path, help="write the matrix")
    parser.add_argument("--entry", default="main")
    parser.add_argument("--tile-machine-path", metavar="DIR", help="a folder of NAME.machine files, ahead of the chips built in")
    options = parser.parse_args(line)
    if options.tile_machine_path:
        os.environ["TESSERA_MACHINE_PATH"] = options.tile_machine_path
    programs = [file for path in options.programs for file in (sorted(path.glob("*.mlir")) if path.is_dir() else [path])]
    missing = [path for path in programs if not path.is_file()]
    if missing or not programs:
        parser.error(f"there is no program {missing[0] if missing else options.programs[0]}")
    if options.target != "cpu" and not options.target.startswith("emulate:"):
        parser.error(f"--target: {options.target}; it takes cpu or emulate:CHIP")
    options.programs = programs
    return options


def main(line):
    options = parse(line)
    matrix, failures = {}, 0
    for program in options.programs:
        print(f"{program.stem}\n  {'policy':20}" + "".join(f"{column:>18}" for column in COLUMNS))
        rows = matrix[program.stem] = {}
        with tempfile.TemporaryDirectory() as folder:
            for policy in options.policies:
                try:
                    rows[policy] = dict(zip(COLUMNS, Cell(options, program, policy, folder).values()))
                    print(f"  {policy:20}" + "".join(f"{shown(value):>18}" for value in rows[policy].values()))
                except Failed as failed:
                    failures += 1
                    rows[policy] = {"error": str(failed)}
                    print(f"  {policy:20} {str(failed).splitlines()[0]}")
                sys.stdout.flush()
    if options.json:
        options.json.write_text(json.dumps(matrix, indent=1) + "\n")
    return 1 if failures else 0
