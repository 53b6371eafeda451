"""Defects planted in kernels that use barriers in memory, TMA and wgmma: the emulator must find each one, on one run.

The kernels are the hand-scheduled GEMM of sm_90a, boxes.mlir, clusters.mlir, and attention as tile-specialize-warps
makes it, as nvvm. Each runs whole first: right and silent. A defect then changes one line of the lowered text; those in
EQUIVALENT leave it right, and must leave it silent. Use: planted.py BUILD [--part=K/N]. The last line is 'F of T planted defects found, S of E equivalent ones silent'.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
FINDING = re.compile(r"\.mlir:\d+:\d+: error: (race|read before the copy landed|overwrite of a copy in flight|"
                     r"uninitialized read|divergence|deadlock|bad operand|out of bounds|missing fence|misaligned access|"
                     r"memory of another block|memory not given back)")

GEMM_MAIN = (HERE / "gemm_sm90a.test").read_text().split("//--- main.mlir\n")[1]


def lower(build, text, chip="sm_90a"):
    """The kernel as nvvm, the host as it is: the pipeline up to where it turns to the host."""
    def optimize(*flags):
        done = subprocess.run([build / "bin/tile-opt", "-", *flags], input=text, text=True, capture_output=True)
        if done.returncode:
            sys.exit(f"the kernel was not lowered:\n{done.stderr}")
        return done
    expansion = optimize(f"--tile-to-nvvm-pipeline=chip={chip}", "--dump-pass-pipeline").stderr
    passes = re.search(r"builtin\.module\(.*?(?=,\s*convert-gpu-launch-to-runtime)", expansion, re.S).group(0) + ")"
    return optimize(f"--pass-pipeline={passes}").stdout


def nth(lines, pattern, n):
    found = [i for i, line in enumerate(lines) if re.search(pattern, line)]
    if n >= len(found):
        sys.exit(f"no line number {n} has {pattern!r}")
    return found[n]


def removed(pattern, n=0):
    def change(lines):
        at = nth(lines, pattern, n)
        return lines[:at] + [""] + lines[at + 1:]
    return change


def replaced(pattern, what, by, n=0):
    def change(lines):
        at = nth(lines, pattern, n)
        line, count = re.subn(what, by, lines[at], count=1)
        if not count:
            sys.exit(f"{lines[at]!r} has no {what!r}")
        return lines[:at] + [line] + lines[at + 1:]
    return change


def moved(pattern, n, to, m, after=False):
    """Line n of `pattern` goes before (or behind) line m of `to`."""
    def change(lines):
        at, target = nth(lines, pattern, n), nth(lines, to, m)
        line, rest = lines[at], lines[:at] + lines[at + 1:]
        target -= at < target
        target += after
        return rest[:target] + [line] + rest[target:]
    return change


class Program:
    def __init__(self, build, text, arrays, expected, tolerance, chip="sm_90a"):
        self.build, self.chip, self.lines = build, chip, lower(build, text, chip).split("\n")
        self.arrays, self.expected, self.tolerance = arrays, expected, tolerance
        self.folder = Path(tempfile.mkdtemp())

    def run(self, lines):
        file, out = self.folder / "program.mlir", self.folder / "out.npy"
        file.write_text("\n".join(lines))
        out.unlink(missing_ok=True)
        command = [self.build / "bin/tile-run", file, f"--target=emulate:{self.chip}", f"--out={out}", "--timeout=100"]
        for i, array in enumerate(self.arrays):
            np.save(self.folder / f"in{i}.npy", array)
            command.append(f"--in={self.folder}/in{i}.npy")
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        right = done.returncode == 0 and not done.stderr and np.allclose(np.load(out).astype(np.float64), self.expected,
                                                                         atol=self.tolerance, rtol=0)
        return done, right


def gemm(build):
    random = np.random.default_rng(5)
    a, b = (random.integers(-3, 4, shape).astype(np.float16) for shape in [(136, 328), (328, 200)])
    text = (ROOT / "test/dialects/tile/programs/gemm_sm90a.mlir").read_text() + GEMM_MAIN
    return Program(build, text, [a, b], a.astype(np.float64) @ b.astype(np.float64), 4)


LOAD, STORE = "cp.async.bulk.tensor.shared", "cp.async.bulk.tensor.global"
WAIT, ARRIVE, EXPECT, INIT = "mbarrier.try_wait", "mbarrier.arrive %", "mbarrier.arrive.expect_tx", "mbarrier.init %"
PRODUCT, COMMIT, GROUP_WAIT = "wgmma.mma_async %", "wgmma.commit", "wgmma.wait_group"


def boxes(build):
    x = np.random.default_rng(6).integers(-99, 100, (72, 136)).astype(np.float16)
    return Program(build, (HERE / "boxes.mlir").read_text(), [x], 2 * x.astype(np.float64), 0)


def clusters(build):
    random = np.random.default_rng(7)
    a, b = (random.integers(-3, 4, shape).astype(np.float16) for shape in [(200, 264), (264, 72)])
    return Program(build, (HERE / "clusters.mlir").read_text(), [a, b], a.astype(np.float64) @ b.astype(np.float64), 0)


def both(first, second):
    return lambda lines: second(first(lines))


def swap_constant(pattern, operand, to, n=0):
    """The operand (its position among the line's values) becomes the constant `to`, defined just before."""
    def change(lines):
        at = nth(lines, pattern, n)
        values = re.findall(r"%\w+", lines[at])
        line = lines[at].replace(values[operand], "%planted", 1) if values.count(values[operand]) == 1 else None
        return lines[:at] + [f"      %planted = llvm.mlir.constant({to} : i32) : i32", line] + lines[at + 1:]
    return change


def attention(build):
    sys.path.insert(0, str(ROOT / "test/transforms/pipeline"))
    import specialize_attention
    case = next(case for case in specialize_attention.CASES if case.name == "rounds")
    arrays, expected = case.data()
    return Program(build, case.program(), arrays, expected, 4e-3)


def backward(build):
    sys.path.insert(0, str(ROOT / "examples/attention"))
    import kernels
    import run
    random = np.random.default_rng(3)
    arrays = [run.encode(random.normal(size=(1, n, 64)), "f16") for n in (470, 140, 140, 470)]
    expected = run.expected(*(run.decode(array, "f16") for array in arrays), False)
    return Program(build, kernels.Attention(64, chip="sm_90a").program(), arrays, expected[0], 4e-3)


def in_keys(change):
    """The change in @keys, which stands between @delta and @queries."""
    def changed(lines):
        first = nth(lines, r"llvm\.func @keys\b", 0)
        end = next((i for i in range(first + 1, len(lines)) if "llvm.func @" in lines[i]), len(lines))
        return lines[:first] + change(lines[first:end]) + lines[end:]
    return changed


GEMM_DEFECTS = {
    "full is not initialized": removed(INIT, 0),
    "full expects an arrival more": swap_constant(INIT, 1, 2, 0),
    "empty expects an arrival less": swap_constant(INIT, 1, 7, 3),
    "no fence after the barriers' initialization": removed("nvvm.fence.mbarrier.init"),
    "no block barrier after the initialization": removed("nvvm.barrier0"),
    "the producer does not wait for empty": removed(WAIT, 0),
    "the producer waits with the other parity": swap_constant(WAIT, 1, 0, 0),
    "the producer expects nothing": removed(EXPECT),
    "the producer expects fewer bytes": swap_constant(EXPECT, 1, 49136),
    "the producer expects more bytes": swap_constant(EXPECT, 1, 49168),
    "one box does not come": removed(LOAD, 2),
    "the consumers do not wait for full": removed(WAIT, 1),
    "the consumers wait with one parity": swap_constant(WAIT, 1, 1, 1),
    "no wgmma fence": removed("wgmma.fence"),
    "no commit": removed(COMMIT),
    "the wait leaves two groups": replaced(GROUP_WAIT, "aligned 1", "aligned 2", 0),
    "the last wait leaves one group": replaced(GROUP_WAIT, "aligned 0", "aligned 1", 1),
    "nobody arrives at empty": removed(ARRIVE, 0),
    "no proxy fence before the store": removed("nvvm.fence.proxy"),
    "no barrier before the store": removed("nvvm.barrier id"),
    "the proxy fence comes after the barrier": moved("nvvm.fence.proxy", 0, "nvvm.barrier id", 0, after=True),
    "no commit of the store": removed("bulk.commit"),
    "no wait for the store": removed("bulk.wait_group"),
}

BOXES_DEFECTS = {
    "the barrier is not initialized": removed(INIT),
    "no fence after the barrier's initialization": removed("nvvm.fence.mbarrier.init"),
    "bytes are not expected": removed(EXPECT),
    "the box does not come": removed(LOAD),
    "nobody waits for the box": removed(WAIT),
    "waits with the other parity": swap_constant(WAIT, 1, 1),
    "reads and writes of the buffer in no order": removed("nvvm.barrier0", 1),
    "no proxy fence": removed("nvvm.fence.proxy"),
    "no barrier before the store of the box": removed("nvvm.barrier0", 2),
    "no commit": removed("bulk.commit"),
    "no wait for the store": removed("bulk.wait_group"),
    "the next box may come before the store's wait": removed("nvvm.barrier0", 3),
}
# Waits: keys empty, values empty, queries, first keys, keys full, values full, last values. Products: first scores,
# scores, sums of the round before, last sums.
ATTENTION_DEFECTS = {
    "queries expect nothing": removed(EXPECT, 0),
    "keys expect nothing": removed(EXPECT, 1),
    "values expect fewer bytes": swap_constant(EXPECT, 1, 16368, 2),
    "one box of the queries does not come": removed(LOAD, 1),
    "one box of the values does not come": removed(LOAD, 5),
    "nobody waits until keys are empty": removed(WAIT, 0),
    "nobody waits until values are empty": removed(WAIT, 1),
    "nobody waits for the queries": removed(WAIT, 2),
    "nobody waits for the first keys": removed(WAIT, 3),
    "nobody waits for the keys": removed(WAIT, 4),
    "nobody waits for the values": removed(WAIT, 5),
    "nobody waits for the last values": removed(WAIT, 6),
    "the wait for the queries has the other parity": swap_constant(WAIT, 1, 1, 2),
    "the wait for the values has one parity": swap_constant(WAIT, 1, 0, 5),
    "no fence before the scores": removed("wgmma.fence.aligned"),
    "no commit of the first scores": removed(COMMIT, 0),
    "no commit of the scores": removed(COMMIT, 1),
    "no commit of the sums": removed(COMMIT, 2),
    "no commit of the last sums": removed(COMMIT, 3),
    "the first scores are read while under way": replaced(GROUP_WAIT, "aligned 0", "aligned 1", 0),
    "the scores are read while under way": replaced(GROUP_WAIT, "aligned 1", "aligned 2", 1),
    "the sums are read while under way": replaced(GROUP_WAIT, "aligned 0", "aligned 1", 2),
    "the last sums are read while under way": replaced(GROUP_WAIT, "aligned 0", "aligned 1", 3),
    "nobody gives the first keys back": removed(ARRIVE, 0),
    "nobody gives the keys back": removed(ARRIVE, 1),
    "nobody gives the values back": removed(ARRIVE, 2),
    "no fence before the store": removed("nvvm.fence.proxy"),
    "no barrier before the store": removed("nvvm.barrier id"),
    "no wait for the store": removed("bulk.wait_group"),
}
# Of @keys: rows of logarithms and sums come by TMA in a ring of their own, which is the first one in both partitions.
BACKWARD_DEFECTS = {name: in_keys(change) for name, change in {
    "nobody waits until rows are empty": removed(WAIT, 0),
    "the rows expect nothing": removed(EXPECT, 1),
    "the rows expect fewer bytes": swap_constant(EXPECT, 1, 496, 1),
    "the logarithms do not come": removed(LOAD, 2),
    "the sums do not come": removed(LOAD, 3),
    "nobody waits for the rows": removed(WAIT, 6),
    "the wait for the rows has one parity": swap_constant(WAIT, 1, 0, 6),
    "nobody gives the rows back": removed(ARRIVE, 0),
}.items()}
MAPA, MEET, LEAVE = "nvvm.mapa", "nvvm.cluster.arrive", "nvvm.cluster.wait"
CLUSTERS_DEFECTS = {
    "full expects an arrival more": swap_constant(INIT, 1, 2, 0),
    "empty expects the arrivals of one block": swap_constant(INIT, 1, 4, 2),
    "empty expects an arrival more": swap_constant(INIT, 1, 9, 2),
    "no fence after the barriers' initialization": removed("nvvm.fence.mbarrier.init"),
    "no arrival at the cluster's first barrier": removed(MEET, 0),
    "no wait at the cluster's first barrier": removed(LEAVE, 0),
    "no first barrier of the cluster": both(removed(MEET, 0), removed(LEAVE, 0)),
    "the first barrier orders nothing": replaced(MEET, "arrive", "arrive.relaxed", 0),
    "a barrier of the block instead of the cluster's first": both(
        replaced(MEET, "nvvm.cluster.arrive", "nvvm.barrier0", 0), removed(LEAVE, 0)),
    "no last barrier of the cluster": both(removed(MEET, 1), removed(LEAVE, 1)),
    "nobody waits at the cluster's last barrier": removed(LEAVE, 1),
    "the producers do not wait for empty": removed(WAIT, 0),
    "the producers wait with the other parity": swap_constant(WAIT, 1, 0, 0),
    "the producers expect nothing": removed(EXPECT),
    "the producers expect one box": swap_constant(EXPECT, 1, 8192),
    "A does not come": removed(LOAD, 0),
    "B does not come": removed(LOAD, 1),
    "B comes to one block": replaced(LOAD, r" multicast_mask = %\w+", "", 1),
    "B's other half goes to no block": replaced("constant\\(3 : i16", "3 : i16", "2 : i16"),
    "B goes to a block that is not there": replaced("constant\\(3 : i16", "3 : i16", "7 : i16"),
    "the consumers do not wait for full": removed(WAIT, 1),
    "no commit": removed(COMMIT),
    "stages are given back while products read them": replaced(GROUP_WAIT, "aligned 0", "aligned 1"),
    "nobody arrives at empty": removed(ARRIVE, 0),
    "all arrivals reach the first block": swap_constant(MAPA, 2, 0, 0),
    "arrivals at a block that is not there": swap_constant(MAPA, 2, 2, 0),
}
# Why: the thread that stores makes the fence, too; each thread writes what it has read; one thread starts all copies.
EQUIVALENT = {"the proxy fence comes after the barrier", "reads and writes of the buffer in no order",
              "the next box may come before the store's wait"}
PROGRAMS = [("gemm", gemm, GEMM_DEFECTS), ("boxes", boxes, BOXES_DEFECTS), ("attention", attention, ATTENTION_DEFECTS),
            ("clusters", clusters, CLUSTERS_DEFECTS), ("backward", backward, BACKWARD_DEFECTS)]


def main(build, part, programs=None, equivalents=EQUIVALENT):
    first, step = (int(n) for n in part.split("/"))
    number = found = tried = silent = equivalent = 0
    for program, make, defects in programs or PROGRAMS:
        chosen = [name for i, name in enumerate(defects, number) if i % step == first % step]
        number += len(defects)
        if not chosen:
            continue
        whole = make(build)
        done, right = whole.run(whole.lines)
        if not right:
            sys.exit(f"{program} is not right and silent:\n{done.stderr}")
        for name in chosen:
            done, right = whole.run(defects[name](whole.lines))
            if name in equivalents:
                equivalent += 1
                silent += right
                good = right
            else:
                tried += 1
                good = bool(done.returncode and FINDING.search(done.stderr))
                found += good
            if not good:
                print(f"{program}: {name}: {'found' if name in equivalents else 'not found'}\n{done.stderr[:1000]}")
    print(f"{found} of {tried} planted defects found, {silent} of {equivalent} equivalent ones silent")
    return found < tried or silent < equivalent


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2].split("=")[1] if len(sys.argv) > 2 else "0/1"))
