// RUN: %tile_run %s --target=interpret > %t.interpreted
// RUN: %tile_run %s > %t.compiled
// RUN: diff %t.interpreted %t.compiled
// RUN: FileCheck %s < %t.interpreted
// RUN: not %tile_run %s --target=interpret --entry=outside 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// OUTSIDE: vector_parts.mlir:[[@LINE+137]]:{{.*}}error: 'vector.gather' op is out of bounds: index 7 of dimension 0, which has size 5
//
// Vectors and their parts, products, scans, masks, memory of vectors, and loops of affine: interpreted as compiled.

func.func @numbers() -> vector<2x3xf32> {
  %v = arith.constant dense<[[1.0, 2.0, 3.0], [-4.0, 5.5, 6.0]]> : vector<2x3xf32>
  return %v : vector<2x3xf32>
}

func.func @parts() {
  %v = call @numbers() : () -> vector<2x3xf32>
  %zero = arith.constant dense<0.0> : vector<4x3xf32>
  // CHECK: ( ( 1, -4 ), ( 2, 5.5 ), ( 3, 6 ) )
  %t = vector.transpose %v, [1, 0] : vector<2x3xf32> to vector<3x2xf32>
  vector.print %t : vector<3x2xf32>
  // CHECK-NEXT: ( ( 1, 2 ), ( 3, -4 ), ( 5.5, 6 ) )
  %c = vector.shape_cast %v : vector<2x3xf32> to vector<3x2xf32>
  vector.print %c : vector<3x2xf32>
  // CHECK-NEXT: ( ( 0, 0, 0 ), ( 0, 1, 2 ), ( 0, 0, 0 ), ( 0, 0, 0 ) )
  %row = vector.extract_strided_slice %v {offsets = [0, 0], sizes = [1, 2], strides = [1, 1]}
    : vector<2x3xf32> to vector<1x2xf32>
  %i = vector.insert_strided_slice %row, %zero {offsets = [1, 1], strides = [1, 1]} : vector<1x2xf32> into vector<4x3xf32>
  vector.print %i : vector<4x3xf32>
  // CHECK-NEXT: ( -4, 5.5, 6 )
  %last = vector.extract_strided_slice %v {offsets = [1], sizes = [1], strides = [1]} : vector<2x3xf32> to vector<1x3xf32>
  %one = vector.extract %last[0] : vector<3xf32> from vector<1x3xf32>
  vector.print %one : vector<3xf32>
  // CHECK-NEXT: ( 1, -4, 2, 5.5, 3, 6 )
  %first = vector.extract %v[0] : vector<3xf32> from vector<2x3xf32>
  %both = vector.interleave %first, %one : vector<3xf32> -> vector<6xf32>
  vector.print %both : vector<6xf32>
  // CHECK-NEXT: ( -4, 5.5, 6 )
  %even, %odd = vector.deinterleave %both : vector<6xf32> -> vector<3xf32>
  vector.print %odd : vector<3xf32>
  // CHECK-NEXT: ( 0, -16512, 0, 16384 )
  %pair = arith.constant dense<[-1.0, 2.0]> : vector<2xf32>
  %halves = vector.bitcast %pair : vector<2xf32> to vector<4xi16>
  %same = vector.bitcast %halves : vector<4xi16> to vector<2xf32>
  vector.print %halves : vector<4xi16>
  // CHECK-NEXT: ( -1, 2 )
  vector.print %same : vector<2xf32>
  // CHECK-NEXT: ( ( 1, 1, 0 ), ( 0, 0, 0 ) )
  %m = vector.constant_mask [1, 2] : vector<2x3xi1>
  vector.print %m : vector<2x3xi1>
  // CHECK-NEXT: ( 1, 1, 0, 0 )
  %two = arith.constant 2 : index
  %n = vector.create_mask %two : vector<4xi1>
  vector.print %n : vector<4xi1>
  return
}

#matvec = {
  indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
  iterator_types = ["parallel", "reduction"]
}

func.func @combined() {
  %v = call @numbers() : () -> vector<2x3xf32>
  %x = arith.constant dense<[2.0, -1.0, 0.5]> : vector<3xf32>
  %y = arith.constant dense<[10.0, 20.0]> : vector<2xf32>
  // CHECK-NEXT: ( ( 20, -10, 5 ), ( 40, -20, 10 ) )
  %o = vector.outerproduct %y, %x : vector<2xf32>, vector<3xf32>
  vector.print %o : vector<2x3xf32>
  // CHECK-NEXT: ( ( 21, -8, 8 ), ( 36, -14.5, 16 ) )
  %p = vector.outerproduct %y, %x, %v : vector<2xf32>, vector<3xf32>
  vector.print %p : vector<2x3xf32>
  // CHECK-NEXT: ( 11.5, 9.5 )
  %c = vector.contract #matvec %v, %x, %y : vector<2x3xf32>, vector<3xf32> into vector<2xf32>
  vector.print %c : vector<2xf32>
  // CHECK-NEXT: ( 10, 20 )
  %m = vector.multi_reduction <maximumf>, %v, %y [1] : vector<2x3xf32> to vector<2xf32>
  vector.print %m : vector<2xf32>
  // CHECK-NEXT: 13.5
  %zero = arith.constant 0.0 : f32
  %s = vector.multi_reduction <add>, %v, %zero [0, 1] : vector<2x3xf32> to f32
  vector.print %s : f32
  return
}

