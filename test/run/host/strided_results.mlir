// RUN: %python %source/test/run/check.py %tile_run %s --repeat=3
// RUN: %python -c "import numpy as np; np.save('%t.0.npy', np.arange(64, dtype=np.float32).reshape(8, 8)); np.save('%t.1.npy', np.int64(2))"
// RUN: %tile_run %s --in=%t.0.npy --in=%t.1.npy --check-against=interpret | FileCheck %s
// RUN: %tile_translate %s --tile-to-program -o %t.so && %tile_exec %t.so --in=%t.0.npy --in=%t.1.npy --out=%t.a.npz && %tile_exec %t.so --into --in=%t.0.npy --in=%t.1.npy --out=%t.b.npz && cmp %t.a.npz %t.b.npz
// CHECK-COUNT-3: right, largest error 0
// Results that are windows of an argument, with strides: the caller gets their elements, and memory of its own.
// in: normal(8, 8), np.int64(3)
// in: normal(8, 8), np.int64(0)
// expect: x0[int(x1):int(x1) + 4, 1:7:2]
// expect: x0[:, int(x1)]
// expect: x0[0:0, :]
// tolerance: 0
#window = strided<[8, 2], offset: ?>
#column = strided<[?], offset: ?>
#rows = strided<[8, 1]>
func.func @main(%m: memref<8x8xf32>, %i: index) -> (memref<4x3xf32, #window>, memref<?xf32, #column>, memref<?x8xf32, #rows>) {
  %c0 = arith.constant 0 : index
  %s = memref.subview %m[%i, 1] [4, 3] [1, 2] : memref<8x8xf32> to memref<4x3xf32, #window>
  %t = memref.subview %m[0, %i] [8, 1] [1, 1] : memref<8x8xf32> to memref<8xf32, strided<[8], offset: ?>>
  %u = memref.cast %t : memref<8xf32, strided<[8], offset: ?>> to memref<?xf32, #column>
  %v = memref.subview %m[0, 0] [%c0, 8] [1, 1] : memref<8x8xf32> to memref<?x8xf32, #rows>
  return %s, %u, %v : memref<4x3xf32, #window>, memref<?xf32, #column>, memref<?x8xf32, #rows>
}
