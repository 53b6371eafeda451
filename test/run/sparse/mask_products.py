"""Products of #sparse.mask against numpy. Use: mask_products.py FOLDER_OF_TOOLS TARGET… [--mutant]

Per tile one program of open sizes runs under several masks: none, all, few, most. Sizes do not divide by tiles, and
rows of the dense factor that the mask hides from everybody hold infinities and nans, which take no part there.
"""
import sys

import numpy as np
from masked_programs import draw_operands, hide_unused_rows, judge, shown_elements

TILES = [((32, 1), "f32"), ((8, 4), "f32"), ((5, 1), "f64"), ((3, 2), "i32"), ((1, 7), "f32"), ((16, 1), "f16")]


def program(form):
    tile, element = form
    matrix, dense = f"tensor<?x?x{element}, #sparse.mask<tile = [{tile[0]}, {tile[1]}]>>", f"tensor<?x?x{element}>"
    return f"""
func.func @main(%m: tensor<?x?xi1>, %v: {dense}, %b: {dense}, %c: {dense}) -> {dense} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = tensor.dim %v, %c0 : {dense}
  %w = tensor.dim %v, %c1 : {dense}
  %a = sparse.assemble(%m, %v) sizes [%h, %w] : tensor<?x?xi1>, {dense} -> {matrix}
  %r = sparse.spmm %a, %b, %c : {matrix}, {dense}, {dense}
  return %r : {dense}
}}
"""


def draw(rng, share, form):
    tile, element = form
    rows, inner, columns = 32 * int(rng.integers(1, 3)) + 5, int(rng.choice([20, 43, 150])), int(rng.choice([1, 17, 40, 70]))
    mask = rng.random((-(-rows // tile[0]), -(-inner // tile[1]))) < share
    a, b, c = draw_operands(rng, element, rows, inner, columns)
    if share == .95:  # a column that is never named, where most are: a dense product would meet its nans
        mask[:, int(rng.integers(mask.shape[1]))] = False
    shown = shown_elements(mask, tile, rows, inner)
    a = np.where(shown, a, 0).astype(a.dtype)
    want = (a @ b + c).astype(c.dtype)
    if element != "i32":
        hide_unused_rows(rng, b, shown)
    return [mask, a, b, c], want


sys.exit(judge(TILES, (0, 1, .1, .6, .95), program, draw))
