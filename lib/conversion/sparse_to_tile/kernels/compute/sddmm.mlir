// One entry of a pattern: a row of a times a row of b, $COLUMNS elements at a time; zero for what is not stored.
//   type $A = f32, $E = f32
//   op $WIDEN = arith.bitcast, $ADD = arith.addf
//   integer $COLUMNS = 32
!row = tensor<$COLUMNSx$A>
tile.func private @step(!row, !row, !row) -> !row
tile.func private @finish($A, i64) -> $A
tile.kernel @kernel(%row: memref<?xi64>, %column: memref<?xi64>, %a: memref<?x?x$E>, %b: memref<?x?x$E>, %out: memref<?x$A>) {
  %e = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant 0 : i64
  %empty = arith.constant 0x0 : $A
  %zeros = arith.constant dense<0x0> : !row
  %r = memref.load %row[%e] : memref<?xi64>
  %c = memref.load %column[%e] : memref<?xi64>
  %stored = arith.cmpi sge, %r, %none : i64
  %value = scf.if %stored -> ($A) {
    %i = arith.index_cast %r : i64 to index
    %j = arith.index_cast %c : i64 to index
    %X = tile.view %a[%i, _] : memref<?x?x$E> to !tile.view<$COLUMNSx$E>
    %Y = tile.view %b[%j, _] : memref<?x?x$E> to !tile.view<$COLUMNSx$E>
    %tiles = tile.num_tiles %X dim 0 : !tile.view<$COLUMNSx$E>
    %sums = scf.for %t = %c0 to %tiles step %c1 iter_args(%acc = %zeros) -> (!row) {
      %x = tile.load %X[%t] : !tile.view<$COLUMNSx$E> -> tensor<$COLUMNSx$E>
      %y = tile.load %Y[%t] : !tile.view<$COLUMNSx$E> -> tensor<$COLUMNSx$E>
      %lhs = $WIDEN %x : tensor<$COLUMNSx$E> to !row
      %rhs = $WIDEN %y : tensor<$COLUMNSx$E> to !row
      %new = tile.call @step(%acc, %lhs, %rhs) : (!row, !row, !row) -> !row
      scf.yield %new : !row
    }
    %total = tile.reduce {$ADD} %sums axes [0] : !row -> $A
    %depth = memref.dim %a, %c1 : memref<?x?x$E>
    %some = arith.maxsi %depth, %c1 : index
    %terms = arith.index_cast %some : index to i64
    %result = tile.call @finish(%total, %terms) : ($A, i64) -> $A
    scf.yield %result : $A
  } else {
    scf.yield %empty : $A
  }
  memref.store %value, %out[%e] {tile.final} : memref<?x$A>
  tile.return
}
