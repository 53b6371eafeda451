"""Sparse matrices of scipy and PyTorch as a program's components, and back."""
from __future__ import annotations

from typing import Any, NamedTuple


class Sparse(NamedTuple):
    """A sparse tensor among a program's arguments or results: where its values begin, and what it is."""
    first: int
    format: str
    num_components: int
    shape: tuple[int, ...]  #: negative sizes are dynamic
    cell: tuple[int, int]  #: of a block
    is_unordered: bool

    @property
    def num_values(self) -> int:
        return self.num_components + sum(size < 0 for size in self.shape)


_COMPRESSED = {"csr": 0, "csc": 1, "bsr": 0}  # which axis the positions run along
_TORCH_LAYOUTS = {"torch.sparse_csr": "csr", "torch.sparse_csc": "csc", "torch.sparse_bsr": "bsr", "torch.sparse_coo": "coo"}


def library_of(value: Any) -> str | None:
    """"scipy" or "torch" if the value is one of its sparse matrices."""
    name = type(value).__module__.partition(".")[0]
    if name == "scipy" and hasattr(value, "asformat"):
        return "scipy"
    return "torch" if name == "torch" and str(getattr(value, "layout", "")) in _TORCH_LAYOUTS else None


def _refuse(name: str, text: str) -> ValueError:
    return ValueError(f"{name}: {text}")


