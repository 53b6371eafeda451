"""Selects by run-time masks, then products, against numpy. Use: find_masks.py FOLDER_OF_TOOLS TARGET… [--mutant]

One compiled program per form runs under many masks, with sizes that do not divide: none, all, single elements at random, whole micro-tiles at
random, micro-tiles with holes, micro-tiles and single elements, all but a column. Rows of the other factor that the mask hides from
everybody hold infinities and nans where the program states the mask as a format; in a select they take part as linalg says, or not at all: there they are finite.
"""
import sys

import numpy as np
from masked_programs import draw_operands, hide_unused_rows, judge, shown_elements

ONE, ROWS, BOTH = (1, 1), (32, 1), (8, 4)
MASKS = ["none", "all", "elements", "tiles", "holes", "both", "most"]


def sum_of(element):
    return "f32" if element == "f16" else element


def select_form(tile, element, transposed):
    """select(mask[i / h, k / w], x, 0) · b + c."""
    place = ", ".join(name if size == 1 else f"{name} floordiv {size}" for name, size in zip("ik", tile))
    zero, dense, sums = "0" if element == "i32" else "0.0", f"tensor<?x?x{element}>", f"tensor<?x?x{sum_of(element)}>"
    right = "(n, k)" if transposed else "(k, n)"
    return f"""
func.func @main(%m: tensor<?x?xi1>, %x: {dense}, %b: {dense}, %c: {sums}) -> {sums} {{
  %z = arith.constant {zero} : {element}
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = tensor.dim %x, %c0 : {dense}
  %w = tensor.dim %x, %c1 : {dense}
  %e = tensor.empty(%h, %w) : {dense}
  %s = linalg.generic {{indexing_maps = [affine_map<(i, k) -> ({place})>, affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>],
      iterator_types = ["parallel", "parallel"]}} ins(%m, %x : tensor<?x?xi1>, {dense}) outs(%e : {dense}) {{
  ^bb0(%p: i1, %v: {element}, %o: {element}):
    %q = arith.select %p, %v, %z : {element}
    linalg.yield %q : {element}
  }} -> {dense}
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> {right}>, affine_map<(m, n, k) -> (m, n)>]
      ins(%s, %b : {dense}, {dense}) outs(%c : {sums}) -> {sums}
  return %r : {sums}
}}
"""


def format_form(tile, element, lines):
    """A person writes the micro-tiles of a #sparse.mask."""
    dense = f"tensor<?x?x{element}>"
    matrix = f"tensor<?x?x{element}, #sparse.mask<tile = [{tile[0]}, {tile[1]}]>>"
    return f"""
func.func @main(%m: tensor<?x?xi1>, %v: {dense}, %b: {dense}, %c: {dense}) -> {dense} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = tensor.dim %v, %c0 : {dense}
  %w = tensor.dim %v, %c1 : {dense}
  %a = sparse.assemble(%m, %v) sizes [%h, %w] : tensor<?x?xi1>, {dense} -> {matrix}
  %r = sparse.spmm %a, %b, %c {{sparse.micro_tiles = #sparse.micro_tiles<axis = 1, by = {tile[1]}, lines = {lines}, dense_above = 60>}}
      : {matrix}, {dense}, {dense}
  return %r : {dense}
}}
"""


FORMS = [("select", ONE, "f32", False), ("select", ROWS, "f32", True), ("select", ONE, "i32", True), ("select", ONE, "f64", False),
         ("select", BOTH, "f32", False), ("select", ONE, "f16", True), ("format", ONE, "f32", 16), ("format", BOTH, "i32", 32)]


def draw_mask(rng, kind, tile, shape):
    cells = [-(-size // by) for size, by in zip(shape, tile)]
    if kind in ("none", "all"):
        return np.full(cells, kind == "all")
    if kind == "elements":
        return rng.random(cells) < .05
    if kind in ("tiles", "holes", "both"):  # micro-tiles of 32 lines, whole or a third hidden; with single elements outside
        lines = max(1, 32 // tile[0])
        tiles = np.repeat(rng.random((-(-cells[0] // lines), cells[1])) < .3, lines, 0)[:cells[0]]
        return tiles if kind == "tiles" else tiles & (rng.random(cells) < .67) if kind == "holes" else tiles | (rng.random(cells) < .03)
    mask = rng.random(cells) < .97
    mask[:, int(rng.integers(cells[1]))] = False
    return mask


def draw(rng, kind, form):
    style, tile, element, last = form
    rows, inner, columns = int(rng.choice([37, 69, 96])), int(rng.choice([21, 70, 150])), int(rng.choice([64, 70, 97]))
    mask = draw_mask(rng, kind, tile, (rows, inner))
    shown = shown_elements(mask, tile, rows, inner)
    a, b, c = draw_operands(rng, element, rows, inner, columns)
    if element == "f16":
        c = c.astype("f4")
    want = (np.where(shown, a, 0).astype(c.dtype) @ b.astype(c.dtype) + c).astype(c.dtype)
    if style == "format":
        a = np.where(shown, a, 0).astype(a.dtype)
        if element != "i32":
            hide_unused_rows(rng, b, shown)
    elif element != "i32":  # what the mask hides is never read
        a[~shown] = np.nan
    return [mask, a, b.T.copy() if style == "select" and last else b, c], want


def program(form):
    return select_form(*form[1:]) if form[0] == "select" else format_form(*form[1:])


sys.exit(judge(FORMS, MASKS, program, draw, lambda forms, masks: (forms[:1] + forms[3:6], masks)))
