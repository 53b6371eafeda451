"""Damages programs and feeds them to the tools. Use: mutate.py --tools=BUILD/bin [--seed=N] [--count=M]

The corpus is the tree's own test inputs and examples and programs of the grammars (fuzz.py), as text and as bytecode. A mutant is one with bytes flipped, cut
short, lines deleted, doubled or swapped, parts of another file spliced in, a few tokens repeated up to 200,000 times (which
nests deep), numbers blown up or types exchanged. tile-opt
(canonicalize, the CPU pipeline), tile-translate (an object) and tile-run (on the interpreter, whose running a wrong
program must stop; compiled code may do anything then) take it and must end in time, with status 0, or with status 1, a
message and no output file. A message that says the tool crashed (lib/support/guard.h) is a crash, but for bytecode,
where it is how damage is reported.

What the unmodified mlir-opt crashes on as well is upstream's: the same text, when it holds no op of ours, is run by it;
known ones in texts that hold ops of ours stand in upstream.txt, each with a small text that shows it. `--show` prints a mutant, `--keep=FOLDER` keeps failing ones.

`--in-process` gives the mutants that are text to the library, in forks of one process that has loaded it: some ten times
as many in the same time.
"""
import argparse
import collections
import os
import random
import re
import signal
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import judge
import linalg_grammar
import tile_grammar
from ir import to_text

HERE = Path(__file__).resolve().parent
TREE = HERE.parents[1]
TYPES = "i1 i4 i8 i16 i32 i64 i65 index f16 bf16 f32 f64 f8E4M3FN f8E5M2 none complex<f32> si8 ui32 tf32".split()
NUMBERS = ["0", "-1", "1", "2147483647", "4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
           "18446744073709551616", "1000000000000", "65537", "100000000000000000000000"]
MOST = 12000  # bytes of a file that is mutated


def corpus(pattern="*.mlir"):
    files = [p for folder in ("test", "examples") for p in sorted((TREE / folder).rglob(pattern)) if p.stat().st_size < MOST]
    pieces = [piece for p in files for piece in re.split(rb"^// -----.*\n", p.read_bytes(), flags=re.M)]
    return [piece for piece in pieces if piece.strip()]


def drawn(rng):
    """A valid program of the grammars, which gets deeper into the tools than most tests."""
    grammar = rng.choice([tile_grammar, linalg_grammar])
    return to_text(grammar.generate(rng.randrange(10**6))).encode()


# --- Mutations ----------------------------------------------------------------------------------------------------------


def flip(rng, data, _):
    data = bytearray(data or b"\0")
    for _ in range(rng.choice([1, 1, 2, 5])):
        at = rng.randrange(len(data))
        data[at] = rng.choice([data[at] ^ 1 << rng.randrange(8), rng.randrange(256), 0])
    return bytes(data)


def truncate(rng, data, _):
    return data[:rng.randrange(len(data) or 1)]


def lines(change):
    def mutate(rng, data, other):
        split = data.split(b"\n")
        change(rng, split, other.split(b"\n"))
        return b"\n".join(split)
    return mutate


def delete_line(rng, split, _):
    at = rng.randrange(len(split))
    del split[at:at + rng.choice([1, 1, 3])]


def double_line(rng, split, _):
    at = rng.randrange(len(split))
    split.insert(at, split[at])


def swap_lines(rng, split, _):
    a, b = rng.randrange(len(split)), rng.randrange(len(split))
    split[a], split[b] = split[b], split[a]


def splice_lines(rng, split, other):
    at, begin = rng.randrange(len(split)), rng.randrange(len(other))
    split[at:at] = other[begin:begin + rng.choice([1, 1, 2, 5])]


def tokens(data):
    return list(re.finditer(rb"[%@#!\w.$]+|\"[^\"\n]*\"|[^\s\w]", data))


def replace_token(rng, data, other):
    places, donors = tokens(data), tokens(other)
    if not places or not donors:
        return flip(rng, data, other)
    at = rng.choice(places)
    return data[:at.start()] + rng.choice(donors)[0] + data[at.end():]


