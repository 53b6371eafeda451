// The model chooses by the machine: weights that a core's own L2 holds are read where they lie, larger ones are packed
// for many pixels at once; with a larger L2 the same weights stay where they are.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops,tile-merge-dimensions{remarks=true}))' | FileCheck %s

module attributes {tile.machine = #tile.machine<"x86-64-v4", cores = 1>} {
  // CHECK-LABEL: func.func @few_channels
  // CHECK-NOT: collapse_shape
  func.func @few_channels(%x: tensor<1x58x58x64xf32>, %w: tensor<3x3x64x64xf32>, %c: tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32> {
    // expected-remark @+1 {{merged}}
    %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
        ins(%x, %w : tensor<1x58x58x64xf32>, tensor<3x3x64x64xf32>) outs(%c : tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
    return %r : tensor<1x56x56x64xf32>
  }
  // CHECK-LABEL: func.func @many_channels
  // CHECK: collapse_shape
  func.func @many_channels(%x: tensor<1x9x9x512xf32>, %w: tensor<3x3x512x512xf32>, %c: tensor<1x7x7x512xf32>) -> tensor<1x7x7x512xf32> {
    // expected-remark @+1 {{direct}}
    %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
        ins(%x, %w : tensor<1x9x9x512xf32>, tensor<3x3x512x512xf32>) outs(%c : tensor<1x7x7x512xf32>) -> tensor<1x7x7x512xf32>
    return %r : tensor<1x7x7x512xf32>
  }
}

// -----

module attributes {tile.machine = #tile.machine<"x86-64-v4", cores = 1, "l2.bytes" = 16777216>} {
  // CHECK-LABEL: func.func @many_channels
  // CHECK-NOT: collapse_shape
  func.func @many_channels(%x: tensor<1x9x9x512xf32>, %w: tensor<3x3x512x512xf32>, %c: tensor<1x7x7x512xf32>) -> tensor<1x7x7x512xf32> {
    // expected-remark @+1 {{merged}}
    %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
        ins(%x, %w : tensor<1x9x9x512xf32>, tensor<3x3x512x512xf32>) outs(%c : tensor<1x7x7x512xf32>) -> tensor<1x7x7x512xf32>
    return %r : tensor<1x7x7x512xf32>
  }
}
