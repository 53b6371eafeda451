// What cannot be rewritten is refused where it stands, before upstream crashes at it.
// RUN: %tile_opt %s --split-input-file --tile-avoid-upstream-faults -verify-diagnostics

func.func @vectors(%v: vector<1xi1>) -> tensor<1xvector<1xi1>> {
  // expected-error @+1 {{makes a tensor of vectors; an element type of integers, index or floats is accepted}}
  %t = tensor.from_elements %v : tensor<1xvector<1xi1>>
  return %t : tensor<1xvector<1xi1>>
}

// -----

func.func @two(%a: vector<2x2x3xi8>, %b: vector<3xi8>, %i: index, %j: index) -> vector<2x2x3xi8> {
  // expected-error @+1 {{inserts a vector at 2 dynamic positions; at most 1 is accepted}}
  %r = vector.insert %b, %a[%i, %j] : vector<3xi8> into vector<2x2x3xi8>
  return %r : vector<2x2x3xi8>
}

// -----

llvm.func @scalable(%a: !llvm.ptr) -> i64 {
  // expected-error @+1 {{has a vector of unknown size (vector<[N]xT>, vscale); vectors of known size are accepted}}
  %v = llvm.load %a : !llvm.ptr -> vector<[4]xf32>
  // expected-error @+1 {{has a vector of unknown size}}
  %s = "llvm.intr.vscale"() : () -> i64
  llvm.return %s : i64
}
