// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --target=interpret
// RUN: %tile_run %s --seed=4 --check-against=interpret | FileCheck %s
// f8 of all kinds, and bf16, travel as their bits, as uint8 and uint16: tensors, scalars, and a memref that is written.
// in: integers(0, 256, 16, 8).astype(np.uint8), integers(0, 256, 9).astype(np.uint8), np.uint8(130), np.uint16(0x3fc0), integers(0, 256, 3).astype(np.uint8)
// expect: x0.T
// expect: x1
// expect: x2
// expect: x3
// expect: np.array([x4[0], x4[1], x4[0]])
// tolerance: 0
// CHECK-COUNT-4: result {{[0-3]}}: right, largest error 0
// CHECK: argument 4: right, largest error 0
func.func @main(%x: tensor<16x8xf8E4M3FN>, %y: tensor<9xf8E5M2>, %s: f8E8M0FNU, %b: bf16, %m: memref<3xf8E5M2>)
    -> (tensor<8x16xf8E4M3FN>, tensor<9xf8E5M2>, f8E8M0FNU, bf16) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %v = memref.load %m[%c0] : memref<3xf8E5M2>
  memref.store %v, %m[%c2] : memref<3xf8E5M2>
  %e = tensor.empty() : tensor<8x16xf8E4M3FN>
  %t = linalg.transpose ins(%x : tensor<16x8xf8E4M3FN>) outs(%e : tensor<8x16xf8E4M3FN>) permutation = [1, 0]
  return %t, %y, %s, %b : tensor<8x16xf8E4M3FN>, tensor<9xf8E5M2>, f8E8M0FNU, bf16
}
