"""Random valid programs, each on the interpreter and on a target. Use: fuzz.py --tools=BUILD/bin [--seed=N] [--count=M]

  fuzz.py --tools=build/bin --seed=0 --count=100      programs 0 to 99: Tile kernels and linalg programs in turn
  fuzz.py --tools=build/bin --seed=417 --show         prints program 417
  fuzz.py --tools=build/bin --replay found/x.mlir     runs one file again (what lit does with those in found/)

--target=cpu[,emulate:CHIP,…] runs each program on every one of them. A failure (wrong outputs, a finding of the emulator,
a crash, a hang, an error of the interpreter, a refusal that names no place) is cut down and written to --found, where lit
runs it for ever after.
Programs run several to a process (--batch); a batch that fails is run again one by one.
"""
import argparse
import collections
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import judge
import linalg_grammar
import tile_grammar
from ir import merge, to_text
from reduce import reduce

HERE = Path(__file__).resolve().parent
MAX_VALUES = 60  # of tile-run's 64 arguments


def generate(seed, grammar):
    tile = grammar == "tile" or (grammar == "both" and seed % 2 == 0)
    return (tile_grammar if tile else linalg_grammar).generate(seed)


class Fuzzer:
    def __init__(self, options):
        self.options = options
        self.tool = str(Path(options.tools) / "tile-run")
        self.targets = options.target.split(",")
        self.counts, self.refusals, self.failures = collections.Counter(), collections.Counter(), []

    def run(self, text, target):
        with tempfile.TemporaryDirectory() as folder:
            return judge.run(self.tool, text, target, folder, self.options.timeout, ["--threads=2"])

    def batch(self, programs):
        """Verdicts of (seed, program) pairs on all targets."""
        verdicts = []
        for target in self.targets:
            if len(programs) > 1 and self.run(to_text(merge([p for _, p in programs])), target).word == "right":
                verdicts += [(seed, target, judge.Verdict("right")) for seed, _ in programs]
            else:
                verdicts += [(seed, target, self.run(to_text(p), target)) for seed, p in programs]
        return verdicts

    def batches(self, seeds):
        pending, values = [], 0
        for seed in seeds:
            program = generate(seed, self.options.grammar)
            wanted = max(len(program.inputs), len(program.main.results))
            if pending and (values + wanted > MAX_VALUES or len(pending) == self.options.batch):
                yield pending
                pending, values = [], 0
            pending, values = pending + [(seed, program)], values + wanted
        if pending:
            yield pending

    def note(self, seed, target, verdict):
        self.counts[verdict.word] += 1
        if verdict.word == "refused":
            self.refusals[verdict.detail] += 1
        if verdict.failed:
            print(f"program {seed} on {target}: {verdict.word} {verdict.detail}", flush=True)
            self.failures.append((seed, target, verdict))

    def cut_down(self, seed, target, verdict):
        def fails(text):
            seen = self.run(text, target)
            return (seen.word, seen.detail) == (verdict.word, verdict.detail)
        return reduce(generate(seed, self.options.grammar), fails, lambda t: print(t, flush=True))

    def write_found(self, seed, target, verdict):
        text = self.cut_down(seed, target, verdict)
        name = f"{'tile' if 'tile.kernel' in text else 'linalg'}_{seed}{'' if target == 'cpu' else '_' + target.replace(':', '_')}"
        path = Path(self.options.found) / f"{name}.mlir"
        path.write_text(f"// Program {seed} of the fuzzer, cut down: {verdict.word} on {target}. {verdict.detail}\n"
                        f"// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target={target} --replay %s\n{text}")
        print(f"  {path}", flush=True)

    def all(self):
        seeds = range(self.options.seed, self.options.seed + self.options.count)
        begun, done = time.time(), 0
        with ThreadPoolExecutor(self.options.jobs) as pool:
            for verdicts in pool.map(self.batch, self.batches(seeds)):
                for verdict in verdicts:
                    self.note(*verdict)
                done += len(verdicts)
                if sys.stdout.isatty():
                    print(f"\r{done}/{self.options.count * len(self.targets)}", end="", flush=True)
        if self.options.found:
            seen = set()
            for seed, target, verdict in self.failures:
                if verdict.word == "wrong" or (verdict.word, verdict.detail) not in seen:
                    self.write_found(seed, target, verdict)
                seen.add((verdict.word, verdict.detail))
        for reason, count in self.refusals.most_common():
            print(f"refused {count} times: {reason}")
        summary = ", ".join(f"{self.counts[word]} {word}" for word in ("right", "refused", *judge.FAILURES))
        print(f"{done} programs: {summary} ({time.time() - begun:.0f} s)")
        if self.counts["refused"] * 10 > done:
            print("more than a tenth was refused: the grammar tries what the compiler does not do")
            return 1
        return 1 if self.failures else 0

    def replay(self, path):
        status = 0
        for target in self.targets:
            verdict = self.run(Path(path).read_text(), target)
            print(f"{target}: {verdict.word}\n{verdict.output if verdict.failed else verdict.detail}")
            status |= verdict.failed
        return int(status)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", default=str(HERE.parents[1] / "build" / "bin"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--grammar", choices=["both", "tile", "linalg"], default="both")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=int, default=60, help="seconds of CPU that a run may take")
    parser.add_argument("--found", help="folder for failures, cut down")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--replay")
    options = parser.parse_args()
    if options.show:
        print(to_text(generate(options.seed, options.grammar)), end="")
        return 0
    if options.found:
        Path(options.found).mkdir(parents=True, exist_ok=True)
    fuzzer = Fuzzer(options)
    return fuzzer.replay(options.replay) if options.replay else fuzzer.all()


if __name__ == "__main__":
    sys.exit(main())
