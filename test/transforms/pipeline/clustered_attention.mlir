// Attention from linalg whose programs form clusters: the search chooses pairs of programs of one head, which share the
// copies of keys and values, where all of them visit the same blocks. On this machine the second-level cache is slow.
// The emulator gives what the interpreter does, and reads the bytes of the closed form: each query once, keys and values
// once for each pair.
// RUN: %tile_run %s --entry=pairs --target=emulate:sm_90a --check-against=interpret --stats=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=PAIRS < %t.json
// RUN: %tile_run %s --entry=odd --target=emulate:sm_90a --check-against=interpret --stats=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=ODD < %t.json
// CHECK: result 0: right
// 2 heads x 2 bytes x (256 x 64 + 1 pair x 135 x (64 + 64))
// PAIRS-DAG: "global_bytes_read": 134656
// PAIRS-DAG: "clusters": 1
// Three blocks of queries make no pairs: 2 x 2 x (384 x 64 + 3 x 135 x (64 + 64))
// ODD: "global_bytes_read": 305664
#left = affine_map<(b, m, n, k) -> (b, m, k)>
#turned = affine_map<(b, m, n, k) -> (b, n, k)>
#out = affine_map<(b, m, n, k) -> (b, m, n)>
#all = affine_map<(a, b, c) -> (a, b, c)>
module attributes {tile.machine = #tile.machine<"sm_90a", "cores" = 2, "model.equal.percent" = 1, "l2.bandwidth" = 100000000>} {
func.func @pairs(%q: tensor<2x256x64xf16>, %k: tensor<2x135x64xf16>, %v: tensor<2x135x64xf16>) -> tensor<2x256x64xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x256x135xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x256x135xf32>) -> tensor<2x256x135xf32>
  %s = linalg.batch_matmul indexing_maps = [#left, #turned, #out] ins(%q, %k : tensor<2x256x64xf16>, tensor<2x135x64xf16>) outs(%z : tensor<2x256x135xf32>) -> tensor<2x256x135xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x256x135xf32>) outs(%e : tensor<2x256x135xf32>) -> tensor<2x256x135xf32>
  %eh = tensor.empty() : tensor<2x256x135xf16>
  %h = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p : tensor<2x256x135xf32>) outs(%eh : tensor<2x256x135xf16>) {
  ^bb0(%x: f32, %o: f16):
    %t = arith.truncf %x : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x256x135xf16>
  %eo = tensor.empty() : tensor<2x256x64xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x256x64xf32>) -> tensor<2x256x64xf32>
  %r = linalg.batch_matmul ins(%h, %v : tensor<2x256x135xf16>, tensor<2x135x64xf16>) outs(%zo : tensor<2x256x64xf32>) -> tensor<2x256x64xf32>
  %er = tensor.empty() : tensor<2x256x64xf16>
  %rr = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%r : tensor<2x256x64xf32>) outs(%er : tensor<2x256x64xf16>) {
  ^bb0(%x: f32, %o: f16):
    %t = arith.truncf %x : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x256x64xf16>
  return %rr : tensor<2x256x64xf16>
}
func.func @odd(%q: tensor<2x384x64xf16>, %k: tensor<2x135x64xf16>, %v: tensor<2x135x64xf16>) -> tensor<2x384x64xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x384x135xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x384x135xf32>) -> tensor<2x384x135xf32>
  %s = linalg.batch_matmul indexing_maps = [#left, #turned, #out] ins(%q, %k : tensor<2x384x64xf16>, tensor<2x135x64xf16>) outs(%z : tensor<2x384x135xf32>) -> tensor<2x384x135xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x384x135xf32>) outs(%e : tensor<2x384x135xf32>) -> tensor<2x384x135xf32>
  %eh = tensor.empty() : tensor<2x384x135xf16>
  %h = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p : tensor<2x384x135xf32>) outs(%eh : tensor<2x384x135xf16>) {
  ^bb0(%x: f32, %o: f16):
    %t = arith.truncf %x : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x384x135xf16>
  %eo = tensor.empty() : tensor<2x384x64xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x384x64xf32>) -> tensor<2x384x64xf32>
  %r = linalg.batch_matmul ins(%h, %v : tensor<2x384x135xf16>, tensor<2x135x64xf16>) outs(%zo : tensor<2x384x64xf32>) -> tensor<2x384x64xf32>
  %er = tensor.empty() : tensor<2x384x64xf16>
  %rr = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%r : tensor<2x384x64xf32>) outs(%er : tensor<2x384x64xf16>) {
  ^bb0(%x: f32, %o: f16):
    %t = arith.truncf %x : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x384x64xf16>
  return %rr : tensor<2x384x64xf16>
}
}
