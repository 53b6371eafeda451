// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops,tile-construct-tiles{ops=products}),convert-linalg-to-tile,tile.kernel(canonicalize,cse))' | FileCheck %s

// A machine with dot instructions: B is packed with the members of a group side by side. bf16 goes by the instruction
// where no number is so small that it would count as 0, by multiply-adds elsewhere.
// CHECK: #[[PAIRS:.*]] = #tile.layout<offset [2:d0, 32:d1, 256:d0*2]>
// CHECK: !tile.buffer<512x32xbf16, #[[PAIRS]], local>
// CHECK-LABEL: tile.kernel private @matmul_0(%{{.*}}: memref<64x512xbf16>
// CHECK: tile.reduce {arith.minui} {{.*}} axes [0, 1] : tensor<8x512xi16> -> i16
// CHECK: tile.reduce {arith.minui} {{.*}} axes [0, 1] : tensor<512x32xi16> -> i16
// CHECK: scf.if
// CHECK: tile.mma {{.*}} atom "vdpbf16ps" : tensor<8x512xbf16>, tensor<512x32xbf16> -> tensor<8x32xf32>
// CHECK: } else {
// CHECK-NOT: atom
// CHECK: tile.mma {{.*}} : tensor<8x512xbf16>, tensor<512x32xbf16> -> tensor<8x32xf32>
module attributes {tile.machine = #tile.machine<"x86-64-v4", "atom.vdpbf16ps" = "1x16x2 bf16,bf16,f32">} {
  func.func @f(%a: tensor<64x512xbf16>, %b: tensor<512x64xbf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %m = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<64x512xbf16>, tensor<512x64xbf16>) outs(%c : tensor<64x64xf32>) {
    ^bb0(%x: bf16, %y: bf16, %o: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x64xf32>
    return %m : tensor<64x64xf32>
  }
}

// -----

// CHECK: #[[QUADS:.*]] = #tile.layout<offset [4:d0, 32:d1, 128:d0*4]>
// CHECK: !tile.buffer<512x32xi8, #[[QUADS]], local>
// CHECK-LABEL: tile.kernel private @matmul_0(%{{.*}}: memref<64x500xi8>
// CHECK: arith.xori {{.*}} : tensor<8x512xi8>
// CHECK: tile.mma {{.*}} atom "vpdpbusd" : tensor<1x512xi8>, tensor<512x32xi8> -> tensor<1x32xi32>
// CHECK: arith.muli {{.*}} : tensor<32xi32>
// CHECK: tile.mma {{.*}} atom "vpdpbusd" : tensor<8x512xi8>, tensor<512x32xi8> -> tensor<8x32xi32>
module attributes {tile.machine = #tile.machine<"x86-64-v4", "atom.vpdpbusd" = "1x16x4 i8,i8,i32">} {
  func.func @f(%a: tensor<64x500xi8>, %b: tensor<500x64xi8>, %c: tensor<64x64xi32>) -> tensor<64x64xi32> {
    %m = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<64x500xi8>, tensor<500x64xi8>) outs(%c : tensor<64x64xi32>) {
    ^bb0(%x: i8, %y: i8, %o: i32):
      %u = arith.extsi %x : i8 to i32
      %v = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %v : i32
      %s = arith.addi %o, %p : i32
      linalg.yield %s : i32
    } -> tensor<64x64xi32>
    return %m : tensor<64x64xi32>
  }
}

// -----

// A machine without: no instruction is named.
// CHECK-LABEL: tile.kernel private @product_0
// CHECK-NOT: atom
// CHECK: tile.mma
// CHECK-NOT: atom
module attributes {tile.machine = #tile.machine<"x86-64-v3">} {
  func.func @f(%a: tensor<64x500xi8>, %b: tensor<500x64xi8>, %c: tensor<64x64xi32>) -> tensor<64x64xi32> {
    %m = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<64x500xi8>, tensor<500x64xi8>) outs(%c : tensor<64x64xi32>) {
    ^bb0(%x: i8, %y: i8, %o: i32):
      %u = arith.extsi %x : i8 to i32
      %v = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %v : i32
      %s = arith.addi %o, %p : i32
      linalg.yield %s : i32
    } -> tensor<64x64xi32>
    return %m : tensor<64x64xi32>
  }
}

// -----

