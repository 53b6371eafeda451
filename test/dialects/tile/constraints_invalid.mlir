// What a value or an attribute may be: each constraint and each kind refuses what it does not mean, by name.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

// tile
func.func @a(%x: tensor<?xf32>) {
  // expected-error@below {{'tile.sort' op operand #0 ('inputs') must be a tile (a ranked tensor of static shape and rank at least 1), but got 'tensor<?xf32>'}}
  "tile.sort"(%x) <{axis = 0}> : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

// tile or scalar
func.func @a(%x: memref<4xf32>) {
  // expected-error@below {{'tile.broadcast' op operand #0 ('input') must be a tile or a scalar, but got 'memref<4xf32>'}}
  "tile.broadcast"(%x) <{axes = array<i64>}> : (memref<4xf32>) -> tensor<4xf32>
  return
}

// -----

// i1 tile or scalar
func.func @a(%x: i32) {
  // expected-error@below {{'tile.assert' op operand #0 ('condition') must be a tile of i1 or an i1, but got 'i32'}}
  "tile.assert"(%x) <{message = "m"}> : (i32) -> ()
  return
}

// -----

// integer tile
func.func @a(%x: tensor<4xf32>) {
  // expected-error@below {{'tile.histogram' op operand #0 ('input') must be a tile of integers or index, but got 'tensor<4xf32>'}}
  "tile.histogram"(%x) : (tensor<4xf32>) -> tensor<4xi32>
  return
}

// -----

// index or index tile
func.func @a(%x: memref<?xf32>, %i: f32) {
  // expected-error@below {{'tile.gather' op operand #1 ('indices') must be an index, or a tile of integers or index, but got 'f32'}}
  "tile.gather"(%x, %i) <{bounds = "trap", operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (memref<?xf32>, f32) -> tensor<4xf32>
  return
}

// -----

// memory or tile
func.func @a(%x: vector<4xf32>, %i: tensor<4xi32>) {
  // expected-error@below {{'tile.gather' op operand #0 ('source') must be a view, a memref, a tile or a scalar, but got 'vector<4xf32>'}}
  "tile.gather"(%x, %i) <{bounds = "trap", operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (vector<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

// mask: derived from the result
func.func @a(%x: memref<?xf32>, %i: tensor<4xi32>, %m: tensor<8xi1>) {
  // expected-error@below {{'tile.gather' op operand #2 ('mask') must have type 'tensor<4xi1>' because of 'result', but got 'tensor<8xi1>'}}
  "tile.gather"(%x, %i, %m) <{bounds = "trap", operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (memref<?xf32>, tensor<4xi32>, tensor<8xi1>) -> tensor<4xf32>
  return
}

// -----

// tensor
func.func @a(%x: index) {
  // expected-error@below {{'tile.transfer' op operand #0 ('source') must be a ranked tensor, but got 'index'}}
  %0 = "tile.transfer"(%x) <{device = @d}> : (index) -> index
  return
}

// -----

// tensor or memref
func.func @a(%x: index) {
  // expected-error@below {{'tile.launch' op operand #1 ('outputs') must be a ranked tensor or a memref, but got 'index'}}
  "tile.launch"(%x, %x) <{kernel = @k, operandSegmentSizes = array<i32: 1, 0, 1>}> : (index, index) -> ()
  return
}

// -----

// view
func.func @a(%x: memref<?xf32>) {
  // expected-error@below {{'tile.num_tiles' op operand #0 ('view') must be a !tile.view, but got 'memref<?xf32>'}}
  %0 = "tile.num_tiles"(%x) <{dim = 0}> : (memref<?xf32>) -> index
  return
}

// -----

// buffer
func.func @a(%x: memref<?xf32>, %i: index) {
  // expected-error@below {{'tile.slot' op operand #0 ('buffer') must be a !tile.buffer, but got 'memref<?xf32>'}}
  %0 = "tile.slot"(%x, %i) : (memref<?xf32>, index) -> memref<?xf32>
  return
}

// -----

// barrier
func.func @a(%x: index) {
  // expected-error@below {{'tile.barrier_wait' op operand #0 ('barrier') must be a !tile.barrier, but got 'index'}}
  "tile.barrier_wait"(%x, %x) : (index, index) -> ()
  return
}

// -----

// token
func.func @a(%x: index) {
  // expected-error@below {{'tile.wait' op operand #0 ('tokens') must be a !tile.token, but got 'index'}}
  "tile.wait"(%x) : (index) -> ()
  return
}

// -----

// view or buffer
func.func @a(%x: memref<?xf32>) {
  // expected-error@below {{'tile.load' op operand #0 ('source') must be a !tile.view or a !tile.buffer, but got 'memref<?xf32>'}}
  %0 = "tile.load"(%x) : (memref<?xf32>) -> tensor<4xf32>
  return
}

// -----

// buffer or memref or barrier
func.func @a() {
  // expected-error@below {{'tile.alloc' op result #0 ('result') must be a !tile.buffer, a memref or a !tile.barrier, but got 'tensor<4xf32>'}}
  %0 = "tile.alloc"() : () -> tensor<4xf32>
  return
}

// -----

// tile or buffer
func.func @a(%x: f32) {
  // expected-error@below {{'tile.transpose' op operand #0 ('input') must be a tile or a !tile.buffer, but got 'f32'}}
  %0 = "tile.transpose"(%x) <{permutation = array<i64>}> : (f32) -> f32
  return
}

// -----

// tile or scalar or buffer
func.func @a(%x: memref<4xf32>) {
  // expected-error@below {{'tile.reshape' op operand #0 ('input') must be a tile, a scalar or a !tile.buffer, but got 'memref<4xf32>'}}
  %0 = "tile.reshape"(%x) : (memref<4xf32>) -> tensor<4xf32>
  return
}

// -----

// like
func.func @a(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>) {
  // expected-error@below {{'tile.mma' op result #0 ('result') must have type 'tensor<4x4xf32>' because of 'accumulator', but got 'tensor<4x4xf16>'}}
  %0 = "tile.mma"(%a, %b, %c) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf16>
  return
}

// -----

// A missing operand, a missing attribute, one too many.
func.func @a(%a: tensor<4x4xf32>) {
  // expected-error@below {{'tile.mma' op expects 3 operands, but got 2}}
  %0 = "tile.mma"(%a, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @a() {
  // expected-error@below {{'tile.program_id' op requires attribute 'axis' (an i64 integer)}}
  %0 = "tile.program_id"() : () -> index
  return
}

// -----

func.func @a() {
  // expected-error@below {{invalid properties {axes = 1 : i64, axis = 0 : i64} for op tile.program_id: unknown property 'axes' for op 'tile.program_id'}}
  %0 = "tile.program_id"() <{axis = 0, axes = 1}> : () -> index
  return
}

// -----

func.func @a() {
  // expected-error@below {{'tile.program_id' op attribute 'axis' must be an i64 integer, but got "x"}}
  %0 = "tile.program_id"() <{axis = "x"}> : () -> index
  return
}

// -----

// i64, not another width.
func.func @a() {
  // expected-error@below {{'tile.program_id' op attribute 'axis' must be an i64 integer, but got 0 : i8}}
  %0 = "tile.program_id"() <{axis = 0 : i8}> : () -> index
  return
}

// -----

// combine
func.func @a(%x: f32, %v: !tile.view<f32>) {
  // expected-error@below {{'tile.store' op attribute 'combine' must be one of add, max, min, umax, umin, and, or, xor, but got "plus"}}
  "tile.store"(%x, %v) <{combine = "plus"}> : (f32, !tile.view<f32>) -> ()
  return
}

// -----

// atomic, order, scope
func.func @a(%x: i32, %m: memref<i32>) {
  // expected-error@below {{'tile.atomic_rmw' op attribute 'kind' must be one of add, fadd, max, min, umax, umin, and, or, xor, xchg, but got "nand"}}
  %0 = "tile.atomic_rmw"(%x, %m) <{kind = "nand", order = "relaxed", scope = "device", operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (i32, memref<i32>) -> i32
  return
}

// -----

func.func @a(%x: i32, %m: memref<i32>) {
  // expected-error@below {{'tile.atomic_rmw' op attribute 'order' must be one of relaxed, acquire, release, acq_rel, but got "seq_cst"}}
  %0 = "tile.atomic_rmw"(%x, %m) <{kind = "add", order = "seq_cst", scope = "device", operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (i32, memref<i32>) -> i32
  return
}

// -----

func.func @a(%x: i32, %m: memref<i32>) {
  // expected-error@below {{'tile.atomic_rmw' op attribute 'scope' must be one of block, cluster, device, system, but got "warp"}}
  %0 = "tile.atomic_rmw"(%x, %m) <{kind = "add", order = "relaxed", scope = "warp", operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (i32, memref<i32>) -> i32
  return
}

// -----

// bounds
func.func @a(%x: memref<?xf32>, %i: tensor<4xi32>) {
  // expected-error@below {{'tile.gather' op attribute 'bounds' must be one of trap, clamp, drop, but got 3 : i64}}
  "tile.gather"(%x, %i) <{bounds = 3, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (memref<?xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

// precision
func.func @a(%a: tensor<4x4xf32>) {
  // expected-error@below {{'tile.mma' op attribute 'precision' must be one of ieee, tf32, tf32x3, bf16x3, bf16x6, but got "fp8"}}
  %0 = "tile.mma"(%a, %a, %a) <{precision = "fp8"}> : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

// rounding
func.func @a(%x: f32) {
  // expected-error@below {{'tile.convert_type' op attribute 'rounding' must be one of nearest_even, nearest_away, toward_zero, down, up, stochastic, but got "odd"}}
  %0 = "tile.convert_type"(%x) <{rounding = "odd", saturate}> : (f32) -> f8E5M2
  return
}

// -----

// fence
func.func @a() {
  // expected-error@below {{'tile.fence' op attribute 'kind' must be one of async, acquire, release, acq_rel, but got "full"}}
  "tile.fence"() <{kind = "full"}> : () -> ()
  return
}

// -----

// level array
func.func @a(%i: index) {
  // expected-error@below {{'tile.launch' op attribute 'meets' must be an array of memory levels (register, shared, local, tmem or global), but got ["shard"]}}
  "tile.launch"(%i) <{kernel = @k, meets = ["shard"], operandSegmentSizes = array<i32: 1, 0, 0>}> : (index) -> ()
  return
}

// -----

// known array
func.func @a(%m: memref<?xf32>) {
  // expected-error@below {{'tile.assume' op attribute 'sizes' must be an i64 array in which `_` says nothing, but got [1]}}
  %0 = "tile.assume"(%m) <{sizes = [1]}> : (memref<?xf32>) -> memref<?xf32>
  return
}

// -----

// schedule, machine
// expected-error@below {{'tile.kernel' op attribute 'schedule' must be a #tile.schedule, but got 3 : i64}}
"tile.kernel"() <{sym_name = "k", function_type = () -> (), schedule = 3}> ({
  "tile.return"() : () -> ()
}) : () -> ()

// -----

// expected-error@below {{'tile.kernel' op attribute 'machine' must be a #tile.machine, but got "sm_80"}}
"tile.kernel"() <{sym_name = "k", function_type = () -> (), machine = "sm_80"}> ({
  "tile.return"() : () -> ()
}) : () -> ()
