// The ops of vector that move, choose and combine elements: the interpreter and compiled code agree.
// RUN: %tile_run %s --target=cpu --check-against=interpret --seed=3 | FileCheck %s
// RUN: %tile_run %s --target=interpret --entry=prints | FileCheck %s --check-prefix=PRINTS
// RUN: not %tile_run %s --target=interpret --entry=outside 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not %tile_run %s --target=interpret --entry=poison 2>&1 | FileCheck %s --check-prefix=POISON
// CHECK: result 0: right, {{.*}}; 0 of 1 elements wrong
// CHECK: result 1: right, {{.*}}; 0 of 1 elements wrong
// CHECK: argument 1: right, {{.*}}; 0 of 24 elements wrong
// PRINTS: ( ( 1, 1, 1 ), ( 2, 2, 2 ) )
// PRINTS-NEXT: ( ( 7, 2 ), ( 3, 4 ) )
// PRINTS-NEXT: ( 4, 1, 4 )
// PRINTS-NEXT: ( 0, 1, 2 )
// PRINTS-NEXT: 24
// PRINTS-NEXT: 1
// OUTSIDE: vector_elements.mlir:{{.*}} error: 'vector.load' op is out of bounds: index 5 of dimension 0, which has size 5
// POISON: error: 'vector.print' op {{.*}}poison
func.func @main(%x: memref<4x6xf32>, %y: memref<4x6xf32>, %n: index) -> (f32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %a = vector.load %x[%c1, %c2] : memref<4x6xf32>, vector<4xf32>
  %x2 = vector.load %x[%c2, %c0] : memref<4x6xf32>, vector<6xf32>
  %x3 = vector.load %x[%c3, %c0] : memref<4x6xf32>, vector<6xf32>
  %none = arith.constant dense<0.0> : vector<2x6xf32>
  %m0 = vector.insert %x2, %none[0] : vector<6xf32> into vector<2x6xf32>
  %m = vector.insert %x3, %m0[1] : vector<6xf32> into vector<2x6xf32>
  %row = vector.extract %m[1] : vector<6xf32> from vector<2x6xf32>
  %e = vector.extract %row[%c3] : f32 from vector<6xf32>
  %b = vector.broadcast %e : f32 to vector<4xf32>
  %s = vector.shuffle %a, %row [0, 5, 9, 3] : vector<4xf32>, vector<6xf32>
  %f = vector.fma %a, %b, %s : vector<4xf32>
  %g = vector.insert %e, %f[2] : f32 into vector<4xf32>
  %h = vector.from_elements %e, %e, %e, %e : vector<4xf32>
  %k = arith.subf %g, %h : vector<4xf32>
  vector.store %k, %y[%c3, %c1] : memref<4x6xf32>, vector<4xf32>
  %wide = vector.insert %row, %m[0] : vector<6xf32> into vector<2x6xf32>
  %w0 = vector.extract %wide[0] : vector<6xf32> from vector<2x6xf32>
  %w1 = vector.extract %wide[1] : vector<6xf32> from vector<2x6xf32>
  vector.store %w0, %y[%c0, %c0] : memref<4x6xf32>, vector<6xf32>
  vector.store %w1, %y[%c1, %c0] : memref<4x6xf32>, vector<6xf32>
  %r = vector.reduction <maximumf>, %k, %e : vector<4xf32> into f32
  %steps = vector.step : vector<4xindex>
  %i = arith.index_cast %steps : vector<4xindex> to vector<4xi32>
  %sum = vector.reduction <add>, %i : vector<4xi32> into i32
  return %r, %sum : f32, i32
}
func.func @prints() {
  %c = arith.constant dense<[[1], [2]]> : vector<2x1xi32>
  %b = vector.broadcast %c : vector<2x1xi32> to vector<2x3xi32>
  vector.print %b : vector<2x3xi32>
  %m = arith.constant dense<[[1, 2], [3, 4]]> : vector<2x2xi32>
  %seven = arith.constant 7 : i32
  %n = vector.insert %seven, %m[0, 0] : i32 into vector<2x2xi32>
  vector.print %n : vector<2x2xi32>
  %x = arith.constant dense<[1, 2]> : vector<2xi32>
  %y = arith.constant dense<[3, 4]> : vector<2xi32>
  %s = vector.shuffle %x, %y [3, 0, 3] : vector<2xi32>, vector<2xi32>
  vector.print %s : vector<3xi32>
  %t = vector.step : vector<3xindex>
  vector.print %t : vector<3xindex>
  %row = arith.constant dense<[1, 2, 3, 4]> : vector<4xi32>
  %p = vector.reduction <mul>, %row : vector<4xi32> into i32
  vector.print %p : i32
  %q = vector.reduction <minsi>, %row : vector<4xi32> into i32
  vector.print %q : i32
  return
}
func.func @outside(%x: memref<5xf32>) -> f32 {
  %c3 = arith.constant 3 : index
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c3] : memref<5xf32>, vector<4xf32>
  %e = vector.extract %v[%c0] : f32 from vector<4xf32>
  return %e : f32
}
func.func @poison() {
  %x = arith.constant dense<[1, 2]> : vector<2xi32>
  %s = vector.shuffle %x, %x [0, -1] : vector<2xi32>, vector<2xi32>
  vector.print %s : vector<2xi32>
  return
}
