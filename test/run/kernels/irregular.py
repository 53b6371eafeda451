"""Runs kernels whose places and amounts are data (Inputs/*.mlir), compiled for the CPU, against numpy, bit for bit.

Every array lies between guards that must not change. Prints a line per kernel that is wrong; exit status 1 if any is.
Use: irregular.py --build=BUILD GROUP…, a group being one of the functions below and its file of kernels.
"""
import argparse
import math
import os
import sys
from fractions import Fraction

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = os.path.dirname(HERE)
sys.path[:0] = [RUN, os.path.dirname(RUN)]
import float_formats  # noqa: E402
from kernel_harness import EmulatedKernels, InterpretedKernels, Kernels  # noqa: E402

GUARD = 64  # elements on both sides
rng = np.random.default_rng(11)
failures = []
left_out = set()


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
    if not kernels.can_pass(name):
        left_out.add(name)
        return
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


def empty(*shape):
    return np.full(shape, 77, "f4")


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


# --- scatter and atomics ----------------------------------------------------------------------------------------------


def rows_of_gradients():
    for m, n, rows in ((8, 40, 5), (13, 61, 7), (1, 1, 1), (0, 3, 2)):
        g = rng.integers(-9, 10, (m, n)).astype("f4")  # sums of small integers are exact in any order
        at = rng.integers(-2, rows + 2, m).astype("i4")
        want = np.ones((rows, n), "f4")
        for i in range(m):
            if 0 <= at[i] < rows:
                want[at[i]] += g[i]
        check("rows", [g, at, np.ones((rows, n), "f4")], (ceil(m, 8), ceil(n, 40)), {2: want})


def combinations(n):
    x, at = rng.integers(-99, 99, n).astype("i4"), rng.integers(-2, 9, n).astype("i4")
    y = rng.integers(-99, 99, (6, 7)).astype("i4")
    want = y.copy()
    for row, ufunc in enumerate((np.add, np.maximum, np.minimum, np.bitwise_and, np.bitwise_or, np.bitwise_xor)):
        kept = (at >= 0) & (at < 7)
        ufunc.at(want[row], at[kept], x[kept])
    check("combinations", [x, at, y], (ceil(n, 23),), {2: want})


