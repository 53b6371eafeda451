// What has no conversion is refused at the op, by name.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --convert-stablehlo-to-linalg

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{calls 'cublas', which only another implementation provides}}
  %r = stablehlo.custom_call @cublas(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{calls 'f' from within itself}}
  %r = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.negate %x : tensor<4xf32>
  %r = call @f(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func private @outside(%x: tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.negate %x : tensor<4xf32>
  // expected-error @+1 {{calls 'outside', which is no function of one block here}}
  %r = call @outside(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xcomplex<f32>> {
  %c = stablehlo.complex %x, %x : tensor<4xcomplex<f32>>
  // expected-error @+1 {{result 0 is complex: return real and imaginary parts}}
  return %c : tensor<4xcomplex<f32>>
}

// -----

// expected-error @+1 {{argument 0 is tensor<4xcomplex<f32>>: take real and imaginary parts}}
func.func @main(%x: tensor<4xcomplex<f32>>) -> tensor<4xf32> {
  %c = stablehlo.real %x : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-error @+1 {{cannot be converted to linalg with open sizes}}
  %r = stablehlo.reverse %x, dims = [0] : tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
