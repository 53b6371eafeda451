// csr, csc, bsr: positions ascend from 0 to the number of entries, coordinates ascend within a segment and are in range.
//   type $P = i32, $I = i32
func.func private @check(%positions: tensor<?x$P>, %coordinates: tensor<?x$I>, %size: index) {
  %minus = arith.constant -1 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ends = tensor.dim %positions, %c0 : tensor<?x$P>
  %entries = tensor.dim %coordinates, %c0 : tensor<?x$I>
  %p0 = tensor.extract %positions[%c0] : tensor<?x$P>
  %first = arith.index_cast %p0 : $P to index
  %begins = arith.cmpi eq, %first, %c0 : index
  cf.assert %begins, "the first position is not 0"
  %last = scf.for %i = %c1 to %ends step %c1 iter_args(%before = %c0) -> (index) {
    %p = tensor.extract %positions[%i] : tensor<?x$P>
    %here = arith.index_cast %p : $P to index
    %ascends = arith.cmpi sle, %before, %here : index
    cf.assert %ascends, "a position is less than the one before it"
    scf.yield %here : index
  }
  %complete = arith.cmpi eq, %last, %entries : index
  cf.assert %complete, "the last position is not the number of entries"
  scf.for %i = %c1 to %ends step %c1 {
    %before = arith.subi %i, %c1 : index
    %p = tensor.extract %positions[%before] : tensor<?x$P>
    %q = tensor.extract %positions[%i] : tensor<?x$P>
    %begin = arith.index_cast %p : $P to index
    %end = arith.index_cast %q : $P to index
    %most = scf.for %e = %begin to %end step %c1 iter_args(%least = %minus) -> (index) {
      %at = tensor.extract %coordinates[%e] : tensor<?x$I>
      %here = arith.index_cast %at : $I to index
      %inside = arith.cmpi slt, %here, %size : index
      cf.assert %inside, "a coordinate is beyond the matrix"
      %ascends = arith.cmpi slt, %least, %here : index
      cf.assert %ascends, "a coordinate is negative, or not above the one before it in its segment"
      scf.yield %here : index
    }
  }
  return
}
