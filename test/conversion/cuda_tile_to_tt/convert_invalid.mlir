// RUN: tile-opt %s --convert-cuda-tile-to-tt -split-input-file -verify-diagnostics

cuda_tile.entry @rounding(%x: tensor<f32>) {
  // expected-error@+1 {{rounds zero, expected nearest_even, approx or full}}
  %y = cuda_tile.addf %x, %x rounding<zero> : tile<f32>
  cuda_tile.return
}

// -----

cuda_tile.entry @flushes(%x: tensor<f16>) {
  // expected-error@+1 {{flushes subnormal numbers of f16, expected f32}}
  %y = cuda_tile.mulf %x, %x flush_to_zero : tile<f16>
  cuda_tile.return
}

// -----

cuda_tile.entry @saturates(%x: tensor<f32>) {
  // expected-error@+1 {{saturates, which has no conversion to tt}}
  %y = cuda_tile.ftoi %x signed saturating : tile<f32> -> tile<i32>
  cuda_tile.return
}

// -----

cuda_tile.entry @unsigned(%c: tensor<16x16xi32>) {
  cuda_tile.return
}
// expected-error@-3 {{parameter 0 is tensor<16x16xi32>, expected a tile of rank 0}}

// -----

cuda_tile.entry @signs() {
  %a = cuda_tile.constant dense<1> : tensor<16x16xi16>
  %c = cuda_tile.constant dense<1> : tensor<16x16xi32>
  // expected-error@+1 {{multiplies unsigned i16, expected i8}}
  %d = cuda_tile.mmai %a, %a, %c unsigned signed : (tile<16x16xi16>, tile<16x16xi16>, tile<16x16xi32>) -> tile<16x16xi32>
  cuda_tile.return
}

// -----

cuda_tile.entry @scales() {
  %a = cuda_tile.constant dense<1.0> : tensor<16x32xf16>
  %s = cuda_tile.constant dense<1.0> : tensor<16x1xf8E8M0FNU>
  %b = cuda_tile.constant dense<1.0> : tensor<32x16xf16>
  %t = cuda_tile.constant dense<1.0> : tensor<1x16xf8E8M0FNU>
  %c = cuda_tile.constant dense<1.0> : tensor<16x16xf32>
  // expected-error@+1 {{multiplies tensor<16x32xf16> by tensor<32x16xf16>, expected matrices of e4m3, e5m2 or e2m1}}
  %d = cuda_tile.mmaf_scaled %a, %b, %c, %s, %t : (tile<16x32xf16>, tile<32x16xf16>, tile<16x16xf32>, tile<16x1xf8E8M0FNU>, tile<1x16xf8E8M0FNU>) -> tile<16x16xf32>
  cuda_tile.return
}

// -----

cuda_tile.entry @part(%i: tensor<i32>) {
  %x = cuda_tile.constant dense<1.0> : tensor<3xf32>
  %y = cuda_tile.constant dense<1.0> : tensor<8xf32>
  // expected-error@+1 {{puts 3 places into 8, expected a divisor}}
  %z = cuda_tile.insert %x into %y[%i] : (tile<3xf32>, tile<8xf32>, tile<i32>) -> tile<8xf32>
  cuda_tile.return
}

// -----

cuda_tile.entry @places(%i: tensor<i32>) {
  %x = cuda_tile.constant dense<1.0> : tensor<2xf32>
  %y = cuda_tile.constant dense<1.0> : tensor<8x8xf32>
  // expected-error@+1 {{has 1 indices for tiles of 1 and 2 dimensions, expected as many}}
  %z = cuda_tile.insert %x into %y[%i] : (tile<2xf32>, tile<8x8xf32>, tile<i32>) -> tile<8x8xf32>
  cuda_tile.return
}

// -----

cuda_tile.entry @bytes() {
  %x = cuda_tile.constant dense<1.0> : tensor<8xf32>
  // expected-error@+1 {{has the types tensor<8xf32> and tensor<16xi8>, expected lines of elements and of as many bytes}}
  %z = cuda_tile.pack %x : tile<8xf32> -> tile<16xi8>
  cuda_tile.return
}

// -----

cuda_tile.entry @lanes(%p: tensor<!cuda_tile.ptr<i32>>) {
  %q = cuda_tile.reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
  %x = cuda_tile.constant dense<1> : tensor<1xi32>
  %m = cuda_tile.constant dense<true> : tensor<1xi1>
  // expected-error@+1 {{has a mask for each of several elements, which has no conversion to tt}}
  %old, %t = cuda_tile.atomic_cas_tko relaxed device %q, %x, %x mask = %m : (tile<1xptr<i32>>, tile<1xi32>, tile<1xi32>, tile<1xi1>) -> (tile<1xi32>, token)
  cuda_tile.return
}

// -----

cuda_tile.entry @unknown() {
  // expected-error@+1 {{has no conversion to tt}}
  %p = cuda_tile.alloca num_elem = 4, alignment = 16 : tile<ptr<f32>>
  cuda_tile.return
}

// -----

cuda_tile.entry @wrong(%x: tensor<4xf32>) {
  // expected-error@+1 {{makes tensor<8xf16> of tensor<4xf32>, expected tiles of one shape}}
  %y = "cuda_tile.ftof"(%x) : (tensor<4xf32>) -> tensor<8xf16>
  cuda_tile.return
}
