// One value of each thread of a block, combined: a tree over the threads in their order, through memory of the block.
//   type $E = f32
//   integer $THREADS = 1024
func.func private @combine($E, $E) -> $E
func.func private @reduce(%value: $E, %memory: memref<$THREADSx$E, #gpu.address_space<workgroup>>) -> $E {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %x = gpu.thread_id x
  %y = gpu.thread_id y
  %z = gpu.thread_id z
  %sx = gpu.block_dim x
  %sy = gpu.block_dim y
  %sz = gpu.block_dim z
  %planes = arith.muli %z, %sy : index
  %row = arith.addi %planes, %y : index
  %before = arith.muli %row, %sx : index
  %thread = arith.addi %before, %x : index
  %plane = arith.muli %sx, %sy : index
  %threads = arith.muli %plane, %sz : index
  memref.store %value, %memory[%thread] : memref<$THREADSx$E, #gpu.address_space<workgroup>>
  gpu.barrier
  %end = scf.while (%distance = %c1) : (index) -> index {
    %more = arith.cmpi ult, %distance, %threads : index
    scf.condition(%more) %distance : index
  } do {
  ^bb0(%distance: index):
    %next = arith.muli %distance, %c2 : index
    %rest = arith.remui %thread, %next : index
    %first = arith.cmpi eq, %rest, %c0 : index
    %other = arith.addi %thread, %distance : index
    %exists = arith.cmpi ult, %other, %threads : index
    %combines = arith.andi %first, %exists : i1
    scf.if %combines {
      %a = memref.load %memory[%thread] : memref<$THREADSx$E, #gpu.address_space<workgroup>>
      %b = memref.load %memory[%other] : memref<$THREADSx$E, #gpu.address_space<workgroup>>
      %c = func.call @combine(%a, %b) : ($E, $E) -> $E
      memref.store %c, %memory[%thread] : memref<$THREADSx$E, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    scf.yield %next : index
  }
  %result = memref.load %memory[%c0] : memref<$THREADSx$E, #gpu.address_space<workgroup>>
  gpu.barrier
  return %result : $E
}
