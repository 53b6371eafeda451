// The triangles of an undirected graph: (a·a)∘a counts those at each edge, and a triangle has six entries.
!graph = tensor<?x?xf32, #sparse.csr>

func.func @main(%graph: !graph) -> tensor<f64> {
  %zero = arith.constant 0.0 : f64
  %six = arith.constant 6.0 : f64
  %support = sparse.spgemm %graph, %graph transpose, %graph : !graph, !graph, !graph
  %positions, %columns, %counts = sparse.disassemble %support : !graph -> tensor<?xi32>, tensor<?xi32>, tensor<?xf32>
  %empty = tensor.empty() : tensor<f64>
  %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<f64>) -> tensor<f64>
  %sum = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%counts : tensor<?xf32>) outs(%start : tensor<f64>) {
  ^bb0(%count: f32, %before: f64):
    %wide = arith.extf %count : f32 to f64
    %after = arith.addf %before, %wide : f64
    linalg.yield %after : f64
  } -> tensor<f64>
  %triangles = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%sum : tensor<f64>) outs(%empty : tensor<f64>) {
  ^bb0(%entries: f64, %unused: f64):
    %each = arith.divf %entries, %six : f64
    linalg.yield %each : f64
  } -> tensor<f64>
  return %triangles : tensor<f64>
}