def repeat_tokens(rng, data, other):
    """Some tokens in a row many times; half the time their closing brackets too, further on."""
    places = tokens(data)
    if not places:
        return flip(rng, data, other)
    at = rng.randrange(len(places))
    last = places[min(at + rng.randrange(4), len(places) - 1)]
    piece = data[places[at].start():last.end()]
    times = min(rng.choice([30, 400, 3000, 200000]), 400000 // len(piece))  # readers of long lines are not our subject
    closing = bytes(b"()[]{}<>"[b"()[]{}<>".index(c) + 1] for c in reversed(piece) if c in b"([{<") * times
    begin, end = last.end(), rng.choice(places[at:]).end() if rng.random() < 0.5 else len(data)
    middle = data[begin:max(begin, end)]
    return data[:begin] + piece * times + middle + (closing if rng.random() < 0.5 else b"") + data[begin + len(middle):]


def swap_words(pattern, words):
    def mutate(rng, data, other):
        places = list(re.finditer(pattern, data))
        if not places:
            return replace_token(rng, data, other)
        at, word = rng.choice(places), rng.choice(words).encode()
        if rng.random() < 0.3:  # everywhere alike, so that types still fit
            return re.sub(rb"(?<![\w.%@#])" + re.escape(at[0]) + rb"(?![\w.])", lambda m: word, data)
        return data[:at.start()] + word + data[at.end():]
    return mutate


def nearby(rng, data, _):
    """A number becomes one close to it, half the time everywhere: most such programs are still read."""
    places = list(re.finditer(rb"(?<![\w.%@#])\d{1,6}(?![\w.])|(?<=[<x])\d{1,6}(?=x)", data))
    if not places:
        return data
    at = rng.choice(places)
    number = int(at[0])
    new = str(rng.choice([number + 1, max(number - 1, 0), 2 * number, 1, 0])).encode()
    if rng.random() < 0.5:
        return re.sub(rb"(?<![\w.%@#])" + at[0] + rb"(?![\w.])|(?<=[<x])" + at[0] + rb"(?=x)", new, data)
    return data[:at.start()] + new + data[at.end():]


BLOW_UP = swap_words(rb"(?<![\w.%@#])-?\d+(?![\w.])|(?<=[<x])\d+(?=x)", NUMBERS)
RETYPE = swap_words(rb"(?<![\w.%@#])(?:i\d+|index|f16|f32|f64|bf16)\b|(?<=\dx)(?:i\d+|index|f16|f32|f64|bf16)\b", TYPES)
MUTATIONS = [flip, truncate, lines(delete_line), lines(double_line), lines(swap_lines), lines(splice_lines), replace_token, replace_token,
             BLOW_UP, BLOW_UP, BLOW_UP, RETYPE, RETYPE, RETYPE, repeat_tokens]


class Mutator:
    def __init__(self, options):
        self.options, self.files = options, corpus(options.files)
        self.counts, self.failures = collections.Counter(), []
        self.tools = {name: str(Path(options.tools) / name) for name in ("tile-opt", "tile-translate", "tile-run")}
        rows = [line.split("\t") for line in (HERE / "upstream.txt").read_text().splitlines() if line and line[0] != "#"]
        self.upstream = [(re.compile(pattern), shown) for pattern, shown, _ in rows]

    def mutant(self, seed):
        """(bytes, is it bytecode)."""
        rng = random.Random(f"mutate {seed}")
        is_drawn = self.options.files == "*.mlir" and rng.random() >= 0.6
        data, other = drawn(rng) if is_drawn else rng.choice(self.files), rng.choice(self.files)
        if seed % 4 == 3:
            return self.damaged_bytecode(rng, data)
        for _ in range(rng.choice([1, 1, 2, 3])):
            data = rng.choice(MUTATIONS)(rng, data, other) or b" "
        return data, False

    def damaged_bytecode(self, rng, data):
        with tempfile.TemporaryDirectory() as folder:
            source, binary = Path(folder, "x.mlir"), Path(folder, "x.mlirbc")
            source.write_bytes(data)
            judge.execute([self.tools["tile-opt"], str(source), "--emit-bytecode", "-o", str(binary)], 30)
            if not binary.exists():  # an input that is meant to be refused
                return data, False
            code = binary.read_bytes()
        return rng.choice([flip, flip, truncate])(rng, code, code), True

    def commands(self, seed, file, output):
        """One tool takes each mutant, the next one the next."""
        opt = [self.tools["tile-opt"], file, "-o", output]
        return [[*opt, "--canonicalize", "--cse"], [*opt, "--tile-to-cpu-pipeline"],
                [self.tools["tile-translate"], file, "--tile-to-object", "-o", output],
                [self.tools["tile-run"], file, "--target=interpret", "--max-steps=1000000", f"--out={output}"],
                [*opt, "--mlir-print-op-generic"]][seed // 4 % 5]

    def crashes_upstream(self, file, passes=()):
        status, _ = judge.execute([self.options.mlir_opt, "--allow-unregistered-dialect", file, *passes, "-o", "/dev/null"], 20)
        return status is None or status < 0 or status > 1

    def is_upstreams(self, data, file, command):
        for pattern, shown in self.upstream:
            if pattern.search(data.decode("latin1")):
                small = Path(file).with_name("shown.mlir")
                small.write_text(shown + "\n")
                if self.crashes_upstream(str(small)):
                    return True
        return self.crashes_upstream(file, [c for c in command if c in ("--canonicalize", "--cse")])

    def run(self, seed):
        data, binary = self.mutant(seed)
        with tempfile.TemporaryDirectory() as folder:
            file, output = str(Path(folder, "mutant.mlir")), str(Path(folder, "output"))
            Path(file).write_bytes(data)
            command = self.commands(seed, file, output)
            status, text = judge.execute(command, self.options.timeout)
            word = judge.judge_damaged(status, text, may_crash=binary)
            if word == "refused" and Path(output).exists() and Path(output).stat().st_size:
                word = "output of a failure"
            if word in ("hang", "crash") and self.is_upstreams(data, file, command):
                word = "upstream's"
            return seed, word, command, text

    def all(self):
        begun, seeds = time.time(), range(self.options.seed, self.options.seed + self.options.count)
        with ThreadPoolExecutor(self.options.jobs) as pool:
            for seed, word, command, text in pool.map(self.run, seeds):
                self.counts[word] += 1
                if word in ("accepted", "refused", "upstream's"):
                    continue
                self.failures.append(seed)
                print(f"mutant {seed}: {word}: {' '.join([Path(command[0]).name, *command[2:]])}\n{text[-600:]}", flush=True)
                if self.options.keep:
                    Path(self.options.keep, f"mutant_{seed}.mlir").write_bytes(self.mutant(seed)[0])
        words = ("accepted", "refused", "upstream's", "crash", "hang", "silent", "output of a failure")
        print(f"{self.options.count} mutants: {', '.join(f'{self.counts[w]} {w}' for w in words)} ({time.time() - begun:.0f} s)")
        return 1 if self.failures else 0


class InProcess(Mutator):
    """The library in the tools' place: parses, then canonicalizes, lowers or interprets, in a fork. Mutants are all text."""
    ACCEPTED, REFUSED, SILENT, OTHER = 10, 11, 12, 13  # exit statuses; 1 is the library's, out of memory

    def __init__(self, options):
        super().__init__(options)
        sys.path.insert(0, str(HERE / "contract"))
        import contract  # which loads numpy: the tools' mutants go without
        self.tessera = contract.load(options.tools)
        self.ways = ["canonicalize", "lower", "interpret", "print"]

    def mutant(self, seed):
        """Every second one has only numbers changed a little, which gets it past the parser."""
        if seed % 2:
            return super().mutant(4 * seed + seed % 3)
        rng = random.Random(f"nearby {seed}")
        data = drawn(rng) if rng.random() < 0.5 else rng.choice(self.files)
        for _ in range(rng.choice([1, 1, 2])):
            data = nearby(rng, data, data)
        return data, False

    def work(self, way, data):
        module = self.tessera.parse(data)
        if way == "canonicalize":
            module.run_passes("canonicalize,cse")
        elif way == "lower":
            module.run_passes("tile-to-cpu-pipeline")
        elif way == "interpret":
            names = [op.attributes["sym_name"].value for op in module if op.name == "func.func" and op.regions[0].blocks]
            module.run(target="interpret", max_steps=1000000, entry=names[-1] if names else "main")
        else:
            module.text(generic=True), module.bytecode()

    def child(self, way, data, file):
        """Never returns."""
        status = self.OTHER
        try:
            said = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(said, 1), os.dup2(said, 2)
            judge.limits(self.options.timeout)
            self.work(way, data)
            status = self.ACCEPTED
        except self.tessera.Error as error:
            os.write(2, str(error).encode(errors="replace"))
            status = self.REFUSED if str(error).strip() else self.SILENT
        except MemoryError:
            status = self.REFUSED
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}".encode(errors="replace"))
        os._exit(status)

    def run(self, seed):
        data, way = self.mutant(seed)[0], self.ways[seed // 2 % len(self.ways)]
        with tempfile.TemporaryDirectory() as folder:
            file, said = str(Path(folder, "mutant.mlir")), str(Path(folder, "said"))
            pid = os.fork()
            if pid == 0:
                self.child(way, data, said)
            ended = os.waitpid(pid, 0)[1]
            text = Path(said).read_text(errors="replace") if Path(said).exists() else ""
            status = os.WEXITSTATUS(ended) if os.WIFEXITED(ended) else -os.WTERMSIG(ended)
            word = {self.ACCEPTED: "accepted", self.REFUSED: "refused", 1: "refused" if "out of memory" in text else "crash",
                    self.SILENT: "silent", -signal.SIGXCPU: "hang"}.get(status, "crash")
            if word in ("hang", "crash"):
                Path(file).write_bytes(data)
                if self.is_upstreams(data, file, ["--canonicalize", "--cse"] if way == "canonicalize" else []):
                    word = "upstream's"
            return seed, word, ["library", file, way], text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", default=str(TREE / "build" / "bin"))
    parser.add_argument("--mlir-opt", default="/usr/lib/llvm-22/bin/mlir-opt")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--files", default="*.mlir", help="names of the files that are mutated; those of other names than *.mlir alone")
    parser.add_argument("--timeout", type=int, default=10, help="seconds of CPU that a tool may take")
    parser.add_argument("--keep", help="folder for mutants that fail")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--in-process", action="store_true", help="the library takes them, not the tools; one at a time")
    options = parser.parse_args()
    if options.keep:
        Path(options.keep).mkdir(parents=True, exist_ok=True)
    mutator = InProcess(options) if options.in_process else Mutator(options)
    options.jobs = 1 if options.in_process else options.jobs
    if options.show:
        sys.stdout.buffer.write(mutator.mutant(options.seed)[0])
        return 0
    return mutator.all()


if __name__ == "__main__":
    sys.exit(main())
