// Products of f32 with `precision tf32` by wgmma and tcgen05: factors go to shared memory as f32, and the instruction drops
// their last digits. Both factors' neighbours lie along k; a factor that lies the other way, and a product of another
// precision, go another way. The result is within the bound of tf32 (docs/numerics.md).
// RUN: %tile_run %s --target=emulate:sm_90a --check-against=interpret --stats=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=SPECIAL < %t.json
// RUN: %tile_run %s --target=emulate:sm_100a --check-against=interpret --stats=%t.100.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=SPECIAL < %t.100.json
// RUN: %tile_run %s --entry=rows --target=emulate:sm_90a --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --entry=exact --target=emulate:sm_90a --check-against=interpret | FileCheck %s
// RUN: %tile_translate %s --tile-to-ptx --chip=sm_90a -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: %tile_translate %s --tile-to-ptx --chip=sm_100a -o %t.100.ptx
// RUN: FileCheck %s --check-prefix=TENSOR < %t.100.ptx
// CHECK: result 0: right
// SPECIAL: "tile-specialize-warps": {
// SPECIAL-NEXT: "specialized": 1,
// PTX: wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32
// TENSOR: tcgen05.mma.cta_group::1.kind::tf32

tile.kernel @along(%a_: memref<?x?xf32>, %b_: memref<?x?xf32>, %c: memref<?x?xf32>) attributes {warps = 4 : i32} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x32xf32>
  %a = tile.assume %a_ align 16 strides [4, 1] : memref<?x?xf32>
  %b = tile.assume %b_ align 16 strides [4, 1] : memref<?x?xf32>
  %A = tile.view %a : memref<?x?xf32> to !tile.view<128x32xf32>
  %B = tile.view %b : memref<?x?xf32> to !tile.view<32x32xf32, order = [1, 0]>
  %C = tile.view %c : memref<?x?xf32> to !tile.view<128x32xf32>
  %steps = tile.num_tiles %A dim 1 : !tile.view<128x32xf32>
  %r = scf.for %k = %c0 to %steps step %c1 iter_args(%s = %zero) -> (tensor<128x32xf32>) {
    %x = tile.load %A[%i, %k] : !tile.view<128x32xf32> -> tensor<128x32xf32>
    %y = tile.load %B[%k, %j] : !tile.view<32x32xf32, order = [1, 0]> -> tensor<32x32xf32>
    %m = tile.mma %x, %y, %s precision tf32 : tensor<128x32xf32>, tensor<32x32xf32> -> tensor<128x32xf32>
    scf.yield %m : tensor<128x32xf32>
  }
  tile.store %r, %C[%i, %j] : tensor<128x32xf32>, !tile.view<128x32xf32>
  tile.return
}
func.func @main(%a: tensor<133x100xf32>, %b: tensor<72x100xf32>) -> tensor<133x72xf32> {
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %e = tensor.empty() : tensor<133x72xf32>
  %0 = tile.launch @along grid(%two, %three) ins(%a, %b : tensor<133x100xf32>, tensor<72x100xf32>) outs(%e : tensor<133x72xf32>) -> tensor<133x72xf32>
  return %0 : tensor<133x72xf32>
}

tile.kernel @across(%a_: memref<?x?xf32>, %b_: memref<?x?xf32>, %c: memref<?x?xf32>) attributes {warps = 4 : i32} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x32xf32>
  %a = tile.assume %a_ align 16 strides [4, 1] : memref<?x?xf32>
  %b = tile.assume %b_ align 16 strides [4, 1] : memref<?x?xf32>
  %A = tile.view %a : memref<?x?xf32> to !tile.view<128x32xf32>
  %B = tile.view %b : memref<?x?xf32> to !tile.view<32x32xf32>
  %C = tile.view %c : memref<?x?xf32> to !tile.view<128x32xf32>
  %steps = tile.num_tiles %A dim 1 : !tile.view<128x32xf32>
  %r = scf.for %k = %c0 to %steps step %c1 iter_args(%s = %zero) -> (tensor<128x32xf32>) {
    %x = tile.load %A[%i, %k] : !tile.view<128x32xf32> -> tensor<128x32xf32>
    %y = tile.load %B[%k, %j] : !tile.view<32x32xf32> -> tensor<32x32xf32>
    %m = tile.mma %x, %y, %s precision tf32 : tensor<128x32xf32>, tensor<32x32xf32> -> tensor<128x32xf32>
    scf.yield %m : tensor<128x32xf32>
  }
  tile.store %r, %C[%i, %j] : tensor<128x32xf32>, !tile.view<128x32xf32>
  tile.return
}
func.func @rows(%a: tensor<133x100xf32>, %b: tensor<100x72xf32>) -> tensor<133x72xf32> {
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %e = tensor.empty() : tensor<133x72xf32>
  %0 = tile.launch @across grid(%two, %three) ins(%a, %b : tensor<133x100xf32>, tensor<100x72xf32>) outs(%e : tensor<133x72xf32>) -> tensor<133x72xf32>
  return %0 : tensor<133x72xf32>
}

tile.kernel @whole(%a_: memref<?x?xf32>, %b_: memref<?x?xf32>, %c: memref<?x?xf32>) attributes {warps = 4 : i32} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x32xf32>
  %a = tile.assume %a_ align 16 strides [4, 1] : memref<?x?xf32>
  %b = tile.assume %b_ align 16 strides [4, 1] : memref<?x?xf32>
  %A = tile.view %a : memref<?x?xf32> to !tile.view<128x32xf32>
  %B = tile.view %b : memref<?x?xf32> to !tile.view<32x32xf32, order = [1, 0]>
  %C = tile.view %c : memref<?x?xf32> to !tile.view<128x32xf32>
  %steps = tile.num_tiles %A dim 1 : !tile.view<128x32xf32>
  %r = scf.for %k = %c0 to %steps step %c1 iter_args(%s = %zero) -> (tensor<128x32xf32>) {
    %x = tile.load %A[%i, %k] : !tile.view<128x32xf32> -> tensor<128x32xf32>
    %y = tile.load %B[%k, %j] : !tile.view<32x32xf32, order = [1, 0]> -> tensor<32x32xf32>
    %m = tile.mma %x, %y, %s : tensor<128x32xf32>, tensor<32x32xf32> -> tensor<128x32xf32>
    scf.yield %m : tensor<128x32xf32>
  }
  tile.store %r, %C[%i, %j] : tensor<128x32xf32>, !tile.view<128x32xf32>
  tile.return
}
func.func @exact(%a: tensor<133x100xf32>, %b: tensor<72x100xf32>) -> tensor<133x72xf32> {
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %e = tensor.empty() : tensor<133x72xf32>
  %0 = tile.launch @whole grid(%two, %three) ins(%a, %b : tensor<133x100xf32>, tensor<72x100xf32>) outs(%e : tensor<133x72xf32>) -> tensor<133x72xf32>
  return %0 : tensor<133x72xf32>
}
