// RUN: %python %source/test/run/check.py %tile_run %s --target=interpret
// RUN: %python %source/test/run/check.py %tile_run %s --target=cpu
// RUN: %python %source/test/run/check.py %tile_run %s --target=emulate:sm_80
// RUN: %python %source/test/run/check.py %tile_run %s --target=emulate:gfx942
// Attention along the entries of a graph with rows of 0, 1, 130, 300 and 2 entries: scores of three terms, hidden with -inf by place,
// whose factors come from another sparse product; the maximum of a row comes late, and a row of -inf alone is nan.
// tolerance: 3e-5
// in: np.array([0, 0, 1, 131, 431, 433]).astype(i32), np.concatenate([[7], np.arange(130), np.arange(300), [0, 1]]).astype(i32), (0.1 * normal(433)).astype(f32), normal(300, 3), (normal(3, 300) * (1 + 3 * (np.arange(300) > 250))).astype(f32), normal(300, 19), normal(5, 19)
// expect: x6 + np.stack([np.zeros(19)] + [(lambda e, h: (np.exp(e - e.max()) / np.exp(e - e.max()).sum()) @ h)(np.where((c > 3) | (r == 1), (x2[x0[r]:x0[r + 1]] @ x3[c]).astype(f64) @ x4[:, c], -np.inf), x5[c].astype(f64)) for r, c in ((r, x1[x0[r]:x0[r + 1]]) for r in (1, 2, 3, 4))])
!graph = tensor<5x300xf32, #sparse.csr>
func.func @main(%pos: tensor<6xi32>, %crd: tensor<?xi32>, %val: tensor<?xf32>, %x: tensor<300x3xf32>, %k: tensor<3x300xf32>, %v: tensor<300x19xf32>, %init: tensor<5x19xf32>) -> tensor<5x19xf32> {
  %zero = arith.constant 0.0 : f32
  %minus = arith.constant 0xFF800000 : f32
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = tensor.splat %zero : tensor<5x3xf32>
  %g = sparse.assemble(%pos, %crd, %val) : tensor<6xi32>, tensor<?xi32>, tensor<?xf32> -> !graph
  %q = sparse.spmm %g, %x, %z : !graph, tensor<300x3xf32>, tensor<5x3xf32>
  %e = sparse.sddmm %q, %k, %g : tensor<5x3xf32>, tensor<3x300xf32>, !graph
  %m = sparse.map %e : !graph {
  ^bb0(%s: f32, %i: index, %j: index):
    %far = arith.cmpi ugt, %j, %c3 : index
    %first = arith.cmpi eq, %i, %c1 : index
    %seen = arith.ori %far, %first : i1
    %r = arith.select %seen, %s, %minus : f32
    sparse.yield %r : f32
  }
  %w = sparse.softmax %m along 1 : !graph
  %out = sparse.spmm %w, %v, %init : !graph, tensor<300x19xf32>, tensor<5x19xf32>
  return %out : tensor<5x19xf32>
}
