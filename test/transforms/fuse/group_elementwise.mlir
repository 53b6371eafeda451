// Elementwise ops of which each is the only user of another become a tile.group, which is one op: their bodies are composed.
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile-group-ops{ops=elementwise})' | FileCheck %s
// RUN: %mlir_opt_plugin %s --split-input-file --pass-pipeline='builtin.module(tile-group-ops{ops=elementwise})' | FileCheck %s
// The decision can be read, and is obeyed later.
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile-group-ops{ops=elementwise compose=false})' -o %t.mlir
// RUN: FileCheck %s --check-prefix=GROUP < %t.mlir
// RUN: %tile_opt %t.mlir --split-input-file --pass-pipeline='builtin.module(convert-linalg-to-tile{chip=x86-64-v4})' | FileCheck %s --check-prefix=KERNEL
// RUN: not %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile-group-ops{ops=all})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: {{.*}}ops: unknown 'all'; expected elementwise, attention or kernels

// A chain becomes one op; its temporary is gone.
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: @chain
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK-NEXT: arith.addf
// CHECK-NOT: linalg.generic
// GROUP-LABEL: @chain
// GROUP: tile.group ins({{.*}}) meets [register] -> tensor<?xf32> {
// GROUP-COUNT-2: linalg.generic
// GROUP: tile.yield
// KERNEL-LABEL: func.func @chain
// KERNEL-COUNT-1: tile.launch
// KERNEL-NOT: tile.launch
// KERNEL-LABEL: tile.kernel
// KERNEL: math.exp
// KERNEL-NEXT: arith.addf
func.func @chain(%x: tensor<?xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<?xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%0 : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %a, %a : f32
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// Another result of the first op has a user: the first op stays, and the second would compute its value again. In a
// recurrent net each step would begin at the first one.
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: @state
// CHECK-COUNT-2: linalg.generic
// GROUP-LABEL: @state
// GROUP-NOT: tile.group
func.func @state(%x: tensor<?xf32>, %e: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e, %e : tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %v = math.exp %a : f32
    %w = math.tanh %v : f32
    linalg.yield %v, %w : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%0#0 : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %a, %a : f32
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %0#1, %1 : tensor<?xf32>, tensor<?xf32>
}

// -----

// Two users: fusing would compute it twice.
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: @two_users
// CHECK-COUNT-2: linalg.generic
// GROUP-LABEL: @two_users
// GROUP-NOT: tile.group
func.func @two_users(%x: tensor<?xf32>, %e: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<?xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%0 : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %a, %a : f32
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// -----

// Into a reduction: left to convert-linalg-to-tile.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
// CHECK-LABEL: @into_reduction
// GROUP-LABEL: @into_reduction
// CHECK-COUNT-2: linalg.generic
func.func @into_reduction(%x: tensor<?x?xf32>, %e: tensor<?x?xf32>, %r: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%0 : tensor<?x?xf32>) outs(%r : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %o, %a : f32
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// Into a loop: the exponentials would be computed in every step.
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: @into_loop
// CHECK: linalg.generic
// CHECK: scf.for
// CHECK: linalg.generic
func.func @into_loop(%x: tensor<?xf32>, %e: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<?xf32>
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %e) -> tensor<?xf32> {
    %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%0 : tensor<?xf32>) outs(%s : tensor<?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %v = arith.addf %a, %o : f32
      linalg.yield %v : f32
    } -> tensor<?xf32>
    scf.yield %2 : tensor<?xf32>
  }
  return %1 : tensor<?xf32>
}

// -----

// A group that a person wrote, whose tiles meet in memory: two kernels, as it says.
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: @through_memory
// CHECK-COUNT-2: linalg.generic
// KERNEL-LABEL: func.func @through_memory
// KERNEL-COUNT-2: tile.launch
func.func @through_memory(%x: tensor<?xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {
  %g = tile.group ins(%x, %e : tensor<?xf32>, tensor<?xf32>) meets [global] -> tensor<?xf32> {
  ^bb0(%y: tensor<?xf32>, %f: tensor<?xf32>):
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%y : tensor<?xf32>) outs(%f : tensor<?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %v = math.exp %a : f32
      linalg.yield %v : f32
    } -> tensor<?xf32>
    %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%0 : tensor<?xf32>) outs(%f : tensor<?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %v = arith.addf %a, %a : f32
      linalg.yield %v : f32
    } -> tensor<?xf32>
    tile.yield %1 : tensor<?xf32>
  }
  return %g : tensor<?xf32>
}
