// What sparse programs get wrong at run time stops the interpreter at the op at fault; and values written down by hand
// for what test/run/sparse/sparse.py cannot draw: two entries at one place, zeros that are stored, sums.
// RUN: not %tile_run --target=interpret %s --entry=duplicates 2>&1 | FileCheck %s --check-prefix=DUPLICATES
// DUPLICATES: sparse.mlir:{{[0-9]+:[0-9]+}}: error: 'sparse.convert' op finds two entries at (1, 2)
// RUN: not %tile_run --target=interpret %s --entry=crowded 2>&1 | FileCheck %s --check-prefix=CROWDED
// CROWDED: error: 'sparse.pack' op window 0 of group 1 holds 3 elements that are not zero, expected at most 2
// RUN: not %tile_run --target=interpret %s --entry=descends 2>&1 | FileCheck %s --check-prefix=DESCENDS
// DESCENDS: error: 'sparse.assemble' op coordinate 1 is 1, expected 2 to 3
// RUN: not %tile_run --target=interpret %s --entry=too_far 2>&1 | FileCheck %s --check-prefix=FAR
// FAR: error: 'sparse.assemble' op coordinate 1 is 4, expected 2 to 3
// RUN: not %tile_run --target=interpret %s --entry=too_few 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: error: 'sparse.assemble' op position 2 is 1, expected 2 to 2
// RUN: not %tile_run --target=interpret %s --entry=disagrees 2>&1 | FileCheck %s --check-prefix=DISAGREES
// DISAGREES: error: 'sparse.spmv' op vector has size 4, expected 3
// RUN: not %tile_run --target=interpret %s --entry=misused 2>&1 | FileCheck %s --check-prefix=MISUSED
// MISUSED: error: 'arith.addf' op 'arith.addf' of a sparse tensor has no meaning: unpack it first
// RUN: not %tile_run --target=interpret %s --entry=reads_outside 2>&1 | FileCheck %s --check-prefix=READS
// READS: error: 'sparse.sread' op coordinate 1 is 2, expected one of 2 slices
// RUN: not %tile_run --target=interpret %s --entry=writes_outside 2>&1 | FileCheck %s --check-prefix=WRITES
// WRITES: error: 'sparse.swrite' op coordinate 0 is -1, expected one of 3 slices
// RUN: not %tile_run --target=interpret %s --entry=writes_twice 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: 'sparse.swrite' op coordinate 2 is 1, which stands before it
// RUN: not %tile_run --target=interpret %s --entry=writes_other 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: 'sparse.swrite' op packed has size 3 along axis 1, expected 2
// RUN: %tile_run --target=interpret %s --entry=values
// RUN: %tile_run --target=interpret %s --entry=micro_tiles
// RUN: %tile_run --target=interpret %s --entry=control

#coo = #sparse.coo<unordered>
#both = #sparse.sum<parts = [#sparse.bsr<block = [2, 2]>, #sparse.csr]>

func.func @entries() -> tensor<2x4xf32, #coo> {
  %c = arith.constant dense<[[1, 0, 1], [2, 3, 2]]> : tensor<2x3xi32>
  %v = arith.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
  %a = sparse.assemble(%c, %v) : tensor<2x3xi32>, tensor<3xf32> -> tensor<2x4xf32, #coo>
  return %a : tensor<2x4xf32, #coo>
}
func.func @duplicates() {
  %a = call @entries() : () -> tensor<2x4xf32, #coo>
  %b = sparse.convert %a duplicates(error) : tensor<2x4xf32, #coo> -> tensor<2x4xf32, #sparse.csr>
  return
}
func.func @crowded() {
  %d = arith.constant dense<[[1, 0, 0, 2], [3, 4, 0, 5]]> : tensor<2x4xi32>
  %zero = arith.constant dense<0> : tensor<2x4xi32>
  %sum = arith.addi %d, %zero : tensor<2x4xi32>
  %w = sparse.pack %sum : tensor<2x4xi32> -> tensor<2x4xi32, #sparse.nm<n = 2, m = 4>>
  return
}

