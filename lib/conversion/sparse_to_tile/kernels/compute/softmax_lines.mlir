// Softmax of the entries of a line that stand side by side, $LANES at a time: the line's maximum, the sum of the
// exponentials of what each entry is less, and their quotients. Lines of up to $LANES entries are read once.
//   type $E = f32, $A = f32, $P = i32
//   op $WIDEN = arith.bitcast, $NARROW = arith.bitcast
//   integer $LANES = 16
//   attribute $LEAST = 0xFF800000 : f32
!lanes = tensor<$LANESx$A>
!view = !tile.view<$LANESx$E, steps = [1]>
tile.kernel @kernel(%pos: memref<?x$P>, %val: memref<?x$E>, %out: memref<?x$E>) {
  %row = tile.program_id 0
  %c1 = arith.constant 1 : index
  %lanes = arith.constant $LANES : index
  %one = arith.constant 1.0 : $A
  %zeros = arith.constant dense<0x0> : !lanes
  %low = arith.constant $LEAST
  %least = tile.broadcast %low axes [] : $A -> !lanes
  %next = arith.addi %row, %c1 : index
  %p0 = memref.load %pos[%row] : memref<?x$P>
  %p1 = memref.load %pos[%next] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = arith.index_cast %p1 : $P to index
  %ends = tile.broadcast %end axes [] : index -> tensor<$LANESxindex>
  %V = tile.view %val : memref<?x$E> to !view
  %O = tile.view %out : memref<?x$E> to !view
  %count = arith.subi %end, %begin : index
  %isLong = arith.cmpi sgt, %count, %lanes : index
  %isSome = arith.cmpi sgt, %end, %begin : index
  scf.if %isLong {
    %m = scf.for %e = %begin to %end step %lanes iter_args(%acc = %least) -> (!lanes) {
      %x = tile.load %V[%e] : !view -> tensor<$LANESx$E>
      %w = $WIDEN %x : tensor<$LANESx$E> to !lanes
      %i = tile.iota dim 0 from %e : tensor<$LANESxindex>
      %in = arith.cmpi slt, %i, %ends : tensor<$LANESxindex>
      %y = arith.select %in, %w, %least : tensor<$LANESxi1>, !lanes
      %new = arith.maximumf %acc, %y : !lanes
      scf.yield %new : !lanes
    }
    %maximum = tile.reduce {arith.maximumf} %m axes [0] : !lanes -> $A
    %maxima = tile.broadcast %maximum axes [] : $A -> !lanes
    %s = scf.for %e = %begin to %end step %lanes iter_args(%acc = %zeros) -> (!lanes) {
      %x = tile.load %V[%e] : !view -> tensor<$LANESx$E>
      %w = $WIDEN %x : tensor<$LANESx$E> to !lanes
      %d = arith.subf %w, %maxima : !lanes
      %y = math.exp %d fastmath<afn> : !lanes
      %i = tile.iota dim 0 from %e : tensor<$LANESxindex>
      %in = arith.cmpi slt, %i, %ends : tensor<$LANESxindex>
      %term = arith.select %in, %y, %zeros : tensor<$LANESxi1>, !lanes
      %new = arith.addf %acc, %term : !lanes
      scf.yield %new : !lanes
    }
    %sum = tile.reduce {arith.addf} %s axes [0] : !lanes -> $A
    %part = arith.divf %one, %sum : $A
    %parts = tile.broadcast %part axes [] : $A -> !lanes
    scf.for %e = %begin to %end step %lanes {
      %x = tile.load %V[%e] : !view -> tensor<$LANESx$E>
      %w = $WIDEN %x : tensor<$LANESx$E> to !lanes
      %d = arith.subf %w, %maxima : !lanes
      %y = math.exp %d fastmath<afn> : !lanes
      %q = arith.mulf %y, %parts : !lanes
      %r = $NARROW %q : !lanes to tensor<$LANESx$E>
      %after = arith.addi %e, %lanes : index
      %isWhole = arith.cmpi sle, %after, %end : index
      scf.if %isWhole {
        tile.store %r, %O[%e] : tensor<$LANESx$E>, !view
      } else {
        %i = tile.iota dim 0 from %e : tensor<$LANESxindex>
        %in = arith.cmpi slt, %i, %ends : tensor<$LANESxindex>
        tile.scatter %r, %out[%i] mask %in bounds(drop) : tensor<$LANESx$E>, memref<?x$E>[tensor<$LANESxindex>]
      }
    }
  } else {
    scf.if %isSome {
      %x = tile.load %V[%begin] : !view -> tensor<$LANESx$E>
      %w = $WIDEN %x : tensor<$LANESx$E> to !lanes
      %i = tile.iota dim 0 from %begin : tensor<$LANESxindex>
      %in = arith.cmpi slt, %i, %ends : tensor<$LANESxindex>
      %z = arith.select %in, %w, %least : tensor<$LANESxi1>, !lanes
      %maximum = tile.reduce {arith.maximumf} %z axes [0] : !lanes -> $A
      %maxima = tile.broadcast %maximum axes [] : $A -> !lanes
      %d = arith.subf %w, %maxima : !lanes
      %y = math.exp %d fastmath<afn> : !lanes
      %terms = arith.select %in, %y, %zeros : tensor<$LANESxi1>, !lanes
      %sum = tile.reduce {arith.addf} %terms axes [0] : !lanes -> $A
      %part = arith.divf %one, %sum : $A
      %parts = tile.broadcast %part axes [] : $A -> !lanes
      %q = arith.mulf %y, %parts : !lanes
      %r = $NARROW %q : !lanes to tensor<$LANESx$E>
      tile.scatter %r, %out[%i] mask %in bounds(drop) : tensor<$LANESx$E>, memref<?x$E>[tensor<$LANESxindex>]
    }
  }
  tile.return
}
