// The tiles of a row of tiles that a mask names, one after another from where the row begins. Behind all lists each row
// has a place for the tiles that the mask does not name: a store without a branch, which a random mask would mislead.
//   type $P = i32, $I = i32
tile.kernel @kernel(%mask: memref<?x?xi1>, %pos: memref<?x$P>, %crd: memref<?x$I>) {
  %line = tile.program_id 0
  %lines = tile.num_programs 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tiles = memref.dim %mask, %c1 : memref<?x?xi1>
  %p0 = memref.load %pos[%line] : memref<?x$P>
  %pn = memref.load %pos[%lines] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %all = arith.index_cast %pn : $P to index
  %aside = arith.addi %all, %line : index
  %none = arith.constant 0 : $I
  memref.store %none, %crd[%aside] : memref<?x$I>
  %end = scf.for %t = %c0 to %tiles step %c1 iter_args(%at = %begin) -> (index) {
    %some = memref.load %mask[%line, %t] : memref<?x?xi1>
    %tile = arith.index_cast %t : index to $I
    %place = arith.select %some, %at, %aside : index
    memref.store %tile, %crd[%place] : memref<?x$I>
    %one = arith.extui %some : i1 to i64
    %step = arith.index_cast %one : i64 to index
    %after = arith.addi %at, %step : index
    scf.yield %after : index
  }
  tile.return
}