// Components that the verifier does not see through.
func.func @made(%pos: tensor<3xi32>, %crd: tensor<2xi32>) {
  %v = arith.constant dense<1.0> : tensor<2xf32>
  %a = sparse.assemble(%pos, %crd, %v) : tensor<3xi32>, tensor<2xi32>, tensor<2xf32> -> tensor<2x4xf32, #sparse.csr>
  return
}
func.func @descends() {
  %p = arith.constant dense<[0, 2, 2]> : tensor<3xi32>
  %c = arith.constant dense<1> : tensor<2xi32>
  call @made(%p, %c) : (tensor<3xi32>, tensor<2xi32>) -> ()
  return
}
func.func @too_far() {
  %p = arith.constant dense<[0, 2, 2]> : tensor<3xi32>
  %c = arith.constant dense<[1, 4]> : tensor<2xi32>
  call @made(%p, %c) : (tensor<3xi32>, tensor<2xi32>) -> ()
  return
}
func.func @too_few() {
  %p = arith.constant dense<[0, 1, 1]> : tensor<3xi32>
  %c = arith.constant dense<[1, 2]> : tensor<2xi32>
  call @made(%p, %c) : (tensor<3xi32>, tensor<2xi32>) -> ()
  return
}
func.func @multiplied(%a: tensor<?x?xf32, #sparse.csr>) -> tensor<2xf32> {
  %x = arith.constant dense<1.0> : tensor<4xf32>
  %y = arith.constant dense<0.0> : tensor<2xf32>
  %r = sparse.spmv %a, %x, %y : tensor<?x?xf32, #sparse.csr>, tensor<4xf32>, tensor<2xf32>
  return %r : tensor<2xf32>
}
func.func @disagrees() {
  %d = arith.constant dense<1.0> : tensor<2x3xf32>
  %e = tensor.cast %d : tensor<2x3xf32> to tensor<?x?xf32>
  %a = sparse.pack %e : tensor<?x?xf32> -> tensor<?x?xf32, #sparse.csr>
  %r = call @multiplied(%a) : (tensor<?x?xf32, #sparse.csr>) -> tensor<2xf32>
  return
}
func.func @misused() {
  %d = arith.constant dense<1.0> : tensor<2x3xf32>
  %a = sparse.pack %d : tensor<2x3xf32> -> tensor<2x3xf32, #sparse.csr>
  %b = arith.addf %a, %a : tensor<2x3xf32, #sparse.csr>
  return
}

//===--- values -------------------------------------------------------------===//

func.func @expect(%seen: tensor<2x4xf32>, %wanted: tensor<2x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c2 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %s = tensor.extract %seen[%i, %j] : tensor<2x4xf32>
      %w = tensor.extract %wanted[%i, %j] : tensor<2x4xf32>
      %same = arith.cmpf oeq, %s, %w : f32
      cf.assert %same, "an element differs"
    }
  }
  return
}
func.func @values() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // Two entries at one place add up, converted or not.
  %a = call @entries() : () -> tensor<2x4xf32, #coo>
  %sum = arith.constant dense<[[0.0, 0.0, 0.0, 2.0], [0.0, 0.0, 5.0, 0.0]]> : tensor<2x4xf32>
  %u = sparse.unpack %a : tensor<2x4xf32, #coo> -> tensor<2x4xf32>
  call @expect(%u, %sum) : (tensor<2x4xf32>, tensor<2x4xf32>) -> ()
  %csc = sparse.convert %a : tensor<2x4xf32, #coo> -> tensor<2x4xf32, #sparse.csc>
  %v = sparse.unpack %csc : tensor<2x4xf32, #sparse.csc> -> tensor<2x4xf32>
  call @expect(%v, %sum) : (tensor<2x4xf32>, tensor<2x4xf32>) -> ()
  %c:3 = sparse.disassemble %csc : tensor<2x4xf32, #sparse.csc> -> tensor<5xi32>, tensor<?xi32>, tensor<?xf32>
  %stored = tensor.dim %c#2, %c0 : tensor<?xf32>
  %two = arith.cmpi eq, %stored, %c2 : index
  cf.assert %two, "two entries are left"

  // A zero that is stored takes part in a minimum, one that is not does not; a line without entries gives init.
  %pos = arith.constant dense<[0, 2, 2]> : tensor<3xi32>
  %crd = arith.constant dense<[0, 3]> : tensor<2xi32>
  %val = arith.constant dense<[0.0, 7.0]> : tensor<2xf32>
  %z = sparse.assemble(%pos, %crd, %val) : tensor<3xi32>, tensor<2xi32>, tensor<2xf32> -> tensor<2x4xf32, #sparse.csr>
  %inf = arith.constant dense<0x7F800000> : tensor<2xf32>
  %min = sparse.reduce min %z along 1, %inf : tensor<2x4xf32, #sparse.csr>, tensor<2xf32>
  %m0 = tensor.extract %min[%c0] : tensor<2xf32>
  %m1 = tensor.extract %min[%c1] : tensor<2xf32>
  %zero = arith.constant 0.0 : f32
  %infinite = arith.constant 0x7F800000 : f32
  %ok0 = arith.cmpf oeq, %m0, %zero : f32
  %ok1 = arith.cmpf oeq, %m1, %infinite : f32
  cf.assert %ok0, "a stored zero is the least"
  cf.assert %ok1, "no entry: init"
  // -0.0 is not stored.
  %minus = arith.constant dense<-0.0> : tensor<2x4xf32>
  %none = sparse.pack %minus : tensor<2x4xf32> -> tensor<2x4xf32, #sparse.csr>
  %n:3 = sparse.disassemble %none : tensor<2x4xf32, #sparse.csr> -> tensor<3xi32>, tensor<?xi32>, tensor<?xf32>
  %count = tensor.dim %n#2, %c0 : tensor<?xf32>
  %empty = arith.cmpi eq, %count, %c0 : index
  cf.assert %empty, "nothing is stored"

  // The parts of a sum add up, and come out as they went in.
  %bp = arith.constant dense<[0, 1]> : tensor<2xi32>
  %bc = arith.constant dense<1> : tensor<1xi32>
  %bv = arith.constant dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>
  %s = sparse.assemble(%bp, %bc, %bv, %pos, %crd, %val)
      : tensor<2xi32>, tensor<1xi32>, tensor<1x2x2xf32>, tensor<3xi32>, tensor<2xi32>, tensor<2xf32> -> tensor<2x4xf32, #both>
  %added = arith.constant dense<[[0.0, 0.0, 1.0, 9.0], [0.0, 0.0, 3.0, 4.0]]> : tensor<2x4xf32>
  %t = sparse.unpack %s : tensor<2x4xf32, #both> -> tensor<2x4xf32>
  call @expect(%t, %added) : (tensor<2x4xf32>, tensor<2x4xf32>) -> ()
  %p:6 = sparse.disassemble %s : tensor<2x4xf32, #both>
      -> tensor<2xi32>, tensor<?xi32>, tensor<?x2x2xf32>, tensor<3xi32>, tensor<?xi32>, tensor<?xf32>
  %last = tensor.extract %p#5[%c1] : tensor<?xf32>
  %seven = arith.constant 7.0 : f32
  %same = arith.cmpf oeq, %last, %seven : f32
  cf.assert %same, "the second part's values"
  return
}

