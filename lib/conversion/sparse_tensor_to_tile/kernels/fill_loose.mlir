// Where each segment begins and ends, from where each begins.
tile.kernel @kernel(%begins: memref<?xi64>, %pairs: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %pairs, %c0 : memref<?xi64>
  scf.for %i = %c0 to %n step %c1 {
    %down = arith.divui %i, %c2 : index
    %odd = arith.remui %i, %c2 : index
    %from = arith.addi %down, %odd : index
    %at = memref.load %begins[%from] : memref<?xi64>
    memref.store %at, %pairs[%i] : memref<?xi64>
  }
  tile.return
}
