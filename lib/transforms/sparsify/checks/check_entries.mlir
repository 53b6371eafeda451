// coo: coordinates are in range and, unless the format is unordered, each entry stands after the one before it.
//   type $I = i32
func.func private @check(%coordinates: tensor<?x?x$I>, %sizes: tensor<?xindex>, %unordered: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %yes = arith.constant true
  %no = arith.constant false
  %rank = tensor.dim %coordinates, %c0 : tensor<?x?x$I>
  %entries = tensor.dim %coordinates, %c1 : tensor<?x?x$I>
  scf.for %axis = %c0 to %rank step %c1 {
    %size = tensor.extract %sizes[%axis] : tensor<?xindex>
    scf.for %e = %c0 to %entries step %c1 {
      %at = tensor.extract %coordinates[%axis, %e] : tensor<?x?x$I>
      %here = arith.index_cast %at : $I to index
      %above = arith.cmpi sge, %here, %c0 : index
      %below = arith.cmpi slt, %here, %size : index
      %inside = arith.andi %above, %below : i1
      cf.assert %inside, "a coordinate is negative or beyond the tensor"
    }
  }
  scf.for %e = %c1 to %entries step %c1 {
    %before = arith.subi %e, %c1 : index
    %after:2 = scf.for %axis = %c0 to %rank step %c1 iter_args(%less = %no, %equal = %yes) -> (i1, i1) {
      %a = tensor.extract %coordinates[%axis, %before] : tensor<?x?x$I>
      %b = tensor.extract %coordinates[%axis, %e] : tensor<?x?x$I>
      %ascends = arith.cmpi slt, %a, %b : $I
      %same = arith.cmpi eq, %a, %b : $I
      %decides = arith.andi %equal, %ascends : i1
      %now = arith.ori %less, %decides : i1
      %still = arith.andi %equal, %same : i1
      scf.yield %now, %still : i1, i1
    }
    %fine = arith.ori %after#0, %unordered : i1
    cf.assert %fine, "an entry stands not after the one before it in row-major order"
  }
  return
}