// Sparse values pass through calls, branches and loops: entries below the diagonal vanish one by one.
func.func @control() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %ones = arith.constant dense<1> : tensor<3x3xi32>
  %a = sparse.pack %ones : tensor<3x3xi32> -> tensor<3x3xi32, #sparse.csr>
  %left = scf.for %k = %c0 to %c3 step %c1 iter_args(%it = %a) -> (tensor<3x3xi32, #sparse.csr>) {
    %next = sparse.select %it : tensor<3x3xi32, #sparse.csr> {
    ^bb0(%v: i32, %i: index, %j: index):
      %not = arith.cmpi ne, %j, %k : index
      %above = arith.cmpi ule, %i, %j : index
      %keep = arith.ori %not, %above : i1
      sparse.yield %keep : i1
    }
    scf.yield %next : tensor<3x3xi32, #sparse.csr>
  }
  %init = arith.constant dense<0> : tensor<3xi32>
  %sums = sparse.reduce add %left along 1, %init : tensor<3x3xi32, #sparse.csr>, tensor<3xi32>
  scf.for %i = %c0 to %c3 step %c1 {
    %s = tensor.extract %sums[%i] : tensor<3xi32>
    %n = arith.subi %c3, %i : index
    %w = arith.index_cast %n : index to i32
    %same = arith.cmpi eq, %s, %w : i32
    cf.assert %same, "the upper triangle is left"
  }
  return
}

