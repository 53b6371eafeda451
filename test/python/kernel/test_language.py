"""The rest of the language: each function of tessera's beside numpy, on the CPU, the interpreter and one emulated GPU."""
import re
from pathlib import Path

import numpy as np
import pytest
from kernels import data, run

import tessera as ts

tessera_runtime = pytest.importorskip("tessera_runtime", reason="not built: Python.h is missing")
THREE = ["cpu", "interpret", "emulate:sm_80"]


@pytest.fixture(autouse=True)
def kept(monkeypatch):
    monkeypatch.setenv("TESSERA_CACHE", "none")


@ts.kernel
def chip_gather(x: ts.Array[ts.f32, 4, 8], at: ts.Array[ts.i32, 4, 8], y: ts.Array[ts.f32, 4, 8], order: ts.Array[ts.i32, 4, 8],
                low: ts.Array[ts.f32, 4, 8]):
    v = ts.load(x, (0, 0), (4, 8))
    ts.store(y, (0, 0), ts.take_along_axis(v, ts.load(at, (0, 0), (4, 8)), axis=1))
    ts.store(order, (0, 0), ts.argsort(v, axis=1, descending=True))
    ts.store(low, (0, 0), ts.cummin(v, axis=0))


def test_gather_within_a_tile_and_argsort():
    x, at = data(4, 8), np.random.default_rng(0).integers(0, 8, (4, 8)).astype("i4")
    outs = [np.zeros((4, 8), "f4"), np.zeros((4, 8), "i4"), np.zeros((4, 8), "f4")]
    run(chip_gather, 1, [x, at, *outs],
        [None, None, np.take_along_axis(x, at, 1), np.argsort(-x, 1, kind="stable"), np.minimum.accumulate(x, 0)], THREE)


@ts.kernel
def first_above(x: ts.Array[ts.f32, "N"], at: ts.Array[ts.i32, 1], N: ts.Constant):
    found = -1
    for k in range(N):
        v = ts.max(ts.load(x, k, 1))
        if v < 0:
            continue
        if v > 2:
            found = k
            break
    ts.store(at, 0, ts.full(1, found, ts.i32))


@ts.kernel
def leaving(x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, "N"], N: ts.Constant):
    for k in range(N - 1, -1, -2):
        s = 0.0
        while True:
            s = s + ts.sum(ts.load(x, k, 1))
            if s > 5:
                break
            if s < 0:
                return
        for turn in ts.static_range(3):
            if s > 100 * (turn + 1):
                continue
            if s > 6 + turn:
                break
            s += 1.0
        ts.store(y, k, ts.full(1, s))


def leaving_in_python(x):
    y, n = np.zeros_like(x), len(x)
    for k in range(n - 1, -1, -2):
        s = np.float32(0)
        while True:
            s = s + x[k]
            if s > 5:
                break
            if s < 0:
                return y
        for turn in range(3):
            if s > 100 * (turn + 1):
                continue
            if s > 6 + turn:
                break
            s += np.float32(1)
        y[k] = s
    return y


@pytest.mark.parametrize("seed", range(3))
def test_break_continue_and_return_in_loops(seed):
    rng = np.random.default_rng(seed)
    x = (np.abs(rng.normal(size=37)) + 0.05).astype("f4")
    x[rng.integers(0, 37, 3)] *= 300
    x[5] = seed * -1.0 + 0.5
    found = next((k for k, v in enumerate(x) if v > 2), -1)
    run(first_above, 1, [x, np.zeros(1, "i4")], [None, [found]], THREE, N=37)
    run(leaving, 1, [x, np.zeros(37, "f4")], [None, leaving_in_python(x)], THREE, N=37)


@ts.kernel
def atomics(x: ts.Array[ts.i32, "N"], top: ts.Array[ts.i32, 4], flag: ts.Array[ts.i32, 1], sums: ts.Array[ts.f32, 3]):
    i = ts.program_id(0)
    ts.atomic_max(top, 0, x[i])
    ts.atomic_min(top, 1, x[i])
    ts.atomic_or(top, 2, 1 << ts.i32(i))
    ts.atomic_add(top, 3, 2)
    ts.atomic_cas(flag, 0, 0, 7)
    ts.store(sums, 0, ts.full(3, 0.5), combine="add")


def test_atomics():
    x = np.array([3, 9, -4, 6], "i4")
    run(atomics, 4, [x, np.zeros(4, "i4"), np.zeros(1, "i4"), np.zeros(3, "f4")], [None, [9, -4, 15, 8], [7], [2, 2, 2]], THREE)


