// What the broken passes spoil: a bit of everything, at tensor level, with a hand-written kernel and loops on buffers.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

tile.kernel private @double(%x: memref<12xf32>, %y: memref<12xf32>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<12xf32> to !tile.view<4xf32>
  %Y = tile.view %y : memref<12xf32> to !tile.view<4xf32>
  %a = tile.load %X[%i] : !tile.view<4xf32> -> tensor<4xf32>
  %b = arith.addf %a, %a : tensor<4xf32>
  tile.store %b, %Y[%i] : tensor<4xf32>, !tile.view<4xf32>
  tile.return
}

// relu(x), or less than that.
func.func private @clip(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %unused: f32):
    %m = arith.maximumf %a, %zero : f32
    %is = arith.cmpf ogt, %m, %half : f32
    %r = arith.select %is, %half, %m : f32
    linalg.yield %r : f32
  } -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %bias: tensor<8xf32>, %v: tensor<12xf32>, %m: memref<6xf32>)
    -> (tensor<8x8xf32>, tensor<12xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %e = tensor.empty() : tensor<8x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<8x8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %unused: f32):
    %d = arith.subf %a, %b : f32
    %s = arith.mulf %d, %b : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %r = func.call @clip(%q) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  scf.for %i = %c0 to %c6 step %c1 {
    %a = memref.load %m[%i] : memref<6xf32>
    %b = arith.addf %a, %a : f32
    memref.store %b, %m[%i] : memref<6xf32>
  }
  %ve = tensor.empty() : tensor<12xf32>
  %d = tile.launch @double grid(%c3) ins(%v : tensor<12xf32>) outs(%ve : tensor<12xf32>) -> tensor<12xf32>
  return %r, %d : tensor<8x8xf32>, tensor<12xf32>
}
