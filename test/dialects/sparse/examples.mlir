// The examples of the reference page, in a place where each is legal: every example of ops.def stands here, word for
// word (examples.py says which does not), parses, verifies and keeps its meaning in every form.
// RUN: %python %source/test/dialects/examples.py %source/dialects/sparse/ops.def %s 23
// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t %mlir_opt_plugin

func.func @packs(%d: tensor<64x128xf32>) -> tensor<64x128xf32, #sparse.csr> {
  %w = sparse.pack %d : tensor<64x128xf32> -> tensor<64x128xf32, #sparse.csr>
  return %w : tensor<64x128xf32, #sparse.csr>
}
func.func @prunes(%w: tensor<64x128xf32>) {
  %p = sparse.prune %w
    : tensor<64x128xf32> -> tensor<64x128xf32, #sparse.nm<n = 2, m = 4, axis = 1>>
  return
}
func.func @unpacks(%w: tensor<64x128xf32, #sparse.csr>) -> tensor<64x128xf32> {
  %d = sparse.unpack %w : tensor<64x128xf32, #sparse.csr> -> tensor<64x128xf32>
  %pos, %crd, %val = sparse.disassemble %w : tensor<64x128xf32, #sparse.csr>
    -> tensor<65xi32>, tensor<?xi32>, tensor<?xf32>
  return %d : tensor<64x128xf32>
}
func.func @converts(%a: tensor<?x?xf32, #sparse.coo<unordered>>) -> tensor<?x?xf32, #sparse.csr> {
  %b = sparse.convert %a duplicates(error)
    : tensor<?x?xf32, #sparse.coo<unordered>> -> tensor<?x?xf32, #sparse.csr>
  return %b : tensor<?x?xf32, #sparse.csr>
}
func.func @assembles(%pos: tensor<?xi32>, %crd: tensor<?xi32>, %val: tensor<?xf32>, %m: index) {
  %a = sparse.assemble(%pos, %crd, %val) sizes [%m]
    : tensor<?xi32>, tensor<?xi32>, tensor<?xf32> -> tensor<?x128xf32, #sparse.csr>
  return
}
func.func @multiplies(%a: tensor<64x128xf32, #sparse.csr>, %x: tensor<128xf32>, %y0: tensor<64xf32>) {
  %y = sparse.spmv %a, %x, %y0 over max_plus
    : tensor<64x128xf32, #sparse.csr>, tensor<128xf32>, tensor<64xf32>
  return
}
func.func @multiplies_matrices(%a: tensor<64x128xf32, #sparse.csr>, %x: tensor<128x32xf32>, %c0: tensor<64x32xf32>) {
  %c = sparse.spmm %a, %x, %c0 : tensor<64x128xf32, #sparse.csr>, tensor<128x32xf32>, tensor<64x32xf32>
  return
}
func.func @samples(%q: tensor<64x32xf32>, %k: tensor<96x32xf32>, %p: tensor<64x96xf32, #sparse.csr>) {
  %s = sparse.sddmm %q, %k transpose, %p
    : tensor<64x32xf32>, tensor<96x32xf32>, tensor<64x96xf32, #sparse.csr>
  return
}
func.func @counts_triangles(%a: tensor<?x?xi32, #sparse.csr>) {
  %t = sparse.spgemm %a, %a, %a : tensor<?x?xi32, #sparse.csr>, tensor<?x?xi32, #sparse.csr>,
    tensor<?x?xi32, #sparse.csr>
  return
}
func.func @adds(%a: tensor<64x128xf32, #sparse.csr>, %b: tensor<64x128xf32, #sparse.csr>) {
  %c = sparse.add %a, %b : tensor<64x128xf32, #sparse.csr>
  return
}
func.func @scales(%a: tensor<64x128xf32, #sparse.csr>, %b: tensor<64x128xf32, #sparse.csr>, %d0: tensor<64xf32>) {
  %c = sparse.mul %a, %b : tensor<64x128xf32, #sparse.csr>
  %t = sparse.transpose %a : tensor<64x128xf32, #sparse.csr> -> tensor<128x64xf32, #sparse.csc>
  %d = sparse.reduce max %a along 1, %d0 : tensor<64x128xf32, #sparse.csr>, tensor<64xf32>
  return
}
func.func @weighs(%s: tensor<64x96xf32, #sparse.csr>) {
  %w = sparse.softmax %s along 1 : tensor<64x96xf32, #sparse.csr>
  return
}
func.func @negates(%a: tensor<64x128xf32, #sparse.csr>) {
  %r = sparse.map %a : tensor<64x128xf32, #sparse.csr> {
  ^bb0(%v: f32, %i: index, %j: index):
    %n = arith.negf %v : f32
    sparse.yield %n : f32
  }
  return
}
func.func @keeps(%a: tensor<64x128xi32, #sparse.csr>) {
  %r = sparse.select %a : tensor<64x128xi32, #sparse.csr> {
  ^bb0(%v: i32, %i: index, %j: index):
    %c2 = arith.constant 2 : i32
    %keep = arith.cmpi sge, %v, %c2 : i32
    sparse.yield %keep : i1
  }
  return
}
func.func @packs_micro_tiles(%a: tensor<64x128xf32>, %crd: tensor<?xi32>) {
  %p = sparse.sread %a[%crd] along 1 by 2 : tensor<64x128xf32>, tensor<?xi32> -> tensor<64x?xf32>
  return
}
func.func @finds_and_puts_micro_tiles(%a: tensor<?x128xf32>, %p: tensor<?x32xf32>, %c: tensor<64x32xf32>) {
  %pos, %crd = sparse.detect %a along 1 by 2 lines 32
    : tensor<?x128xf32> -> tensor<?xi32>, tensor<?xi32>
  %r = sparse.swrite %p, %c[%crd] along 0 : tensor<?x32xf32>, tensor<64x32xf32>, tensor<?xi32>
  return
}
func.func @lists_groups(%ids: tensor<1024xi64>) {
  %pos, %crd = sparse.group %ids : tensor<1024xi64> -> tensor<17xi32>, tensor<1024xi32>
  return
}
func.func @routes(%x: tensor<64x32xf32>, %w: tensor<8x32x48xf32>, %h0: tensor<64x48xf32>, %pos: tensor<9xi32>, %crd: tensor<64xi32>) {
  %h = sparse.grouped_matmul %x gather 1, %w, %h0 by(%pos, %crd)
    : tensor<64x32xf32>, tensor<8x32x48xf32>, tensor<64x48xf32>, tensor<9xi32>, tensor<64xi32>
  return
}