@ts.kernel
def integers(a: ts.Array[ts.i8, "M", "K"], b: ts.Array[ts.i8, "K", "N"], c: ts.Array[ts.i32, "M", "N"], d: ts.Array[ts.i64, "M", "N"]):
    p = ts.load(a, (0, 0), (16, 32)) @ ts.load(b, (0, 0), (32, 16))
    ts.store(c, (0, 0), p)
    ts.store(d, (0, 0), ts.i64(p) * 1000000007 ^ ts.i64(p) << 3)


def test_products_of_integers():
    a, b = (np.random.default_rng(i).integers(-100, 100, shape).astype("i1") for i, shape in enumerate([(16, 30), (30, 11)]))
    p = a.astype("i4") @ b.astype("i4")
    q = p.astype("i8")
    run(integers, 1, [a, b, np.zeros((16, 11), "i4"), np.zeros((16, 11), "i8")], [None, None, p, q * 1000000007 ^ q << 3], THREE)


@ts.kernel
def logic(x: ts.Array[ts.f32, 5, 6], y: ts.Array[ts.i32, 4, 5], z: ts.Array[ts.f32, 5, 6]):
    v = ts.load(x, (0, 0), (5, 6))
    is_large, is_low = v > 0.5, v < -0.5
    rows = (ts.any(is_large, axis=1), ts.all(is_large | is_low | (v < 9), axis=1), ~ts.any(is_low, 1), (is_large ^ is_low).any(1))
    for k in ts.static_range(4):
        ts.store(y, (k, 0), ts.i32(rows[k])[None, :])
    ts.store(z, (0, 0), ts.where(ts.isnan(v / (v - v)), ts.clip(ts.sigmoid(v), 0.25, 0.75), 0))


def test_bools():
    x = data(5, 6)
    big, low = x > 0.5, x < -0.5
    y = np.stack([big.any(1), np.ones(5, bool), ~low.any(1), (big ^ low).any(1)]).astype("i4")
    with np.errstate(all="ignore"):
        z = np.where(np.isnan(x / (x - x)), np.clip(1 / (1 + np.exp(-x)), 0.25, 0.75), 0)
    run(logic, 1, [x, np.zeros((4, 5), "i4"), np.zeros((5, 6), "f4")], [None, y, z], THREE)


@ts.kernel
def bits(x: ts.Array[ts.f32, 8], y: ts.Array[ts.i32, 8], z: ts.Array[ts.i8, 32], w: ts.Array[ts.i32, 2, 4], seed: ts.i64):
    v = ts.load(x, 0, 8)
    ts.store(y, 0, ts.bitcast(v, ts.i32))
    ts.store(z, 0, ts.bitcast(v, ts.i8))
    ts.store(w, (0, 0), ts.random(seed, ts.arange(2)))


def test_bits_and_random_words():
    x = data(8)
    first = [np.zeros(8, "i4"), np.zeros(32, "i1"), np.zeros((2, 4), "i4")]
    run(bits, 1, [x, *first, 5], [None, x.view("i4"), x.view("i1"), None], THREE)
    words = []
    for target in THREE:
        out = np.zeros((2, 4), "i4")
        bits[1](x, *first[:2], out, 5, target=target)
        words.append(out)
    assert (words[0] == words[1]).all() and (words[0] == words[2]).all() and len(np.unique(words[0])) == 8


@ts.kernel
def tiles(x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, 4], n: ts.Array[ts.i32, 1]):
    total = ts.zeros(1)
    inside = ts.zeros(1)
    for k in range(ts.num_tiles(x, 0, 8)):
        total += ts.sum(ts.load(x, k, 8))
        inside += ts.sum(ts.where(ts.in_bounds(x, k, 8), 1.0, 0.0))
    ts.store(y, 0, ts.concatenate((total, inside, ts.squeeze(ts.zeros((1, 1)), 0), ts.expand_dims(ts.max(ts.load(x, 0, 8)), 0))))
    n[0] = ts.i32(len(x) + x.shape[0] * 10)


def test_tiles_of_an_array():
    x = data(21)
    run(tiles, 1, [x, np.zeros(4, "f4"), np.zeros(1, "i4")], [None, [x.sum(), 21, 0, x[:8].max()], [231]], THREE, rtol=1e-5, atol=1e-5)


