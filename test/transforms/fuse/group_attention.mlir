// Two products with a softmax between them become one kernel; what stays, and why. Right numbers: test/run/linalg/fused_attention.py.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops),tile-group-ops{ops=elementwise},func.func(canonicalize,cse),tile-group-ops{ops=attention chip=x86-64-v4},convert-linalg-to-tile{chip=x86-64-v4},func.func(canonicalize,cse),tile.kernel(canonicalize,cse))' --tile-pass-statistics 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=COUNT < %t
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops),tile-group-ops{ops=elementwise},func.func(canonicalize,cse),tile-group-ops{ops=attention chip=sm_80},convert-linalg-to-tile{chip=sm_80},tile.kernel(canonicalize,cse))' | FileCheck %s --check-prefix=GPU
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops),tile-group-ops{ops=elementwise},func.func(canonicalize,cse),tile-group-ops{ops=attention chip=x86-64-v4 remarks=true})' --verify-diagnostics -o %t.mlir
// COUNT: tile-group-ops: {{.*}}2 attentions

// A scale and a causal mask: queries are columns on a CPU, rows on a GPU.
// CHECK-LABEL: func.func @causal
// CHECK-NOT: linalg
// CHECK: tile.launch @attention_0
// CHECK-NOT: linalg
// GPU-LABEL: func.func @causal
// GPU: tile.launch @attention_0
func.func @causal(%q: tensor<4x64x16xf32>, %k: tensor<4x64x16xf32>, %v: tensor<4x64x16xf32>) -> tensor<4x64x16xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.25 : f32
  %low = arith.constant -1.0e+30 : f32
  %es = tensor.empty() : tensor<4x64x64xf32>
  %eo = tensor.empty() : tensor<4x64x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x64x16xf32>) -> tensor<4x64x16xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(h, i, j, d) -> (h, i, d)>, affine_map<(h, i, j, d) -> (h, j, d)>, affine_map<(h, i, j, d) -> (h, i, j)>]
      ins(%q, %k : tensor<4x64x16xf32>, tensor<4x64x16xf32>) outs(%zs : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<4x64x64xf32>) outs(%es : tensor<4x64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %seen = arith.cmpi sle, %j, %i : index
    %m = arith.mulf %a, %scale : f32
    %r = arith.select %seen, %m, %low : f32
    linalg.yield %r : f32
  } -> tensor<4x64x64xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<4x64x64xf32>) outs(%es : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  // expected-remark @+1 {{is fused}}
  %y = linalg.batch_matmul ins(%p, %v : tensor<4x64x64xf32>, tensor<4x64x16xf32>) outs(%zo : tensor<4x64x16xf32>) -> tensor<4x64x16xf32>
  return %y : tensor<4x64x16xf32>
}

// CHECK-LABEL: tile.kernel private @attention_0
// CHECK: %[[Q:.*]] = tile.alloc
// CHECK: tile.copy {{.*}} to %[[Q]]
// CHECK: tile.mma %{{.*}} : tensor<[[J:[0-9]+]]x16xf32>, tensor<16x[[I:[0-9]+]]xf32> -> tensor<[[J]]x[[I]]xf32>
// CHECK: arith.cmpi sle
// CHECK: tile.reduce {arith.maximumf} %{{.*}} axes [0]
// CHECK: math.exp
// CHECK: tile.mma %{{.*}} : tensor<16x[[J]]xf32>, tensor<[[J]]x[[I]]xf32> -> tensor<16x[[I]]xf32>
// GPU-LABEL: tile.kernel private @attention_0
// GPU: tile.mma %{{.*}} : tensor<[[I:[0-9]+]]x16xf32>, tensor<16x[[J:[0-9]+]]xf32> -> tensor<[[I]]x[[J]]xf32>
// GPU: tile.reduce {arith.maximumf} %{{.*}} axes [1]
// GPU: tile.mma %{{.*}} : tensor<[[I]]x[[J]]xf32>, tensor<[[J]]x16xf32> -> tensor<[[I]]x16xf32>

