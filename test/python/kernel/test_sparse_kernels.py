"""Sparse matrices as parameters of kernels: each format on each judge, and what is refused."""
import numpy as np
import pytest

import tessera as ts

sparse = pytest.importorskip("scipy.sparse")
TARGETS = ["cpu", "interpret", "emulate:sm_80", "emulate:gfx942"]


@ts.kernel
def rows(a: ts.Sparse[ts.f32, "csr", "M", "K"], x: ts.Array[ts.f32, "K"], y: ts.Array[ts.f32, "M"]):
    i = ts.program_id(0)
    total = ts.f32(0)
    for p in range(a.positions[i], a.positions[i + 1]):
        total += a.values[p] * x[a.coordinates[p]]
    y[i] = total


@ts.kernel
def columns(a: ts.Sparse[ts.f32, "csc", "M", "K"], x: ts.Array[ts.f32, "M"], y: ts.Array[ts.f32, "K"]):
    j = ts.program_id(0)
    total = ts.f32(0)
    for p in range(a.positions[j], a.positions[j + 1]):
        total += a.values[p] * x[a.coordinates[p]]
    y[j] = total


@ts.kernel
def entries(a: ts.Sparse[ts.f32, "coo", "M", "K"], y: ts.Array[ts.f32, "M", "K"], sizes: ts.Array[ts.i64, 2]):
    for p in range(a.values.shape[0]):
        y[a.coordinates[0, p], a.coordinates[1, p]] = a.values[p]
    sizes[0] = ts.i64(a.shape[0])
    sizes[1] = ts.i64(a.shape[1])


@ts.kernel
def blocks(a: ts.Sparse[ts.f32, "bsr", "M", "K", 2, 3], x: ts.Array[ts.f32, "K"], y: ts.Array[ts.f32, "M"]):
    i = ts.program_id(0)
    total = ts.zeros((2, ), ts.f32)
    for p in range(a.positions[i], a.positions[i + 1]):
        block = ts.load(a.values[p], (0, 0), (2, 3))
        total += ts.sum(block * ts.load(x, a.coordinates[p], 3), axis=1)
    ts.store(y, i, total)


def matrix(m, k):
    rng = np.random.default_rng(5)
    places = rng.integers(0, [[m], [k]], (2, m * k // 3))
    return sparse.coo_array((rng.integers(-9, 10, places.shape[1]).astype("f4"), tuple(places)), shape=(m, k))


def vector(n):
    return np.random.default_rng(n).integers(-9, 10, n).astype("f4")


@pytest.mark.parametrize("target", TARGETS)
def test_formats(target):
    a = matrix(7, 11)
    dense, x, y = a.toarray(), vector(11), np.full(7, np.nan, "f4")
    for form in ("coo", "csr", "lil"):
        rows[7](a.asformat(form), x, y, target=target)
        assert np.array_equal(y, dense @ x)
    z = np.full(11, np.nan, "f4")
    columns[11](a, vector(7), z, target=target)
    assert np.array_equal(z, vector(7) @ dense)
    w, sizes = np.zeros((7, 11), "f4"), np.zeros(2, "i8")
    entries[1](a, w, sizes, target=target)
    assert np.array_equal(w, dense) and sizes.tolist() == [7, 11]
    y[:] = np.nan
    blocks[4](a, x, y, target=target)
    assert np.array_equal(y, dense @ x)


def test_names_of_sizes():
    a, x, y = matrix(7, 11), vector(11), np.zeros(7, "f4")
    with pytest.raises(ValueError, match=r"rows: the size 'K' is 11 in 'a' \(axis 1\) and 7 in 'x' \(axis 0\)"):
        rows[7](a, y, y)
    rows[7](y=y, x=x, a=a)
    assert np.array_equal(y, a.toarray() @ x)
    with pytest.raises(TypeError, match="rows takes 3 arguments, 4 are given"):
        rows[7](a, x, y, y)


def test_what_is_no_matrix():
    x, y = vector(11), np.zeros(7, "f4")
    with pytest.raises(TypeError, match="'a' is a ndarray, expected a sparse matrix of scipy or PyTorch"):
        rows[7](np.zeros((7, 11), "f4"), x, y)
    with pytest.raises(TypeError, match="'a.values' has elements of type"):
        rows[7](matrix(7, 11).astype("f8"), x, y)
    damaged = matrix(7, 11).tocsr()
    damaged.indices = np.full_like(damaged.indices, 99)
    with pytest.raises(ValueError, match="'a': an index along axis 1 is outside of its 11 places"):
        rows[7](damaged, x, y)


def test_it_is_read_only():

    @ts.kernel
    def write(a: ts.Sparse[ts.f32, "csr", None, None]):
        a.values[ts.program_id(0)] = 1

    with pytest.raises(ts.CompileError, match="the kernel writes a.values; expected sparse matrices to be read only"):
        write[1](matrix(3, 4))


@pytest.mark.parametrize("body, text", [("a.positions[0]", "sparse matrix a in format coo has no positions"), ("a.data", "has no 'data'")])
def test_what_a_matrix_lacks(body, text, tmp_path, monkeypatch):
    (tmp_path / "lacking.py").write_text(f"""
import tessera as ts
@ts.kernel
def lacking(a: ts.Sparse[ts.f32, "coo", None, None], y: ts.Array[ts.f32, 1]):
    y[0] = ts.f32({body})
""")
    monkeypatch.syspath_prepend(tmp_path)
    import importlib
    import lacking
    with pytest.raises(ts.CompileError, match=text):
        importlib.reload(lacking).lacking[1](matrix(3, 4), np.zeros(1, "f4"))


@pytest.mark.parametrize("items", [(ts.f32, "csr"), (ts.f32, "ell", "M", "N"), ("csr", ts.f32, "M", "N"), (ts.f32, "bsr", "M", "N"),
                                   (ts.f32, "bsr", "M", "N", 0, 2), (ts.f32, "csr", -1, "N"), ts.f32])  # yapf: disable
def test_wrong_annotations(items):
    with pytest.raises(TypeError, match="expected|a size is"):
        ts.Sparse[items]
