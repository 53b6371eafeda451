// A malformed #sparse.attribute, or one that does not fit its op, is refused with what was seen and what is wanted.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

// expected-error@below {{unknown key 'none' in #sparse.attribute, expected one of grain, zero, dead, bits}}
func.func private @f() attributes {a = #sparse.attribute<none = 1>}

// -----

// expected-error@below {{'grain' is given twice}}
func.func private @f() attributes {a = #sparse.attribute<grain = [1], grain = [1]>}

// -----

// expected-error@below {{#sparse.attribute without 'grain'}}
func.func private @f() attributes {a = #sparse.attribute<zero = dense<true> : tensor<1xi1>>}

// -----

// expected-error@below {{#sparse.attribute says nothing, expected zero, dead or bits}}
func.func private @f() attributes {a = #sparse.attribute<grain = [1]>}

// -----

// expected-error@below {{grain of #sparse.attribute has 0 sizes, expected 1 to 8}}
func.func private @f() attributes {a = #sparse.attribute<grain = []>}

// -----

// expected-error@below {{size 1 of grain of #sparse.attribute is 0, expected at least 1}}
func.func private @f() attributes {a = #sparse.attribute<grain = [1, 0], zero = dense<true> : tensor<1x1xi1>>}

// -----

// expected-error@below {{zero of #sparse.attribute is tensor<1xi8>, expected a dense tensor of i1 of rank 1}}
func.func private @f() attributes {a = #sparse.attribute<grain = [1], zero = dense<1> : tensor<1xi8>>}

// -----

// expected-error@below {{dead of #sparse.attribute is true, expected a dense tensor of i1 of rank 1}}
func.func private @f() attributes {a = #sparse.attribute<grain = [1], dead = true>}

// -----

// expected-error@below {{bits of #sparse.attribute is tensor<1xi8>, expected a dense tensor of i8 of rank 2}}
func.func private @f() attributes {a = #sparse.attribute<grain = [1, 1], bits = dense<1> : tensor<1xi8>>}

// -----

// expected-error@below {{bits of #sparse.attribute has size 3 along axis 0, expected 2 as the map before it}}
func.func private @f() attributes {a = #sparse.attribute<grain = [1], zero = dense<true> : tensor<2xi1>, bits = dense<1> : tensor<3xi8>>}

// -----

// expected-error@below {{element 1 of bits of #sparse.attribute is 65, expected 1 to 64}}
func.func private @f() attributes {a = #sparse.attribute<grain = [1], bits = dense<[8, 65]> : tensor<2xi8>>}

// -----

func.func @f() {
  // expected-error@+1 {{unknown attribute 'sparse.other', expected sparse.attribute or sparse.micro_tiles}}
  %a = tensor.empty() {sparse.other} : tensor<2xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{attribute 'sparse.attribute' is 1 : i64, expected a #sparse.attribute}}
  %a = tensor.empty() {sparse.attribute = 1} : tensor<2xf32>
  return
}

// -----

// expected-error@+1 {{carries a #sparse.attribute, which speaks of the result of an op that has one tensor}}
func.func @f() attributes {sparse.attribute = #sparse.attribute<grain = [1], zero = dense<true> : tensor<1xi1>>} { return }

// -----

func.func @f() {
  // expected-error@+1 {{its #sparse.attribute has rank 1, expected that of the result, 2}}
  %a = tensor.empty() {sparse.attribute = #sparse.attribute<grain = [1], zero = dense<true> : tensor<1xi1>>} : tensor<2x2xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{its #sparse.attribute has size 2 along axis 0, expected 3 for 5 elements, 2 at a time}}
  %a = tensor.empty() {sparse.attribute = #sparse.attribute<grain = [2], zero = dense<true> : tensor<2xi1>>} : tensor<5xf32>
  return
}