def floats(n):
    x, at = rng.integers(-9, 10, n).astype("f2"), rng.integers(-1, 6, n).astype("i4")
    x[n // 2:n // 2 + 1] = np.nan
    kept = (at >= 0) & (at < 5)
    top, one, total = np.full(5, -4, "f2"), np.full(5, 77, "f2"), np.full(5, 0.5)
    tops, sums = top.copy(), total.copy()
    np.maximum.at(tops, at[kept], x[kept])
    np.add.at(sums, at[kept], x[kept].astype("f8"))

    def one_of_them(got):
        written = [x[kept & (at == place)] for place in range(5)]
        return all(any(same(value, v) for v in values) if len(values) else value == 77
                   for value, values in zip(got, written))
    check("floats", [x, at, top, one, total], (1,), {2: tops, 3: one_of_them, 4: sums})


def scattered_to_addresses(n):
    x, at, y = rng.random(n), rng.permutation(30)[:n], np.zeros(30)
    memory, inner = guarded(y)
    kernels.run("addresses", [np.int64(inner.ctypes.data), x, at, inner], (1,))
    want = np.zeros(30)
    want[at] = x
    if not same(inner, want) or not (memory[:GUARD] == 99).all():
        failures.append("addresses: wrong")
        print(failures[-1])


def old_values():
    for n in (0, 1, 20, 21):
        x, at = rng.integers(-5, 50, n).astype("i4"), rng.integers(0, 6, n).astype("i4")
        y, other, z = (rng.integers(0, 9, 6).astype(t) for t in ("i4", "i4", "f4"))
        other[:3] = 7
        ys, others, zs = y.copy(), other.copy(), z.copy()
        old, swapped, was = np.zeros(n, "i4"), np.zeros(n, "i4"), np.zeros(n, "f4")
        for i in range(n):
            old[i], swapped[i], was[i] = ys[at[i]], others[at[i]], zs[at[i]]
            ys[at[i]] = np.maximum(ys.view("u4")[at[i]], x.view("u4")[i]).astype("i4")
            others[at[i]] = x[i] if others[at[i]] == 7 else others[at[i]]
            zs[at[i]] = x[i]
        check("old", [x, at, y, np.zeros(n, "i4"), other, np.zeros(n, "i4"), z, np.zeros(n, "f4")], (1,),
              {2: ys, 3: old, 4: others, 5: swapped, 6: zs, 7: was})


def combining_stores(n):
    x, w = rng.random((n, 9)).astype("f4"), rng.integers(-999, 999, (n, 9)).astype("i2")
    x[n // 2, 3] = np.nan
    top, bits = np.zeros(9, "f4"), rng.integers(-999, 999, (3, 9)).astype("i2")
    want = [u.reduce(np.concatenate([b[None], w])) for u, b in zip((np.bitwise_and, np.bitwise_or, np.bitwise_xor), bits)]
    check("stores", [x.reshape(-1), w.reshape(-1), top, np.array(2, "f4"), bits], (n,),
          {2: x.max(0), 3: np.array(2 + n, "f4"), 4: np.array(want)})


def scatter():
    for n in (1, 7):
        combining_stores(n)
    rows_of_gradients()
    for m, n in ((3, 17), (1, 1), (7, 5)):
        x = rng.integers(-99, 99, (m, n)).astype("i2")
        at, to = np.unravel_index(rng.permutation(m * n).reshape(m, n), (m, n))
        at, to = at.astype("i8"), to.astype("i8")
        want = np.zeros((m, n), "i2")
        want[at[x > 0], to[x > 0]] = x[x > 0]
        check("elements", [x, at, to, np.zeros((m, n), "i2")], (ceil(m, 3),), {3: want})
    y = rng.random(37).astype("f4")
    check("reverse", [y], (1,), {0: y[::-1]})
    for n in (0, 1, 23, 24, 101):
        combinations(n)
    for n in (0, 1, 7, 23):
        floats(n)
    for n in (0, 1, 19) if has_addresses else ():
        scattered_to_addresses(n)
    def are_tickets(got):  # programs take them in any order
        return sorted(got) == list(range(3, 3 + got.size))
    for n in (0, 1, 17):
        check("tickets", [np.array(3, "i4"), np.zeros(n, "i4"), np.ones(2, "f4")], (n,),
              {0: np.array(3 + n, "i4"), 1: are_tickets, 2: np.array([1, 1 + n / 2], "f4")})
    old_values()
    for n in (1, 2, 30):
        check("chain", [np.zeros(n, "i8"), np.zeros(n, "i1")], (n,), {0: 2**np.arange(n), 1: np.ones(n, "i1")})


# --- gathers ----------------------------------------------------------------------------------------------------------


def gather():
    for _ in range(3):
        x, rows = rng.random((5, 9)).astype("f4"), rng.integers(-3, 9, (3, 9)).astype("i4")
        columns = rng.integers(-4, 14, (5, 21))
        t, inside = x + x, (columns >= 0) & (columns < 9)
        y = np.take_along_axis(t, np.clip(rows, 0, 4), 0)
        z = np.take_along_axis(t, np.clip(columns, 0, 8), 1)
        check("tile_axes", [x, rows, columns, empty(3, 9), empty(5, 21), empty(5, 21)], (1,),
              {3: y, 4: np.where(inside, z, np.float32(0.25)), 5: np.where(inside, z, np.float32(0))})
    for k in (0, 1, 2, 7):
        x, at = rng.integers(0, 99, 40).astype("i4"), rng.permutation(40).astype("i4")
        want = x
        for _ in range(k):
            want = want[at]
        check("shuffle", [x, at, np.int64(k), np.zeros(40, "i4")], (1,), {3: want})
    x = rng.integers(-99, 99, 30).astype("i2")
    for n in (0, 1, 19) if has_addresses else ():
        at = rng.integers(0, 30, n)
        check("from_addresses", [np.int64(x.ctypes.data), at, np.zeros(n, "i2")], (1,), {2: x[at]})
    for m, n, rows in ((6, 20, 9), (5, 13, 1), (1, 1, 1)):
        x, at = rng.random((rows, n)).astype("f4"), rng.integers(0, rows, m).astype("i4")
        far = np.where((2 * at < rows)[:, None], x[np.clip(2 * at, 0, rows - 1)], np.float32(-1))
        check("bounds", [x, at, empty(m, n), empty(m), empty(m, n)], (1,), {2: x[at], 3: x[at, 0], 4: far})


# --- sort and topk ----------------------------------------------------------------------------------------------------


def order(keys, axis, descending=False):
    """Stable; nan is greater than everything, -0 equals +0."""
    keys = np.where(keys == 0, 0, keys)
    if not descending:
        return np.argsort(keys, axis, kind="stable")
    reverse = keys.shape[axis] - 1 - np.argsort(np.flip(keys, axis), axis, kind="stable")
    return np.flip(reverse, axis)


def special(*shape):
    x = rng.choice([0.0, -0.0, np.nan, np.inf, -np.inf, 1e-45, -1e-45, 3.0, -3.0, 1e38], shape)
    return np.where(rng.random(shape) < 0.5, x, rng.integers(-4, 5, shape)).astype("f4")


def sort():
    for m, n in ((1, 1), (3, 37), (5, 36), (7, 17), (2, 2), (0, 5)):
        for x in (special(m, n), rng.random((m, n)).astype("f4")):
            up, padded = order(x, 1), np.pad(x, ((0, 0), (0, 37 - n)), constant_values=np.nan)
            down = order(padded, 1, True)[:, :n]
            check("rows", [x, empty(m, n), np.zeros((m, n), "i4"), np.zeros((m, n), "i4")], (ceil(m, 3),),
                  {1: np.take_along_axis(x, up, 1), 2: up.astype("i4"), 3: down.astype("i4")})
    x, h = rng.integers(-9, 9, (4, 50, 3)).astype("i1"), rng.random((4, 50, 3)).astype("f2")
    at = order(x, 1, True)
    check("columns", [x, h, np.zeros_like(x), np.zeros_like(at), np.zeros_like(h)], (1,),
          {2: np.take_along_axis(x + x, at, 1), 3: at, 4: np.take_along_axis(h, at, 1)})
    for n in (0, 1, 5, 210, 211):
        for x in (rng.integers(-5, 5, n).astype("f8"), rng.random(n), np.arange(n) * 1.0, special(n).astype("f8")):
            w = rng.integers(-2**63, 2**63 - 1, n)
            whole, wide = np.pad(x, (0, 211 - n), constant_values=-np.inf), np.pad(w, (0, 211 - n))
            top = order(whole, 0, True)[:5]
            check("select", [x, w, np.zeros(5), np.zeros(5, "i4"), np.zeros(40, "i8")], (1,),
                  {2: whole[top], 3: top.astype("i4"), 4: np.sort(wide)[:40]})


# --- conversions and bits -----------------------------------------------------------------------------------------------


def clip_to(x, dtype):
    """Toward zero, nan to 0, beyond the type to its ends; by way of Python's integers."""
    info = np.iinfo(dtype)
    return np.array([0 if v != v else info.max if v >= info.max else info.min if v <= info.min else int(v)
                     for v in x.tolist()], dtype)


def stochastic(x, random):
    """Up when the bits, as a fraction, are below how far x is on its way to the next f16."""
    wide = x.astype("f8")
    quantum = np.exp2(np.maximum(np.frexp(np.where(np.isfinite(wide), wide, 1))[1] - 1, -14) - 10.0)
    places = wide / quantum
    with np.errstate(invalid="ignore", over="ignore"):
        up = random.view("u4") / 2.0**32 < places - np.floor(places)
        return np.copysign((np.floor(places) + up) * quantum, wide).astype("f2")


def convert():
    edges = [0.0, -0.0, np.nan, np.inf, -np.inf, 65504, 65519.9, 65520, -70000, 127.5, 128, -128.9, -129, 2.0**31, -2.0**31,
             2.0**63, -2.0**63, 1e30, 0.99, -0.99, 1e-8, 6e-8]
    for x in (np.array(edges, "f4"), (rng.normal(size=101) * 1e5).astype("f4"), np.zeros(0, "f4")):
        n = len(x)
        with np.errstate(over="ignore"):
            half = np.clip(x, np.float32(-65504), np.float32(65504)).astype("f2")
        outs = [np.zeros(n, t) for t in ("f2", "i1", "i4", "i8")]
        check("saturate", [x] + outs, (ceil(n, 19),), {1: half} | {i: clip_to(x, t) for i, t in ((2, "i1"), (3, "i4"), (4, "i8"))})
        random = rng.integers(-2**31, 2**31 - 1, n).astype("i4")
        random[:2] = (0, -1)[:n]
        check("stochastic", [x, random, np.zeros(n, "f2")], (ceil(n, 19),), {2: stochastic(x, random)})
        small = (x * np.float32(1e-12)).astype("f4")
        check("stochastic", [small, random, np.zeros(n, "f2")], (ceil(n, 19),), {2: stochastic(small, random)})
    x = np.array([0, 127, 128, -128, -129, 2**63 - 1, -2**63, 65504, 65520, 70000, -10**6, 2049], "i8")
    check("integers", [x, np.zeros(12, "i1"), np.zeros(12, "f2")], (1,),
          {1: np.clip(x, -128, 127).astype("i1"), 2: np.clip(x, -65504, 65504).astype("f2")})
    x = rng.integers(-2**31, 2**31 - 1, (3, 6)).astype("i4")
    nibbles = np.stack([x.view("u1") & 15, x.view("u1") >> 4], -1).reshape(3, 48).astype("i1")
    check("bits", [x, np.zeros((3, 48), "i1"), np.zeros_like(x), np.zeros((3, 12), "f2"), np.zeros((3, 3))], (1,),
          {1: nibbles, 2: x, 3: x.view("f2"), 4: x.view("f8")})


# --- memory at addresses ------------------------------------------------------------------------------------------------


def addresses_table():
    shapes = [(4, 20), (1, 1), (9, 41), (0, 3)]
    memories, arrays = zip(*(guarded(rng.integers(-9, 9, s).astype("f4")) for s in shapes))
    wants = [a + a for a in arrays]
    sums = np.array([a.sum() for a in arrays], "f4")
    table = np.array([a.ctypes.data for a in arrays], "i8")
    check("table", [table, np.array(shapes, "i8"), np.zeros(4, "f4")], (4,), {2: sums})
    for memory, array, want in zip(memories, arrays, wants):
        if not (same(array, want) and (memory[:GUARD] == 99).all() and (memory[-GUARD:] == 99).all()):
            failures.append(f"table: matrix {array.shape} is wrong")
            print(failures[-1], array, want, sep="\n")


def addresses():
    addresses_table()
    for m, pitch in ((7, 9), (1, 5), (3, 30)):
        x = rng.integers(-99, 99, (m, pitch)).astype("i2")
        check("strided", [np.int64(x.ctypes.data), np.int64(m), np.int64(pitch), np.zeros((m, 5), "i2")], (1,), {3: x[:, :5]})


# --- narrow floats -----------------------------------------------------------------------------------------------------


def numbers(kind, *shape):
    """Random bits of a format, none of them inf or nan, and their numbers."""
    value = float_formats.decode(kind)
    codes = rng.choice(np.flatnonzero(np.isfinite(value)), shape).astype("u1")
    return codes.view("i1"), value[codes]


def scaled_product(name, left, right, scale, block, packed=False):
    for m, n, k in ((5, 20, 64), (1, 1, 32), (7, 43, 96)):
        (a, x), (b, y) = numbers(left, m, k), numbers(right, k, n)
        (sa, u), (sb, v) = numbers(scale, m, k // block), numbers(scale, k // block, n)
        if scale == "f8E8M0FNU":  # the left scale undoes the right one, of any size
            shift = rng.integers(-100, 100, k // block)
            sa, sb = (127 + shift + 0 * sa).astype("u1").view("i1"), (127 - shift[:, None] + 0 * sb).astype("u1").view("i1")
            u, v = np.broadcast_to(2.0 ** shift, u.shape), np.broadcast_to(2.0 ** -shift[:, None], v.shape)
        x, y, c = x * np.repeat(u, block, 1), y * np.repeat(v, block, 0), rng.normal(size=(m, n)).astype("f4")
        bound = (k + 1) * 2.0**-24 * (abs(c) + abs(x) @ abs(y)) + 2.0**-149
        if packed:
            a, b = a[:, ::2] & 15 | a[:, 1::2] << 4, b[::2] & 15 | b[1::2] << 4
        check(name, [a, sa, b, sb, c], (ceil(m, 5), ceil(n, 20)),
              {4: lambda got, want=c + x @ y, bound=bound: bool((abs(got - want) <= bound).all())})


def rounded(kind, x, direction="to_nearest_even", saturate=True):
    line = float_formats.numbers_of(kind).tolist()
    x = np.where(np.isnan(x), x, np.clip(x, line[0], line[-1])) if saturate else x
    return np.array([float_formats.round_one(kind, v, direction, line) for v in x.tolist()])


def meets(kind, want):
    """A test of codes against numbers; a format without nan may have any number for it."""
    def test(got):
        value = float_formats.decode(kind)[got.view("u1")]
        wanted = np.where(np.isnan(want), value, want) if float_formats.FORMATS[kind][4] == "none" else want
        return np.array_equal(value, wanted, equal_nan=True)
    return test


def narrow():
    scaled_product("mxfp8", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", 32)
    scaled_product("mxfp6", "f6E2M3FN", "f6E3M2FN", "f8E8M0FNU", 32)
    scaled_product("nvfp4", "f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16, packed=True)
    edges = [0.0, -0.0, np.nan, np.inf, -np.inf, 448, 464, 465, -57344, 61440, 6, 7, 7.5, 28, 30, 0.25, -0.25, 0.26, 1e-9]
    x = np.concatenate([edges, rng.normal(size=101) * 8, rng.normal(size=50) * 1e5]).astype("f4")
    bits, grid, out = rng.integers(-2**31, 2**31 - 1, len(x)).astype("i4"), (ceil(len(x), 19),), np.zeros(len(x), "i1")
    for kind in ("f8E4M3FN", "f8E5M2", "f6E3M2FN", "f4E2M1FN"):
        check(f"saturate_{kind}", [x, out], grid, {1: meets(kind, rounded(kind, x))})
        check(f"down_{kind}", [x, out], grid, {1: meets(kind, rounded(kind, x, "downward"))})
        low, high = rounded(kind, x, "downward", False), rounded(kind, x, "upward", False)
        inside = abs(x) < float_formats.numbers_of(kind)[-1]
        with np.errstate(invalid="ignore"):
            way = np.where(high > low, (x - low) / np.where(high > low, high - low, 1), 0)
        want = np.where(inside, np.where(bits.view("u4") / 2.0**32 < way, high, low), np.nan)
        test = lambda got, kind=kind, want=want: np.array_equal(  # noqa: E731
            float_formats.decode(kind)[got.view("u1")][inside], want[inside])
        check(f"stochastic_{kind}", [x, bits, out], grid, {2: test})
    codes, value = np.arange(256).astype("u1").view("i1"), float_formats.decode("f8E5M2")
    check("across", [codes, np.zeros(256, "i1")], (14,), {1: meets("f8E4M3FN", rounded("f8E4M3FN", value))})
    n = rng.integers(-12, 12, 40).astype("i4")
    n[:3] = (2**31 - 1, -2**31, 8)
    check("from_integers", [n, np.zeros(40, "i1")], (3,), {1: meets("f6E2M3FN", rounded("f6E2M3FN", n.astype("f8")))})
    x = np.concatenate([np.arange(-260, 260) / 2, [0.49, np.nan, np.inf, 1e9]]).astype("f4")
    whole = {"nearest_even": np.rint(x), "nearest_away": np.trunc(x + np.copysign(0.5, x)), "up": np.ceil(x)}
    for word, want in whole.items():
        want = np.clip(np.nan_to_num(want, nan=0), -128, 127).astype("i1")
        check(f"to_integers_{word}", [x, np.zeros(len(x), "i1")], (ceil(len(x), 19),), {1: want})
    (a, x), (b, y) = numbers("f8E4M3FN", 17), numbers("f8E4M3FN", 17)
    check("arithmetic", [a, b, np.zeros(17, "i1"), np.zeros(1, "i1")], (1,),
          {2: meets("f8E4M3FN", rounded("f8E4M3FN", x * y, saturate=False)), 3: meets("f8E4M3FN", x.max()[None])})


def bf16(x):
    """Numbers that are bf16, as its bits."""
    return (np.asarray(x, "f4").view("u4") >> 16).astype("u2").view("i2")


def exactly(x, fraction, least):
    """Fractions rounded to nearest even."""
    result = []
    for v in x:
        if v == 0:
            result.append(0.0)
            continue
        exponent = max(math.floor(math.log2(abs(v))), least)
        while abs(v) >= Fraction(2) ** (exponent + 1):
            exponent += 1
        quantum = Fraction(2) ** (exponent - fraction)
        result.append(float(round(v / quantum) * quantum))
    return np.array(result)


def atomics_narrow():
    x, w = rng.integers(0, 256, 24 * 50).astype("u1"), rng.integers(-2**31, 2**31 - 1, 3).astype("i4")
    nibbles = (w.view("u4")[:, None] >> np.arange(0, 32, 4, dtype="u4") & 15).reshape(24)
    pack = lambda q: (q.reshape(3, 8).astype("u4") << np.arange(0, 32, 4, dtype="u4")).sum(1).astype("u4").view("i4")  # noqa: E731
    check("packed_add", [x.view("i1"), w], (50,), {1: pack((nibbles + x.reshape(50, 24).sum(0)) & 15)})
    old = nibbles.astype("i1")
    check("packed_max", [x[:24].view("i1"), w, np.zeros(24, "i1")], (1,), {1: pack(np.maximum(nibbles, x[:24] & 15)), 2: old})
    check("packed_exchange", [w, np.zeros(24, "i1")], (1,), {0: pack(np.where(nibbles == 3, 12, nibbles)), 1: old})
    tiny = rng.integers(1, 100, (2, 16)) * 2.0**-133
    check("add_bf16", [bf16(tiny[0]), bf16(tiny[1])], (2,), {1: bf16(tiny.sum(0))})
    (a, x), (b, y) = numbers("f8E4M3FN", 16), numbers("f8E4M3FN", 16)
    check("add_f8", [a, b], (2,), {1: meets("f8E4M3FN", rounded("f8E4M3FN", x + y, saturate=False))})
    values = [v.reshape(-1) for v in rng.integers(128, 256, (2, 400)) * 2.0 ** rng.integers(-40, 40, (2, 400)) * 2.0**-7]
    third = rng.integers(-255, 256, 400) * 2.0 ** rng.integers(-90, 60, 400)
    third[:100] = np.sign(third[:100] + 0.5) * 2.0**-120
    want = exactly([Fraction(p) * Fraction(q) + Fraction(r) for p, q, r in zip(*values, third)], 7, -126)
    check("multiply_add", [*map(bf16, [*values, third]), np.zeros(400, "i2")], (50,), {3: bf16(want)})
    x = np.concatenate([rng.normal(size=400) * 2.0 ** rng.integers(-130, 15, 400), 1 + 2.0**-8 + 2.0**-50 * rng.integers(-1, 2, 40),
                        1 + 2.0**-11 + 2.0**-50 * rng.integers(-1, 2, 40), [6.0e-8, 2.0**-25 * (1 + 2.0**-40), 0, -0.0]])
    half = exactly([Fraction(v) for v in x.tolist()], 10, -14)
    upper = exactly([Fraction(v) for v in x.tolist()], 7, -126)
    check("from_f64", [x, np.zeros(len(x), "i2"), np.zeros(len(x), "f2")], (ceil(len(x), 8),),
          {1: bf16(np.copysign(upper, x)), 2: np.copysign(half, x).astype("f2")})


# --- packed views -------------------------------------------------------------------------------------------------------


def packed():
    for m, n in ((5, 3), (1, 1), (7, 4), (12, 10)):
        w = rng.integers(-2**31, 2**31 - 1, (m, n)).astype("i4")
        k = np.arange(8)  # element k of a word is nibble (k mod 2) * 4 + k / 2
        want = (w[..., None] >> (4 * (k % 2 * 4 + k // 2)) & 15).reshape(m, 8 * n).astype("i1")
        grid = (ceil(m, 5), ceil(8 * n, 24))
        check("unpack", [w, np.zeros_like(want), np.zeros_like(want)], grid, {1: want, 2: np.ones_like(want)})
        check("unpack", [w, np.zeros((5 * grid[0], 24 * grid[1]), "i1"), np.zeros((5 * grid[0], 24 * grid[1]), "i1")], grid,
              {1: np.pad(want, ((0, 5 * grid[0] - m), (0, 24 * grid[1] - 8 * n))),
               2: np.pad(np.ones_like(want), ((0, 5 * grid[0] - m), (0, 24 * grid[1] - 8 * n)))})
    for m, n in ((3, 17), (1, 1), (6, 35)):
        x = rng.integers(-128, 127, (4 * m, n)).astype("i1")
        bits = x.view("u1").reshape(m, 4, n) & 3
        want = (bits << np.array([0, 2, 4, 6], "u1")[:, None]).sum(1).astype("u1").view("i1")
        check("pack", [x, np.full((m, n), -1, "i1")], (ceil(4 * m, 6), ceil(n, 17)), {1: want})


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--build", required=True)
parser.add_argument("--interpret", action="store_true", help="run them on the interpreter instead")
parser.add_argument("--emulate", default="", help="convert them for this GPU and run them on its emulator instead")
parser.add_argument("--passes", default="", help="a pipeline to run first, with --interpret")
parser.add_argument("groups", nargs="+")
options = parser.parse_args()
has_addresses = not options.interpret and not options.emulate  # the interpreter's memory is its own
for group in options.groups:
    source = os.path.join(HERE, "Inputs", group + ".mlir")
    kernels = (EmulatedKernels(source, options.build, options.emulate) if options.emulate else
               InterpretedKernels(source, options.build, options.passes) if options.interpret
               else Kernels(source, options.build))
    globals()[group]()
if left_out:
    print(f"left out, as no array can be given to them: {', '.join(sorted(left_out))}")
print(f"{len(failures)} wrong")
sys.exit(1 if failures else 0)