def _whole(shape: tuple[int, ...], cell: tuple[int, int]) -> tuple[int, ...]:
    """The shape with whole blocks: a program's blocks may reach beyond the matrix, the libraries' may not."""
    return tuple(-(-size // one) * one for size, one in zip(shape, cell))


# --- scipy ---------------------------------------------------------------------------------------------------------


def _of_scipy(matrix: Any, to: Sparse) -> list[Any]:
    import numpy as np
    if to.format == "bsr":
        if matrix.format != "bsr" or matrix.blocksize != to.cell:
            if matrix.shape != _whole(matrix.shape, to.cell):
                matrix = matrix.tocsr(copy=True)
                matrix.resize(_whole(matrix.shape, to.cell))
            matrix = matrix.tobsr(blocksize=to.cell)
        if not matrix.has_sorted_indices:
            matrix = matrix.sorted_indices()
        return [matrix.indptr, matrix.indices, matrix.data]
    if to.format == "coo":
        if not to.is_unordered:
            matrix = matrix.tocsr()  # row-major, as coo's own sum_duplicates is not
            if not matrix.has_canonical_format:
                matrix = matrix.copy()
                matrix.sum_duplicates()
        matrix = matrix.tocoo()
        return [np.stack(matrix.coords if hasattr(matrix, "coords") else [matrix.row, matrix.col]), matrix.data]
    matrix = matrix.asformat(to.format)
    if not matrix.has_canonical_format:  # an entry that stands twice counts twice: their sum
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return [matrix.indptr, matrix.indices, matrix.data]


def _to_scipy(parts: list[Any], kind: Sparse, shape: tuple[int, ...]) -> Any:
    from scipy import sparse
    if kind.format == "coo":
        return sparse.coo_array((parts[1], tuple(parts[0])), shape=shape)
    make = {"csr": sparse.csr_array, "csc": sparse.csc_array, "bsr": sparse.bsr_array}[kind.format]
    whole = _whole(shape, kind.cell) if kind.format == "bsr" else shape
    made = make((parts[2], parts[1], parts[0]), shape=whole)
    if whole == shape:
        return made
    made = made.tocsr()  # scipy's blocks do not reach beyond the matrix
    made.resize(shape)
    return made


# --- PyTorch -------------------------------------------------------------------------------------------------------


def _of_torch(matrix: Any, to: Sparse, name: str) -> list[Any]:
    if to.format == "bsr" and tuple(matrix.shape) != _whole(matrix.shape, to.cell):
        raise _refuse(name, f"PyTorch has no blocks of {to.cell[0]} x {to.cell[1]} in a matrix of "
                      f"{' x '.join(map(str, matrix.shape))}; give its components")
    if to.format == "coo":
        if str(matrix.layout) != "torch.sparse_coo":
            matrix = matrix.to_sparse_coo()
        matrix = matrix.coalesce()
        return [matrix.indices(), matrix.values()]
    if to.format != "bsr" and str(matrix.layout) == "torch.sparse_bsr":
        matrix = matrix.to_sparse_coo()  # PyTorch has no other way from blocks
    if to.format == "bsr":
        is_it = str(matrix.layout) == "torch.sparse_bsr" and tuple(matrix.values().shape[1:]) == to.cell
        matrix = matrix if is_it else matrix.to_sparse_bsr(to.cell)
    elif str(matrix.layout) != f"torch.sparse_{to.format}":
        matrix = matrix.to_sparse_csr() if to.format == "csr" else matrix.to_sparse_csc()
    if to.format == "csc":
        return [matrix.ccol_indices(), matrix.row_indices(), matrix.values()]
    return [matrix.crow_indices(), matrix.col_indices(), matrix.values()]


def _to_torch(parts: list[Any], kind: Sparse, shape: tuple[int, ...]) -> Any:
    import torch  # type: ignore[import-not-found,unused-ignore]
    if kind.format == "coo":
        return torch.sparse_coo_tensor(parts[0], parts[1], shape)
    make = {"csr": torch.sparse_csr_tensor, "csc": torch.sparse_csc_tensor, "bsr": torch.sparse_bsr_tensor}[kind.format]
    return make(parts[0], parts[1], parts[2], shape)


# --- both ----------------------------------------------------------------------------------------------------------


def _own(matrix: Any, to: Sparse) -> tuple[list[Any], Sparse] | None:
    """The components that the matrix itself has, and of which format; None of formats that are not ours."""
    form = matrix.format if library_of(matrix) == "scipy" else _TORCH_LAYOUTS[str(matrix.layout)]
    if form == "coo" and library_of(matrix) == "scipy":
        coords = list(matrix.coords if hasattr(matrix, "coords") else [matrix.row, matrix.col])
        return [coords, matrix.data], to._replace(format="coo")
    if form == "coo":
        return [matrix._indices(), matrix._values()], to._replace(format="coo")
    if form not in _COMPRESSED:
        return None
    if library_of(matrix) == "scipy":
        parts = [matrix.indptr, matrix.indices, matrix.data]
    elif form == "csc":
        parts = [matrix.ccol_indices(), matrix.row_indices(), matrix.values()]
    else:
        parts = [matrix.crow_indices(), matrix.col_indices(), matrix.values()]
    rows, columns = parts[2].shape[1:3] if form == "bsr" else (1, 1)
    return parts, to._replace(format=form, cell=(int(rows), int(columns)))


def _check(name: str, parts: list[Any], to: Sparse, shape: tuple[int, ...]) -> None:
    """A program, and the libraries, trust the components, so what their owner may have written into them is looked at."""
    import numpy as np
    cells = [-(-size // cell) for size, cell in zip(shape, to.cell)] if to.format == "bsr" else list(shape)
    entries = parts[-1].shape[0]
    if to.format == "coo":
        for axis, places in enumerate(np.asarray(part) for part in parts[0]):
            if len(places) != entries:
                raise _refuse(name, f"it has {len(places)} indices along axis {axis} for {entries} values")
            if places.size and (places.min() < 0 or places.max() >= shape[axis]):
                raise _refuse(name, f"an index along axis {axis} is outside of its {shape[axis]} places")
        return
    positions, places = np.asarray(parts[0]), np.asarray(parts[1])
    along = _COMPRESSED[to.format]
    if len(positions) != cells[along] + 1 or positions[0] != 0 or positions[-1] != len(places) or (np.diff(positions) < 0).any():
        raise _refuse(name, "its positions do not ascend from 0 to the number of entries")
    if len(places) != entries:
        raise _refuse(name, f"it has {len(places)} indices for {entries} values")
    if places.size and (places.min() < 0 or places.max() >= cells[1 - along]):
        raise _refuse(name, f"an index along axis {1 - along} is outside of its {cells[1 - along]} places")


def _with_type(name: str, array: Any, element: str) -> Any:
    """Indices as the program has them; values are passed as they are, and refused by the program if they do not fit."""
    bits = int(element[1:])
    if 8 * (array.element_size() if hasattr(array, "element_size") else array.dtype.itemsize) > bits:
        largest = int(array.max()) if 0 not in array.shape else 0
        if largest >= 1 << bits - 1:
            raise _refuse(name, f"its index or position {largest} does not fit {element}")
    if str(array.dtype).startswith("torch."):
        import torch
        return array.to({"i32": torch.int32, "i64": torch.int64, "i8": torch.int8}[element]).contiguous()
    import numpy as np
    return np.ascontiguousarray(array, dtype={"i32": np.int32, "i64": np.int64, "i8": np.int8}[element])


def components(name: str, matrix: Any, to: Sparse, elements: list[str]) -> tuple[list[Any], tuple[int, ...]]:
    """The matrix's arrays in the format's order, and its sizes. elements: of all arrays but the values."""
    shape = tuple(int(size) for size in matrix.shape)
    if len(shape) != 2 or any(size not in (seen, -1) and size >= 0 for size, seen in zip(to.shape, shape)):
        raise _refuse(name, f"the matrix is {' x '.join(map(str, shape))}; the program takes "
                      f"{' x '.join('?' if size < 0 else str(size) for size in to.shape)}")
    own = _own(matrix, to)
    if own:
        _check(name, *own, shape)
    parts = _of_scipy(matrix, to) if library_of(matrix) == "scipy" else _of_torch(matrix, to, name)
    if not own:
        _check(name, parts, to, shape)
    return [*(_with_type(name, part, element) for part, element in zip(parts, elements)), parts[-1]], shape


def expand(arrays: tuple[Any, ...], wanted: list[Sparse], inputs: tuple[Any, ...]) -> tuple[tuple[Any, ...], str | None]:
    """The arrays with the components of sparse matrices in their place, and whose matrices they were.

    A sparse tensor is one matrix, or its components, one by one. Raises ValueError for a shape or indices that do not fit.
    """
    flat: list[Any] = []
    by_first, left, library = {one.first: one for one in wanted}, list(arrays), None
    while left:
        value, to = left.pop(0), by_first.get(len(flat))
        whose = library_of(value)
        if whose is None:
            flat.append(value)
            continue
        name = f"argument {len(flat)}"
        if to is None:
            raise TypeError(f"{name} is a sparse matrix; the program takes an array there")
        if to.format not in _COMPRESSED and to.format != "coo" or len(to.shape) != 2:
            raise TypeError(f"{name} is a sparse matrix; the program takes the components of #sparse.{to.format} there")
        elements = [one.element for one in inputs[len(flat):len(flat) + to.num_components - 1]]
        parts, shape = components(name, value, to, elements)
        flat += parts
        flat += [seen for size, seen in zip(to.shape, shape) if size < 0]
        library = library or whose
    return tuple(flat), library


def collect(results: tuple[Any, ...], given: list[Sparse], library: str | None) -> tuple[Any, ...]:
    """Results with the library's matrices in the place of components that such a matrix can hold."""
    if library is None:
        return results
    by_first, out, at = {one.first: one for one in given}, [], 0
    while at < len(results):
        kind = by_first.get(at)
        if kind is None or len(kind.shape) != 2 or (kind.format not in _COMPRESSED and kind.format != "coo"):
            out.append(results[at])
            at += 1
            continue
        parts = list(results[at:at + kind.num_components])
        open_sizes = iter(results[at + kind.num_components:at + kind.num_values])
        shape = tuple(size if size >= 0 else int(next(open_sizes)) for size in kind.shape)
        out.append((_to_scipy if library == "scipy" else _to_torch)(parts, kind, shape))
        at += kind.num_values
    return tuple(out)
