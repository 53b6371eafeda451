// Sparse deep network inference, as the Graph Challenge asks for it: in every layer y becomes the product of its weights
// and y, plus a bias, cut off below 0 and above 32; images in which nothing is left go.
//
// For 1024 neurons: 64 groups of 16 with 32 inputs each (2048 in all); for another number all three change with it.
// y: neurons × images. Weights of all layers, one after another, as #sparse.bsr<block = [16, 1]>: 16 outputs in a row
// read the same inputs. Gives what is left of y, and which images that is.
#weights = #sparse.bsr<block = [16, 1]>
#row = affine_map<(i, j) -> (i, j)>
#column = affine_map<(j, i) -> (j)>
#turned = affine_map<(j, i) -> (i, j)>

// The columns of y that hold something: how many, and which; the first `count` of the list are them.
func.func private @survivors(%y: tensor<1024x?xf32>) -> (index, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %images = tensor.dim %y, %c1 : tensor<1024x?xf32>
  %f = tensor.empty(%images) : tensor<?xf32>
  %none = linalg.fill ins(%zero : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  %most = linalg.generic {indexing_maps = [#turned, #column], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<1024x?xf32>) outs(%none : tensor<?xf32>) {
  ^bb0(%a: f32, %m: f32):
    %n = arith.maximumf %a, %m : f32
    linalg.yield %n : f32
  } -> tensor<?xf32>
  %e = tensor.empty(%images) : tensor<?xi32>
  %count, %list = scf.for %i = %c0 to %images step %c1 iter_args(%at = %c0, %to = %e) -> (index, tensor<?xi32>) {
    %m = tensor.extract %most[%i] : tensor<?xf32>
    %lives = arith.cmpf ogt, %m, %zero : f32
    %number = arith.index_cast %i : index to i32
    %next = tensor.insert %number into %to[%at] : tensor<?xi32>
    %one = arith.extui %lives : i1 to i32
    %step = arith.index_cast %one : i32 to index
    %then = arith.addi %at, %step : index
    scf.yield %then, %next : index, tensor<?xi32>
  }
  return %count, %list : index, tensor<?xi32>
}

// Columns `which` of y, and their names.
func.func private @gather(%y: tensor<1024x?xf32>, %names: tensor<?xi32>, %count: index, %which: tensor<?xi32>) -> (tensor<1024x?xf32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty(%count) : tensor<1024x?xf32>
  %list = tensor.extract_slice %which[0] [%count] [1] : tensor<?xi32> to tensor<?xi32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, #row], iterator_types = ["parallel", "parallel"]}
      ins(%list : tensor<?xi32>) outs(%e : tensor<1024x?xf32>) {
  ^bb0(%w: i32, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %w : i32 to index
    %v = tensor.extract %y[%i, %j] : tensor<1024x?xf32>
    linalg.yield %v : f32
  } -> tensor<1024x?xf32>
  %f = tensor.empty(%count) : tensor<?xi32>
  %named = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
      ins(%list : tensor<?xi32>) outs(%f : tensor<?xi32>) {
  ^bb0(%w: i32, %o: i32):
    %j = arith.index_cast %w : i32 to index
    %v = tensor.extract %names[%j] : tensor<?xi32>
    linalg.yield %v : i32
  } -> tensor<?xi32>
  return %z, %named : tensor<1024x?xf32>, tensor<?xi32>
}

// y and the names of its columns without those that hold nothing.
func.func private @compact(%y: tensor<1024x?xf32>, %names: tensor<?xi32>) -> (tensor<1024x?xf32>, tensor<?xi32>) {
  %c1 = arith.constant 1 : index
  %images = tensor.dim %y, %c1 : tensor<1024x?xf32>
  %count, %which = func.call @survivors(%y) : (tensor<1024x?xf32>) -> (index, tensor<?xi32>)
  %fewer = arith.cmpi slt, %count, %images : index
  %g, %n = scf.if %fewer -> (tensor<1024x?xf32>, tensor<?xi32>) {
    %0, %1 = func.call @gather(%y, %names, %count, %which) : (tensor<1024x?xf32>, tensor<?xi32>, index, tensor<?xi32>) -> (tensor<1024x?xf32>, tensor<?xi32>)
    scf.yield %0, %1 : tensor<1024x?xf32>, tensor<?xi32>
  } else {
    scf.yield %y, %names : tensor<1024x?xf32>, tensor<?xi32>
  }
  return %g, %n : tensor<1024x?xf32>, tensor<?xi32>
}

func.func @main(%positions: tensor<?x65xi32>, %coordinates: tensor<?x2048xi32>, %values: tensor<?x2048x16x1xf32>, %bias: f32, %first: tensor<1024x?xf32>)
    -> (tensor<1024x?xf32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %most = arith.constant 32.0 : f32
  %layers = tensor.dim %positions, %c0 : tensor<?x65xi32>
  %images = tensor.dim %first, %c1 : tensor<1024x?xf32>
  %e = tensor.empty(%images) : tensor<?xi32>
  %all = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>], iterator_types = ["parallel"]} outs(%e : tensor<?xi32>) {
  ^bb0(%o: i32):
    %j = linalg.index 0 : index
    %v = arith.index_cast %j : index to i32
    linalg.yield %v : i32
  } -> tensor<?xi32>
  %y, %names = scf.for %l = %c0 to %layers step %c1 iter_args(%x = %first, %of = %all) -> (tensor<1024x?xf32>, tensor<?xi32>) {
    %p = tensor.extract_slice %positions[%l, 0] [1, 65] [1, 1] : tensor<?x65xi32> to tensor<65xi32>
    %c = tensor.extract_slice %coordinates[%l, 0] [1, 2048] [1, 1] : tensor<?x2048xi32> to tensor<2048xi32>
    %v = tensor.extract_slice %values[%l, 0, 0, 0] [1, 2048, 16, 1] [1, 1, 1, 1] : tensor<?x2048x16x1xf32> to tensor<2048x16x1xf32>
    %w = sparse.assemble(%p, %c, %v) : tensor<65xi32>, tensor<2048xi32>, tensor<2048x16x1xf32> -> tensor<1024x1024xf32, #weights>
    // The sum starts from the bias, and is cut before it is stored: one kernel.
    %here = tensor.dim %x, %c1 : tensor<1024x?xf32>
    %o = tensor.empty(%here) : tensor<1024x?xf32>
    %start = linalg.fill ins(%bias : f32) outs(%o : tensor<1024x?xf32>) -> tensor<1024x?xf32>
    %sum = sparse.spmm %w, %x, %start : tensor<1024x1024xf32, #weights>, tensor<1024x?xf32>, tensor<1024x?xf32>
    %z = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel", "parallel"]} outs(%sum : tensor<1024x?xf32>) {
    ^bb0(%s: f32):
      %r = arith.maximumf %s, %zero : f32
      %d = arith.minimumf %r, %most : f32
      linalg.yield %d : f32
    } -> tensor<1024x?xf32>
    // Layers 4, 8, 16, … ask who is left: most images that go do so early.
    %number = arith.addi %l, %c1 : index
    %part = arith.andi %l, %number : index
    %isPower = arith.cmpi eq, %part, %c0 : index
    %isLater = arith.cmpi ugt, %l, %c1 : index
    %asks = arith.andi %isPower, %isLater : i1
    %rest, %left = scf.if %asks -> (tensor<1024x?xf32>, tensor<?xi32>) {
      %g, %n = func.call @compact(%z, %of) : (tensor<1024x?xf32>, tensor<?xi32>) -> (tensor<1024x?xf32>, tensor<?xi32>)
      scf.yield %g, %n : tensor<1024x?xf32>, tensor<?xi32>
    } else {
      scf.yield %z, %of : tensor<1024x?xf32>, tensor<?xi32>
    }
    scf.yield %rest, %left : tensor<1024x?xf32>, tensor<?xi32>
  }
  %g, %n = func.call @compact(%y, %names) : (tensor<1024x?xf32>, tensor<?xi32>) -> (tensor<1024x?xf32>, tensor<?xi32>)
  return %g, %n : tensor<1024x?xf32>, tensor<?xi32>
}
