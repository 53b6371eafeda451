#DCSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
func.func @main() {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<[[1, 0, -2], [0, 0, 3]]> : tensor<2x3xi8>
  %b = arith.constant dense<[[1, 2], [3, 4], [-5, 6]]> : tensor<3x2xi8>
  %as = sparse_tensor.convert %a : tensor<2x3xi8> to tensor<2x3xi8, #DCSR>
  %e = arith.constant dense<0> : tensor<2x2xi32>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%as, %b : tensor<2x3xi8, #DCSR>, tensor<3x2xi8>) outs(%e : tensor<2x2xi32>) {
^bb0(%x: i8, %y: i8, %o: i32):
  %u = arith.extsi %x : i8 to i32
  %w = arith.extsi %y : i8 to i32
  %p = arith.muli %u, %w : i32
  %r = arith.addi %o, %p : i32
  linalg.yield %r : i32
  } -> tensor<2x2xi32>
  %zq = arith.constant 0 : i32
  %vq = vector.transfer_read %q[%c0, %c0], %zq : tensor<2x2xi32>, vector<2x2xi32>
  vector.print %vq : vector<2x2xi32>
  return
}
