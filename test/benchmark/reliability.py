"""Draws programs, mutants and faults for a given time and counts what happened: ./dev bench reliability [--minutes=M].

  programs   of three generators, on every target, beside their judges (test/fuzz/fuzz.py, test/fuzz/contract)
  kernels    drawn as Python source, beside numpy (test/python/kernel/draw.py)
  mutants    of programs, in the tools and in the library, data and what Python reads (test/fuzz/mutate.py, mutate_data.py)
  faults     an allocation fails in a tool (test/tools/failing_malloc.py)
  planted    defects in GPU kernels, which the emulator must find (test/emulator/planted.py)

The sources run in turn, each with its share of the time. FOLDER/slices.jsonl gets a line after each slice, so that a run which
is killed loses at most one, and the next run goes on with the next seeds; FOLDER/found keeps what failed, with the
command that runs it again. Prints the counts of this run and, if the folder has older ones, of all. Exit status 1 if
anything failed.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / folder) for folder in ("fuzz/contract", "fuzz", "emulator", "tools")]

import contract  # noqa: E402
import failing_malloc  # noqa: E402
import fuzz  # noqa: E402
import judge  # noqa: E402
import mutate  # noqa: E402
import mutate_data  # noqa: E402
import planted  # noqa: E402
import programs  # noqa: E402

TARGETS = contract.TARGETS
FINE = ("right", "found", "accepted", "refused", "upstream's")


class Contract:
    """Programs of the second generator, sixteen to a module."""
    share, step, of = 25, 16, TARGETS

    def __init__(self, options):
        self.tessera = contract.load(options.tools)

    def run(self, seeds):
        drawn = [programs.draw(seed) for seed in seeds]
        for target in TARGETS:
            for seed, (word, message) in zip(seeds, contract.judge(self.tessera, drawn, target, 60)):
                yield seed, target, word, contract.kind_of(message) if word == "refused" else message

    def again(self, seed, target):
        return f"python3 test/fuzz/contract/contract.py --seed={seed} --count=1 --target={target}"

    def keep(self, seed, path):
        path.with_suffix(".mlir").write_text(programs.module([programs.draw(seed)]))


class Grammar:
    """Programs of a grammar of the first generator. The interpreter is the judge of the other targets, not a target."""
    share, step, of = 15, 8, TARGETS[1:]

    def __init__(self, options, grammar):
        self.grammar = grammar
        self.fuzzer = fuzz.Fuzzer(SimpleNamespace(tools=options.tools, target=",".join(self.of), timeout=60, batch=8,
                                                  grammar=grammar))

    def run(self, seeds):
        for batch in self.fuzzer.batches(seeds):
            for seed, target, verdict in self.fuzzer.batch(batch):
                yield seed, target, verdict.word, verdict.detail

    def again(self, seed, target):
        return f"python3 test/fuzz/fuzz.py --grammar={self.grammar} --seed={seed} --count=1 --target={target} --found=build/found"

    def keep(self, seed, path):
        path.with_suffix(".mlir").write_text(fuzz.to_text(fuzz.generate(seed, self.grammar)))


class Kernels:
    """Kernels drawn as Python source, each on one target in a process of its own."""
    share, step, of = 10, 2, ["cpu", "interpret", "emulate:sm_80", "emulate:gfx942"]

    def __init__(self, options):
        build = Path(options.tools).resolve().parent
        self.environment = dict(os.environ, TESSERA_HOME=str(build), TESSERA_CACHE="none",
                                PYTHONPATH=f"{ROOT / 'python'}:{build / 'python'}")

    def run(self, seeds):
        for seed in seeds:
            for target in self.of:
                yield seed, target, *self.run_one(seed, target)

    def run_one(self, seed, target):
        command = [sys.executable, ROOT / "test/python/kernel/draw.py", str(seed), target]
        try:
            child = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=120, check=False)
        except subprocess.TimeoutExpired:
            return "hang", ""
        word = {0: "right", 1: "wrong"}.get(child.returncode, "crash")
        return word, " ".join((child.stdout + child.stderr)[:300].split())

    def again(self, seed, target):
        return f"TESSERA_HOME=build PYTHONPATH=python:build/python python3 test/python/kernel/draw.py {seed} {target}"

    def keep(self, seed, path):
        pass  # the seed draws it again


class Mutants:
    """Damaged programs, each through one tool."""
    share, step, of = 20, 20, ["tile-opt", "tile-translate", "tile-run"]

    def __init__(self, options):
        self.mutator = mutate.Mutator(SimpleNamespace(tools=options.tools, mlir_opt=options.mlir_opt, timeout=10, files="*.mlir"))

    def run(self, seeds):
        for seed in seeds:
            _, word, command, text = self.mutator.run(seed)
            yield seed, Path(command[0]).name, word, text[-300:]

    def again(self, seed, _):
        return f"python3 test/fuzz/mutate.py --seed={seed} --count=1"

    def keep(self, seed, path):
        path.with_suffix(".mlir").write_bytes(self.mutator.mutant(seed)[0])


class LibraryMutants(Mutants):
    """Damaged programs through the library, in this process's forks."""
    share, step, of = 20, 40, ["canonicalize", "lower", "interpret", "print"]

    def __init__(self, options):
        self.mutator = mutate.InProcess(SimpleNamespace(tools=options.tools, mlir_opt=options.mlir_opt, timeout=10, files="*.mlir"))

    def run(self, seeds):
        for seed in seeds:
            _, word, command, text = self.mutator.run(seed)
            yield seed, command[2], word, text[-300:]

    def again(self, seed, _):
        return f"python3 test/fuzz/mutate.py --in-process --seed={seed} --count=1"