func.func @scanned() {
  %v = arith.constant dense<[[1, 2, 3], [-4, 5, 6]]> : vector<2x3xi32>
  %start = arith.constant dense<[10, 20]> : vector<2xi32>
  // CHECK-NEXT: ( ( 1, 3, 6 ), ( -4, 1, 7 ) )
  %in:2 = vector.scan <add>, %v, %start {inclusive = true, reduction_dim = 1 : i64} : vector<2x3xi32>, vector<2xi32>
  vector.print %in#0 : vector<2x3xi32>
  // CHECK-NEXT: ( 6, 7 )
  vector.print %in#1 : vector<2xi32>
  // CHECK-NEXT: ( ( 10, 11, 13 ), ( 20, 16, 21 ) )
  %ex:2 = vector.scan <add>, %v, %start {inclusive = false, reduction_dim = 1 : i64} : vector<2x3xi32>, vector<2xi32>
  vector.print %ex#0 : vector<2x3xi32>
  return
}

func.func @masked() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %mask = arith.constant dense<[true, false, true, true]> : vector<4xi1>
  %at = arith.constant dense<[3, 0, 1, 1]> : vector<4xi32>
  %other = arith.constant dense<[-1, -2, -3, -4]> : vector<4xi32>
  %a = memref.alloc(%c5) : memref<?xi32>
  affine.for %i = 0 to 5 {
    %j = affine.apply affine_map<(d0) -> (d0 * 10 + 7)>(%i)
    %x = arith.index_cast %j : index to i32
    affine.store %x, %a[%i] : memref<?xi32>
  }
  // CHECK-NEXT: ( 17, -2, 37, 47 )
  %l = vector.maskedload %a[%c1], %mask, %other : memref<?xi32>, vector<4xi1>, vector<4xi32> into vector<4xi32>
  vector.print %l : vector<4xi32>
  // CHECK-NEXT: ( 37, -2, 17, 17 )
  %g = vector.gather %a[%c0][%at], %mask, %other : memref<?xi32>, vector<4xi32>, vector<4xi1>, vector<4xi32> into vector<4xi32>
  vector.print %g : vector<4xi32>
  // CHECK-NEXT: ( 27, -2, 37, 47 )
  %e = vector.expandload %a[%c2], %mask, %other : memref<?xi32>, vector<4xi1>, vector<4xi32> into vector<4xi32>
  vector.print %e : vector<4xi32>
  vector.maskedstore %a[%c1], %mask, %other : memref<?xi32>, vector<4xi1>, vector<4xi32>
  vector.scatter %a[%c0][%at], %mask, %l : memref<?xi32>, vector<4xi32>, vector<4xi1>, vector<4xi32>
  vector.compressstore %a[%c2], %mask, %e : memref<?xi32>, vector<4xi1>, vector<4xi32>
  // CHECK-NEXT: ( 7, 47, 27, 37, 47 )
  %all = vector.load %a[%c0] : memref<?xi32>, vector<5xi32>
  vector.print %all : vector<5xi32>
  %b = memref.realloc %a : memref<?xi32> to memref<3xi32>
  // CHECK-NEXT: ( 7, 47, 27 )
  %some = vector.load %b[%c0] : memref<3xi32>, vector<3xi32>
  vector.print %some : vector<3xi32>
  memref.dealloc %b : memref<3xi32>
  return
}

func.func @outside() {
  %c0 = arith.constant 0 : index
  %at = arith.constant dense<[0, 7]> : vector<2xi32>
  %mask = arith.constant dense<true> : vector<2xi1>
  %other = arith.constant dense<0> : vector<2xi32>
  %a = memref.alloc() : memref<5xi32>
  vector.store %other, %a[%c0] : memref<5xi32>, vector<2xi32>
  %g = vector.gather %a[%c0][%at], %mask, %other : memref<5xi32>, vector<2xi32>, vector<2xi1>, vector<2xi32> into vector<2xi32>
  vector.print %g : vector<2xi32>
  return
}

func.func @in_memory() {
  %c1 = arith.constant 1 : index
  %v = call @numbers() : () -> vector<2x3xf32>
  %row = vector.extract %v[1] : vector<3xf32> from vector<2x3xf32>
  %a = memref.alloc() : memref<2xvector<3xf32>>
  memref.store %row, %a[%c1] : memref<2xvector<3xf32>>
  // CHECK-NEXT: ( -4, 5.5, 6 )
  %r = memref.load %a[%c1] : memref<2xvector<3xf32>>
  vector.print %r : vector<3xf32>
  memref.dealloc %a : memref<2xvector<3xf32>>
  return
}

func.func @loops() {
  %zero = arith.constant 0 : index
  %n = arith.constant 5 : index
  // CHECK-NEXT: 11
  %sum = affine.for %i = max affine_map<(d0) -> (1, d0 - 9)>(%n) to min affine_map<()[s0] -> (s0, 100)>()[%n] step 2
      iter_args(%s = %zero) -> (index) {
    %t = affine.if affine_set<(d0) : (d0 - 2 >= 0, d0 mod 2 - 1 == 0)>(%i) -> index {
      %c10 = arith.constant 10 : index
      affine.yield %c10 : index
    } else {
      affine.yield %i : index
    }
    %u = arith.addi %s, %t : index
    affine.yield %u : index
  }
  vector.print %sum : index
  return
}

func.func @main() {
  call @parts() : () -> ()
  call @combined() : () -> ()
  call @scanned() : () -> ()
  call @masked() : () -> ()
  call @in_memory() : () -> ()
  call @loops() : () -> ()
  return
}
