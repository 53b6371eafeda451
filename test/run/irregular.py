"""Runs kernels whose places and amounts are data (Inputs/*.mlir), compiled for the CPU, against numpy, bit for bit.

Every array lies between guards that must not change. Prints a line per kernel that is wrong; exit status 1 if any is.
Use: irregular.py --build=BUILD GROUP…, a group being one of the functions below and its file of kernels.
"""
import argparse
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from kernel_harness import Kernels  # noqa: E402

GUARD = 64  # elements on both sides
rng = np.random.default_rng(11)
failures = []


def guarded(value):
    memory = np.full(value.size + 2 * GUARD, 99, value.dtype)
    inner = memory[GUARD:GUARD + value.size].reshape(value.shape)
    inner[...] = value
    return memory, inner


def same(got, want):
    want = np.asarray(want)
    return got.shape == want.shape and np.array_equal(got, want, equal_nan=got.dtype.kind == "f")


def run(name, arguments, grid=(1,)):
    """The arguments after the call, or None for a call that wrote outside."""
    held = [guarded(a) if isinstance(a, np.ndarray) else (None, a) for a in arguments]
    kernels.run(name, [inner for _, inner in held], grid)
    for memory, _ in held:
        if memory is not None and not ((memory[:GUARD] == 99).all() and (memory[-GUARD:] == 99).all()):
            return None
    return [inner for _, inner in held]


def check(name, arguments, grid, wants):
    """Calls kernel `name`; `wants` maps argument numbers to what they must hold, or to a test of it."""
    shapes = " ".join("x".join(map(str, np.shape(a))) or "scalar" for a in arguments)
    held = run(name, arguments, grid)
    if held is None:
        failures.append(f"{name} ({shapes}): wrote outside")
        print(failures[-1])
        return
    for number, want in wants.items():
        if not (want(held[number]) if callable(want) else same(held[number], want)):
            failures.append(f"{name} ({shapes}): argument {number} is wrong")
            print(failures[-1], held[number], want, sep="\n")


def ceil(a, b):
    return -(-a // b)


# --- random and histogram -------------------------------------------------------------------------------------------


def philox(seed, counters):
    """Philox4x32-10 (Salmon et al. 2011): key = the seed's words, counter = the counter's words, 0, 0."""
    mask = (1 << 32) - 1
    words = []
    for counter in np.asarray(counters, dtype=object).reshape(-1):
        c = [int(counter) & mask, int(counter) >> 32 & mask, 0, 0]
        k = [seed & mask, seed >> 32 & mask]
        for _ in range(10):
            a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [(b >> 32) ^ c[1] ^ k[0], b & mask, (a >> 32) ^ c[3] ^ k[1], a & mask]
            k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
        words.append(c)
    return np.array(words, "u4").astype("i4").reshape(np.shape(counters) + (4,))


def random():
    known = np.array([[0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]], "u4").astype("i4")  # Random123's kat_vectors
    check("words", [np.int64(0), np.zeros((1, 4), "i4")], (1,), {1: known})
    for seed in (0, 1, -1, 0x123456789ABCDEF):
        for n in (1, 5, 7, 23):
            want = philox(seed & (1 << 64) - 1, np.arange(n))
            check("words", [np.int64(seed), np.zeros((n, 4), "i4")], (ceil(n, 5),), {1: want})
    wide = rng.integers(-2**63, 2**63 - 1, (3, 7))
    narrow = rng.integers(-2**31, 2**31 - 1, 11).astype("i4")
    wants = {4: philox(99, wide.astype("u8")), 5: philox(99, narrow.astype("u4")), 6: philox(99, 2**32 - 7)}
    check("counters", [np.int64(99), wide, narrow, np.int32(-7), np.zeros((3, 7, 4), "i4"), np.zeros((11, 4), "i4"),
                       np.zeros(4, "i4")], (1,), wants)
    for n in (0, 1, 37, 38, 997):
        x = rng.integers(-128, 127, n).astype("i1")
        want = np.bincount(x.view("u1"), minlength=256)[:200]
        check("histogram", [x, np.full(200, 3, "i8")], (ceil(n, 37),), {1: want + 3})
    for n in (0, 1, 599, 600):
        x = rng.integers(-2, 5, n).astype("i4")
        want = np.array([(x == 0).sum() + 600 - n, (x == 1).sum(), (x == 2).sum()])
        check("histogram_all", [x, np.zeros(3, "i1")], (1,), {1: want.astype("u1").view("i1")})


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--build", required=True)
parser.add_argument("groups", nargs="+")
options = parser.parse_args()
for group in options.groups:
    kernels = Kernels(os.path.join(HERE, "Inputs", group + ".mlir"), options.build)
    globals()[group]()
print(f"{len(failures)} wrong")
sys.exit(1 if failures else 0)
