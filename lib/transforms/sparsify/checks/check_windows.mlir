// nm: the coordinates of a window are places of it, without sign, and ascend.
//   type $I = i8
func.func private @check(%coordinates: tensor<?x?x?x$I>, %places: index) {
  %minus = arith.constant -1 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %groups = tensor.dim %coordinates, %c0 : tensor<?x?x?x$I>
  %windows = tensor.dim %coordinates, %c1 : tensor<?x?x?x$I>
  %units = tensor.dim %coordinates, %c2 : tensor<?x?x?x$I>
  scf.for %g = %c0 to %groups step %c1 {
    scf.for %w = %c0 to %windows step %c1 {
      %most = scf.for %u = %c0 to %units step %c1 iter_args(%least = %minus) -> (index) {
        %at = tensor.extract %coordinates[%g, %w, %u] : tensor<?x?x?x$I>
        %here = arith.index_castui %at : $I to index
        %inside = arith.cmpi ult, %here, %places : index
        cf.assert %inside, "a coordinate is beyond its window"
        %ascends = arith.cmpi slt, %least, %here : index
        cf.assert %ascends, "a coordinate is not above the one before it in its window"
        scf.yield %here : index
      }
    }
  }
  return
}
