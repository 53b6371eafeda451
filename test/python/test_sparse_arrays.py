"""Sparse matrices of scipy and PyTorch as arguments and results of compiled programs."""
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

tessera_runtime = pytest.importorskip("tessera_runtime", reason="not built: Python.h is missing")
sparse = pytest.importorskip("scipy.sparse")
TRANSLATE = Path(os.environ["TESSERA_HOME"]) / "bin" / "tile-translate"

PRODUCT = """
func.func @main(%a: tensor<{0}xf32, {2}>, %x: tensor<{1}x5xf32>, %y: tensor<?x5xf32>) -> tensor<?x5xf32> {{
  %r = sparse.spmm %a, %x, %y : tensor<{0}xf32, {2}>, tensor<{1}x5xf32>, tensor<?x5xf32>
  return %r : tensor<?x5xf32>
}}"""
CONVERTED = """
func.func @main(%a: tensor<?x?xf32, {0}>, %by: f32) -> (tensor<?x?xf32, {1}>, f32) {{
  %r = sparse.convert %a : tensor<?x?xf32, {0}> -> tensor<?x?xf32, {1}>
  return %r, %by : tensor<?x?xf32, {1}>, f32
}}"""
ENCODINGS = ["#sparse.csr", "#sparse.csr<positions = i64, coordinates = i64>", "#sparse.csc", "#sparse.coo",
             "#sparse.coo<unordered>", "#sparse.bsr<block = [2, 3]>"]  # yapf: disable


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("programs"), {}

    def make(text):
        if text not in made:
            source = folder / f"{len(made)}.mlir"
            source.write_text(text)
            subprocess.run([TRANSLATE, "--tile-to-program", source, "-o", source.with_suffix(".so")], check=True)
            made[text] = tessera_runtime.load(source.with_suffix(".so"))
        return made[text]

    return make


def matrix(rows, columns, seed):
    """In coo, unordered, with entries that stand twice."""
    rng = np.random.default_rng(seed)
    count = rows * columns // 3
    places = rng.integers(0, [[rows], [columns]], (2, count))
    return sparse.coo_array((rng.integers(-9, 10, count).astype("f4"), tuple(places)), shape=(rows, columns))


def data(*shape):
    return np.random.default_rng(9).integers(-9, 10, shape).astype("f4")


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("sizes", ["7x11", "?x?"])
def test_product_with_scipy(load, encoding, sizes):
    multiply = load(PRODUCT.format(sizes, sizes[2:].strip("x"), encoding))
    a, x, y = matrix(7, 11, 3), data(11, 5), data(7, 5)
    for form in ("coo", "csr", "csc", "bsr", "lil", "dok"):
        given = a.asformat(form)
        before = given.toarray()
        assert np.array_equal(multiply(given, x, y), a.toarray() @ x + y), form
        assert np.array_equal(given.toarray(), before)
    out = np.empty_like(y)
    assert multiply(a, x, y, out=out) is out and np.array_equal(out, a.toarray() @ x + y)


def test_entries_that_stand_twice_in_rows(load):
    a = sparse.csr_array((np.array([1, 2, 4], "f4"), np.array([3, 0, 3]), np.array([0, 3, 3])), shape=(2, 4))
    multiply, x, y = load(PRODUCT.format("?x?", "?", "#sparse.csr")), data(4, 5), data(2, 5)
    assert np.array_equal(multiply(a, x, y), a.toarray() @ x + y)
    assert a.nnz == 3  # the caller's is as it was


def test_components_are_taken_as_before(load):
    multiply = load(PRODUCT.format("?x?", "?", "#sparse.csr"))
    a, x, y = matrix(7, 11, 3).tocsr(), data(11, 5), data(7, 5)
    assert np.array_equal(multiply(a.indptr.astype("i4"), a.indices.astype("i4"), a.data, 7, 11, x, y), a.toarray() @ x + y)


@pytest.mark.parametrize("to", ["#sparse.csr", "#sparse.csc", "#sparse.coo", "#sparse.bsr<block = [2, 3]>"])
def test_sparse_results(load, to):
    convert, a = load(CONVERTED.format("#sparse.coo<unordered>", to)), matrix(5, 8, 1)
    seen, number = convert(a, 2.5)
    wanted = to.partition("<")[0].rpartition(".")[2]
    assert seen.format == ("csr" if wanted == "bsr" else wanted) and number == 2.5  # scipy has no such blocks of 5 x 8
    assert np.array_equal(seen.toarray(), a.toarray())


