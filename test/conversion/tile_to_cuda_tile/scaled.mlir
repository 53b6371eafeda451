// RUN: tile-opt %s --convert-tile-to-cuda-tile | FileCheck %s
// RUN: %tile_translate %s --tile-to-cuda-tile=13.3 -o %t.tileirbc
// RUN: not %tile_translate %s --tile-to-cuda-tile=13.2 -o %t.tileirbc 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: error: 'cuda_tile.unpack' op is an op of version 13.3; this is version 13.2

// Where CUDA Tile IR has no product of these factors, they are multiplied by their scales first; bytes hold pairs of floats of 4 bits.
// CHECK-LABEL: cuda_tile.entry @scaled
tile.kernel @scaled(%a: memref<16x32xf8E4M3FN>, %p: memref<32x8xi8>, %sa: memref<16x1xf8E8M0FNU>, %sb: memref<1x16xf8E8M0FNU>, %out: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %av = tile.view %a : memref<16x32xf8E4M3FN> to !tile.view<16x32xf8E4M3FN>
  %pv = tile.view %p : memref<32x8xi8> to !tile.view<32x8xi8>
  %sav = tile.view %sa : memref<16x1xf8E8M0FNU> to !tile.view<16x1xf8E8M0FNU>
  %sbv = tile.view %sb : memref<1x16xf8E8M0FNU> to !tile.view<1x16xf8E8M0FNU>
  %ov = tile.view %out : memref<16x16xf32> to !tile.view<16x16xf32>
  %x = tile.load %av[%c0, %c0] : !tile.view<16x32xf8E4M3FN> -> tensor<16x32xf8E4M3FN>
  %bytes = tile.load %pv[%c0, %c0] : !tile.view<32x8xi8> -> tensor<32x8xi8>
  %s = tile.load %sav[%c0, %c0] : !tile.view<16x1xf8E8M0FNU> -> tensor<16x1xf8E8M0FNU>
  %t = tile.load %sbv[%c0, %c0] : !tile.view<1x16xf8E8M0FNU> -> tensor<1x16xf8E8M0FNU>
  // CHECK: cuda_tile.unpack %{{.*}} : tile<256xi8> -> tile<512xf4E2M1FN>
  %y = tile.bitcast %bytes : tensor<32x8xi8> -> tensor<32x16xf4E2M1FN>
  // CHECK: cuda_tile.ftof %{{.*}} : tile<16x32xf8E4M3FN> -> tile<16x32xf32>
  // CHECK: cuda_tile.mulf {{.*}} : tile<16x32xf32>
  // CHECK: cuda_tile.ftof %{{.*}} : tile<32x16xf4E2M1FN> -> tile<32x16xf32>
  // CHECK: cuda_tile.mmaf
  %d = tile.mma_scaled %x scale %s, %y scale %t, %zero block 32 : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>, tensor<32x16xf4E2M1FN>, tensor<1x16xf8E8M0FNU> -> tensor<16x16xf32>
  tile.store %d, %ov[%c0, %c0] : tensor<16x16xf32>, !tile.view<16x16xf32>
  tile.return
}

// CHECK-LABEL: cuda_tile.entry @scaled_alike
tile.kernel @scaled_alike(%a: memref<16x32xf8E4M3FN>, %b: memref<32x16xf8E4M3FN>, %sa: memref<16x1xf8E8M0FNU>, %sb: memref<1x16xf8E8M0FNU>, %out: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %av = tile.view %a : memref<16x32xf8E4M3FN> to !tile.view<16x32xf8E4M3FN>
  %bv = tile.view %b : memref<32x16xf8E4M3FN> to !tile.view<32x16xf8E4M3FN>
  %sav = tile.view %sa : memref<16x1xf8E8M0FNU> to !tile.view<16x1xf8E8M0FNU>
  %sbv = tile.view %sb : memref<1x16xf8E8M0FNU> to !tile.view<1x16xf8E8M0FNU>
  %ov = tile.view %out : memref<16x16xf32> to !tile.view<16x16xf32>
  %x = tile.load %av[%c0, %c0] : !tile.view<16x32xf8E4M3FN> -> tensor<16x32xf8E4M3FN>
  %y = tile.load %bv[%c0, %c0] : !tile.view<32x16xf8E4M3FN> -> tensor<32x16xf8E4M3FN>
  %s = tile.load %sav[%c0, %c0] : !tile.view<16x1xf8E8M0FNU> -> tensor<16x1xf8E8M0FNU>
  %t = tile.load %sbv[%c0, %c0] : !tile.view<1x16xf8E8M0FNU> -> tensor<1x16xf8E8M0FNU>
  // CHECK: cuda_tile.mmaf_scaled
  %d = tile.mma_scaled %x scale %s, %y scale %t, %zero block 32 : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>, tensor<32x16xf8E4M3FN>, tensor<1x16xf8E8M0FNU> -> tensor<16x16xf32>
  tile.store %d, %ov[%c0, %c0] : tensor<16x16xf32>, !tile.view<16x16xf32>
  tile.return
}
