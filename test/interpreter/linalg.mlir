// linalg, tensor, memref and scf by values written down by hand: the program asserts them.
// RUN: %tile_run --target=interpret %s --entry=named
// RUN: %tile_run --target=interpret %s --entry=generic
// RUN: %tile_run --target=interpret %s --entry=windows
// RUN: %tile_run --target=interpret %s --entry=softmax
// RUN: %tile_run --target=interpret %s --entry=shapes
// RUN: %tile_run --target=interpret %s --entry=slices
// RUN: %tile_run --target=interpret %s --entry=buffers
// RUN: %tile_run --target=interpret %s --entry=loops
#sum = affine_map<(i, k) -> (i + k)>
#i = affine_map<(i, k) -> (i)>
#k = affine_map<(i, k) -> (k)>
#ik = affine_map<(i, k) -> (i, k)>
#half = affine_map<(i, k) -> (i floordiv 2, k mod 2)>

// All elements equal, or it stops.
func.func private @same(%seen: tensor<?xi32>, %expected: tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %seen, %c0 : tensor<?xi32>
  %n = tensor.dim %expected, %c0 : tensor<?xi32>
  %sizes = arith.cmpi eq, %m, %n : index
  cf.assert %sizes, "another size"
  scf.for %j = %c0 to %n step %c1 {
    %a = tensor.extract %seen[%j] : tensor<?xi32>
    %b = tensor.extract %expected[%j] : tensor<?xi32>
    %equal = arith.cmpi eq, %a, %b : i32
    cf.assert %equal, "another element"
  }
  return
}

func.func @named() {
  %a = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %b = arith.constant dense<[[0, 1], [1, 10]]> : tensor<2x2xi32>
  %ones = arith.constant dense<1> : tensor<2x2xi32>
  %p = linalg.matmul ins(%a, %b : tensor<2x2xi32>, tensor<2x2xi32>) outs(%ones : tensor<2x2xi32>) -> tensor<2x2xi32>
  %pf = tensor.collapse_shape %p [[0, 1]] : tensor<2x2xi32> into tensor<4xi32>
  %pd = tensor.cast %pf : tensor<4xi32> to tensor<?xi32>
  %p_ = arith.constant dense<[3, 22, 5, 44]> : tensor<4xi32>
  %pe = tensor.cast %p_ : tensor<4xi32> to tensor<?xi32>
  call @same(%pd, %pe) : (tensor<?xi32>, tensor<?xi32>) -> ()
  %e = tensor.empty() : tensor<2x2xi32>
  %t = linalg.transpose ins(%a : tensor<2x2xi32>) outs(%e : tensor<2x2xi32>) permutation = [1, 0]
  %s = linalg.sub ins(%t, %b : tensor<2x2xi32>, tensor<2x2xi32>) outs(%e : tensor<2x2xi32>) -> tensor<2x2xi32>
  %sf = tensor.collapse_shape %s [[0, 1]] : tensor<2x2xi32> into tensor<4xi32>
  %sd = tensor.cast %sf : tensor<4xi32> to tensor<?xi32>
  %s_ = arith.constant dense<[1, 2, 1, -6]> : tensor<4xi32>
  %se = tensor.cast %s_ : tensor<4xi32> to tensor<?xi32>
  call @same(%sd, %se) : (tensor<?xi32>, tensor<?xi32>) -> ()
  %init = arith.constant dense<[100, 200]> : tensor<2xi32>
  %r = linalg.reduce ins(%a : tensor<2x2xi32>) outs(%init : tensor<2xi32>) dimensions = [0]
    (%x: i32, %acc: i32) {
      %y = arith.addi %x, %acc : i32
      linalg.yield %y : i32
    }
  %rd = tensor.cast %r : tensor<2xi32> to tensor<?xi32>
  %r_ = arith.constant dense<[104, 206]> : tensor<2xi32>
  %re = tensor.cast %r_ : tensor<2xi32> to tensor<?xi32>
  call @same(%rd, %re) : (tensor<?xi32>, tensor<?xi32>) -> ()
  return
}

