// Parallel loops of the host, and ops at the border of tensors and memory.
// RUN: %python %source/test/run/check.py %tile_run %s --target=interpret
// in: normal(8, 12), i64(3)
// in: normal(6, 4), i64(2)
// expect: x0.T.astype(f32)[::-1] * f32(2)
// expect: x0[0, :3].sum() if x1 == 3 else x0[0, :2].sum()
// expect: x0[:3, 0].max() if x1 == 3 else x0[:2, 0].max()
// expect: np.where(np.arange(x0.size).reshape(x0.shape) == x0.shape[1] + 1, x0 + f32(2), x0)
// expect: min(x1 * 5 + 1, 13)
// tolerance: 1e-6
#flip = affine_map<(d0)[s0] -> (s0 - 1 - d0)>
func.func @main(%x: tensor<?x?xf32>, %n: i64) -> (tensor<?x?xf32>, f32, f32, tensor<?x?xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %count = arith.index_cast %n : i64 to index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %x, %c1 : tensor<?x?xf32>

  // Every point puts one element where it belongs.
  %empty = bufferization.alloc_tensor(%columns, %rows) : tensor<?x?xf32>
  %turned = scf.forall (%i, %j) in (%rows, %columns) shared_outs(%o = %empty) -> (tensor<?x?xf32>) {
    %e = tensor.extract %x[%i, %j] : tensor<?x?xf32>
    %d = arith.mulf %e, %two : f32
    %one = tensor.from_elements %d : tensor<1x1xf32>
    %to = affine.apply #flip(%j)[%columns]
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %one into %o[%to, %i] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<?x?xf32>
    }
  }

  %sum, %largest = scf.parallel (%i) = (%c0) to (%count) step (%c1) init (%zero, %least) -> (f32, f32) {
    %a = tensor.extract %x[%c0, %i] : tensor<?x?xf32>
    %b = tensor.extract %x[%i, %c0] : tensor<?x?xf32>
    scf.reduce(%a, %b : f32, f32) {
    ^bb0(%l: f32, %r: f32):
      %s = arith.addf %l, %r : f32
      scf.reduce.return %s : f32
    }, {
    ^bb0(%l: f32, %r: f32):
      %s = arith.maximumf %l, %r : f32
      scf.reduce.return %s : f32
    }
  }

  // Memory changes, the tensor it came from does not.
  %m = bufferization.to_buffer %x : tensor<?x?xf32> to memref<?x?xf32>
  %t = memref.transpose %m (i, j) -> (j, i) : memref<?x?xf32> to memref<?x?xf32, strided<[1, ?]>>
  %old = memref.atomic_rmw addf %two, %t[%c1, %c1] : (f32, memref<?x?xf32, strided<[1, ?]>>) -> f32
  %size = arith.muli %rows, %columns : index
  %flat = memref.reinterpret_cast %m to offset: [0], sizes: [%size], strides: [1] : memref<?x?xf32> to memref<?xf32, strided<[1]>>
  %at = arith.addi %columns, %c1 : index
  %new = memref.load %flat[%at] : memref<?xf32, strided<[1]>>
  %back = arith.addf %old, %two : f32
  %same = arith.cmpf oeq, %new, %back : f32
  cf.assert %same, "the flat memory is the same memory"
  %changed = bufferization.to_tensor %m restrict : memref<?x?xf32> to tensor<?x?xf32>
  %copy = memref.alloc(%rows, %columns) : memref<?x?xf32>
  bufferization.materialize_in_destination %changed in restrict writable %copy : (tensor<?x?xf32>, memref<?x?xf32>) -> ()
  memref.store %zero, %m[%c0, %c0] : memref<?x?xf32>
  %kept = bufferization.to_tensor %copy restrict : memref<?x?xf32> to tensor<?x?xf32>
  memref.dealloc %copy : memref<?x?xf32>

  %bound = affine.min affine_map<(d0) -> (d0 * 5 + 1, 13)>(%count)
  return %turned, %sum, %largest, %kept, %bound : tensor<?x?xf32>, f32, f32, tensor<?x?xf32>, index
}

// RUN: not %tile_run --target=interpret %s --entry=races 2>&1 | FileCheck %s --check-prefix=RACES
// RACES: host_loops.mlir:[[@LINE+7]]:7: error: 'tensor.parallel_insert_slice' op points 0 and 1 of the loop write one element
func.func @races() -> tensor<2xf32> {
  %one = arith.constant dense<1.0> : tensor<1xf32>
  %x = arith.constant dense<0.0> : tensor<2xf32>
  %c2 = arith.constant 2 : index
  %r = scf.forall (%i) in (%c2) shared_outs(%o = %x) -> (tensor<2xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %one into %o[1] [1] [1] : tensor<1xf32> into tensor<2xf32>
    }
  }
  return %r : tensor<2xf32>
}
