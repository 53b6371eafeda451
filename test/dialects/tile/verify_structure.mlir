// What kernels, functions, launches, program ids and assumptions must not say.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

// expected-error @+1 {{'tile.kernel' op returns f32, expected no result: a kernel writes to its memrefs}}
tile.kernel private @k(memref<?xf32>) -> f32

// -----

// expected-error @+1 {{'tile.kernel' op parameter #1 is tensor<4xf32>, expected a memref or a scalar (index, integer, float)}}
tile.kernel private @k(memref<?xf32>, tensor<4xf32>)

// -----

// expected-error @+1 {{'tile.kernel' op warps is 0, expected 1 to 64}}
tile.kernel private @k(memref<?xf32>) attributes {warps = 0 : i32}

// -----

// expected-error @+1 {{'tile.func' op parameter #0 is tensor<?xf32>, expected a scalar, a tile without layout, a view or a memref}}
tile.func private @f(tensor<?xf32>) -> f32

// -----

// expected-error @+1 {{'tile.func' op result #0 is !tile.token, expected a scalar, a tile without layout, a view or a memref}}
tile.func private @f(tensor<4xf32>) -> !tile.token

// -----

tile.kernel @k(%x: f32) {
  // expected-error @+1 {{'tile.call' op calls @f, which is not defined}}
  %y = tile.call @f(%x) : (f32) -> f32
  tile.return
}

// -----

// expected-note @+1 {{it is defined here}}
tile.kernel private @f(f32)
tile.kernel @k(%x: f32) {
  // expected-error @+1 {{'tile.call' op calls @f, expected a tile.func}}
  tile.call @f(%x) : (f32) -> ()
  tile.return
}

// -----

// expected-note @+1 {{the signature is given here}}
tile.func private @f(f32, f32) -> f32
tile.kernel @k(%x: f32) {
  // expected-error @+1 {{'tile.call' op has 1 operands, expected 2}}
  %y = tile.call @f(%x) : (f32) -> f32
  tile.return
}

// -----

// expected-note @+1 {{the signature is given here}}
tile.func private @f(f32) -> f16
tile.kernel @k(%x: f32) {
  // expected-error @+1 {{'tile.call' op result #0 is f32, expected f16}}
  %y = tile.call @f(%x) : (f32) -> f32
  tile.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'tile.return' op stands in 'func.func', expected a tile.kernel or tile.func}}
  tile.return
}

// -----

// expected-note @+1 {{the signature is given here}}
tile.func private @f(%x: f32) -> f32 {
  // expected-error @+1 {{'tile.return' op has 0 operands, expected 1}}
  tile.return
}

// -----

tile.func private @f(%x: f32) -> f32 {
  // expected-error @+1 {{'tile.yield' op stands in 'tile.func', expected a tile.reduce, tile.scan, tile.group or tile.warp_specialize}}
  tile.yield %x : f32
}

// -----

tile.func private @f(%x: tensor<4xf32>) -> f32 {
  // expected-note @+1 {{one per input of this op}}
  %r = tile.reduce %x axes [0] neutral [0.0 : f32] : tensor<4xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    // expected-error @+1 {{'tile.yield' op yields 2 values, expected 1}}
    tile.yield %a, %b : f32, f32
  }
  tile.return %r : f32
}

// -----

tile.func private @f(%x: tensor<4xf32>, %i: i32) -> f32 {
  // expected-note @+1 {{the element type of this op's input}}
  %r = tile.reduce %x axes [0] neutral [0.0 : f32] : tensor<4xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    // expected-error @+1 {{'tile.yield' op operand #0 is i32, expected f32}}
    tile.yield %i : i32
  }
  tile.return %r : f32
}

// -----

tile.kernel @k(%i: index) {
  // expected-note @+1 {{in a partition of this op}}
  tile.warp_specialize captures(%i : index) partition "a" warps(1) {
    // expected-error @+1 {{'tile.yield' op yields 1 values, expected none}}
    tile.yield %i : index
  }
  tile.return
}

// -----

tile.kernel private @k(memref<?xf32>)
func.func @f(%n: index, %y: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'tile.launch' op the grid's rank is 4, expected 1 to 3}}
  %r = tile.launch @k grid(%n, %n, %n, %n) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

tile.kernel private @k(memref<?xf32>)
func.func @f(%y: tensor<?xf32>) -> tensor<?xf32> {
  %n = arith.constant 2147483648 : index
  // expected-error @+1 {{'tile.launch' op a size of the grid is 2147483648, expected 0 to 2147483647}}
  %r = tile.launch @k grid(%n) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

tile.kernel private @k(memref<?xf32>)
func.func @f(%n: index, %y: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'tile.launch' op cluster has 1 sizes, expected 2, one per dimension of the grid}}
  %r = tile.launch @k grid(%n, %n) cluster [2] outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

tile.kernel private @k(memref<?xf32>)
func.func @f(%n: index, %y: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'tile.launch' op a size of the cluster is 0, expected 1 to 16}}
  %r = tile.launch @k grid(%n) cluster [0] outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

tile.kernel private @k(memref<?xf32>, memref<?xf32>)
func.func @f(%n: index, %y: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'tile.launch' op meets has 2 levels, expected 1, one per ins}}
  %r = tile.launch @k grid(%n) ins(%y : tensor<?xf32>) outs(%y : tensor<?xf32>) meets [shared, global] -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

tile.kernel private @k(memref<?xf32>, memref<?xf32>)
func.func @f(%n: index, %v: !tile.view<4xf32>, %y: memref<?xf32>) {
  // expected-error @+1 {{'tile.launch' op ins #0 is !tile.view<4xf32>, expected a tensor, a memref or a scalar}}
  tile.launch @k grid(%n) ins(%v : !tile.view<4xf32>) outs(%y : memref<?xf32>)
  return
}