@ts.kernel
def nested(x: ts.Array[ts.f64, "M", "N"], y: ts.Array[ts.f64, "M", "N"], factors: ts.Constant, mode: ts.Constant):
    i = ts.program_id(0)
    v = ts.load(x, (i, 0), (2, 8))
    for factor, power in factors:
        v = v * factor + v ** power
    if mode == "negative":
        v = -v
    elif mode is not None:
        ts.static_assert(False, "no such mode")
    parts = [v[:, k:k + 2] for k in range(0, 8, 2)]
    ts.store(y, (i, 0), ts.concatenate(parts[::-1], axis=1))


def test_constants_are_known_now():
    x = data(4, 8, dtype="f8") * 0.1
    v = x * 2 + x**2
    v = v * 3 + v**3
    right = -np.concatenate([v[:, 6:], v[:, 4:6], v[:, 2:4], v[:, :2]], 1)
    run(nested, 2, [x, np.zeros_like(x)], [None, right], THREE, factors=((2, 2), (3, 3)), mode="negative")
    run(nested, 2, [x, np.zeros_like(x)], [None, -right], ["cpu"], factors=((2, 2), (3, 3)), mode=None)
    with pytest.raises(ts.CompileError, match="no such mode"):
        nested[2](x, x.copy(), factors=((2, 2), ), mode="positive")


@ts.kernel
def scaled(a: ts.Array[ts.f8e4m3fn, 16, 64], sa: ts.Array[ts.f8e8m0fnu, 16, 2], b: ts.Array[ts.f8e4m3fn, 64, 8], sb: ts.Array[ts.f8e8m0fnu, 2, 8],
           c: ts.Array[ts.f32, 16, 8]):
    tiles = ts.load(a, (0, 0), (16, 64)), ts.load(sa, (0, 0), (16, 2)), ts.load(b, (0, 0), (64, 8)), ts.load(sb, (0, 0), (2, 8))
    ts.store(c, (0, 0), ts.mma_scaled(tiles[0], tiles[1], tiles[2], tiles[3], ts.zeros((16, 8)), block=32))


def test_scaled_products():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, shape).astype(ml_dtypes.float8_e4m3fn) for shape in [(16, 64), (64, 8)])
    sa, sb = (np.exp2(rng.integers(-2, 3, shape)).astype(ml_dtypes.float8_e8m0fnu) for shape in [(16, 2), (2, 8)])
    wide = [array.astype("f4") for array in (a, sa, b, sb)]
    right = (wide[0] * wide[1].repeat(32, 1)) @ (wide[2] * wide[3].repeat(32, 0))
    run(scaled, 1, [a, sa, b, sb, np.zeros((16, 8), "f4")], [None, None, None, None, right], ["cpu", "interpret"])


@ts.kernel
def sparse_product(a: ts.Array[ts.f16, 16, 16], places: ts.Array[ts.i8, 16, 4], b: ts.Array[ts.f16, 32, 8], c: ts.Array[ts.f32, 16, 8]):
    ts.store(c, (0, 0), ts.mma_sparse(ts.load(a, (0, 0), (16, 16)), ts.load(places, (0, 0), (16, 4)), ts.load(b, (0, 0), (32, 8)),
                                      ts.zeros((16, 8))))


def test_products_of_2_of_4():
    rng = np.random.default_rng(1)
    kept, b = rng.integers(-4, 5, (16, 16)).astype("f2"), rng.integers(-4, 5, (32, 8)).astype("f2")
    at = np.sort(np.argsort(rng.random((16, 8, 4)), 2)[:, :, :2], 2).reshape(16, 16)
    dense = np.zeros((16, 8, 4), "f4")
    np.put_along_axis(dense, at.reshape(16, 8, 2), kept.reshape(16, 8, 2).astype("f4"), 2)
    places = (at.reshape(16, 4, 4) << (2 * np.arange(4))).sum(2).astype("u1").view("i1")
    run(sparse_product, 1, [kept, places, b, np.zeros((16, 8), "f4")], [None, None, None, dense.reshape(16, 32) @ b.astype("f4")], THREE)


@ts.kernel
def guarded(x: ts.Array[ts.i32, "N"], y: ts.Array[ts.i32, "N"]):
    i = ts.program_id(0)
    d = x[i]
    y[i] = 100 // d if d != 0 and 100 % d == 0 else -1


def test_a_guard_keeps_from_division_by_zero():
    x = np.array([0, 5, 7, -20], "i4")
    run(guarded, 4, [x, np.zeros(4, "i4")], [None, [-1, 20, -1, -5]], THREE)


