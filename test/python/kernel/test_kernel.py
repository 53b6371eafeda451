"""Kernels in Python (docs/python-kernels.md): what each part of the language means, beside numpy, on four targets."""
import math

import numpy as np
import pytest
from kernels import data, run

import tessera
import tessera as ts

pytest.importorskip("tessera_runtime", reason="not built: Python.h is missing")
SCALE, SIZES = 3.0, (5, 7)


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv("TESSERA_CACHE", str(tmp_path / "cache"))


# --- memory ---------------------------------------------------------------------------------------------------------


@ts.kernel
def softmax(x: ts.Array[ts.f32, "M", "N"], y: ts.Array[ts.f32, "M", "N"], W: ts.Constant):
    i = ts.program_id(0)
    v = ts.load(x, (i, 0), (1, W), pad="neg_inf")
    e = ts.exp(v - ts.max(v, axis=1, keepdims=True))
    ts.store(y, (i, 0), e / ts.sum(e, axis=1, keepdims=True))


def test_softmax():
    x = data(37, 433)
    e = np.exp(x - x.max(1, keepdims=True))
    run(softmax, (37, ), [x, np.zeros_like(x)], [x, e / e.sum(1, keepdims=True)], W=512)


def test_read_only_arrays_are_read():
    x = data(3, 40)
    x.flags.writeable = False
    y = np.zeros_like(x)
    softmax[(3, )](x, y, W=40)
    np.testing.assert_allclose(y.sum(1), 1, rtol=1e-5)


@ts.kernel
def transposed(x: ts.Array[ts.f32, "B", "M", "N"], y: ts.Array[ts.f32, "N", "M"], B: ts.Constant):
    i, j = ts.program_id(0), ts.program_id(1)
    total = ts.load(x[0].T, (i, j), (B, 5))
    for b in range(1, x.shape[0]):
        total += ts.load(x[b].T, (i, j), (B, 5))
    ts.store(y, (i, j), total)


def test_fixed_and_reordered_dimensions():
    x = data(3, 13, 9)
    run(transposed, (3, 3), [x, np.zeros((9, 13), "f4")], [None, x.sum(0).T], B=4)


@ts.kernel
def picked(table: ts.Array[ts.f32, "R", "C"], at: ts.Array[ts.i32, "N"], y: ts.Array[ts.f32, "N", "C"],
           z: ts.Array[ts.f32, "N"], n: ts.index):
    i = ts.program_id(0)
    rows = ts.load(at, i, 4)
    ts.store(y, (i, 0), ts.gather(table, (rows, 0), shape=(4, 6), bounds="drop"))
    lanes = i * 4 + ts.arange(4)
    inside = lanes < n
    ts.scatter(z, lanes, ts.gather(table, (rows, rows * 0 + 1), mask=inside, other=-1.0, bounds="drop"), mask=inside, bounds="drop")


def test_gather_and_scatter():
    table, at = data(11, 6), np.array([3, 10, 0, 7, 7, 2], "i4")
    run(picked, 2, [table, at, np.zeros((6, 6), "f4"), np.zeros(6, "f4"), 6], [None, None, table[at], table[at, 1]])


@ts.kernel
def counted(x: ts.Array[ts.i32, "N"], counts: ts.Array[ts.i32, 8], total: ts.Array[ts.f32, 1], N: ts.Constant):
    v = ts.load(x, ts.program_id(0), N)
    ts.store(counts, 0, ts.histogram(v, 8), combine="add")
    ts.atomic_add(total, 0, 1.5)


def test_atomics_and_histogram():
    x = np.array([0, 1, 1, 7, 3, 3, 3, 2], "i4")
    run(counted, 2, [x, np.zeros(8, "i4"), np.zeros(1, "f4")], [None, np.bincount(x, minlength=8), [3.0]], N=4)


@ts.kernel
def elements(x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, "N"]):
    i = ts.program_id(0)
    if i + 1 < x.shape[0] and x[i + 1] > 0.0:
        y[i] = x[i + 1]
    else:
        y[i] = 0.5


def test_single_elements_and_short_circuits():
    x = data(9)
    following = np.append(x[1:], -1)
    run(elements, 9, [x, np.zeros(9, "f4")], [None, np.where(following > 0, following, 0.5)])


