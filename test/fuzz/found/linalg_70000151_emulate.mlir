// Program 70000151 of the fuzzer, cut down: invalid on GPUs: a group's start value was copied out of the group without the constant
// that its region captures.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=emulate:sm_80,emulate:gfx942 --replay %s
// in: normal f32 17x7 358985
// in: positive f32 17x7 978555
// in: positive f32 17x7 655314
func.func @main(%v0: tensor<?x?xf32>, %v1: tensor<?x?xf32>, %v2: tensor<17x7xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<17x7xf32>) {
  %v3 = arith.constant 0 : index
  %v4 = tensor.dim %v0, %v3 : tensor<?x?xf32>
  %v5 = arith.constant 1 : index
  %v6 = tensor.dim %v0, %v5 : tensor<?x?xf32>
  %v7 = tensor.empty(%v4, %v6) : tensor<?x?xf32>
  %v8 = linalg.max ins(%v0, %v1 : tensor<?x?xf32>, tensor<?x?xf32>) outs(%v7 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %v9 = arith.constant 0 : index
  %v10 = tensor.dim %v1, %v9 : tensor<?x?xf32>
  %v11 = arith.constant 1 : index
  %v12 = tensor.dim %v1, %v11 : tensor<?x?xf32>
  %v13 = linalg.powf ins(%v1, %v2 : tensor<?x?xf32>, tensor<17x7xf32>) outs(%v8 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %v14 = tensor.cast %v13 : tensor<?x?xf32> to tensor<17x7xf32>
  %v15 = tensor.cast %v8 : tensor<?x?xf32> to tensor<17x7xf32>
  %v16 = arith.constant 0 : index
  %v17 = tensor.dim %v13, %v16 : tensor<?x?xf32>
  %v18 = arith.constant 1 : index
  %v19 = tensor.dim %v13, %v18 : tensor<?x?xf32>
  %v20 = tensor.empty(%v17, %v19) : tensor<?x?xf32>
  %v21 = arith.constant 2.0 : f32
  %v22 = linalg.fill ins(%v21 : f32) outs(%v20 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %v23 = linalg.softmax dimension(0) ins(%v13 : tensor<?x?xf32>) outs(%v22 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %v24 = arith.constant 0 : index
  %v25 = tensor.dim %v23, %v24 : tensor<?x?xf32>
  %v26 = arith.constant 1 : index
  %v27 = tensor.dim %v23, %v26 : tensor<?x?xf32>
  %v28 = tensor.empty(%v25, %v27) : tensor<?x?xf32>
  %v29 = linalg.sub ins(%v23, %v2 : tensor<?x?xf32>, tensor<17x7xf32>) outs(%v28 : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %v23, %v29, %v14 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<17x7xf32>
}
