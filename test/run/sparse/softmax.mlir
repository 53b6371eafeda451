// RUN: %python %source/test/run/check.py %tile_run %s --target=interpret
// RUN: %python %source/test/run/check.py %tile_run %s --target=cpu
// RUN: %python %source/test/run/check.py %tile_run %s --target=emulate:sm_80
// RUN: %python %source/test/run/check.py %tile_run %s --target=emulate:gfx942
// sparse.softmax of lines of 0, 1, 3, 33 and 300 entries, along rows and along columns of csr, and of entries that coo<unordered> names
// twice. An entry of -inf weighs 0; where all are -inf, or one is +inf or nan, all are nan; a zero that is stored takes part.
// in: np.cumsum([0, 0, 1, 3, 2, 33, 300, 2, 2, 3]).astype(i32), np.concatenate([np.arange(n) for n in (0, 1, 3, 2, 33, 300, 2, 2, 3)]).astype(i32), np.concatenate([[7], [1, -np.inf, 3], [-np.inf, -np.inf], 9 * normal(333), [np.inf, 1], [np.nan, 0], [0, 0, -0.5]]).astype(f32), np.array([[2, 0, 2, 2, 0], [1, 1, 1, 3, 0]]).astype(i32), np.array([0.5, 2, -1, 1, 3]).astype(f32)
// expect: np.concatenate([np.exp(x - x.max()) / np.exp(x - x.max()).sum() for x in np.split(x2.astype(f64), x0[1:-1]) if x.size])
// expect: np.concatenate([[np.exp(v - m) / np.exp(y - m).sum() for v, y, m in ((v, x2[x1 == c].astype(f64), x2[x1 == c].max()) for v, c in zip(x2, x1))]])
// expect: np.exp(x4) / np.array([np.exp(x4[x3[0] == r]).sum() for r in x3[0]])
#unordered = #sparse.coo<unordered>
func.func @main(%pos: tensor<10xi32>, %crd: tensor<?xi32>, %val: tensor<?xf32>, %at: tensor<2x5xi32>, %v: tensor<5xf32>)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<5xf32>) {
  %a = sparse.assemble(%pos, %crd, %val) : tensor<10xi32>, tensor<?xi32>, tensor<?xf32> -> tensor<9x300xf32, #sparse.csr>
  %rows = sparse.softmax %a along 1 : tensor<9x300xf32, #sparse.csr>
  %r:3 = sparse.disassemble %rows : tensor<9x300xf32, #sparse.csr> -> tensor<10xi32>, tensor<?xi32>, tensor<?xf32>
  %columns = sparse.softmax %a along 0 : tensor<9x300xf32, #sparse.csr>
  %c:3 = sparse.disassemble %columns : tensor<9x300xf32, #sparse.csr> -> tensor<10xi32>, tensor<?xi32>, tensor<?xf32>
  %u = sparse.assemble(%at, %v) : tensor<2x5xi32>, tensor<5xf32> -> tensor<3x4xf32, #unordered>
  %twice = sparse.softmax %u along 1 : tensor<3x4xf32, #unordered>
  %t:2 = sparse.disassemble %twice : tensor<3x4xf32, #unordered> -> tensor<2x5xi32>, tensor<5xf32>
  return %r#2, %c#2, %t#1 : tensor<?xf32>, tensor<?xf32>, tensor<5xf32>
}