// Pairs of f16 by FP16 arithmetic, without a branch.
// CHECK: #[[HALVES:.*]] = #tile.layout<offset [2:d0, 32:d1, 256:d0*2]>
// CHECK: !tile.buffer<512x32xf16, #[[HALVES]], local>
// CHECK-LABEL: tile.kernel private @matmul_0
// CHECK-NOT: scf.if
// CHECK: tile.mma {{.*}} atom "vfmaddph" : tensor<8x512xf16>, tensor<512x32xf16> -> tensor<8x32xf16>
module attributes {tile.machine = #tile.machine<"x86-64-v4", "atom.vfmaddph" = "1x32x1 f16,f16,f16">} {
  func.func @f(%a: tensor<64x512xf16>, %b: tensor<512x64xf16>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
    %m = linalg.matmul ins(%a, %b : tensor<64x512xf16>, tensor<512x64xf16>) outs(%c : tensor<64x64xf16>) -> tensor<64x64xf16>
    return %m : tensor<64x64xf16>
  }
}

// -----

// A dot instruction that is no faster than multiply-adds of f32 is not used: factors are widened while they are packed.
// CHECK-LABEL: tile.kernel private @matmul_0
// CHECK: arith.extf {{.*}} : tensor<{{.*}}xbf16> to tensor<{{.*}}xf32>
// CHECK: arith.extf {{.*}} : tensor<{{.*}}xbf16> to tensor<{{.*}}xf32>
// CHECK-NOT: atom
// CHECK: tile.mma {{.*}} : tensor<{{.*}}xf32>, tensor<{{.*}}xf32> -> tensor<{{.*}}xf32>
module attributes {tile.machine = #tile.machine<"x86-64-v4", "atom.vdpbf16ps" = "1x16x2 bf16,bf16,f32", "rate.vdpbf16ps" = 32>} {
  func.func @f(%a: tensor<64x512xbf16>, %b: tensor<512x64xbf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %m = linalg.matmul ins(%a, %b : tensor<64x512xbf16>, tensor<512x64xbf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %m : tensor<64x64xf32>
  }
}

// -----

// Between blocks of k the sums of a narrow result wait in f32. They are rounded once.
// CHECK-LABEL: tile.kernel private @matmul_0
// CHECK: tile.mma {{.*}} -> tensor<{{.*}}xf32>
// CHECK: scf.if {{.*}} -> (tensor<{{.*}}xf32>) {
// CHECK: scf.if {{.*}} {
// CHECK: arith.truncf {{.*}} : tensor<{{.*}}xf32> to tensor<{{.*}}xbf16>
// CHECK: tile.store {{.*}}xbf16>, !tile.view
// CHECK: } else {
// CHECK: tile.store {{.*}}xf32>, !{{.*}}buffer
module attributes {tile.machine = #tile.machine<"x86-64-v4">} {
  func.func @f(%a: tensor<64x4096xbf16>, %b: tensor<4096x64xbf16>, %c: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
    %m = linalg.matmul ins(%a, %b : tensor<64x4096xbf16>, tensor<4096x64xbf16>) outs(%c : tensor<64x64xbf16>) -> tensor<64x64xbf16>
    return %m : tensor<64x64xbf16>
  }
}

// -----

// The instruction adds bf16 in f32, so it serves results of bf16 too: with and without it the sum is rounded once.
// CHECK-LABEL: tile.kernel private @matmul_0
// CHECK: scf.if
// CHECK: tile.mma {{.*}} atom "vdpbf16ps" : tensor<8x512xbf16>, tensor<512x32xbf16> -> tensor<8x32xf32>
// CHECK: arith.truncf {{.*}} : tensor<8x32xf32> to tensor<8x32xbf16>
// CHECK: } else {
// CHECK-NOT: atom
// CHECK: tile.mma {{.*}} : tensor<8x512xbf16>, tensor<512x32xbf16> -> tensor<8x32xf32>
// CHECK: arith.truncf {{.*}} : tensor<8x32xf32> to tensor<8x32xbf16>
module attributes {tile.machine = #tile.machine<"x86-64-v4", "atom.vdpbf16ps" = "1x16x2 bf16,bf16,f32">} {
  func.func @f(%a: tensor<64x512xbf16>, %b: tensor<512x64xbf16>, %c: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
    %m = linalg.matmul ins(%a, %b : tensor<64x512xbf16>, tensor<512x64xbf16>) outs(%c : tensor<64x64xbf16>) -> tensor<64x64xbf16>
    return %m : tensor<64x64xbf16>
  }
}