// Lists of micro-tiles that are wrong.
func.func @reads_outside() {
  %a = arith.constant dense<1.0> : tensor<3x2xf32>
  %l = arith.constant dense<[1, 2]> : tensor<2xi32>
  %p = sparse.sread %a[%l] along 0 by 2 : tensor<3x2xf32>, tensor<2xi32> -> tensor<4x2xf32>
  return
}
func.func @written(%l: tensor<?xi64>, %p: tensor<2x?xf32>) -> tensor<2x3xf32> {
  %a = arith.constant dense<0.0> : tensor<2x3xf32>
  %r = sparse.swrite %p, %a[%l] along 1 : tensor<2x?xf32>, tensor<2x3xf32>, tensor<?xi64>
  return %r : tensor<2x3xf32>
}
func.func @write(%l: tensor<?xi64>) {
  %c = arith.constant dense<1.0> : tensor<2x3xf32>
  %p = tensor.cast %c : tensor<2x3xf32> to tensor<2x?xf32>
  %r = call @written(%l, %p) : (tensor<?xi64>, tensor<2x?xf32>) -> tensor<2x3xf32>
  return
}
func.func @writes_outside() {
  %l = arith.constant dense<[-1, 0, 1]> : tensor<3xi64>
  %d = tensor.cast %l : tensor<3xi64> to tensor<?xi64>
  call @write(%d) : (tensor<?xi64>) -> ()
  return
}
func.func @writes_twice() {
  %l = arith.constant dense<[1, 0, 1]> : tensor<3xi64>
  %d = tensor.cast %l : tensor<3xi64> to tensor<?xi64>
  call @write(%d) : (tensor<?xi64>) -> ()
  return
}
func.func @writes_other() {
  %l = arith.constant dense<[1, 0]> : tensor<2xi64>
  %d = tensor.cast %l : tensor<2xi64> to tensor<?xi64>
  call @write(%d) : (tensor<?xi64>) -> ()
  return
}

// -0.0 is nothing, nan is something; of a mask a tile that is stored is listed whatever its values are.
func.func @micro_tiles() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = arith.constant dense<[[-0.0, 0x7FC00000, 0.0]]> : tensor<1x3xf32>
  %pos, %crd = sparse.detect %a along 1 : tensor<1x3xf32> -> tensor<2xi32>, tensor<?xi32>
  %n = tensor.extract %pos[%c1] : tensor<2xi32>
  %first = tensor.extract %crd[%c0] : tensor<?xi32>
  %one = arith.constant 1 : i32
  %isOne = arith.cmpi eq, %n, %one : i32
  cf.assert %isOne, "one column holds something"
  %isSecond = arith.cmpi eq, %first, %one : i32
  cf.assert %isSecond, "it is the second"
  %mask = arith.constant dense<[[false, true]]> : tensor<1x2xi1>
  %zeros = arith.constant dense<0.0> : tensor<1x3xf32>
  %m = sparse.assemble(%mask, %zeros) : tensor<1x2xi1>, tensor<1x3xf32> -> tensor<1x3xf32, #sparse.mask<tile = [1, 2]>>
  %mpos, %mcrd = sparse.detect %m along 1 : tensor<1x3xf32, #sparse.mask<tile = [1, 2]>> -> tensor<2xi32>, tensor<?xi32>
  %stored = tensor.extract %mcrd[%c0] : tensor<?xi32>
  %two = arith.constant 2 : i32
  %isThird = arith.cmpi eq, %stored, %two : i32
  cf.assert %isThird, "the column of the tile that is stored"
  return
}