func.func @generic() {
  // A convolution by its maps: y[i] = Σ x[i + k] * w[k].
  %x = arith.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi32>
  %w = arith.constant dense<[1, 10, 100]> : tensor<3xi32>
  %zero = arith.constant dense<0> : tensor<3xi32>
  %y = linalg.generic {indexing_maps = [#sum, #k, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<5xi32>, tensor<3xi32>) outs(%zero : tensor<3xi32>) {
  ^bb0(%a: i32, %b: i32, %c: i32):
    %p = arith.muli %a, %b : i32
    %s = arith.addi %c, %p : i32
    linalg.yield %s : i32
  } -> tensor<3xi32>
  %yd = tensor.cast %y : tensor<3xi32> to tensor<?xi32>
  %y_ = arith.constant dense<[321, 432, 543]> : tensor<3xi32>
  %ye = tensor.cast %y_ : tensor<3xi32> to tensor<?xi32>
  call @same(%yd, %ye) : (tensor<?xi32>, tensor<?xi32>) -> ()
  // A map that is not linear, and linalg.index.
  %t = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %e = tensor.empty() : tensor<4x2xi32>
  %z = linalg.generic {indexing_maps = [#half, #ik], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<2x2xi32>) outs(%e : tensor<4x2xi32>) {
  ^bb0(%a: i32, %unused: i32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %ten = arith.constant 10 : i32
    %m = arith.muli %n, %ten : i32
    %s = arith.addi %a, %m : i32
    linalg.yield %s : i32
  } -> tensor<4x2xi32>
  %zf = tensor.collapse_shape %z [[0, 1]] : tensor<4x2xi32> into tensor<8xi32>
  %zd = tensor.cast %zf : tensor<8xi32> to tensor<?xi32>
  %z_ = arith.constant dense<[1, 2, 11, 12, 23, 24, 33, 34]> : tensor<8xi32>
  %ze = tensor.cast %z_ : tensor<8xi32> to tensor<?xi32>
  call @same(%zd, %ze) : (tensor<?xi32>, tensor<?xi32>) -> ()
  return
}

func.func @windows() {
  %x = arith.constant dense<[[[[1], [2], [3]], [[4], [5], [6]], [[7], [8], [9]]]]> : tensor<1x3x3x1xi32>
  %w = arith.constant dense<[[[[1]], [[10]]], [[[100]], [[1000]]]]> : tensor<2x2x1x1xi32>
  %zero = arith.constant dense<0> : tensor<1x2x2x1xi32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x3x3x1xi32>, tensor<2x2x1x1xi32>)
      outs(%zero : tensor<1x2x2x1xi32>) -> tensor<1x2x2x1xi32>
  %yf = tensor.collapse_shape %y [[0, 1, 2, 3]] : tensor<1x2x2x1xi32> into tensor<4xi32>
  %yd = tensor.cast %yf : tensor<4xi32> to tensor<?xi32>
  %y_ = arith.constant dense<[5421, 6532, 8754, 9865]> : tensor<4xi32>
  %ye = tensor.cast %y_ : tensor<4xi32> to tensor<?xi32>
  call @same(%yd, %ye) : (tensor<?xi32>, tensor<?xi32>) -> ()
  %window = tensor.empty() : tensor<2x2xi32>
  %least = arith.constant dense<-100> : tensor<1x2x2x1xi32>
  %p = linalg.pooling_nhwc_max ins(%x, %window : tensor<1x3x3x1xi32>, tensor<2x2xi32>)
      outs(%least : tensor<1x2x2x1xi32>) -> tensor<1x2x2x1xi32>
  %pf = tensor.collapse_shape %p [[0, 1, 2, 3]] : tensor<1x2x2x1xi32> into tensor<4xi32>
  %pd = tensor.cast %pf : tensor<4xi32> to tensor<?xi32>
  %p_ = arith.constant dense<[5, 6, 8, 9]> : tensor<4xi32>
  %pe = tensor.cast %p_ : tensor<4xi32> to tensor<?xi32>
  call @same(%pd, %pe) : (tensor<?xi32>, tensor<?xi32>) -> ()
  return
}

func.func @softmax() {
  %c0 = arith.constant 0 : index
  %x = arith.constant dense<[[1.0, 1.0], [0xFF800000, 7.0]]> : tensor<2x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %c1 = arith.constant 1 : index
  %half = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %a = tensor.extract %y[%c0, %c1] : tensor<2x2xf32>
  %b = tensor.extract %y[%c1, %c0] : tensor<2x2xf32>
  %0 = arith.cmpf oeq, %a, %half : f32
  %1 = arith.cmpf oeq, %b, %zero : f32
  cf.assert %0, "two equal ones"
  cf.assert %1, "-inf has no share"
  return
}

func.func @shapes() {
  %c2 = arith.constant 2 : index
  %seven = arith.constant 7 : i32
  %x = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %p = tensor.pad %x low[1] high[%c2] {
  ^bb0(%i: index):
    tensor.yield %seven : i32
  } : tensor<3xi32> to tensor<?xi32>
  %p_ = arith.constant dense<[7, 1, 2, 3, 7, 7]> : tensor<6xi32>
  %pe = tensor.cast %p_ : tensor<6xi32> to tensor<?xi32>
  call @same(%p, %pe) : (tensor<?xi32>, tensor<?xi32>) -> ()
  %c = tensor.concat dim(0) %x, %x : (tensor<3xi32>, tensor<3xi32>) -> tensor<6xi32>
  %m = tensor.expand_shape %c [[0, 1]] output_shape [2, 3] : tensor<6xi32> into tensor<2x3xi32>
  %row = tensor.extract_slice %m[1, 0] [1, 3] [1, 1] : tensor<2x3xi32> to tensor<3xi32>
  %rd = tensor.cast %row : tensor<3xi32> to tensor<?xi32>
  %xd = tensor.cast %x : tensor<3xi32> to tensor<?xi32>
  call @same(%rd, %xd) : (tensor<?xi32>, tensor<?xi32>) -> ()
  %shape = arith.constant dense<[3, 2]> : tensor<2xi32>
  %r = tensor.reshape %c(%shape) : (tensor<6xi32>, tensor<2xi32>) -> tensor<3x2xi32>
  %column = tensor.extract_slice %r[0, 1] [3, 1] [1, 1] : tensor<3x2xi32> to tensor<3xi32>
  %cd = tensor.cast %column : tensor<3xi32> to tensor<?xi32>
  %c_ = arith.constant dense<[2, 1, 3]> : tensor<3xi32>
  %ce = tensor.cast %c_ : tensor<3xi32> to tensor<?xi32>
  call @same(%cd, %ce) : (tensor<?xi32>, tensor<?xi32>) -> ()
  return
}

func.func @slices() {
  %c1 = arith.constant 1 : index
  %x = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi32>
  %s = tensor.extract_slice %x[%c1] [3] [2] : tensor<8xi32> to tensor<3xi32>
  %y = tensor.insert_slice %s into %x[5] [3] [1] : tensor<3xi32> into tensor<8xi32>
  %yd = tensor.cast %y : tensor<8xi32> to tensor<?xi32>
  %y_ = arith.constant dense<[0, 1, 2, 3, 4, 1, 3, 5]> : tensor<8xi32>
  %ye = tensor.cast %y_ : tensor<8xi32> to tensor<?xi32>
  call @same(%yd, %ye) : (tensor<?xi32>, tensor<?xi32>) -> ()
  return
}

memref.global "private" constant @table : memref<3xi32> = dense<[10, 20, 30]>
func.func @buffers() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %table = memref.get_global @table : memref<3xi32>
  %m = memref.alloc() : memref<2x3xi32>
  %row = memref.subview %m[1, 0] [1, 3] [1, 1] : memref<2x3xi32> to memref<3xi32, strided<[1], offset: 3>>
  memref.copy %table, %row : memref<3xi32> to memref<3xi32, strided<[1], offset: 3>>
  %twenty = memref.load %m[%c1, %c1] : memref<2x3xi32>
  %e = arith.constant 20 : i32
  %0 = arith.cmpi eq, %twenty, %e : i32
  cf.assert %0, "a subview is the same memory"
  %other = memref.load %row[%c0] : memref<3xi32, strided<[1], offset: 3>>
  %ten = arith.constant 10 : i32
  %1 = arith.cmpi eq, %other, %ten : i32
  cf.assert %1, "a copy arrives"
  memref.dealloc %m : memref<2x3xi32>
  return
}

func.func @loops() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %zero = arith.constant 0 : i32
  %sum = scf.for %i = %c0 to %c10 step %c1 iter_args(%s = %zero) -> (i32) {
    %n = arith.index_cast %i : index to i32
    %t = arith.addi %s, %n : i32
    scf.yield %t : i32
  }
  %e45 = arith.constant 45 : i32
  %0 = arith.cmpi eq, %sum, %e45 : i32
  cf.assert %0, "0 + … + 9"
  // How often 27 takes a step of Collatz until it is 1.
  %start = arith.constant 27 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %three = arith.constant 3 : i32
  %r:2 = scf.while (%n = %start, %steps = %zero) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi ne, %n, %one : i32
    scf.condition(%more) %n, %steps : i32, i32
  } do {
  ^bb0(%n: i32, %steps: i32):
    %bit = arith.andi %n, %one : i32
    %odd = arith.cmpi eq, %bit, %one : i32
    %next = scf.if %odd -> i32 {
      %p = arith.muli %n, %three : i32
      %q = arith.addi %p, %one : i32
      scf.yield %q : i32
    } else {
      %h = arith.divsi %n, %two : i32
      scf.yield %h : i32
    }
    %more = arith.addi %steps, %one : i32
    scf.yield %next, %more : i32, i32
  }
  %e111 = arith.constant 111 : i32
  %1 = arith.cmpi eq, %r#1, %e111 : i32
  cf.assert %1, "111 steps"
  return
}