@ts.kernel
def outside(x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, 4]):
    ts.store(y, 0, ts.gather(x, ts.arange(4) * 9))


def test_an_access_outside_names_the_line():
    for target in ("interpret", "emulate:sm_80"):
        with pytest.raises(ts.Error, match=r"test_language\.py:\d+:\d+: (.|\n)*ts\.gather\(x, ts\.arange\(4\) \* 9\)"):
            outside[1](data(8), np.zeros(4, "f4"), target=target)


@ts.kernel
def slice_at(x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, "M"], n: ts.i32):
    v = ts.load(x, 0, 16)
    ts.store(y, 0, v[n:n + 8])


@ts.kernel
def insert_at(x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, "M"], n: ts.i32):
    ts.store(y, 0, ts.slice(ts.insert(ts.load(x, 0, 16), ts.load(x, 1, 8), (n, )), (0, ), (8, )))


@ts.kernel
def element_at(x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, "M"], n: ts.i32):
    y[0] = x[n]


@ts.kernel
def elements_until(x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, "M"], n: ts.i32):
    for i in range(n - 9, n):
        y[0] += x[i]


@ts.kernel
def write_at(x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, "M"], n: ts.i32):
    y[n] = x[0]


# Of each kernel: numbers that are inside, and outside.
PLACES = {slice_at: ((0, 8), (9, -1)), insert_at: ((0, 8), (9, -1)), element_at: ((0, 15), (16, -1, 100_000_000)),
          elements_until: ((9, 16), (17, 8)), write_at: ((0, 7), (8, -1, 100_000_000))}


@pytest.mark.parametrize("target", [*THREE, "emulate:gfx942"])
@pytest.mark.parametrize("kernel", PLACES, ids=lambda kernel: kernel.name)
def test_a_place_outside_is_an_error_on_every_target(kernel, target):
    inside, outside = PLACES[kernel]
    for n in inside:
        seen, right = np.ones(8, "f4"), np.ones(8, "f4")
        kernel[1](data(16), seen, n, target=target)
        kernel[1](data(16), right, n, target="interpret")
        np.testing.assert_allclose(seen, right, rtol=1e-6)
    for n in outside:
        with pytest.raises((ts.Error, tessera_runtime.Error), match=r"test_language\.py:\d+:\d+: "):
            kernel[1](data(16), np.ones(8, "f4"), n, target=target)


@ts.kernel
def row_of(x: ts.Array[ts.f32, "N", 8], y: ts.Array[ts.f32, 8], n: ts.i32):
    row = x[n]  # never accessed where n is no row
    if n >= 0 and n < 2 or n == 5:
        ts.store(y, 0, ts.load(row, 0, 8))


@pytest.mark.parametrize("target", ["cpu", "interpret"])
def test_a_row_outside_is_an_error_where_it_is_read(target):
    x, y = data(2, 8), np.zeros(8, "f4")
    row_of[1](x, y, 1, target=target)
    np.testing.assert_array_equal(y, x[1])
    row_of[1](x, y, 3, target=target)
    with pytest.raises((ts.Error, tessera_runtime.Error), match=r"test_language\.py:\d+:\d+: .*outside"):
        row_of[1](x, y, 5, target=target)


# --- what a kernel reads of the world --------------------------------------------------------------------------------


class Settings:
    factor = 2.0


CHOICES = (Settings, )
NUMBER = np.array(2.0)


@ts.func
def times(v, factor=2.0):
    return v * factor


@ts.kernel
def by_a_local_name(y: ts.Array[ts.f32, 4], own: ts.Constant):
    known = Settings
    ts.store(y, 0, ts.full(4, known.factor))


@ts.kernel
def by_a_tuple(y: ts.Array[ts.f32, 4], own: ts.Constant):
    ts.store(y, 0, ts.full(4, CHOICES[0].factor))


@ts.kernel
def by_a_constant(y: ts.Array[ts.f32, 4], own: ts.Constant):
    ts.store(y, 0, ts.full(4, own.factor))


@ts.kernel
def by_an_array(y: ts.Array[ts.f32, 4], own: ts.Constant):
    ts.store(y, 0, ts.full(4, NUMBER))


@ts.kernel
def by_a_default(y: ts.Array[ts.f32, 4], own: ts.Constant):
    ts.store(y, 0, times(ts.ones(4)))