# --- shapes ---------------------------------------------------------------------------------------------------------


@ts.kernel
def parts(x: ts.Array[ts.f32, 5, 12], y: ts.Array[ts.f32, 5, 7], z: ts.Array[ts.f32, 12], w: ts.Array[ts.f32, 7, 5], k: ts.index):
    v = ts.load(x, (0, 0), (5, 12))
    left, right = v[:, :3], v[:, -4:]
    ts.store(y, (0, 0), ts.concatenate((left, right * 2.0), axis=1))
    row = v[2] + v[1:2, :].reshape(12) * 10
    ts.store(z, 0, ts.insert(row, ts.slice(row, k, 3) * 0.0, 1))
    ts.store(w, (0, 0), ts.concatenate((left, right), 1).T + v[:, k][None, :] + v[:, k:k + 2].T[1:])


def test_slices_of_odd_tiles():
    x = data(5, 12)
    row = x[2] + x[1] * 10
    row[1:4] = 0
    y = np.concatenate((x[:, :3], x[:, -4:] * 2), 1)
    w = np.concatenate((x[:, :3], x[:, -4:]), 1).T + x[:, 4] + x[:, 5]
    run(parts, 1, [x, np.zeros((5, 7), "f4"), np.zeros(12, "f4"), np.zeros((7, 5), "f4"), 4], [None, y, row, w, None])


@ts.kernel
def outer(a: ts.Array[ts.f32, 6], b: ts.Array[ts.f32, 9], y: ts.Array[ts.f32, 6, 9]):
    u, v = ts.load(a, 0, 6), ts.load(b, 0, 9)
    both = u[:, None] * v[None, :] + u.reshape(6, 1) - v
    ts.store(y, (0, 0), both + ts.arange(9).astype(ts.f32) + ts.full((6, 1), 2.0))


def test_broadcasting():
    a, b = data(6), data(9)
    run(outer, 1, [a, b, np.zeros((6, 9), "f4")], [None, None, a[:, None] * b + a[:, None] - b + np.arange(9) + 2])


# --- products, reductions, scans, sorting ---------------------------------------------------------------------------


@ts.kernel
def matmul(a: ts.Array[ts.f16, "M", "K"], b: ts.Array[ts.f16, "K", "N"], c: ts.Array[ts.f32, "M", "N"], BM: ts.Constant, BN: ts.Constant,
           BK: ts.Constant = 16):
    i, j = ts.program_id(0), ts.program_id(1)
    acc = ts.zeros((BM, BN))
    for k in range(ts.cdiv(a.shape[1], BK)):
        acc = ts.mma(ts.load(a, (i, k), (BM, BK)), ts.load(b, (k, j), (BK, BN)), acc)
    ts.store(c, (i, j), acc)


def test_matmul():
    a, b = data(50, 35, dtype="f2"), data(35, 40, dtype="f2")
    run(matmul, (4, 3), [a, b, np.zeros((50, 40), "f4")], [None, None, a.astype("f4") @ b.astype("f4")], rtol=1e-4, atol=1e-4, BM=16, BN=16)


@ts.kernel
def reductions(x: ts.Array[ts.f32, 6, 10], y: ts.Array[ts.f32, 8, 6], where: ts.Array[ts.i32, 2, 6]):
    v = ts.load(x, (0, 0), (6, 10))
    rows = (v.sum(1), v.max(axis=1), v.min(1), ts.mean(v, 1), ts.prod(v, axis=-1),
            ts.reduce(v, lambda a, b: a * b, axis=1), ts.sqrt(ts.reduce(v * v, lambda a, b: a + b, axis=1)),
            ts.reduce((v, -v), lambda a, b: (ts.maximum(a[0], b[0]), ts.minimum(a[1], b[1])), 1, neutral=(-3e38, 3e38))[0])
    for k in ts.static_range(8):
        ts.store(y, (k, 0), rows[k][None, :])
    ts.store(where, (0, 0), ts.argmax(v, axis=1)[None, :])
    ts.store(where, (1, 0), ts.argmin(v, axis=1)[None, :])


