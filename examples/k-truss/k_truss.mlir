// The k-truss of an undirected graph: the largest part in which each edge is in k - 2 triangles or more; and how many
// rounds it took. (a·a)∘a counts the triangles at each edge; edges with less than `least` go, until none goes.
!graph = tensor<?x?xf32, #sparse.csr>

func.func @main(%graph: !graph, %least: f32) -> (!graph, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %truss, %rounds = scf.while (%g = %graph, %round = %c0) : (!graph, index) -> (!graph, index) {
    %p, %c, %v = sparse.disassemble %g : !graph -> tensor<?xi32>, tensor<?xi32>, tensor<?xf32>
    %before = tensor.dim %v, %c0 : tensor<?xf32>
    %support = sparse.spgemm %g, %g transpose, %g : !graph, !graph, !graph
    %kept = sparse.select %support : !graph {
    ^bb0(%s: f32, %i: index, %j: index):
      %stays = arith.cmpf oge, %s, %least : f32
      sparse.yield %stays : i1
    }
    %edges = sparse.map %kept : !graph {
    ^bb0(%s: f32, %i: index, %j: index):
      sparse.yield %one : f32
    }
    %q, %d, %w = sparse.disassemble %edges : !graph -> tensor<?xi32>, tensor<?xi32>, tensor<?xf32>
    %after = tensor.dim %w, %c0 : tensor<?xf32>
    %more = arith.cmpi ne, %before, %after : index
    %next = arith.addi %round, %c1 : index
    scf.condition(%more) %edges, %next : !graph, index
  } do {
  ^bb0(%g: !graph, %round: index):
    scf.yield %g, %round : !graph, index
  }
  return %truss, %rounds : !graph, index
}
