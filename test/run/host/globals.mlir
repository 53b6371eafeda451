// A kernel and the host share a global that the program writes; a constant has a copy of the device's own.
// RUN: %tile_run %s --target=cpu --target=emulate:sm_80 --target=emulate:gfx942 --check-against=interpret --seed=3
// RUN: %tile_run %s --entry=of_tensors --target=cpu --target=emulate:sm_80 --target=emulate:gfx942 --check-against=interpret --seed=3
memref.global "private" @state : memref<5xf32> = dense<[1.0, -2.0, 3.0, 4.0, 5.0]>
memref.global "private" @of_host : memref<2xf32> = dense<[7.0, 8.0]>
memref.global "private" constant @weights : memref<5xf32> = dense<[0.5, 0.25, 2.0, -1.0, 3.0]>

func.func private @accumulate(%x: memref<5xf32>) {
  %state = memref.get_global @state : memref<5xf32>
  %weights = memref.get_global @weights : memref<5xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]}
      ins(%x, %weights : memref<5xf32>, memref<5xf32>) outs(%state : memref<5xf32>) {
  ^bb0(%a: f32, %w: f32, %s: f32):
    %p = arith.mulf %a, %w : f32
    %r = arith.addf %s, %p : f32
    linalg.yield %r : f32
  }
  return
}

func.func @main(%x: memref<5xf32>, %y: memref<5xf32>) -> (f32, f32) {
  %c3 = arith.constant 3 : index
  %c1 = arith.constant 1 : index
  func.call @accumulate(%x) : (memref<5xf32>) -> ()
  %state = memref.get_global @state : memref<5xf32>
  %seen = memref.load %state[%c3] : memref<5xf32>
  memref.store %seen, %state[%c1] : memref<5xf32>
  func.call @accumulate(%y) : (memref<5xf32>) -> ()
  memref.copy %state, %y : memref<5xf32> to memref<5xf32>
  %host = memref.get_global @of_host : memref<2xf32>
  memref.store %seen, %host[%c1] : memref<2xf32>
  %both = memref.load %host[%c1] : memref<2xf32>
  return %seen, %both : f32, f32
}

memref.global "private" @table : memref<3xf32> = dense<[1.0, 2.0, 4.0]>
func.func @of_tensors(%x: tensor<3xf32>) -> tensor<3xf32> {
  %memory = memref.get_global @table : memref<3xf32>
  %table = bufferization.to_tensor %memory restrict : memref<3xf32> to tensor<3xf32>
  %y = arith.addf %table, %x : tensor<3xf32>
  return %y : tensor<3xf32>
}
