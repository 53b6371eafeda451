"""Persistent products on an emulated machine of three cores: right and silent, and not without the barriers that keep a
tile's result until it is copied, nor without the waits for places of the ring.

make_persistent.py BUILD
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FINDING = re.compile(r"error: (race|read before the copy landed|overwrite of a copy in flight|uninitialized read|divergence|deadlock|missing fence)")


def product(m, n, k, block, warps, more=""):
    """f16, with an epilogue; `more`: of the schedule."""
    a, b, s, h = f"tensor<{m}x{k}xf16>", f"tensor<{k}x{n}xf16>", f"tensor<{m}x{n}xf32>", f"tensor<{m}x{n}xf16>"
    return f"""#id = affine_map<(i, j) -> (i, j)>
func.func @main(%a: {a}, %b: {b}) -> {h} {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {s}
  %f = linalg.fill ins(%z : f32) outs(%e : {s}) -> {s}
  %c = linalg.matmul {{tile.schedule = #tile.schedule<block = {block}, warps = {warps}, stages = 3{more}>}}
      ins(%a, %b : {a}, {b}) outs(%f : {s}) -> {s}
  %o = tensor.empty() : {h}
  %h = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%c : {s}) outs(%o : {h}) {{
  ^bb0(%v: f32, %w: f16):
    %m = arith.maximumf %v, %z : f32
    %t = arith.truncf %m : f32 to f16
    linalg.yield %t : f16
  }} -> {h}
  return %h : {h}
}}
"""


def run(build, machines, text, *flags, chip="sm_90a"):
    return subprocess.run([build / "bin/tile-run", "-", f"--target=emulate:{chip}", f"--tile-machine-path={machines}", *flags],
                          input=text, text=True, capture_output=True)


def lower(build, machines, text, chip="sm_90a"):
    """The kernel as nvvm, the host as it is."""
    def optimize(*flags):
        done = subprocess.run([build / "bin/tile-opt", "-", f"--tile-machine-path={machines}", *flags], input=text,
                              text=True, capture_output=True)
        if done.returncode:
            sys.exit(done.stderr)
        return done
    expansion = optimize(f"--tile-to-nvvm-pipeline=chip={chip}", "--dump-pass-pipeline").stderr
    passes = re.search(r"builtin\.module\(.*?(?=,\s*convert-gpu-launch-to-runtime)", expansion, re.S).group(0) + ")"
    return optimize(f"--pass-pipeline={passes}").stdout


def without(text, pattern, n):
    found = [m for m in re.finditer(pattern, text, re.M)]
    if len(found) <= n:
        sys.exit(f"no line number {n} has {pattern!r}")
    return text[:found[n].start()] + text[found[n].end():]


def flipped(text, pattern, n):
    """The wait names the other parity."""
    line = re.search(pattern, text[[m.start() for m in re.finditer(pattern, text, re.M)][n]:], re.M).group(0)
    parity = re.search(r"%\w+, (%\w+), %\w+ :", line).group(1)
    other = (f"      %one_{n} = llvm.mlir.constant(1 : i32) : i32\n      %other_{n} = llvm.xor {parity}, %one_{n} : i32\n"
             + line.replace(f" {parity},", f" %other_{n},"))
    return text.replace(line, other)


def behind_arrival(text, pattern, n):
    """The line comes behind the next arrival at a barrier."""
    found = list(re.finditer(pattern, text, re.M))[n]
    arrival = re.compile(r"^.*mbarrier\.arrive %.*\n", re.M).search(text, found.end())
    return text[:found.start()] + text[found.end():arrival.end()] + found.group(0) + text[arrival.end():]


def plant(build, machines, text, chip="sm_90a"):
    """Defects found, and planted. In the loops over tiles, of all partitions: every wait, with the other parity and
    removed; every arrival; the fence; commit and wait of the copy out; the buffer given back before the engine has
    read it."""
    wait, arrival = r"^.*mbarrier\.try_wait.*\n", r"^.*mbarrier\.arrive.*\n"
    fence = r"^.*nvvm\.fence\.proxy.*\n"
    single = [r"^.*cp\.async\.bulk\.wait_group.*\n", r"^.*cp\.async\.bulk\.commit.*\n"]
    defects = [(pattern, 0, without) for pattern in single]
    defects += [(pattern, n, change) for pattern, change in ((fence, without), (wait, without), (wait, flipped), (arrival, without))
                for n in range(len(re.findall(pattern, text, re.M)))]
    if "tcgen05" not in text:  # where a partition only stores
        defects.append((single[0], 0, behind_arrival))
    # Tensor memory: commits, and the fences in the loops. The first one stands behind the allocation.
    defects += [(pattern, n, without) for pattern, first in ((r"^.*tcgen05\.commit.*\n", 0), (r"^.*tcgen05\.fence.*\n", 1))
                for n in range(first, len(re.findall(pattern, text, re.M)))]
    found = 0
    for pattern, n, change in defects:
        done = run(build, machines, change(text, pattern, n), chip=chip)
        is_found = done.returncode and FINDING.search(done.stderr)
        found += bool(is_found)
        if not is_found:
            print("not found:", change.__name__, pattern, n, done.stderr[:300])
    return found, len(defects)


def main():
    build, wrong = Path(sys.argv[1]), 0
    with tempfile.TemporaryDirectory() as machines:
        machine = (ROOT / "lib/machine/sm_90a.machine").read_text()
        Path(machines, "sm_90a.machine").write_text(re.sub(r"^cores = .*$", "cores = 3", machine, flags=re.M))
        # Two groups that multiply; one group, two programs a core; rows of 8 bytes more; direct stores.
        cases = [(391, 200, 136, [128, 64, 64], [4, 2, 1]), (391, 136, 200, [64, 64, 64], [4, 1, 1]),
                 (520, 136, 104, [128, 64, 64], [4, 2, 1]), (391, 131, 72, [64, 64, 64], [4, 1, 1])]
        for m, n, k, block, warps in cases:
            text = product(m, n, k, block, warps)
            stats = Path(machines, "stats.json")
            done = run(build, machines, text, "--check-against=interpret", f"--stats={stats}")
            programs = re.search(r'"programs": (\d+)', stats.read_text()) if stats.exists() else None
            is_right = done.returncode == 0 and "right" in done.stdout and int(programs.group(1)) == (
                3 if warps[1] == 2 else 6)
            if n != 131 and not is_right:
                wrong += 1
                print(m, n, k, block, done.stdout, done.stderr)
            elif n == 131 and done.returncode:
                wrong += 1
                print(m, n, k, block, done.stdout, done.stderr)
        # Groups that multiply tiles of their own in turn: results leave by TMA, and from registers.
        turns = ", specialize = [4, 4, 4]"
        for m, n, k, block in [(391, 200, 136, [128, 64, 64]), (520, 136, 104, [64, 128, 64]), (391, 264, 72, [64, 64, 64])]:
            text = product(m, n, k, block, [4, 1, 1], turns)
            done = run(build, machines, text, "--check-against=interpret", f"--stats={stats}")
            is_right = done.returncode == 0 and "right" in done.stdout and '"alternated": 1' in stats.read_text()
            if not is_right:
                wrong += 1
                print(m, n, k, block, "in turn", done.stdout, done.stderr)
        # On four cores, in clusters of two.
        Path(machines, "sm_90a.machine").write_text(re.sub(r"^cores = .*$", "cores = 4", machine, flags=re.M))
        done = run(build, machines, product(512, 384, 136, [64, 64, 64], [4, 1, 1], turns + ", cluster = [2]"),
                   "--check-against=interpret", f"--stats={stats}")
        if done.returncode or not all(f'"{name}": 1' in stats.read_text() for name in ("alternated", "clusters", "stores")):
            wrong += 1
            print("in turn, in clusters", done.stdout, done.stderr)
        Path(machines, "sm_90a.machine").write_text(re.sub(r"^cores = .*$", "cores = 3", machine, flags=re.M))
        # Sums in tensor memory: two groups that take them, and one with two programs a core.
        blackwell = (ROOT / "lib/machine/sm_100a.machine").read_text()
        Path(machines, "sm_100a.machine").write_text(re.sub(r"^cores = .*$", "cores = 3", blackwell, flags=re.M))
        for m, n, k, block, warps in [(391, 200, 136, [128, 64, 64], [4, 2, 1]), (902, 136, 72, [128, 64, 64], [4, 1, 1])]:
            done = run(build, machines, product(m, n, k, block, warps), "--check-against=interpret", f"--stats={stats}",
                       chip="sm_100a")
            if done.returncode or "right" not in done.stdout or '"persistent": 1' not in stats.read_text():
                wrong += 1
                print(m, n, k, block, "in tensor memory", done.stdout, done.stderr)
        found, tried = 0, 0
        for chip, text in (("sm_90a", product(*cases[0])), ("sm_90a", product(391, 200, 136, [64, 64, 64], [4, 1, 1], turns)),
                           ("sm_100a", product(391, 200, 136, [128, 64, 64], [4, 2, 1]))):
            text = lower(build, machines, text, chip)
            done = run(build, machines, text, chip=chip)
            if done.returncode:
                sys.exit(f"the lowered text does not run:\n{done.stderr}")
            one = plant(build, machines, text, chip)
            found, tried = found + one[0], tried + one[1]
    print(f"{wrong} wrong, {found} of {tried} planted defects found")


main()