// -----

tile.kernel private @k(memref<?xf32>)
func.func @f(%n: index, %y: tensor<?xf32>) {
  // expected-error @+1 {{'tile.launch' op has 0 results, expected 1, one per tensor in outs}}
  tile.launch @k grid(%n) outs(%y : tensor<?xf32>)
  return
}

// -----

tile.kernel private @k(memref<?xf32>)
// expected-note @+1 {{it is defined here}}
func.func @f(%n: index, %y: tensor<?xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'tile.launch' op result #0 is tensor<4xf32>, expected the type of its outs, tensor<?xf32>}}
  %r = tile.launch @k grid(%n) outs(%y : tensor<?xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @f(%n: index, %y: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'tile.launch' op launches @k, which is not defined}}
  %r = tile.launch @k grid(%n) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// expected-note @+1 {{it is defined here}}
func.func @f(%n: index, %y: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'tile.launch' op launches @f, expected a tile.kernel}}
  %r = tile.launch @f grid(%n) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// expected-note @+1 {{the kernel is defined here}}
tile.kernel private @k(memref<?xf32>, memref<?xf32>)
func.func @f(%n: index, %y: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'tile.launch' op gives 1 arguments (ins, then outs), expected 2}}
  %r = tile.launch @k grid(%n) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// expected-note @+1 {{the kernel is defined here}}
tile.kernel private @k(memref<?x4xf32>)
func.func @f(%n: index, %y: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'tile.launch' op argument #0 is tensor<?xf32>, expected memref<?x4xf32> or a tensor of its shape}}
  %r = tile.launch @k grid(%n) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// expected-note @+1 {{the kernel is defined here}}
tile.kernel private @k(memref<?xf32>)
func.func @f(%n: index, %y: memref<?xf32, strided<[2]>>) {
  // expected-error @+1 {{'tile.launch' op argument #0 is memref<?xf32, strided<[2]>>, expected memref<?xf32> or a tensor of its shape}}
  tile.launch @k grid(%n) outs(%y : memref<?xf32, strided<[2]>>)
  return
}

// -----

tile.kernel @k() {
  // expected-error @+1 {{'tile.program_id' op the grid's axis is 3, expected 0 to 2}}
  %i = tile.program_id 3
  tile.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'tile.num_programs' op stands outside of a tile.kernel, which alone has programs}}
  %i = tile.num_programs 0
  return
}

// -----

tile.kernel @k(%x: memref<?xf32>) {
  // expected-error @+1 {{'tile.assume' op align is 12, expected a power of two}}
  %y = tile.assume %x align 12 : memref<?xf32>
  tile.return
}

// -----

tile.kernel @k(%x: memref<?xf32>) {
  // expected-error @+1 {{'tile.assume' op says divisible or range of memref<?xf32>, expected align, sizes or strides}}
  %y = tile.assume %x divisible 8 : memref<?xf32>
  tile.return
}

// -----

tile.kernel @k(%x: memref<?x?xf32>) {
  // expected-error @+1 {{'tile.assume' op sizes has 1 entries, expected 2, one per dimension of memref<?x?xf32>}}
  %y = tile.assume %x sizes [8] : memref<?x?xf32>
  tile.return
}

// -----

tile.kernel @k(%x: memref<?x?xf32>) {
  // expected-error @+1 {{'tile.assume' op strides is 0, expected at least 1}}
  %y = tile.assume %x strides [0, 1] : memref<?x?xf32>
  tile.return
}

// -----

tile.kernel @k(%x: memref<12x?xf32>) {
  // expected-error @+1 {{'tile.assume' op says that size #0 is divisible by 8, but it is 12}}
  %y = tile.assume %x sizes [8, _] : memref<12x?xf32>
  tile.return
}

// -----

tile.kernel @k(%n: index) {
  // expected-error @+1 {{'tile.assume' op says align, sizes or strides of index, expected divisible or range}}
  %y = tile.assume %n align 8 : index
  tile.return
}

// -----

tile.kernel @k(%n: index) {
  // expected-error @+1 {{'tile.assume' op divisible is 0, expected at least 1}}
  %y = tile.assume %n divisible 0 : index
  tile.return
}

// -----

tile.kernel @k(%n: index) {
  // expected-error @+1 {{'tile.assume' op range has 1 bounds, expected 2}}
  %y = tile.assume %n range [4] : index
  tile.return
}

// -----

tile.kernel @k(%n: index) {
  // expected-error @+1 {{'tile.assume' op range begins at 8 and ends at 4, expected ascending bounds}}
  %y = tile.assume %n range [8, 4] : index
  tile.return
}

// -----

tile.kernel @k() {
  // expected-note @+1 {{the constant is here}}
  %n = arith.constant 9 : index
  // expected-error @+1 {{'tile.assume' op says that its operand is divisible by 8, but it is 9}}
  %y = tile.assume %n divisible 8 : index
  tile.return
}

// -----

tile.kernel @k() {
  // expected-note @+1 {{the constant is here}}
  %n = arith.constant 9 : index
  // expected-error @+1 {{'tile.assume' op says that its operand lies in [0, 8], but it is 9}}
  %y = tile.assume %n range [0, 8] : index
  tile.return
}

// -----

tile.kernel @k(%x: f32) {
  // expected-error @+1 {{'tile.assume' op is about f32, expected a memref, an index or an integer}}
  %y = tile.assume %x range [0, 1] : f32
  tile.return
}
