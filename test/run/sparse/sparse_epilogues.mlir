// RUN: %tile_opt %s --pass-pipeline='builtin.module(convert-sparse-to-tile,func.func(linalg-generalize-named-ops),tile-group-ops{ops=elementwise},func.func(canonicalize,cse),tile-group-ops,convert-linalg-to-tile,func.func(canonicalize,cse))' | FileCheck %s
// RUN: %python %source/test/run/check.py %tile_run %s --target=cpu
// RUN: %python %source/test/run/check.py %tile_run %s --target=emulate:sm_80
// RUN: %python %source/test/run/check.py %tile_run %s --target=emulate:gfx942
// What follows sparse products runs in their kernels, on CPUs and GPUs: csr with a bias and relu, its mean, 3 of 4 with gathered bytes
// in several blocks of the depth and edges, blocks one row high with a factor of each row, a vector, and sampled products that are squared.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: {{linalg|elementwise}}
// CHECK: tile.launch @spmm_csr_{{.*}}with
// CHECK-NOT: {{linalg|elementwise}}
// CHECK: tile.launch @spmm_mean_with
// CHECK: tile.launch @spmm_{{gathered|nm}}_with
// CHECK: tile.launch @spmm_bsr_with
// CHECK: tile.launch @spmm_csr_{{.*}}with
// CHECK: tile.launch @sddmm_with
// CHECK-NOT: linalg
// CHECK: return
// in: np.arange(0, 41, 5).astype(i32), np.tile(np.arange(5), 8).astype(i32), integers(-9, 9, 40).astype(f32), integers(-9, 9, 5, 19).astype(f32), integers(-9, 9, 19).astype(f32), np.tile(np.arange(3), (2, 30, 1)).astype(i8), integers(-128, 128, 2, 30, 3, 4).astype(i8), integers(-128, 128, 119, 19).astype(i8), integers(-9, 9, 40, 1, 1).astype(f32), integers(-9, 9, 8).astype(f32), integers(-9, 9, 8, 6).astype(f32), integers(-9, 9, 6, 5).astype(f32)
// expect: np.maximum(x2.reshape(8, 5) @ x3 + 3 + x4, 0)
// expect: np.abs(x2.reshape(8, 5) @ x3 / 5 - 1)
// expect: np.minimum(np.pad(x6.reshape(2, 90, 4).transpose(0, 2, 1).reshape(8, 30, 3), ((0, 0), (0, 0), (0, 1))).reshape(8, 120)[:7, :119].astype(i64) @ x7.astype(i64) + 1, 1000)
// expect: (x8.reshape(8, 5) @ x3) * x9[:, None]
// expect: np.maximum(x2.reshape(8, 5) @ x3[:, 1], 0)
// expect: ((x10 @ x11) * (x10 @ x11)).reshape(40)
#row = affine_map<(i, j) -> (i, j)>
#first = affine_map<(i, j) -> (i)>
#second = affine_map<(i, j) -> (j)>
#i = affine_map<(i) -> (i)>
#nm = #sparse.nm<n = 3, m = 4, vector = [4, 1]>
#bsr = #sparse.bsr<block = [1, 1]>
func.func @main(%p: tensor<9xi32>, %c: tensor<40xi32>, %v: tensor<40xf32>, %x: tensor<5x19xf32>, %bias: tensor<19xf32>, %q: tensor<2x30x3xi8>, %w: tensor<2x30x3x4xi8>, %y: tensor<119x19xi8>,
                %u: tensor<40x1x1xf32>, %scale: tensor<8xf32>, %l: tensor<8x6xf32>, %r: tensor<6x5xf32>)
    -> (tensor<8x19xf32>, tensor<8x19xf32>, tensor<7x19xi32>, tensor<8x19xf32>, tensor<8xf32>, tensor<40xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %three = arith.constant 3.0 : f32
  %unit = arith.constant 1 : i32
  %most = arith.constant 1000 : i32
  %e = tensor.empty() : tensor<8x19xf32>
  %a = sparse.assemble(%p, %c, %v) : tensor<9xi32>, tensor<40xi32>, tensor<40xf32> -> tensor<8x5xf32, #sparse.csr>
  %f0 = linalg.fill ins(%three : f32) outs(%e : tensor<8x19xf32>) -> tensor<8x19xf32>
  %s0 = sparse.spmm %a, %x, %f0 : tensor<8x5xf32, #sparse.csr>, tensor<5x19xf32>, tensor<8x19xf32>
  %r0 = linalg.generic {indexing_maps = [#row, #second, #row], iterator_types = ["parallel", "parallel"]} ins(%s0, %bias : tensor<8x19xf32>, tensor<19xf32>) outs(%e : tensor<8x19xf32>) {
  ^bb0(%g: f32, %h: f32, %o: f32):
    %0 = arith.addf %g, %h : f32
    %1 = arith.maximumf %0, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<8x19xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e : tensor<8x19xf32>) -> tensor<8x19xf32>
  %s1 = sparse.spmm %a, %x, %f1 over mean_mul : tensor<8x5xf32, #sparse.csr>, tensor<5x19xf32>, tensor<8x19xf32>
  %r1 = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel", "parallel"]} outs(%s1 : tensor<8x19xf32>) {
  ^bb0(%g: f32):
    %0 = arith.subf %g, %one : f32
    %1 = math.absf %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x19xf32>
  %n = sparse.assemble(%q, %w) : tensor<2x30x3xi8>, tensor<2x30x3x4xi8> -> tensor<7x119xi8, #nm>
  %d = tensor.empty() : tensor<7x19xi32>
  %f2 = linalg.fill ins(%unit : i32) outs(%d : tensor<7x19xi32>) -> tensor<7x19xi32>
  %s2 = sparse.spmm %n, %y, %f2 : tensor<7x119xi8, #nm>, tensor<119x19xi8>, tensor<7x19xi32>
  %r2 = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]} ins(%s2 : tensor<7x19xi32>) outs(%d : tensor<7x19xi32>) {
  ^bb0(%g: i32, %o: i32):
    %0 = arith.minsi %g, %most : i32
    linalg.yield %0 : i32
  } -> tensor<7x19xi32>
  %k = sparse.assemble(%p, %c, %u) : tensor<9xi32>, tensor<40xi32>, tensor<40x1x1xf32> -> tensor<8x5xf32, #bsr>
  %s3 = sparse.spmm %k, %x, %f1 : tensor<8x5xf32, #bsr>, tensor<5x19xf32>, tensor<8x19xf32>
  %r3 = linalg.generic {indexing_maps = [#row, #first, #row], iterator_types = ["parallel", "parallel"]} ins(%s3, %scale : tensor<8x19xf32>, tensor<8xf32>) outs(%e : tensor<8x19xf32>) {
  ^bb0(%g: f32, %h: f32, %o: f32):
    %0 = arith.mulf %g, %h : f32
    linalg.yield %0 : f32
  } -> tensor<8x19xf32>
  %column = tensor.extract_slice %x[0, 1] [5, 1] [1, 1] : tensor<5x19xf32> to tensor<5xf32>
  %j = tensor.empty() : tensor<8xf32>
  %f4 = linalg.fill ins(%zero : f32) outs(%j : tensor<8xf32>) -> tensor<8xf32>
  %s4 = sparse.spmv %a, %column, %f4 : tensor<8x5xf32, #sparse.csr>, tensor<5xf32>, tensor<8xf32>
  %r4 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%s4 : tensor<8xf32>) outs(%j : tensor<8xf32>) {
  ^bb0(%g: f32, %o: f32):
    %0 = arith.maximumf %g, %zero : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %s5 = sparse.sddmm %l, %r, %a : tensor<8x6xf32>, tensor<6x5xf32>, tensor<8x5xf32, #sparse.csr>
  %m = sparse.map %s5 : tensor<8x5xf32, #sparse.csr> {
  ^bb0(%g: f32, %at: index, %to: index):
    %0 = arith.mulf %g, %g : f32
    sparse.yield %0 : f32
  }
  %z:3 = sparse.disassemble %m : tensor<8x5xf32, #sparse.csr> -> tensor<9xi32>, tensor<40xi32>, tensor<40xf32>
  return %r0, %r1, %r2, %r3, %r4, %z#2 : tensor<8x19xf32>, tensor<8x19xf32>, tensor<7x19xi32>, tensor<8x19xf32>, tensor<8xf32>, tensor<40xf32>
}
