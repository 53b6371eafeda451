// What programs of spmm_entries have of rows that others ended, added in the order of the entries: the sums are the same
// in every run, on any number of threads.
//   type $A = f32
//   op $ADD = arith.addf
//   integer $COLUMNS = 32
tile.kernel @kernel(%carry: memref<?x?x$A>, %open: memref<?xi64>, %c: memref<?x?x$A>) {
  %col = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %parts = memref.dim %open, %c0 : memref<?xi64>
  scf.for %part = %c0 to %parts step %c1 {
    %which = memref.load %open[%part] : memref<?xi64>
    %isOpen = arith.cmpi sge, %which, %zero : i64
    scf.if %isOpen {
      %row = arith.index_cast %which : i64 to index
      %S = tile.view %carry[%part, _] : memref<?x?x$A> to !tile.view<$COLUMNSx$A>
      %C = tile.view %c[%row, _] : memref<?x?x$A> to !tile.view<$COLUMNSx$A>
      %x = tile.load %S[%col] : !tile.view<$COLUMNSx$A> -> tensor<$COLUMNSx$A>
      %y = tile.load %C[%col] : !tile.view<$COLUMNSx$A> -> tensor<$COLUMNSx$A>
      %sum = $ADD %y, %x : tensor<$COLUMNSx$A>
      tile.store %sum, %C[%col] : tensor<$COLUMNSx$A>, !tile.view<$COLUMNSx$A>
    }
  }
  tile.return
}
