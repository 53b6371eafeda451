// Loops whose numbers stay below 2^31 count in one register; others count in 64 bits.
// RUN: %tile_opt %s --convert-tile-to-nvvm=chip=sm_80 | FileCheck %s
// RUN: %tile_opt %s --convert-tile-to-rocdl=chip=gfx942 | FileCheck %s
// CHECK-LABEL: llvm.func @loops
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} {
tile.kernel @loops(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %large = arith.constant 2147483648 : index
  %one = arith.constant 1.0 : f32
  %m = tile.assume %n range [0, 63] : index
  scf.for %i = %m to %c64 step %c1 {
    memref.store %one, %x[%i] : memref<?xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %one, %x[%i] : memref<?xf32>
  }
  scf.for %i = %m to %large step %c1 {
    memref.store %one, %x[%i] : memref<?xf32>
  }
  tile.return
}
