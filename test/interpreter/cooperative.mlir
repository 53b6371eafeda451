// Programs that wait for each other end in an error at the launch, not in a wait for ever. One program has nobody to wait
// for. The emulator runs all programs at once (test/runtime/device_test.c).
// RUN: not %tile_run --target=interpret %s --entry=four 2>&1 | FileCheck %s --check-prefix=FOUR
// RUN: not %tile_run --target=cpu %s --entry=four 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: %tile_run --target=interpret %s --entry=one
// FOUR: cooperative.mlir:[[@LINE+20]]:3: error: 'tile.launch' op launches 4 programs of a cooperative kernel, which wait for each other; the interpreter runs one after the other
// CPU: cooperative.mlir:[[@LINE+1]]:1: error: {{.*}}is cooperative: its programs wait for each other
tile.kernel @meet(%arrived: memref<1xi32>) attributes {warps = 4 : i32, cooperative} {
  %n = tile.num_programs 0
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %all = arith.index_cast %n : index to i32
  %before = tile.atomic_rmw add %one, %arrived[%c0] acq_rel device : i32, memref<1xi32> -> i32
  scf.while : () -> () {
    %seen = tile.atomic_load %arrived[%c0] acquire device : memref<1xi32> -> i32
    %late = arith.cmpi slt, %seen, %all : i32
    scf.condition(%late)
  } do {
    scf.yield
  }
  tile.return
}
func.func @four(%arrived: memref<1xi32>) {
  %c4 = arith.constant 4 : index
  tile.launch @meet grid(%c4) outs(%arrived : memref<1xi32>)
  return
}
func.func @one() -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %arrived = memref.alloc() : memref<1xi32>
  memref.store %zero, %arrived[%c0] : memref<1xi32>
  tile.launch @meet grid(%c1) outs(%arrived : memref<1xi32>)
  %r = memref.load %arrived[%c0] : memref<1xi32>
  memref.dealloc %arrived : memref<1xi32>
  return %r : i32
}