def test_reductions():
    x = data(6, 10)
    x[2, 3] = x[2, 7] = 9
    y = np.stack([x.sum(1), x.max(1), x.min(1), x.mean(1), x.prod(1), x.prod(1), np.sqrt((x * x).sum(1)), x.max(1)])
    run(reductions, 1, [x, np.zeros((8, 6), "f4"), np.zeros((2, 6), "i4")], [None, y, np.stack([x.argmax(1), x.argmin(1)])], rtol=1e-5,
        atol=1e-5)


@ts.kernel
def ordered(x: ts.Array[ts.f32, 4, 16], y: ts.Array[ts.f32, 4, 16], z: ts.Array[ts.f32, 4, 3], p: ts.Array[ts.i32, 4, 3],
            s: ts.Array[ts.f32, 4, 16], c: ts.Array[ts.f32, 4, 16]):
    v = ts.load(x, (0, 0), (4, 16))
    ts.store(y, (0, 0), ts.sort(v, axis=1))
    values, places = ts.topk(v, 3)
    ts.store(z, (0, 0), values)
    ts.store(p, (0, 0), places)
    ts.store(s, (0, 0), ts.cumsum(v, axis=1))
    ts.store(c, (0, 0), ts.scan(v, lambda a, b: ts.maximum(a, b), axis=1, reverse=True))


def test_sorting_and_scans():
    x = data(4, 16)
    at = np.argsort(-x, 1)[:, :3]
    outs = [np.zeros((4, 16), "f4"), np.zeros((4, 3), "f4"), np.zeros((4, 3), "i4"), np.zeros((4, 16), "f4"), np.zeros((4, 16), "f4")]
    run(ordered, 1, [x, *outs], [None, np.sort(x, 1), np.take_along_axis(x, at, 1), at, x.cumsum(1),
                                 np.maximum.accumulate(x[:, ::-1], 1)[:, ::-1]], rtol=1e-5, atol=1e-5)


# --- control flow ---------------------------------------------------------------------------------------------------


@ts.func
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@ts.kernel
def steps(y: ts.Array[ts.i32, "N"]):
    i = ts.program_id(0)
    if i == 0:
        return
    y[i] = ts.i32(collatz(i))


def test_while_if_early_return_and_functions():

    def count(n):
        seen = 0
        while n != 1:
            n, seen = (n // 2 if n % 2 == 0 else 3 * n + 1), seen + 1
        return seen

    run(steps, 12, [np.full(12, -1, "i4")], [[-1, *map(count, range(1, 12))]])


@ts.func
def sign(v, zero=0.0):
    if v > 0.0:
        return 1.0
    if v < 0.0:
        return -1.0
    return zero


@ts.kernel
def signs(x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, "N"]):
    i = ts.program_id(0)
    y[i] = sign(x[i], zero=7.0)


def test_a_function_that_returns_early():
    x = np.array([1, -2, 0, 4], "f4")
    run(signs, 4, [x, np.zeros(4, "f4")], [None, [1, -1, 7, 1]])


@ts.kernel
def loops(y: ts.Array[ts.f32, 4, 8], n: ts.index):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    total = 0.0
    for k in range(10, 0, -3):
        total = total + ts.full(8, 1.0) * k.astype(ts.f32)
    pair = (ts.zeros(8), 1.0)
    for k in range(3):
        for j in range(k, 3):
            pair = (pair[0] + pair[1], pair[1] * 2.0)
    chosen = ts.full(8, 5.0) if n > 3 else ts.zeros(8)
    for k, row in enumerate((ts.full(8, a).astype(ts.f32), total, pair[0], chosen)):
        ts.store(y, (k, 0), row[None, :])


def test_loops_carry_what_changes():
    y = np.ones((4, 8)) * np.array([[13.0], [10 + 7 + 4 + 1], [63], [5]])
    run(loops, 1, [np.zeros((4, 8), "f4"), 7], [y, None])


# --- Python's meaning ------------------------------------------------------------------------------------------------


