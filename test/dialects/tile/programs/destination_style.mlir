// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// What:   x -> softmax -> gemm + bias + relu, dynamic sizes: the tile graph of a small program.
// Level:  tile graph (host, on tensors, before bufferization).
// Shows:  tile.launch in destination style: a result per `outs`, tied to it; operands map to the kernel's parameters in order
//         (ins, then outs); scalars go in `ins`; grids are ordinary index arithmetic; no effects, so dead launches vanish and equal ones merge.
// After tile-bufferize-host: the same op on memrefs, no results; order between launches then follows from their effects.

func.func @main(%x: tensor<?x?xf32>, %w: tensor<?x?xf16>, %bias: tensor<?xf32>) -> tensor<?x?xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c128 = arith.constant 128 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %k = tensor.dim %x, %c1 : tensor<?x?xf32>
  %n = tensor.dim %w, %c1 : tensor<?x?xf16>

  %e0 = tensor.empty(%m, %k) : tensor<?x?xf32>
  %rows = arith.ceildivui %m, %c4 : index
  %p = tile.launch @softmax grid(%rows) ins(%x : tensor<?x?xf32>) outs(%e0 : tensor<?x?xf32>) -> tensor<?x?xf32>

  // What is not a kernel yet is linalg; `tile-fuse-at-memory-level` pulls this cast into the gemm's load.
  %e1 = tensor.empty(%m, %k) : tensor<?x?xf16>
  %h = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<?x?xf32>) outs(%e1 : tensor<?x?xf16>) {
  ^bb0(%f: f32, %unused: f16):
    %t = arith.truncf %f : f32 to f16
    linalg.yield %t : f16
  } -> tensor<?x?xf16>

  %e2 = tensor.empty(%m, %n) : tensor<?x?xf16>
  %gm = arith.ceildivui %m, %c128 : index
  %gn = arith.ceildivui %n, %c128 : index
  %y = tile.launch @gemm_bias_relu grid(%gm, %gn)
      ins(%h, %w, %bias : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?xf32>) outs(%e2 : tensor<?x?xf16>)
      meets [shared, global, global] -> tensor<?x?xf16>
  return %y : tensor<?x?xf16>
}

tile.kernel private @softmax(memref<?x?xf32>, memref<?x?xf32>)
tile.kernel private @gemm_bias_relu(memref<?x?xf16>, memref<?x?xf16>, memref<?xf32>, memref<?x?xf16>)

// CHECK: tile.launch @softmax grid(%{{.*}}) ins(%{{.*}} : tensor<?x?xf32>) outs(%{{.*}} : tensor<?x?xf32>) -> tensor<?x?xf32>
// CHECK: tile.launch @gemm_bias_relu grid(%{{.*}}, %{{.*}}) ins(
// CHECK: meets [shared, global, global] -> tensor<?x?xf16>
// CHECK: tile.kernel private @softmax(memref<?x?xf32>, memref<?x?xf32>)
