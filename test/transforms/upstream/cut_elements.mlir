// Casts of vectors between widths that do not divide each other: LLVM's folder gave other numbers for constants.
// RUN: %tile_run %s | FileCheck %s
// RUN: %tile_run %s --target=interpret | FileCheck %s
func.func @cast(%v: vector<8xi32>) -> vector<3xi8> {
  %t = arith.trunci %v : vector<8xi32> to vector<8xi3>
  %b = vector.bitcast %t : vector<8xi3> to vector<3xi8>
  return %b : vector<3xi8>
}
func.func @rows(%v: vector<2x3xf32>) -> vector<2x4xi24> {
  %b = vector.bitcast %v : vector<2x3xf32> to vector<2x4xi24>
  return %b : vector<2x4xi24>
}
func.func @main() {
  // CHECK: ( 119, 57, 5 )
  %v = arith.constant dense<[7, 6, 5, 4, 3, 2, 1, 0]> : vector<8xi32>
  %r = call @cast(%v) : (vector<8xi32>) -> vector<3xi8>
  vector.print %r : vector<3xi8>
  // CHECK-NEXT: ( ( -8388608, 63, -3293120, 4197580 ), ( 6291456, 64, 16416, -8388608 ) )
  %f = arith.constant dense<[[1.0, -3.0, 2.2], [3.5, 2.5, -0.0]]> : vector<2x3xf32>
  %w = call @rows(%f) : (vector<2x3xf32>) -> vector<2x4xi24>
  vector.print %w : vector<2x4xi24>
  return
}
