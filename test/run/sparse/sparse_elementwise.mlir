// A comparison of sparse tensors is true, or false, wherever it is so of the dense ones. One that does not hold of two
// zeros stores the places of either side; one that holds stores every place. Arithmetic on whole sparse tensors is the
// linalg op with that body, of another element type too.
// RUN: %tile_run %s --target=cpu --target=interpret --seed=1 | FileCheck %s --check-prefix=RIGHT
// RUN: %tile_run %s --entry=print --target=cpu | FileCheck %s
// RUN: %tile_run %s --entry=print --target=interpret | FileCheck %s
// RIGHT-COUNT-11: result {{[0-9]+}}: right
// RIGHT-NOT: WRONG
// CHECK: {{^}}9
// CHECK-NEXT: 24
// CHECK-NEXT: 24
// CHECK-NEXT: 9
// CHECK-NEXT: 9
// CHECK-NEXT: 6
// CHECK-NEXT: 9
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#DCSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
func.func @ult(%a: tensor<4x6xf64, #CSR>, %b: tensor<4x6xf64, #DCSR>) -> tensor<4x6xi8, #CSR> {
  %e = tensor.empty() : tensor<4x6xi8, #CSR>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%a, %b : tensor<4x6xf64, #CSR>, tensor<4x6xf64, #DCSR>) outs(%e : tensor<4x6xi8, #CSR>) {
  ^bb0(%x: f64, %y: f64, %o: i8):
    %c = arith.cmpf ult, %x, %y : f64
    %i = arith.extui %c : i1 to i8
    linalg.yield %i : i8
  } -> tensor<4x6xi8, #CSR>
  return %r : tensor<4x6xi8, #CSR>
}
func.func @ule(%a: tensor<4x6xf64, #CSR>, %b: tensor<4x6xf64, #DCSR>) -> tensor<4x6xi8, #CSR> {
  %e = tensor.empty() : tensor<4x6xi8, #CSR>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%a, %b : tensor<4x6xf64, #CSR>, tensor<4x6xf64, #DCSR>) outs(%e : tensor<4x6xi8, #CSR>) {
  ^bb0(%x: f64, %y: f64, %o: i8):
    %c = arith.cmpf ule, %x, %y : f64
    %i = arith.extui %c : i1 to i8
    linalg.yield %i : i8
  } -> tensor<4x6xi8, #CSR>
  return %r : tensor<4x6xi8, #CSR>
}
func.func @eq(%a: tensor<4x6xi32, #CSR>, %b: tensor<4x6xi32, #DCSR>) -> tensor<4x6xi8, #CSR> {
  %e = tensor.empty() : tensor<4x6xi8, #CSR>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%a, %b : tensor<4x6xi32, #CSR>, tensor<4x6xi32, #DCSR>) outs(%e : tensor<4x6xi8, #CSR>) {
  ^bb0(%x: i32, %y: i32, %o: i8):
    %c = arith.cmpi eq, %x, %y : i32
    %i = arith.extui %c : i1 to i8
    linalg.yield %i : i8
  } -> tensor<4x6xi8, #CSR>
  return %r : tensor<4x6xi8, #CSR>
}
func.func @sgt(%a: tensor<4x6xi32, #CSR>, %b: tensor<4x6xi32, #DCSR>) -> tensor<4x6xi8, #CSR> {
  %e = tensor.empty() : tensor<4x6xi8, #CSR>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%a, %b : tensor<4x6xi32, #CSR>, tensor<4x6xi32, #DCSR>) outs(%e : tensor<4x6xi8, #CSR>) {
  ^bb0(%x: i32, %y: i32, %o: i8):
    %c = arith.cmpi sgt, %x, %y : i32
    %i = arith.extui %c : i1 to i8
    linalg.yield %i : i8
  } -> tensor<4x6xi8, #CSR>
  return %r : tensor<4x6xi8, #CSR>
}
func.func @main(%chooses: i1) -> (tensor<4x6xi8>, tensor<4x6xi8>, tensor<4x6xi8>, tensor<4x6xi8>, tensor<4x6xi1>, tensor<4x6xf32>, tensor<4x6xf64>,
    tensor<4x6xf64>, tensor<4x6xf64>, tensor<4x6xf64>, tensor<4x6xf64>) {
  %da = arith.constant dense<[[1.0, 0.0, 2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, -1.0, 0.0, 4.0, 0.0, 5.0], [0.0, 0.0, 3.0, 0.0, 0.0, 0.0]]> : tensor<4x6xf64>
  %db = arith.constant dense<[[2.0, 0.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 7.0, 0.0, 0.0], [0.0, -1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, -2.0, 0.0]]> : tensor<4x6xf64>
  %ia = arith.fptosi %da : tensor<4x6xf64> to tensor<4x6xi32>
  %ib = arith.fptosi %db : tensor<4x6xf64> to tensor<4x6xi32>
  %a = sparse_tensor.convert %da : tensor<4x6xf64> to tensor<4x6xf64, #CSR>
  %b = sparse_tensor.convert %db : tensor<4x6xf64> to tensor<4x6xf64, #DCSR>
  %b1 = sparse_tensor.convert %db : tensor<4x6xf64> to tensor<4x6xf64, #CSR>
  %i = sparse_tensor.convert %ia : tensor<4x6xi32> to tensor<4x6xi32, #CSR>
  %j = sparse_tensor.convert %ib : tensor<4x6xi32> to tensor<4x6xi32, #DCSR>
  %ult = call @ult(%a, %b) : (tensor<4x6xf64, #CSR>, tensor<4x6xf64, #DCSR>) -> tensor<4x6xi8, #CSR>
  %ule = call @ule(%a, %b) : (tensor<4x6xf64, #CSR>, tensor<4x6xf64, #DCSR>) -> tensor<4x6xi8, #CSR>
  %eq = call @eq(%i, %j) : (tensor<4x6xi32, #CSR>, tensor<4x6xi32, #DCSR>) -> tensor<4x6xi8, #CSR>
  %sgt = call @sgt(%i, %j) : (tensor<4x6xi32, #CSR>, tensor<4x6xi32, #DCSR>) -> tensor<4x6xi8, #CSR>
  %whole = arith.cmpf one, %a, %b1 : tensor<4x6xf64, #CSR>
  %cut = arith.truncf %a : tensor<4x6xf64, #CSR> to tensor<4x6xf32, #CSR>
  %sum = arith.addf %a, %b1 : tensor<4x6xf64, #CSR>
  %product = arith.mulf %a, %b1 : tensor<4x6xf64, #CSR>
  %root = math.sqrt %a : tensor<4x6xf64, #CSR>
  %less = arith.minimumf %a, %b1 : tensor<4x6xf64, #CSR>
  %chosen = arith.select %chooses, %a, %b1 : tensor<4x6xf64, #CSR>
  %ult_d = sparse_tensor.convert %ult : tensor<4x6xi8, #CSR> to tensor<4x6xi8>
  %ule_d = sparse_tensor.convert %ule : tensor<4x6xi8, #CSR> to tensor<4x6xi8>
  %eq_d = sparse_tensor.convert %eq : tensor<4x6xi8, #CSR> to tensor<4x6xi8>
  %sgt_d = sparse_tensor.convert %sgt : tensor<4x6xi8, #CSR> to tensor<4x6xi8>
  %whole_d = sparse_tensor.convert %whole : tensor<4x6xi1, #CSR> to tensor<4x6xi1>
  %cut_d = sparse_tensor.convert %cut : tensor<4x6xf32, #CSR> to tensor<4x6xf32>
  %sum_d = sparse_tensor.convert %sum : tensor<4x6xf64, #CSR> to tensor<4x6xf64>
  %product_d = sparse_tensor.convert %product : tensor<4x6xf64, #CSR> to tensor<4x6xf64>
  %root_d = sparse_tensor.convert %root : tensor<4x6xf64, #CSR> to tensor<4x6xf64>
  %less_d = sparse_tensor.convert %less : tensor<4x6xf64, #CSR> to tensor<4x6xf64>
  %chosen_d = sparse_tensor.convert %chosen : tensor<4x6xf64, #CSR> to tensor<4x6xf64>
  return %ult_d, %ule_d, %eq_d, %sgt_d, %whole_d, %cut_d, %sum_d, %product_d, %root_d, %less_d, %chosen_d : tensor<4x6xi8>, tensor<4x6xi8>, tensor<4x6xi8>, tensor<4x6xi8>, tensor<4x6xi1>, tensor<4x6xf32>, tensor<4x6xf64>, tensor<4x6xf64>, tensor<4x6xf64>, tensor<4x6xf64>, tensor<4x6xf64>
}
func.func @print() {
  %da = arith.constant dense<[[1.0, 0.0, 2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, -1.0, 0.0, 4.0, 0.0, 5.0], [0.0, 0.0, 3.0, 0.0, 0.0, 0.0]]> : tensor<4x6xf64>
  %db = arith.constant dense<[[2.0, 0.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 7.0, 0.0, 0.0], [0.0, -1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, -2.0, 0.0]]> : tensor<4x6xf64>
  %ia = arith.fptosi %da : tensor<4x6xf64> to tensor<4x6xi32>
  %ib = arith.fptosi %db : tensor<4x6xf64> to tensor<4x6xi32>
  %a = sparse_tensor.convert %da : tensor<4x6xf64> to tensor<4x6xf64, #CSR>
  %b = sparse_tensor.convert %db : tensor<4x6xf64> to tensor<4x6xf64, #DCSR>
  %b1 = sparse_tensor.convert %db : tensor<4x6xf64> to tensor<4x6xf64, #CSR>
  %i = sparse_tensor.convert %ia : tensor<4x6xi32> to tensor<4x6xi32, #CSR>
  %j = sparse_tensor.convert %ib : tensor<4x6xi32> to tensor<4x6xi32, #DCSR>
  %ult = call @ult(%a, %b) : (tensor<4x6xf64, #CSR>, tensor<4x6xf64, #DCSR>) -> tensor<4x6xi8, #CSR>
  %ule = call @ule(%a, %b) : (tensor<4x6xf64, #CSR>, tensor<4x6xf64, #DCSR>) -> tensor<4x6xi8, #CSR>
  %eq = call @eq(%i, %j) : (tensor<4x6xi32, #CSR>, tensor<4x6xi32, #DCSR>) -> tensor<4x6xi8, #CSR>
  %sgt = call @sgt(%i, %j) : (tensor<4x6xi32, #CSR>, tensor<4x6xi32, #DCSR>) -> tensor<4x6xi8, #CSR>
  %whole = arith.cmpf one, %a, %b1 : tensor<4x6xf64, #CSR>
  %cut = arith.truncf %a : tensor<4x6xf64, #CSR> to tensor<4x6xf32, #CSR>
  %sum = arith.addf %a, %b1 : tensor<4x6xf64, #CSR>
  %ult_n = sparse_tensor.number_of_entries %ult : tensor<4x6xi8, #CSR>
  %ule_n = sparse_tensor.number_of_entries %ule : tensor<4x6xi8, #CSR>
  %eq_n = sparse_tensor.number_of_entries %eq : tensor<4x6xi8, #CSR>
  %sgt_n = sparse_tensor.number_of_entries %sgt : tensor<4x6xi8, #CSR>
  %whole_n = sparse_tensor.number_of_entries %whole : tensor<4x6xi1, #CSR>
  %cut_n = sparse_tensor.number_of_entries %cut : tensor<4x6xf32, #CSR>
  %sum_n = sparse_tensor.number_of_entries %sum : tensor<4x6xf64, #CSR>
  vector.print %ult_n : index
  vector.print %ule_n : index
  vector.print %eq_n : index
  vector.print %sgt_n : index
  vector.print %whole_n : index
  vector.print %cut_n : index
  vector.print %sum_n : index
  return
}
