// Rows of a group times a strip of the group's matrix. $ROWS rows are gathered as they are packed, $CHUNK of k at a time;
// then each panel of the matrix is packed once for all of them. Places beyond a group count nothing.
//   type $E = f32, $A = f32, $P = i32, $I = i32
//   op $WIDEN = arith.bitcast, $ADD = arith.addf
//   integer $CHUNK = 128, $ROWS = 64, $STEP = 4, $WIDE = 16, $LINES = 8, $COLUMNS = 32, $STRIPS = 8, $PANELS = 4, $HELD = 512, $AHEAD = 8
!values = !tile.buffer<$CHUNKx$ROWSx$A, #tile.layout<offset [$ROWS:d1, $CHUNK:d0]>, local>
!someValues = !tile.buffer<$WIDEx$LINESx$A, #tile.layout<offset [$LINES:d1, $WIDE:d0]>, local>
!lines = !tile.buffer<$ROWSx$CHUNKx$A, #tile.layout<offset [$ROWS:d0, $CHUNK:d1]>, local>
!someLines = !tile.buffer<$LINESx$STEPx$A, #tile.layout<offset [$LINES:d0, $STEP:d1]>, local>
!packed = !tile.buffer<$HELDx$COLUMNSx$A, #tile.layout<offset [$COLUMNS:d1, $HELD:d0]>, local>
!somePacked = !tile.buffer<$STEPx$COLUMNSx$A, #tile.layout<offset [$COLUMNS:d1, $STEP:d0]>, local>
!rows = tensor<$LINESxindex>
!sums = tensor<$LINESx$COLUMNSx$A>
!held = !tile.buffer<$LINESx$COLUMNSx$A, #tile.layout<offset [$COLUMNS:d1, $LINES:d0]>, local>
!heldRow = !tile.buffer<1x$COLUMNSx$A, #tile.layout<offset [$COLUMNS:d1, 1:d0]>, local>
!row = tensor<1x$COLUMNSx$A>
!results = !tile.view<1x$COLUMNSx$A>
!factor = tensor<$STEPx$COLUMNSx$E>
tile.func private @from(memref<?x$I>, !rows) -> !rows
tile.func private @to(memref<?x$I>, index) -> index
tile.func private @factor(memref<?x?x?x$E>, index, index, index) -> !factor
tile.func private @ahead(memref<?x?x?x$E>, index, index, index) 
tile.func private @overwrites(i1) -> i1
tile.func private @store(!row, !results, index, index)
tile.kernel @kernel(%x: memref<?x?x$E>, %w: memref<?x?x?x$E>, %pos: memref<?x$P>, %crd: memref<?x$I>, %c: memref<?x?x$A>) {
  %group = tile.program_id 0
  %strip = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %step = arith.constant $STEP : index
  %wide = arith.constant $WIDE : index
  %chunk = arith.constant $CHUNK : index
  %width = arith.constant $COLUMNS : index
  %height = arith.constant $LINES : index
  %most = arith.constant $ROWS : index
  %together = arith.constant $PANELS : index
  %distance = arith.constant $AHEAD : index
  %strips = arith.constant $STRIPS : index
  %inner = memref.dim %x, %c1 : memref<?x?x$E>
  %columns = memref.dim %c, %c1 : memref<?x?x$A>
  %resultRows = memref.dim %c, %c0 : memref<?x?x$A>
  %next = arith.addi %group, %c1 : index
  %p0 = memref.load %pos[%group] : memref<?x$P>
  %p1 = memref.load %pos[%next] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = arith.index_cast %p1 : $P to index
  %panels = arith.ceildivui %columns, %width : index
  %firstPanel = arith.muli %strip, %strips : index
  %afterPanel = arith.addi %firstPanel, %strips : index
  %lastPanel = arith.minsi %afterPanel, %panels : index
  %full = arith.ceildivui %inner, %chunk : index
  %chunks = arith.maxsi %full, %c1 : index
  %X = tile.view %x : memref<?x?x$E> to !tile.view<$LINESx$WIDEx$E>
  %C = tile.view %c : memref<?x?x$A> to !results
  %values = tile.alloc : !values
  %packed = tile.alloc : !packed
  %held = tile.alloc : !held
  %lines = tile.transpose %values [1, 0] : !values -> !lines
  %none = arith.constant dense<-1> : !rows
  %start = arith.constant dense<0x0> : !sums
  %bound = tile.broadcast %end axes [] : index -> !rows
  scf.for %row = %begin to %end step %most {
    %left = arith.subi %end, %row : index
    %count = arith.minsi %left, %most : index
    scf.for %block = %c0 to %chunks step %c1 {
      %k0 = arith.muli %block, %chunk : index
      %rest = arith.subi %inner, %k0 : index
      %here = arith.minsi %rest, %chunk : index
      %isFirst = arith.cmpi eq, %block, %c0 : index
      %blockAfter = arith.addi %block, %c1 : index
      %isLastBlock = arith.cmpi sge, %blockAfter, %chunks : index
      %overwrites = tile.call @overwrites(%isFirst) : (i1) -> i1
      scf.for %line = %c0 to %count step %height {
        %p = arith.addi %row, %line : index
        %place = tile.iota dim 0 from %p : !rows
        %isRow = arith.cmpi slt, %place, %bound : !rows
        %listed = arith.select %isRow, %place, %none : tensor<$LINESxi1>, !rows
        %from = tile.call @from(%crd, %listed) : (memref<?x$I>, !rows) -> !rows
        scf.for %i = %c0 to %here step %wide {
          %k = arith.addi %k0, %i : index
          %tile = arith.divui %k, %wide : index
          %v = tile.gather %X[%from, %tile] bounds(drop) : !tile.view<$LINESx$WIDEx$E>[!rows, index] -> tensor<$LINESx$WIDEx$E>
          %v1 = $WIDEN %v : tensor<$LINESx$WIDEx$E> to tensor<$LINESx$WIDEx$A>
          %v2 = tile.transpose %v1 [1, 0] : tensor<$LINESx$WIDEx$A> -> tensor<$WIDEx$LINESx$A>
          %someValues = tile.slice %values[%i, %line] : !values -> !someValues
          tile.store %v2, %someValues : tensor<$WIDEx$LINESx$A>, !someValues
        }
      }
      %blocks = arith.ceildivui %count, %height : index
      %aheadEach = arith.ceildivui %here, %blocks : index
      scf.for %some = %firstPanel to %lastPanel step %together {
        %someAfter = arith.addi %some, %together : index
        %someLast = arith.minsi %someAfter, %lastPanel : index
        %isLast = arith.cmpi sge, %someAfter, %lastPanel : index
        %chunkAfter = arith.addi %k0, %chunk : index
        %nextSome = arith.select %isLast, %firstPanel, %someAfter : index
        %nextK = arith.select %isLast, %chunkAfter, %k0 : index
        scf.for %i = %c0 to %here step %step {
          %k = arith.addi %k0, %i : index
          %tile = arith.divui %k, %step : index
          %ahead = arith.addi %k, %distance : index
          %aheadEnd = arith.addi %ahead, %step : index
          scf.for %panel = %some to %someLast step %c1 {
            scf.for %row1 = %ahead to %aheadEnd step %c1 {
              tile.call @ahead(%w, %group, %row1, %panel) : (memref<?x?x?x$E>, index, index, index) -> ()
            }
            %w0 = tile.call @factor(%w, %group, %tile, %panel) : (memref<?x?x?x$E>, index, index, index) -> !factor
            %w1 = $WIDEN %w0 : !factor to tensor<$STEPx$COLUMNSx$A>
            %nth = arith.subi %panel, %some : index
            %base = arith.muli %nth, %chunk : index
            %at = arith.addi %base, %i : index
            %somePacked = tile.slice %packed[%at, 0] : !packed -> !somePacked
            tile.store %w1, %somePacked : tensor<$STEPx$COLUMNSx$A>, !somePacked
          }
        }
        scf.for %panel = %some to %someLast step %c1 {
          %nth = arith.subi %panel, %some : index
          %base = arith.muli %nth, %chunk : index
          scf.for %line = %c0 to %count step %height {
            %p = arith.addi %row, %line : index
            %under = arith.subi %count, %line : index
            %linesHere = arith.minsi %under, %height : index
            %lineNth = arith.divui %line, %height : index
            %aheadFrom = arith.muli %lineNth, %aheadEach : index
            %ahead = arith.addi %nextK, %aheadFrom : index
            %aheadEnd = arith.addi %ahead, %aheadEach : index
            %aheadPanel = arith.addi %nextSome, %nth : index
            scf.for %row1 = %ahead to %aheadEnd step %c1 {
              tile.call @ahead(%w, %group, %row1, %aheadPanel) : (memref<?x?x?x$E>, index, index, index) -> ()
            }
            scf.for %i = %c0 to %linesHere step %c1 {
              %at = arith.addi %p, %i : index
              %to = tile.call @to(%crd, %at) : (memref<?x$I>, index) -> index
              tile.prefetch %C[%to, %panel] write : !results
            }
            %sum = scf.for %i = %c0 to %here step %step iter_args(%acc = %start) -> (!sums) {
              %someLines = tile.slice %lines[%line, %i] : !lines -> !someLines
              %at = arith.addi %base, %i : index
              %somePacked = tile.slice %packed[%at, 0] : !packed -> !somePacked
              %lhs = tile.load %someLines : !someLines -> tensor<$LINESx$STEPx$A>
              %rhs = tile.load %somePacked : !somePacked -> tensor<$STEPx$COLUMNSx$A>
              %new = tile.mma %lhs, %rhs, %acc : tensor<$LINESx$STEPx$A>, tensor<$STEPx$COLUMNSx$A> -> !sums
              scf.yield %new : !sums
            }
            tile.store %sum, %held : !sums, !held
            scf.for %i = %c0 to %linesHere step %c1 {
              %at = arith.addi %p, %i : index
              %to = tile.call @to(%crd, %at) : (memref<?x$I>, index) -> index
              %isRow = arith.cmpi ult, %to, %resultRows : index
              scf.if %isRow {
                %heldRow = tile.slice %held[%i, 0] : !held -> !heldRow
                %part = tile.load %heldRow : !heldRow -> !row
                %result = scf.if %overwrites -> (!row) {
                  scf.yield %part : !row
                } else {
                  %before = tile.load %C[%to, %panel] : !results -> !row
                  %sum1 = $ADD %part, %before : !row
                  scf.yield %sum1 : !row
                }
                scf.if %isLastBlock {
                  tile.call @store(%result, %C, %to, %panel) : (!row, !results, index, index) -> ()
                } else {
                  tile.store %result, %C[%to, %panel] : !row, !results
                }
              }
            }
          }
        }
      }
    }
  }
  tile.return
}
