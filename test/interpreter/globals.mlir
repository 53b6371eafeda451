// Globals of ml_program hold values: loads give the value, stores replace it, and a value loaded before does not change.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: %tile_run %t/state.mlir --target=interpret --target=cpu --target=emulate:sm_80 --check-against=interpret --seed=4
// RUN: %tile_run %t/state.mlir --entry=inserts --target=interpret --target=cpu --target=emulate:gfx942 --check-against=interpret --seed=4
// RUN: %tile_run %t/constants.mlir --target=interpret | FileCheck %s
// RUN: %tile_run %t/constants.mlir --target=cpu | FileCheck %s
// CHECK: 14
// RUN: not %tile_run %t/unknown.mlir --target=interpret 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: unknown.mlir:5:{{[0-9]+}}: error: 'ml_program.global_load' op has an initial value that the interpreter cannot read

//--- state.mlir
ml_program.global private mutable @state(dense<[1.0, -2.0, 0.5]> : tensor<3xf32>) : tensor<3xf32>
ml_program.global private mutable @calls(dense<3> : tensor<i32>) : tensor<i32>

func.func private @accumulate(%x: tensor<3xf32>) -> tensor<3xf32> {
  %old = ml_program.global_load @state : tensor<3xf32>
  %new = arith.addf %old, %x : tensor<3xf32>
  ml_program.global_store @state = %new : tensor<3xf32>
  %count = ml_program.global_load @calls : tensor<i32>
  %next = arith.addi %count, %count : tensor<i32>
  ml_program.global_store @calls = %next : tensor<i32>
  return %old : tensor<3xf32>
}
func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<i32>) {
  %first = call @accumulate(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %second = call @accumulate(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %last = ml_program.global_load @state : tensor<3xf32>
  %calls = ml_program.global_load @calls : tensor<i32>
  return %first, %second, %last, %calls : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<i32>
}
func.func @inserts(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %zero = arith.constant 0 : index
  %old = ml_program.global_load @state : tensor<3xf32>
  %seen = tensor.extract %x[%zero] : tensor<3xf32>
  %new = tensor.insert %seen into %old[%zero] : tensor<3xf32>
  ml_program.global_store @state = %new : tensor<3xf32>
  %again = ml_program.global_load @state : tensor<3xf32>
  return %new, %again : tensor<3xf32>, tensor<3xf32>
}

//--- constants.mlir
ml_program.global private @fixed(dense<[[5, 7], [11, 14]]> : tensor<2x2xi64>) : tensor<2x2xi64>
func.func @main() {
  %c1 = arith.constant 1 : index
  %fixed = ml_program.global_load_const @fixed : tensor<2x2xi64>
  %x = tensor.extract %fixed[%c1, %c1] : tensor<2x2xi64>
  vector.print %x : i64
  return
}

//--- unknown.mlir
ml_program.global private mutable @elsewhere(#ml_program.extern : tensor<3xf32>) : tensor<3xf32>
func.func @main() -> f32 {
  %c1 = arith.constant 1 : index
  // An initial value that another program has.
  %t = ml_program.global_load @elsewhere : tensor<3xf32>
  %x = tensor.extract %t[%c1] : tensor<3xf32>
  return %x : f32
}
