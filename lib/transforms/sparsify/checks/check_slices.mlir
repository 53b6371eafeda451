// sread, swrite: what is listed are slices of the matrix; of a list that is written by none stands twice.
//   type $I = i32
func.func private @check(%list: tensor<?x$I>, %slices: index, %once: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %yes = arith.constant true
  %no = arith.constant false
  %count = tensor.dim %list, %c0 : tensor<?x$I>
  %none = tensor.splat %no[%slices] : tensor<?xi1>
  %all = scf.for %i = %c0 to %count step %c1 iter_args(%seen = %none) -> (tensor<?xi1>) {
    %at = tensor.extract %list[%i] : tensor<?x$I>
    %here = arith.index_cast %at : $I to index
    %above = arith.cmpi sge, %here, %c0 : index
    %below = arith.cmpi slt, %here, %slices : index
    %inside = arith.andi %above, %below : i1
    cf.assert %inside, "a coordinate is negative or beyond the matrix"
    %before = tensor.extract %seen[%here] : tensor<?xi1>
    %twice = arith.andi %before, %once : i1
    %fine = arith.xori %twice, %yes : i1
    cf.assert %fine, "a coordinate stands twice in a list that is written by"
    %next = tensor.insert %yes into %seen[%here] : tensor<?xi1>
    scf.yield %next : tensor<?xi1>
  }
  return
}
