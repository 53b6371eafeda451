// Functions are called where their results are used: a result that is used once has no variable, so that it takes a
// register for a shorter time. One that is used twice has a variable.
// RUN: %tile_translate %s --tile-to-cuda-source --chip=sm_80 | FileCheck %s
// RUN: %tile_translate %s --tile-to-hip-source --chip=gfx942 | FileCheck %s
tile.kernel @functions(%x: memref<?xf32>, %y: memref<?xf32>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<128xf32>
  %Y = tile.view %y : memref<?xf32> to !tile.view<128xf32>
  %a = tile.load %X[%i] : !tile.view<128xf32> -> tensor<128xf32>
  %b = math.exp %a : tensor<128xf32>
  %c = math.tanh %a : tensor<128xf32>
  %d = arith.addf %b, %c : tensor<128xf32>
  %e = math.log %d : tensor<128xf32>
  %f = arith.mulf %e, %e : tensor<128xf32>
  tile.store %f, %Y[%i] : tensor<128xf32>, !tile.view<128xf32>
  tile.return
}
// CHECK: functions(
// CHECK: float [[LOG:x[0-9]+]] = log_f32((exp_f32([[X:x[0-9]+]]) + tanh_f32([[X]])));
// CHECK: [[LOG]] * [[LOG]]
