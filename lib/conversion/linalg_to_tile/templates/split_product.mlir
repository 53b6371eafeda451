// A product whose k is split into $PARTS: the parts' products side by side, then their sum on top of c.
//   type $A = f16, $C = f32
//   integer $M = 64, $N = 96, $K = 128, $PARTS = 2, $DEPTH = 64
//   integer $ROWS = 8, $COLUMNS = 32, $STEP = 64
!c = tensor<$Mx$Nx$C>
!as = tensor<$Mx$PARTSx$DEPTHx$A>
!bs = tensor<$PARTSx$DEPTHx$Nx$A>
!cs = tensor<$PARTSx$Mx$Nx$C>
func.func private @multiply($A, $A) -> $C
func.func @split(%a: tensor<$Mx$Kx$A>, %b: tensor<$Kx$Nx$A>, %c: !c) -> !c {
  %zero = arith.constant 0.0 : $C
  %as = tensor.expand_shape %a [[0], [1, 2]] output_shape [$M, $PARTS, $DEPTH] : tensor<$Mx$Kx$A> into !as
  %bs = tensor.expand_shape %b [[0, 1], [2]] output_shape [$PARTS, $DEPTH, $N] : tensor<$Kx$Nx$A> into !bs
  %empty = tensor.empty() : !cs
  %zeros = linalg.generic {
    indexing_maps = [affine_map<(s, m, n) -> ()>, affine_map<(s, m, n) -> (s, m, n)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%zero : $C) outs(%empty : !cs) {
  ^bb0(%x: $C, %old: $C):
    linalg.yield %x : $C
  } -> !cs
  %products = linalg.generic {
    indexing_maps = [affine_map<(s, m, n, k) -> (m, s, k)>, affine_map<(s, m, n, k) -> (s, k, n)>,
                     affine_map<(s, m, n, k) -> (s, m, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  } ins(%as, %bs : !as, !bs) outs(%zeros : !cs)
    attrs = {tile.schedule = #tile.schedule<kind = "streamed", block = [1, $ROWS, $COLUMNS, $STEP]>} {
  ^bb0(%x: $A, %y: $A, %sum: $C):
    %term = func.call @multiply(%x, %y) : ($A, $A) -> $C
    %new = arith.addf %sum, %term : $C
    linalg.yield %new : $C
  } -> !cs
  %result = linalg.generic {
    indexing_maps = [affine_map<(m, n, s) -> (s, m, n)>, affine_map<(m, n, s) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%products : !cs) outs(%c : !c) {
  ^bb0(%x: $C, %sum: $C):
    %new = arith.addf %sum, %x : $C
    linalg.yield %new : $C
  } -> !c
  return %result : !c
}
