"""Two layers of experts, relu between, in which each token chooses its expert (tensor.extract in the product's body), beside a loop over
the experts that gathers the tokens of each, multiplies by OpenBLAS twice and puts the rows back. `share`: how many tokens the
experts have: `zipf` (expert i has a share of 1 / i), `equal`, or `one` has all."""
import math

import numpy as np


class routed:
    """Y[t] = relu(X[t] W[id[t]]) V[id[t]]."""

    @staticmethod
    def layer(number, x, w, tokens, experts, inner, columns):
        result = f"tensor<{tokens}x{columns}xf32>"
        return f"""  %e{number} = tensor.empty() : {result}
  %f{number} = linalg.fill ins(%zero : f32) outs(%e{number} : {result}) -> {result}
  %y{number} = linalg.generic {{indexing_maps = [affine_map<(t, n, k) -> (t, k)>, affine_map<(t, n, k) -> (t)>, affine_map<(t, n, k) -> (t, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}} ins({x}, %id : tensor<{tokens}x{inner}xf32>, tensor<{tokens}xi64>) outs(%f{number} : {result}) {{
  ^bb0(%a: f32, %b: i64, %o: f32):
    %q = arith.index_cast %b : i64 to index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %c = tensor.extract {w}[%q, %k, %j] : tensor<{experts}x{inner}x{columns}xf32>
    %m = arith.mulf %a, %c : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  }} -> {result}
"""

    @staticmethod
    def program(tokens, experts, width, hidden, share):
        x, w, v, h = (f"tensor<{s}xf32>" for s in (f"{tokens}x{width}", f"{experts}x{width}x{hidden}", f"{experts}x{hidden}x{width}", f"{tokens}x{hidden}"))
        return f"""func.func @main(%x: {x}, %w: {w}, %v: {v}, %id: tensor<{tokens}xi64>) -> {x} {{
  %zero = arith.constant 0.0 : f32
{routed.layer(0, "%x", "%w", tokens, experts, width, hidden)}  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
      ins(%y0 : {h}) outs(%e0 : {h}) {{
  ^bb0(%u: f32, %o: f32):
    %m = arith.maximumf %u, %zero : f32
    linalg.yield %m : f32
  }} -> {h}
{routed.layer(1, "%r", "%v", tokens, experts, hidden, width)}  return %y1 : {x}
}}
"""

    peer_program = staticmethod(lambda **arguments: None)

    @staticmethod
    def arrays(random, tokens, experts, width, hidden, share):
        shares = {"zipf": 1 / np.arange(1, experts + 1), "equal": np.ones(experts), "one": np.arange(experts) == 0}[share]
        ids = random.choice(experts, tokens, p=shares / shares.sum())
        x, w, v = (random.uniform(-1, 1, s).astype("f4") for s in ((tokens, width), (experts, width, hidden), (experts, hidden, width)))
        return [x, w, v, ids.astype("i8")]

    @staticmethod
    def loop(arrays):
        x, w, v, ids = arrays
        out = np.empty((len(x), v.shape[2]), x.dtype)
        for expert in range(len(w)):
            rows = np.flatnonzero(ids == expert)
            if len(rows):
                out[rows] = np.maximum(x[rows] @ w[expert], 0) @ v[expert]
        return out

    @staticmethod
    def exact(arrays, tokens, experts, width, hidden, share):
        x, w, v, ids = arrays
        wide = [x.astype("f8"), w.astype("f8"), v.astype("f8"), ids]
        bounds = routed.loop([abs(wide[0]), abs(wide[1]), abs(wide[2]), ids])
        return routed.loop(wide), 2 * (math.sqrt(width) + math.sqrt(hidden)) * bounds

    @staticmethod
    def work(tokens, experts, width, hidden, share):
        return 4 * tokens * width * hidden, 4 * (2 * experts * width * hidden + 2 * tokens * (width + hidden))

    @staticmethod
    def torch(torch, x, **arguments):
        return None


TABLE = [("routed", dict(tokens=tokens, experts=16, width=768, hidden=3072, share=share)) for tokens, share in (
    (1024, "zipf"), (1024, "equal"), (1024, "one"), (64, "zipf"))]
TINY = [("routed", dict(tokens=tokens, experts=3, width=9, hidden=33, share=share)) for tokens, share in ((37, "zipf"), (1, "one"))]