class DataMutants:
    """Damaged data, machine files and schedules, and damaged programs through Python."""
    share, step, of = 15, 18, list(mutate_data.KINDS)

    def __init__(self, options):
        self.options = SimpleNamespace(tools=options.tools, mlir_opt=options.mlir_opt, timeout=20, only=None,
                                       keep=options.folder / "found")

    def run(self, seeds):
        for seed in seeds:
            _, kind, word, text = mutate_data.run(seed, self.options)
            yield seed, kind, word, text[-300:]

    def again(self, seed, _):
        return f"python3 test/fuzz/mutate_data.py --seed={seed} --count=1"

    def keep(self, seed, path):
        pass  # mutate_data.run keeps the whole folder


class Faults:
    """Allocation `place` of a tool fails, for places all over its run."""
    share, step = 6, 5

    def __init__(self, options):
        work = options.folder / "faults"
        work.mkdir(exist_ok=True)
        library = work / "failing_malloc.so"
        subprocess.run([options.cc, "-shared", "-fPIC", "-O1", ROOT / "test/tools/Inputs/failing_malloc.c", "-o", library],
                       check=True)
        self.faults = failing_malloc.Faults(options.tools, library.resolve(), work.resolve())
        self.of = self.faults.names

    def place(self, seed):
        """The multiples of the golden section fall evenly between 0 and 1."""
        name = self.of[seed % len(self.of)]
        return name, int(seed // len(self.of) * 0.6180339887498949 % 1 * self.faults.total[name])

    def run(self, seeds):
        for seed in seeds:
            name, place = self.place(seed)
            word, text = self.faults.fail_at(name, place)
            yield seed, name, word, f"allocation {place}: {text}"

    def again(self, seed, _):
        return f"test/tools/failing_malloc.py, fail_at{self.place(seed)}"

    def keep(self, seed, path):
        pass  # its files stay in FOLDER/faults


class Planted:
    """Planted defects; each kernel runs whole too."""
    share, step, of = 4, 2, planted.ALL

    def __init__(self, options):
        self.tool, self.rows, self.whole = str(Path(options.tools) / "tile-run"), planted.planted(), {}
        self.last = len(self.rows)

    def run(self, seeds):
        for seed in seeds:
            chip, kernel, what, *_ = row = self.rows[seed]
            if (kernel, chip) not in self.whole:
                self.whole[kernel, chip] = planted.check_whole(self.tool, kernel, chip)
            found = self.whole[kernel, chip] and planted.is_found(self.tool, *row)
            yield seed, chip, "found" if found else "not found", f"{kernel}: {what}"

    def again(self, seed, _):
        return f"python3 test/emulator/planted.py build/bin/tile-run --part={seed}/{self.last}"

    def keep(self, seed, path):
        pass  # the table has it


SOURCES = {  # name: how to make it, the line of what it counts
    "contract": (Contract, "programs of the contract on"),
    "tile": (lambda options: Grammar(options, "tile"), "programs of the Tile grammar on"),
    "linalg": (lambda options: Grammar(options, "linalg"), "programs of the linalg grammar on"),
    "kernels": (Kernels, "kernels in Python on"),
    "mutants": (Mutants, "mutants of programs in"),
    "library": (LibraryMutants, "mutants of programs in the library,"),
    "data": (DataMutants, "mutants of data, kind"),
    "faults": (Faults, "allocations failed in"),
    "planted": (Planted, "defects planted on"),
}
DRAWN = ("contract", "tile", "linalg", "kernels")
WORDS = {
    "contract": ("right", "refused", *contract.FAILURES),
    "tile": ("right", "refused", *judge.FAILURES),
    "linalg": ("right", "refused", *judge.FAILURES),
    "kernels": ("right", "wrong", "crash", "hang"),
    "mutants": ("accepted", "refused", "upstream's", "crash", "hang", "silent", "output of a failure"),
    "library": ("accepted", "refused", "upstream's", "crash", "hang", "silent"),
    "data": ("accepted", "refused", "upstream's", "crash", "hang", "silent", "wrong"),
    "faults": ("right", "refused", "upstream's", *failing_malloc.FAILURES),
    "planted": ("found", "not found"),
}


# --- Slices and their sums --------------------------------------------------------------------------------------------


def run_slice(name, source, seeds, folder):
    """Runs the seeds; returns the line for slices.jsonl."""
    counts, refused, failed = collections.defaultdict(collections.Counter), collections.Counter(), []
    for seed, of, word, detail in source.run(seeds):
        counts[of][word] += 1
        if word == "refused" and name in DRAWN:
            refused[f"{of}: {detail}"] += 1
        if word not in FINE:
            failed.append({"seed": seed, "of": of, "word": word, "detail": detail, "again": source.again(seed, of)})
            print(f"{name} {seed}, {of}: {word}: {detail}\n  {source.again(seed, of)}", flush=True)
            source.keep(seed, folder / "found" / f"{name}_{seed}")
    return {"source": name, "from": seeds[0], "to": seeds[-1] + 1, "counts": counts, "refused": refused, "failed": failed}


def report(title, slices):
    """Prints the sums of slices; returns the number of failures."""
    print(f"--- {title}")
    for name, (_, line) in SOURCES.items():
        counts, refused = collections.defaultdict(collections.Counter), collections.Counter()
        for one in (one for one in slices if one["source"] == name):
            refused.update(one["refused"])
            for of, words in one["counts"].items():
                counts[of].update(words)
        for of, words in counts.items():
            others = [word for word in words if word not in WORDS[name]]
            print(f"{line} {of}: {sum(words.values())} tried, " + ", ".join(f"{words[word]} {word}" for word in [*WORDS[name], *others]))
        for reason, count in refused.most_common():
            print(f"  refused {count} times on {reason}")

    def total(what, *names):
        return sum(what(one) for one in slices if one["source"] in names)

    def tried(one):
        return sum(sum(words.values()) for words in one["counts"].values())

    def failed(one):
        return len(one["failed"])
    print(f"random programs: {total(lambda one: one['to'] - one['from'], *DRAWN)} drawn, {total(tried, *DRAWN)} runs on targets, "
          f"{total(failed, *DRAWN)} failed")
    print(f"mutants: {total(tried, 'mutants', 'library', 'data')}, {total(failed, 'mutants', 'library', 'data')} failed")
    print(f"faults: {total(tried, 'faults')} allocations failed, {total(failed, 'faults')} wrong")
    print(f"planted defects: {total(tried, 'planted') - total(failed, 'planted')} of {total(tried, 'planted')} found", flush=True)
    return total(failed, *SOURCES)


def read_slices(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def work(options, sources, older):
    """Runs slices until the time, or the number of slices, is used up; returns them."""
    end, done, seconds = time.monotonic() + 60 * options.minutes, [], dict.fromkeys(sources, 0.0)
    count = dict.fromkeys(sources, 0)
    first = {name: max([one["to"] for one in older if one["source"] == name], default=options.seed) for name in sources}
    first["planted"] = 0
    while True:
        open_ = [name for name, source in sources.items() if first[name] < getattr(source, "last", float("inf")) and
                 (options.slices is None or count[name] < options.slices)]
        if not open_ or time.monotonic() > end:
            return done
        name = min(open_, key=lambda name: seconds[name] / sources[name].share)
        begun, source = time.monotonic(), sources[name]
        seeds = range(first[name], min(first[name] + source.step, getattr(source, "last", float("inf"))))
        done.append(run_slice(name, source, seeds, options.folder))
        with open(options.folder / "slices.jsonl", "a") as file:
            file.write(json.dumps(done[-1]) + "\n")
        seconds[name] += time.monotonic() - begun
        first[name], count[name] = seeds[-1] + 1, count[name] + 1


def main():
    parser = argparse.ArgumentParser(prog="./dev bench reliability", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", default=str(ROOT / "build" / "bin"), help="the folder of the built tools")
    parser.add_argument("--minutes", type=float, default=5, help="how long (5)")
    parser.add_argument("--slices", type=int, help="end after so many slices of each source")
    parser.add_argument("--only", default=",".join(SOURCES), help="sources, with commas (all)")
    parser.add_argument("--seed", type=int, default=1000000, help="the first seed in a new folder")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "reliability", help="where counts and failures are kept")
    parser.add_argument("--mlir-opt", default="mlir-opt-22", help="the unmodified mlir-opt, which tells upstream's crashes")
    parser.add_argument("--cc", default="clang-22", help="the compiler of the library whose allocations fail")
    options = parser.parse_args()
    unknown = set(options.only.split(",")) - set(SOURCES)
    if unknown:
        parser.error(f"no source named {min(unknown)}; there are: {', '.join(SOURCES)}")
    (options.folder / "found").mkdir(parents=True, exist_ok=True)
    older = read_slices(options.folder / "slices.jsonl")
    sources = {name: SOURCES[name][0](options) for name in options.only.split(",")}
    done = work(options, sources, older)
    if older:
        report("all runs of this folder", older + done)
    return 1 if report("this run", done) else 0


if __name__ == "__main__":
    sys.exit(main())