@pytest.mark.parametrize("change, text", [
    (lambda a: setattr(a, "indices", np.where(np.arange(a.nnz) == 2, 11, a.indices).astype("i4")), "outside of its 11 places"),
    (lambda a: setattr(a, "indices", np.where(np.arange(a.nnz) == 2, -1, a.indices).astype("i4")), "outside of its 11 places"),
    (lambda a: setattr(a, "indptr", a.indptr[::-1].copy()), "do not ascend from 0"),
    (lambda a: a.indptr.__setitem__(3, 1 << 30), "do not ascend from 0"),
    (lambda a: setattr(a, "data", a.data[:2]), "indices for 2 values"),
])
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("is_known", [True, False])
def test_damaged_matrices(load, change, text, form, is_known):
    """Before scipy itself looks into them: it, too, trusts what it has."""
    a = matrix(7, 11, 3).asformat(form)
    assert not is_known or a.has_canonical_format  # and scipy goes on believing so
    change(a)
    if form == "csc":
        text = text.replace("11", "7")
    with pytest.raises(ValueError, match=f"argument 0: .*{text}"):
        load(PRODUCT.format("?x?", "?", "#sparse.csr"))(a, data(11, 5), data(7, 5))


def test_an_index_that_does_not_fit(load):
    a = sparse.csr_array((np.ones(1, "f4"), np.array([1 << 32]), np.array([0, 1])), shape=(1, 1 << 33))
    with pytest.raises(ValueError, match="argument 0: its index or position 4294967296 does not fit i32"):
        load(PRODUCT.format("?x?", "?", "#sparse.csr"))(a, data(1, 5), data(1, 5))


def test_refused(load):
    multiply, a, x, y = load(PRODUCT.format("7x11", "11", "#sparse.csr")), matrix(7, 11, 3), data(11, 5), data(7, 5)
    with pytest.raises(ValueError, match="argument 0: the matrix is 11 x 7; the program takes 7 x 11"):
        multiply(a.T, x, y)
    with pytest.raises(TypeError, match="argument 3 is a sparse matrix; the program takes an array there"):
        multiply(a, a, y)
    with pytest.raises(TypeError, match="elements of type"):
        multiply(a.astype("f8"), x, y)
    with pytest.raises(TypeError, match="the program takes 5 arguments"):
        multiply(a, x)
    masked = load(PRODUCT.format("7x11", "11", "#sparse.mask<tile = [1, 1]>"))
    with pytest.raises(TypeError, match="takes the components of #sparse.mask there"):
        masked(a, x, y)
    nothing = sparse.csr_array((7, 11), dtype="f4")
    assert np.array_equal(multiply(nothing, x, y), y)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_product_with_torch(load, encoding):
    torch = pytest.importorskip("torch")
    multiply = load(PRODUCT.format("?x?", "?", encoding))
    dense = torch.from_numpy(matrix(8, 12, 5).toarray())
    x, y = torch.from_numpy(data(12, 5)), torch.from_numpy(data(8, 5))
    for given in (dense.to_sparse_csr(), dense.to_sparse_coo(), dense.to_sparse_csc(), dense.to_sparse_bsr((2, 3))):
        seen = multiply(given, x, y)
        assert isinstance(seen, torch.Tensor) and torch.equal(seen, dense @ x + y)
    if "bsr" in encoding:
        with pytest.raises(ValueError, match="no blocks of 2 x 3 in a matrix of 7 x 11"):
            multiply(torch.eye(7, 11).to_sparse_csr(), x, y)
    convert = load(CONVERTED.format("#sparse.coo<unordered>", "#sparse.csr"))
    seen, _ = convert(dense.to_sparse_coo(), 1.0)
    assert seen.layout == torch.sparse_csr and torch.equal(seen.to_dense(), dense)


def test_one_sparse_result_alone(load):
    square = load("""
func.func @main(%a: tensor<?x?xf32, #sparse.csr>) -> tensor<?x?xf32, #sparse.csr> {
  %r = sparse.mul %a, %a : tensor<?x?xf32, #sparse.csr>
  return %r : tensor<?x?xf32, #sparse.csr>
}""")
    a = sparse.csr_array(matrix(7, 11, 3))
    assert (square(a).toarray() == a.toarray() ** 2).all()