@pytest.mark.parametrize("kernel", [by_a_local_name, by_a_tuple, by_a_constant, by_an_array, by_a_default], ids=lambda kernel: kernel.name)
def test_what_changed_in_place_compiles_again(kernel, monkeypatch):
    y = np.zeros(4, "f4")
    kernel[1](y, own=Settings)
    assert y[0] == 2
    monkeypatch.setattr(Settings, "factor", 5.0)
    monkeypatch.setattr(times.source.function, "__defaults__", (5.0, ))
    NUMBER[...] = 5
    kernel[1](y, own=Settings)
    NUMBER[...] = 2
    assert y[0] == 5
    before = [len(programs) for programs in kernel._compiled.values()]
    kernel[1](y, own=Settings)
    assert [len(programs) for programs in kernel._compiled.values()] == before


@ts.kernel
def told(y: ts.Array[ts.f32, 2], W: ts.Constant):
    first = W[0] if isinstance(W, tuple) else W
    ts.store(y, 0, ts.full(2, 1.0 if isinstance(first, float) else 2.0 if isinstance(first, bool) else 3.0) * ts.copysign(1.0, first))


def test_constants_that_compare_equal_are_several():
    y = np.zeros(2, "f4")
    for given, wanted in [((1, 2), 3), ((1.0, 2), 1), ((True, 2), 2), (1, 3), (1.0, 1), (True, 2), (0.0, 1), (-0.0, -1), ((-0.0, ), -1),
                          ((0.0, ), 1), (np.int64(1), 3), (np.float32(-0.0), -1), (np.True_, 2)]:
        told[1](y, W=given)
        assert y[0] == wanted, given
    before = sum(map(len, told._compiled.values()))
    for _ in range(3):
        told[1](y, W=float("nan"))
    assert sum(map(len, told._compiled.values())) == before + 1


@ts.kernel
def operands(n: ts.i32, m: ts.f32, y: ts.Array[ts.i32, 6]):
    y[0] = n or 4
    y[1] = n and 4
    y[2] = 0 or n
    y[3] = (n or 4) + (n and 9 and 5)
    y[4] = ts.i32(1 if n and m > 2 or not (n or m) else 0)
    assert n or m < 5 or n > 7
    while n and m > 0:
        n, m = n - 1, m - 1
    y[5] = n


@pytest.mark.parametrize("n, m", [(7, 3.0), (0, 3.0), (0, 0.0), (2, 3.0), (-1, 2.5)])
def test_and_and_or_give_an_operand(n, m):
    left, rest = n, m
    while left and rest > 0:
        left, rest = left - 1, rest - 1
    wanted = [n or 4, n and 4, 0 or n, (n or 4) + (n and 9 and 5), 1 if n and m > 2 or not (n or m) else 0, left]
    for target in THREE:
        y = np.zeros(6, "i4")
        operands[1](n, m, y, target=target)
        assert y.tolist() == wanted, target


@ts.kernel
def counted(x: ts.Array[ts.i32, 4, 6], y: ts.Array[ts.i32, 2, 3]):
    v = ts.load(x, (0, 0), (4, 6))
    ts.store(y, (0, 0), ts.histogram(v, 3)[None, :])
    ts.store(y, (1, 0), ts.histogram(v, 3, mask=v > 0)[None, :])


def test_a_histogram_of_two_axes():
    x = np.random.default_rng(0).integers(-1, 4, (4, 6)).astype("i4")
    counts = [(x == k).sum() for k in range(3)]
    run(counted, 1, [x, np.zeros((2, 3), "i4")], [None, np.array([counts, [0, *counts[1:]]])], THREE)


@ts.kernel
def texts(x: ts.Array[ts.f32, 2], W: ts.Constant):
    print(f"{W:.2f} {W!r:>8} {{x}} {'a'!r}", "{W}", ts.sum(ts.load(x, 0, 2)), f"{W=}")


def test_texts_are_formatted_as_by_python(capfd):
    texts[1](np.ones(2, "f4"), W=3.14159)
    assert capfd.readouterr().out.strip() == "3.14  3.14159 {x} 'a' {W} 2 W=3.14159"


def test_the_page_names_the_language():
    page = Path(ts.__file__).parents[2] / "docs/python-kernels.md"
    if not page.exists():
        pytest.skip("no clone")
    words = set(re.findall(r"\w+", page.read_text() + page.with_name("python.md").read_text()))
    from tessera._kernel import language
    assert [name for name in language.FUNCTIONS if name not in words] == []
