// Products of a batch by TMA and wgmma whose programs walk over tiles: the view of a batch is made anew for each tile, in
// the partitions. The emulator gives what the interpreter does.
// RUN: %tile_run %s --target=emulate:sm_90a --check-against=interpret --stats=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=STATS < %t.json
// CHECK: result 0: right
// STATS: "tile-make-persistent": {
// STATS-NEXT: "persistent": 1
// STATS: "tile-specialize-warps": {
// STATS-NEXT: "specialized": 1,
#s = #tile.schedule<block = [1, 64, 64, 32], warps = [4, 1, 1]>
module attributes {tile.machine = #tile.machine<"sm_90a", "cores" = 1>} {
func.func @main(%a: tensor<3x133x72xf16>, %b: tensor<3x72x136xf16>) -> tensor<3x133x136xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x133x136xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x133x136xf32>) -> tensor<3x133x136xf32>
  %0 = linalg.batch_matmul {tile.schedule = #s} ins(%a, %b : tensor<3x133x72xf16>, tensor<3x72x136xf16>) outs(%f : tensor<3x133x136xf32>) -> tensor<3x133x136xf32>
  return %0 : tensor<3x133x136xf32>
}
}