@ts.kernel
def divided(a: ts.Array[ts.i32, 9], b: ts.Array[ts.i32, 9], x: ts.Array[ts.f32, 9], w: ts.Array[ts.f32, 9], q: ts.Array[ts.i32, 9],
            r: ts.Array[ts.i32, 9], m: ts.Array[ts.f32, 9], f: ts.Array[ts.f32, 9]):
    u, v, s, t = ts.load(a, 0, 9), ts.load(b, 0, 9), ts.load(x, 0, 9), ts.load(w, 0, 9)
    ts.store(q, 0, u // v)
    ts.store(r, 0, u % v)
    ts.store(m, 0, s % t)
    ts.store(f, 0, s // t)


def test_floor_division():
    a, b = np.array([7, -7, 7, -7, 0, 1, -1, 100, -100], "i4"), np.array([2, 2, -2, -2, 5, 3, 3, -7, 7], "i4")
    x, w = data(9) * 10, data(9, seed=3)
    outs = [np.zeros(9, kind) for kind in ("i4", "i4", "f4", "f4")]
    run(divided, 1, [a, b, x, w, *outs], [None, None, None, None, a // b, a % b, np.mod(x, w), np.floor_divide(x, w)], rtol=1e-4, atol=1e-4)


@ts.kernel
def compared(x: ts.Array[ts.f32, 8], y: ts.Array[ts.f32, 8], z: ts.Array[ts.f32, 8]):
    v = ts.load(x, 0, 8)
    ts.store(y, 0, ts.where(-0.5 < v < 0.5, v, 0))
    ts.store(z, 0, ts.where((v > 1) | ~(v != v) & (v < -1), 1, v * SCALE + SIZES[1]))


def test_comparisons_chain_and_globals_are_read():
    x = data(8)
    run(compared, 1, [x, np.zeros(8, "f4"), np.zeros(8, "f4")],
        [None, np.where((-0.5 < x) & (x < 0.5), x, 0), np.where((x > 1) | (x < -1), 1, x * 3 + 7)])


@ts.kernel
def half(x: ts.Array[ts.f16, 8], y: ts.Array[ts.f16, 8]):
    v = ts.load(x, 0, 8)
    ts.store(y, 0, 2.0 * v + 1 - v / 4 + math.pi)


def test_literals_take_the_other_type():
    x = data(8, dtype="f2")
    run(half, 1, [x, np.zeros(8, "f2")], [None, 2 * x + 1 - x / 4 + np.float16(math.pi)], rtol=2e-3, atol=2e-3)
    assert "f64" not in str(half.module(x, x)) and "f32" not in str(half.module(x, x))


@ts.kernel
def scaled(x: ts.Array[ts.f32, 8], y: ts.Array[ts.f32, 8]):
    ts.store(y, 0, ts.load(x, 0, 8) * SCALE)


def test_a_changed_global_compiles_again(monkeypatch):
    x, y = data(8), np.zeros(8, "f4")
    scaled[1](x, y)
    np.testing.assert_allclose(y, x * 3)
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    scaled[1](x, y)
    np.testing.assert_allclose(y, x * 5)
    monkeypatch.undo()
    scaled[1](x, y)
    np.testing.assert_allclose(y, x * 3)


def test_a_closure_is_part_of_the_key():

    def made(factor):

        @ts.kernel
        def times(x: ts.Array[ts.f32, 8], y: ts.Array[ts.f32, 8]):
            ts.store(y, 0, ts.load(x, 0, 8) * factor)

        return times

    x, y = data(8), np.zeros(8, "f4")
    for factor in (2, 7.5):
        made(factor)[1](x, y)
        np.testing.assert_allclose(y, x * factor)


# --- printing, asserting, elementwise ---------------------------------------------------------------------------------


@ts.kernel
def checked(x: ts.Array[ts.i32, "N"]):
    v = ts.load(x, ts.program_id(0), 2)
    assert v < 3, "too large"


def test_assertions():
    good, bad = np.array([1, 2], "i4"), np.array([1, 5], "i4")
    for target in ["cpu", "interpret", "emulate:sm_80"]:
        checked[1](good, target=target)
        with pytest.raises((tessera.Error, RuntimeError), match="too large"):
            checked[1](bad, target=target)


@ts.kernel
def printed(n: ts.index):
    print("n is", n, f"and {n + 1}", 3)


def test_print(capfd):
    printed[1](4)
    assert "n is 4 and 5 3" in capfd.readouterr().out


NAMES = ["exp", "exp2", "expm1", "log", "log2", "log1p", "sqrt", "sin", "cos", "tanh", "arctan", "floor", "ceil", "trunc", "rint", "abs"]


def test_elementwise_by_numpys_names():
    x = np.abs(data(2, 16)) + np.float32(0.25)
    for name in NAMES:
        function = getattr(ts, name)

        @ts.kernel
        def each(x: ts.Array[ts.f32, 2, 16], y: ts.Array[ts.f32, 2, 16]):
            ts.store(y, (0, 0), function(ts.load(x, (0, 0), (2, 16))))

        run(each, 1, [x, np.zeros_like(x)], [None, getattr(np, name)(x)], ["cpu", "interpret"], rtol=1e-5, atol=1e-6)


# --- calls ----------------------------------------------------------------------------------------------------------


def test_a_sizes_name_is_one_size():
    with pytest.raises(ValueError, match=r"the size 'M' is 3 in 'x' \(axis 0\) and 4 in 'y' \(axis 0\)"):
        softmax[3](data(3, 8), np.zeros((4, 8), "f4"), W=8)


@pytest.mark.parametrize("target", ["cpu", "interpret"])
def test_arguments_that_do_not_fit(target):
    x, y = data(3, 8), np.zeros((3, 8), "f4")
    for arrays, options, why in [
        ((x, ), {"W": 8}, "needs its argument 'y'"),
        ((x, y), {}, "needs its argument 'W'"),
        ((x, y), {"W": 8, "V": 1}, "no parameter 'V'"),
        ((x.astype("f8"), y), {"W": 8}, "'x'"),
        ((x, y.astype("f8")), {"W": 8}, "'y'"),
        ((x, x), {"W": 8}, "overlaps"),
        ((x, y), {"W": [8]}, "the constant 'W' is a list"),
    ]:
        with pytest.raises((TypeError, ValueError, tessera.Error), match=why):
            softmax[3](*arrays, target=target, **options)
    y.flags.writeable = False
    with pytest.raises((TypeError, tessera.Error), match="'y'"):
        softmax[3](x, y, W=8, target=target)
    with pytest.raises(TypeError, match="softmax\\[grid\\]"):
        softmax(x, y, W=8)
    with pytest.raises(ValueError, match="1 to 3"):
        softmax[1, 1, 1, 1](x, y, W=8, target=target)


def test_grids_and_parameters_without_annotation():

    @ts.kernel
    def add(x, y, z, factor, BLOCK: ts.Constant = 8):
        i = ts.program_id(0)
        ts.store(z, i, ts.load(x, i, BLOCK) + ts.load(y, i, BLOCK) * factor)

    x, y = data(21), data(21, seed=5)
    z = np.zeros(21, "f4")
    add[lambda given: (-(-21 // given["BLOCK"]), )](x, y, z, 2.0)
    np.testing.assert_allclose(z, x + 2 * y, rtol=1e-6)


def test_counts_and_races_of_the_emulator():
    result = softmax[3](data(3, 8), np.zeros((3, 8), "f4"), W=8, target="emulate:sm_80")
    assert result.statistics["global_bytes_read"] >= 96

    @ts.kernel
    def racing(y: ts.Array[ts.f32, 4]):
        ts.store(y, 0, ts.full(4, ts.program_id(0)).astype(ts.f32))

    with pytest.raises(tessera.Error) as error:
        racing[8](np.zeros(4, "f4"), target="interpret")
    line = racing.source.node.body[0].lineno
    assert f"test_kernel.py:{line}:" in str(error.value) and "ts.store(y, 0, ts.full" in str(error.value)


@ts.kernel
def running_sums(x: ts.Array[ts.i32, "N"], y: ts.Array[ts.i32, "N"], W: ts.Constant):
    ts.store(y, 0, ts.cumsum(ts.load(x, 0, W), axis=0))


def test_a_giant_tile_is_loops_on_a_cpu_and_an_error_on_a_gpu():
    x = np.arange(1 << 22, dtype="i4") % 7
    y = np.zeros_like(x)
    running_sums[1](x, y, W=1 << 22)
    np.testing.assert_array_equal(y, np.cumsum(x, dtype="i4"))
    for chip, bytes_ in [("sm_80", 262144), ("gfx942", 524288)]:
        with pytest.raises(ts.CompileError, match=f"tensor<4194304xi32>, 16777216 bytes; the registers of a core of {chip} hold "
                           f"{bytes_}") as error:
            running_sums[1](x, y, W=1 << 22, target=f"emulate:{chip}")
        assert error.value.line == running_sums.source.node.body[0].lineno
