#!/usr/bin/env python3
"""Draws programs from docs/numerics.md and judges every target by it, the interpreter included (docs/testing.md).

    python3 test/fuzz/contract/contract.py --tools=build/bin --seed=0 --count=1000

Programs are drawn by programs.py, their right answers by domain.py. Several are compiled as one module (--batch), each batch and
target in a process of its own; if that module does not compile, or its process ends, each of its programs is run alone.
Outcomes: right; refused (a located error while compiling, counted by op); wrong; finding (an error while running); invalid (an
error without a place, or any error of the interpreter); crash; hang. All but the first two fail.
"""
import argparse
import collections
import os
import pathlib
import pickle
import re
import resource
import select
import signal
import sys
import time

import numpy as np

import domain
import programs

TARGETS = ["interpret", "cpu", "emulate:sm_80", "emulate:sm_90a", "emulate:gfx942"]
FAILURES = ["wrong", "finding", "invalid", "crash", "hang"]


def argument(array, data):
    """An input as the Python module takes it."""
    if array.element == "i1":
        return data != 0
    if not domain.is_float(array.element):
        return data.astype("int" + str(domain.width(array.element)))
    bits = domain.encode(data, array.element)
    return bits.view({"f64": np.float64, "f32": np.float32, "f16": np.float16}.get(array.element, bits.dtype))


def seen_of(result, element):
    """An output as f64 or int64."""
    if not domain.is_float(element):
        return -result.astype(np.int64) if element == "i1" else result.astype(np.int64)
    bits = np.ascontiguousarray(result).view(f"u{result.dtype.itemsize}")
    return domain.decode(bits, element).reshape(result.shape)


def show(program, k, element, value, seen):
    """One line on the first wrong element of a result."""
    right = domain.inside(value, seen)
    at = tuple(np.argwhere(~right)[0]) if right.ndim else ()
    wanted = f"[{value.low[at]!r}, {value.high[at]!r}] nan {value.nan[at]}" if domain.is_float(element) else f"{value.low[at]}"
    return f"result {k} ({element}): {int((~right).sum())} of {right.size} wrong, at {[int(i) for i in at]}: {seen[at]!r}, want {wanted}"


def first_of(error):
    """The first error with its place, and whether it has one."""
    errors = [d for d in error.diagnostics if d.severity == "error"]
    if errors and errors[0].location.line:
        return errors[0].message.splitlines()[0], True
    return str(error).splitlines()[0], False


def run(tessera, batch, target):
    """The outcome and its text of each program of a batch; None where the batch as a whole says nothing of each."""
    try:
        compiled = tessera.parse(programs.module(batch)).compile(target)
    except tessera.Error as error:
        if len(batch) > 1:
            return None
        message, placed = first_of(error)
        unknown = target == "interpret" and "not interpreted yet" not in message
        return [("refused" if placed and not unknown else "invalid", message)]
    try:
        result = compiled(*(argument(a, d) for p in batch for a, d in p.inputs))
    except tessera.Error as error:
        if len(batch) > 1:
            return None
        message, placed = first_of(error)
        if target == "interpret":
            return [("refused" if "not interpreted yet" in message else "invalid", message)]
        return [("finding", message)]
    outcomes, at = [], 0
    for program in batch:
        outcome = ("right", "")
        for k, (_, element, value) in enumerate(program.results):
            seen = seen_of(result[at], element)
            at += 1
            if seen.shape != value.shape:
                outcome = ("wrong", f"result {k} has shape {seen.shape}, want {value.shape}")
            elif outcome[0] == "right" and not domain.inside(value, seen).all():
                outcome = ("wrong", show(program, k, element, value, seen))
        outcomes.append(outcome)
    return outcomes


