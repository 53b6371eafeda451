// Sparse deep network inference, as the Graph Challenge asks for it: in every layer y becomes the product of its weights
// and y, plus a bias, cut off below 0 and above 32; images in which nothing is left go.
//
// y: neurons × images; all sizes are known when it runs. Images go through all layers in panels, so that what a panel holds
// stays in a cache. Weights of all layers, one after another, as #sparse.bsr<block = [16, 1]>: 16 outputs in a row read the
// same inputs. Gives what is left of y, and which images that is.
#weights = #sparse.bsr<block = [16, 1]>
#row = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#list = affine_map<(j) -> (j)>

// The columns of y that hold something: how many, and which; the first `count` of the list are them.
func.func private @survivors(%y: tensor<?x?xf32>) -> (index, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %images = tensor.dim %y, %c1 : tensor<?x?xf32>
  %f = tensor.empty(%images) : tensor<?xf32>
  %none = linalg.fill ins(%zero : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  %most = linalg.generic {indexing_maps = [#row, #column], iterator_types = ["reduction", "parallel"]}
      ins(%y : tensor<?x?xf32>) outs(%none : tensor<?xf32>) {
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
func.func private @gather(%y: tensor<?x?xf32>, %names: tensor<?xi32>, %count: index, %which: tensor<?xi32>) -> (tensor<?x?xf32>, tensor<?xi32>) {
  %list = tensor.extract_slice %which[0] [%count] [1] : tensor<?xi32> to tensor<?xi32>
  %z = sparse.sread %y[%list] along 1 by 1 : tensor<?x?xf32>, tensor<?xi32> -> tensor<?x?xf32>
  %f = tensor.empty(%count) : tensor<?xi32>
  %named = linalg.generic {indexing_maps = [#list, #list], iterator_types = ["parallel"]} ins(%list : tensor<?xi32>) outs(%f : tensor<?xi32>) {
  ^bb0(%w: i32, %o: i32):
    %j = arith.index_cast %w : i32 to index
    %v = tensor.extract %names[%j] : tensor<?xi32>
    linalg.yield %v : i32
  } -> tensor<?xi32>
  return %z, %named : tensor<?x?xf32>, tensor<?xi32>
}

// y and the names of its columns without those that hold nothing.
func.func private @compact(%y: tensor<?x?xf32>, %names: tensor<?xi32>) -> (tensor<?x?xf32>, tensor<?xi32>) {
  %c1 = arith.constant 1 : index
  %images = tensor.dim %y, %c1 : tensor<?x?xf32>
  %count, %which = func.call @survivors(%y) : (tensor<?x?xf32>) -> (index, tensor<?xi32>)
  %fewer = arith.cmpi slt, %count, %images : index
  %g, %n = scf.if %fewer -> (tensor<?x?xf32>, tensor<?xi32>) {
    %0, %1 = func.call @gather(%y, %names, %count, %which) : (tensor<?x?xf32>, tensor<?xi32>, index, tensor<?xi32>) -> (tensor<?x?xf32>, tensor<?xi32>)
    scf.yield %0, %1 : tensor<?x?xf32>, tensor<?xi32>
  } else {
    scf.yield %y, %names : tensor<?x?xf32>, tensor<?xi32>
  }
  return %g, %n : tensor<?x?xf32>, tensor<?xi32>
}

// A panel of images, the first of which has number `number`, through all layers: what is left of it, and its names.
func.func private @infer(%positions: tensor<?x?xi32>, %coordinates: tensor<?x?xi32>, %values: tensor<?x?x16x1xf32>, %bias: f32, %first: tensor<?x?xf32>, %number: index)
    -> (tensor<?x?xf32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %most = arith.constant 32.0 : f32
  %layers = tensor.dim %positions, %c0 : tensor<?x?xi32>
  %ends = tensor.dim %positions, %c1 : tensor<?x?xi32>
  %blocks = tensor.dim %coordinates, %c1 : tensor<?x?xi32>
  %neurons = tensor.dim %first, %c0 : tensor<?x?xf32>
  %images = tensor.dim %first, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%images) : tensor<?xi32>
  %all = linalg.generic {indexing_maps = [#list], iterator_types = ["parallel"]} outs(%e : tensor<?xi32>) {
  ^bb0(%o: i32):
    %j = linalg.index 0 : index
    %n = arith.addi %j, %number : index
    %v = arith.index_cast %n : index to i32
    linalg.yield %v : i32
  } -> tensor<?xi32>
  %y, %names = scf.for %l = %c0 to %layers step %c1 iter_args(%x = %first, %of = %all) -> (tensor<?x?xf32>, tensor<?xi32>) {
    %p = tensor.extract_slice %positions[%l, 0] [1, %ends] [1, 1] : tensor<?x?xi32> to tensor<?xi32>
    %c = tensor.extract_slice %coordinates[%l, 0] [1, %blocks] [1, 1] : tensor<?x?xi32> to tensor<?xi32>
    %v = tensor.extract_slice %values[%l, 0, 0, 0] [1, %blocks, 16, 1] [1, 1, 1, 1] : tensor<?x?x16x1xf32> to tensor<?x16x1xf32>
    %w = sparse.assemble(%p, %c, %v) sizes [%neurons, %neurons] : tensor<?xi32>, tensor<?xi32>, tensor<?x16x1xf32> -> tensor<?x?xf32, #weights>
    // The sum starts from the bias, and is cut before it is stored: one kernel.
    %here = tensor.dim %x, %c1 : tensor<?x?xf32>
    %o = tensor.empty(%neurons, %here) : tensor<?x?xf32>
    %start = linalg.fill ins(%bias : f32) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
    %sum = sparse.spmm %w, %x, %start : tensor<?x?xf32, #weights>, tensor<?x?xf32>, tensor<?x?xf32>
    %z = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel", "parallel"]} outs(%sum : tensor<?x?xf32>) {
    ^bb0(%s: f32):
      %r = arith.maximumf %s, %zero : f32
      %d = arith.minimumf %r, %most : f32
      linalg.yield %d : f32
    } -> tensor<?x?xf32>
    // Layers 4, 8, 16, … ask who is left: most images that go do so early.
    %next = arith.addi %l, %c1 : index
    %part = arith.andi %l, %next : index
    %isPower = arith.cmpi eq, %part, %c0 : index
    %isLater = arith.cmpi ugt, %l, %c1 : index
    %asks = arith.andi %isPower, %isLater : i1
    %rest, %left = scf.if %asks -> (tensor<?x?xf32>, tensor<?xi32>) {
      %g, %n = func.call @compact(%z, %of) : (tensor<?x?xf32>, tensor<?xi32>) -> (tensor<?x?xf32>, tensor<?xi32>)
      scf.yield %g, %n : tensor<?x?xf32>, tensor<?xi32>
    } else {
      scf.yield %z, %of : tensor<?x?xf32>, tensor<?xi32>
    }
    scf.yield %rest, %left : tensor<?x?xf32>, tensor<?xi32>
  }
  %g, %n = func.call @compact(%y, %names) : (tensor<?x?xf32>, tensor<?xi32>) -> (tensor<?x?xf32>, tensor<?xi32>)
  return %g, %n : tensor<?x?xf32>, tensor<?xi32>
}

func.func @main(%positions: tensor<?x?xi32>, %coordinates: tensor<?x?xi32>, %values: tensor<?x?x16x1xf32>, %bias: f32, %first: tensor<?x?xf32>)
    -> (tensor<?x?xf32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c48 = arith.constant 48 : index
  %held = arith.constant 262144 : index
  %neurons = tensor.dim %first, %c0 : tensor<?x?xf32>
  %images = tensor.dim %first, %c1 : tensor<?x?xf32>
  // A multiple of 48 images, as kernels take them, and where that is possible no more than 1 MB.
  %some = arith.divui %held, %neurons : index
  %strips = arith.divui %some, %c48 : index
  %fit = arith.muli %strips, %c48 : index
  %width = arith.maxui %fit, %c48 : index
  %e = tensor.empty(%neurons, %images) : tensor<?x?xf32>
  %f = tensor.empty(%images) : tensor<?xi32>
  %y, %names, %count = scf.for %from = %c0 to %images step %width iter_args(%to = %e, %of = %f, %at = %c0) -> (tensor<?x?xf32>, tensor<?xi32>, index) {
    %left = arith.subi %images, %from : index
    %here = arith.minui %left, %width : index
    %panel = tensor.extract_slice %first[0, %from] [%neurons, %here] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
    %z, %n = func.call @infer(%positions, %coordinates, %values, %bias, %panel, %from)
        : (tensor<?x?xi32>, tensor<?x?xi32>, tensor<?x?x16x1xf32>, f32, tensor<?x?xf32>, index) -> (tensor<?x?xf32>, tensor<?xi32>)
    %live = tensor.dim %n, %c0 : tensor<?xi32>
    %next = tensor.insert_slice %z into %to[0, %at] [%neurons, %live] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
    %named = tensor.insert_slice %n into %of[%at] [%live] [1] : tensor<?xi32> into tensor<?xi32>
    %then = arith.addi %at, %live : index
    scf.yield %next, %named, %then : tensor<?x?xf32>, tensor<?xi32>, index
  }
  %rest = tensor.extract_slice %y[0, 0] [%neurons, %count] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %which = tensor.extract_slice %names[0] [%count] [1] : tensor<?xi32> to tensor<?xi32>
  return %rest, %which : tensor<?x?xf32>, tensor<?xi32>
}
