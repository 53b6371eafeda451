// Each malformed encoding is refused where it stands, with what was seen and what is wanted.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

// expected-error@below {{unknown key 'pos' in #sparse.csr, expected one of positions, coordinates}}
func.func private @f(tensor<4x4xf32, #sparse.csr<pos = i32>>)

// -----

// expected-error@below {{'positions' is given twice}}
func.func private @f(tensor<4x4xf32, #sparse.csr<positions = i32, positions = i32>>)

// -----

// expected-error@below {{positions of #sparse.csr are f32, expected i32 or i64}}
func.func private @f(tensor<4x4xf32, #sparse.csr<positions = f32>>)

// -----

// expected-error@below {{coordinates of #sparse.csc are i8, expected i32 or i64}}
func.func private @f(tensor<4x4xf32, #sparse.csc<coordinates = i8>>)

// -----

// expected-error@below {{#sparse.bsr without 'block'}}
func.func private @f(tensor<4x4xf32, #sparse.bsr>)

// -----

// expected-error@below {{block of #sparse.bsr has 1 sizes, expected 2}}
func.func private @f(tensor<4x4xf32, #sparse.bsr<block = [4]>>)

// -----

// expected-error@below {{size 1 of block of #sparse.bsr is 0, expected 1 to 2147483647}}
func.func private @f(tensor<4x4xf32, #sparse.bsr<block = [4, 0]>>)

// -----

// expected-error@below {{n of #sparse.nm is 5, expected 1 to 4}}
func.func private @f(tensor<4x4xf32, #sparse.nm<n = 5, m = 4>>)

// -----

// expected-error@below {{axis of #sparse.nm is 2, expected 0 to 1}}
func.func private @f(tensor<4x4xf32, #sparse.nm<n = 2, m = 4, axis = 2>>)

// -----

// expected-error@below {{vector of #sparse.nm keeps 4 elements together along axis 1, which divides not both n = 3 and m = 32}}
func.func private @f(tensor<4x4xf32, #sparse.nm<n = 3, m = 32, vector = [4, 4]>>)

// -----

// expected-error@below {{coordinates of #sparse.nm are i8, too narrow for 512 places in a window}}
func.func private @f(tensor<4x4xf32, #sparse.nm<n = 3, m = 512>>)

// -----

// expected-error@below {{#sparse.sum has 1 parts, expected 2 to 4}}
func.func private @f(tensor<4x4xf32, #sparse.sum<parts = [#sparse.csr]>>)

// -----

// expected-error@below {{part 1 of #sparse.sum is 3 : i64, expected an encoding other than #sparse.sum}}
func.func private @f(tensor<4x4xf32, #sparse.sum<parts = [#sparse.csr, 3]>>)

// -----

// expected-error@below {{more than 4 parts}}
func.func private @f(tensor<4x4xf32, #sparse.sum<parts = [#sparse.csr, #sparse.csr, #sparse.csr, #sparse.csr, #sparse.csr]>>)

// -----

// expected-error@below {{a tensor of rank 3 is stored as #sparse.csr, expected a matrix}}
func.func private @f(tensor<4x4x4xf32, #sparse.csr>)

// -----

// expected-error@below {{#sparse.csr stores elements of type index, expected integers or floats}}
func.func private @f(tensor<4x4xindex, #sparse.csr>)

// -----

// expected-error@below {{invalid element type for complex}}
func.func private @f(tensor<4x4xcomplex<index>, #sparse.csr>)