def in_child(tessera, batch, target, seconds):
    """run() in a process of its own, with a limit of CPU time: (outcomes or None, how it ended)."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(reader)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            os.write(writer, pickle.dumps(run(tessera, batch, target)))
        except Exception as error:  # a failure of this script is no outcome
            os.write(writer, pickle.dumps([("script", repr(error))] * len(batch)))
        os._exit(0)
    os.close(writer)
    data, end = b"", time.monotonic() + 20 * seconds
    while select.select([reader], [], [], max(end - time.monotonic(), 0))[0]:
        piece = os.read(reader, 1 << 20)
        if not piece:
            break
        data += piece
    else:
        os.kill(child, signal.SIGKILL)
    os.close(reader)
    status = os.waitpid(child, 0)[1]
    if data and status == 0:
        return pickle.loads(data), "ended"
    over = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
    return None, "hang" if over else "crash"


def judge(tessera, batch, target, seconds):
    """An outcome for each program: of the batch, or of each alone where the batch gives none."""
    outcomes, ended = in_child(tessera, batch, target, seconds)
    if outcomes is not None:
        return outcomes
    if len(batch) == 1:
        return [(ended, "the process ended" if ended == "crash" else f"not ended after {seconds} s of CPU")]
    half = len(batch) // 2
    alone = judge(tessera, batch[:half], target, seconds) + judge(tessera, batch[half:], target, seconds)
    if ended != "ended" and not any(kind in FAILURES for kind, _ in alone):
        alone[0] = (ended, "only these programs together: " + " ".join(p.name[1:] for p in batch))
    return alone


def kind_of(message):
    """A refusal without the names and sizes of its program."""
    op = re.search(r"'([a-z_]+\.[a-z_0-9.]+)'", message)
    said = re.sub(r"'[^']*'", "", message)
    said = re.sub(r"(tensor|memref|vector|!tile\.view)<[^>]*>", r"\1", said)
    return f"{op.group(1) if op else '-'}: {' '.join(re.sub(r'[0-9]+', 'N', said).split())[:70]}"


class Counts:
    """Outcomes by target, refusals by op."""

    def __init__(self, targets):
        self.by_target = {t: collections.Counter() for t in targets}
        self.refused = {t: collections.Counter() for t in targets}
        self.failed = []

    def take(self, seed, target, kind, message):
        self.by_target[target][kind] += 1
        if kind == "refused":
            self.refused[target][kind_of(message)] += 1
        elif kind != "right":
            self.failed.append((seed, target, kind, message))


def load(tools):
    """The Python module, on the library beside `tools`."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "python"))
    os.environ.setdefault("TESSERA_HOME", str(pathlib.Path(tools).resolve().parent))
    import tessera
    return tessera


def work(tools, seeds, targets, batch=16, seconds=60, end=None, said=print):
    """Runs the seeds until they or the time (`end`, of time.monotonic) are used up; returns the Counts."""
    tessera, counts = load(tools), Counts(targets)
    for first in range(0, len(seeds), batch):
        if end is not None and time.monotonic() > end:
            break
        some = seeds[first:first + batch]
        drawn = [programs.draw(seed) for seed in some]
        for target in targets:
            for seed, (kind, message) in zip(some, judge(tessera, drawn, target, seconds)):
                counts.take(seed, target, kind, message)
                if kind not in ("right", "refused"):
                    said(f"seed {seed} {target}: {kind}: {message}", flush=True)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", default="build/bin", help="the folder of the built tools")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--batch", type=int, default=16, help="programs of one module")
    parser.add_argument("--target", default=",".join(TARGETS))
    parser.add_argument("--timeout", type=int, default=60, help="seconds of CPU of one batch on one target")
    parser.add_argument("--seconds", type=float, help="stop after this time")
    parser.add_argument("--found", type=pathlib.Path, help="a folder for the programs that failed")
    parser.add_argument("--show", action="store_true", help="print the program of --seed and end")
    parser.add_argument("--refused", action="store_true", help="print the refusals by op")
    options = parser.parse_args()
    if options.show:
        print(programs.module([programs.draw(options.seed)]), end="")
        return 0
    end = None if options.seconds is None else time.monotonic() + options.seconds
    seeds, targets = list(range(options.seed, options.seed + options.count)), options.target.split(",")
    counts = work(options.tools, seeds, targets, options.batch, options.timeout, end)
    for target in targets:
        c = counts.by_target[target]
        print(f"{target}: {sum(c.values())} programs: {c['right']} right, {c['refused']} refused, " +
              ", ".join(f"{c[kind]} {kind}" for kind in FAILURES) + (f", {c['script']} script" if c["script"] else ""))
        if options.refused:
            for kind, n in counts.refused[target].most_common():
                print(f"  {n} {kind}")
    if options.found:
        options.found.mkdir(parents=True, exist_ok=True)
        for seed, target, kind, message in counts.failed:
            (options.found / f"contract-{seed}-{target.replace(':', '-')}.mlir").write_text(
                f"// {kind} on {target}: {message}\n" + programs.module([programs.draw(seed)]))
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