// A sliding window that hides by -inf: blocks before the first and after the last key that a query of the program sees are not visited. With a
// number that is no infinity (above) they are where a query sees nothing: a round of its own.
// CHECK-LABEL: func.func @window
// CHECK: tile.launch @attention_1
// CHECK-LABEL: tile.kernel private @attention_1
// CHECK: %[[END:.*]] = arith.minsi
// CHECK: arith.divui
// CHECK: %[[FIRST:.*]] = arith.minsi %{{.*}}, %[[END]]
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]]
// CHECK-NOT: scf.for
func.func @window(%q: tensor<4x512x16xf32>, %k: tensor<4x512x16xf32>, %v: tensor<4x512x16xf32>) -> tensor<4x512x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x512x512xf32>
  %eo = tensor.empty() : tensor<4x512x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x512x512xf32>) -> tensor<4x512x512xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x512x16xf32>) -> tensor<4x512x16xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(h, i, j, d) -> (h, i, d)>, affine_map<(h, i, j, d) -> (h, j, d)>, affine_map<(h, i, j, d) -> (h, i, j)>]
      ins(%q, %k : tensor<4x512x16xf32>, tensor<4x512x16xf32>) outs(%zs : tensor<4x512x512xf32>) -> tensor<4x512x512xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<4x512x512xf32>) outs(%es : tensor<4x512x512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %width = arith.constant 64 : index
    %past = arith.subi %i, %j : index
    %isPast = arith.cmpi sgt, %j, %i : index
    %isFar = arith.cmpi sge, %past, %width : index
    %hidden = arith.ori %isPast, %isFar : i1
    %r = arith.select %hidden, %low, %a : f32
    linalg.yield %r : f32
  } -> tensor<4x512x512xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<4x512x512xf32>) outs(%es : tensor<4x512x512xf32>) -> tensor<4x512x512xf32>
  // expected-remark @+1 {{is fused}}
  %y = linalg.batch_matmul ins(%p, %v : tensor<4x512x512xf32>, tensor<4x512x16xf32>) outs(%zo : tensor<4x512x16xf32>) -> tensor<4x512x16xf32>
  return %y : tensor<4x512x16xf32>
}

// The weights are asked for.
// CHECK-LABEL: func.func @weights
// CHECK: tile.launch @softmax
func.func @weights(%q: tensor<4x64x16xf32>, %k: tensor<4x16x64xf32>, %v: tensor<4x64x16xf32>) -> (tensor<4x64x16xf32>, tensor<4x64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<4x64x64xf32>
  %eo = tensor.empty() : tensor<4x64x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x64x16xf32>) -> tensor<4x64x16xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<4x64x16xf32>, tensor<4x16x64xf32>) outs(%zs : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<4x64x64xf32>) outs(%es : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  // expected-remark @+1 {{is not fused as attention: its weights have another user}}
  %y = linalg.batch_matmul ins(%p, %v : tensor<4x64x64xf32>, tensor<4x64x16xf32>) outs(%zo : tensor<4x64x16xf32>) -> tensor<4x64x16xf32>
  return %y, %p : tensor<4x64x16xf32>, tensor<4x64x64xf32>
}

// Four queries fill a quarter of a vector: apart it is faster. And scores that are added to something.
// CHECK-LABEL: func.func @few
// CHECK: tile.launch @softmax
func.func @few(%q: tensor<8x4x128xf32>, %k: tensor<8x128x2048xf32>, %v: tensor<8x2048x128xf32>, %old: tensor<8x4x2048xf32>) -> (tensor<8x4x128xf32>, tensor<8x4x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<8x4x2048xf32>
  %eo = tensor.empty() : tensor<8x4x128xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<8x4x2048xf32>) -> tensor<8x4x2048xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<8x4x128xf32>) -> tensor<8x4x128xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<8x4x128xf32>, tensor<8x128x2048xf32>) outs(%zs : tensor<8x4x2048xf32>) -> tensor<8x4x2048xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<8x4x2048xf32>) outs(%es : tensor<8x4x2048xf32>) -> tensor<8x4x2048xf32>
  // expected-remark @+1 {{is not fused as attention: one kernel would take}}
  %y = linalg.batch_matmul ins(%p, %v : tensor<8x4x2048xf32>, tensor<8x2048x128xf32>) outs(%zo : tensor<8x4x128xf32>) -> tensor<8x4x128xf32>
  %s2 = linalg.batch_matmul ins(%q, %k : tensor<8x4x128xf32>, tensor<8x128x2048xf32>) outs(%old : tensor<8x4x2048xf32>) -> tensor<8x4x2048xf32>
  %p2 = linalg.softmax dimension(2) ins(%s2 : tensor<8x4x2048xf32>) outs(%es : tensor<8x4x2048xf32>) -> tensor<8x4x2048xf32>
  // expected-remark @+1 {{is not fused as attention: a product starts from a tensor; a group accepts products that start from a constant}}
  %y2 = linalg.batch_matmul ins(%p2, %v : tensor<8x4x2048xf32>, tensor<8x2048x128xf32>) outs(%zo : tensor<8x4x128xf32>) -> tensor<8x4x128xf32>
  return %y, %y2 : tensor<8x4x128xf32>, tensor<8x4x128xf32>
}
