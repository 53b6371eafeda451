// Memory: every op in every optional form keeps its meaning in its pretty, generic and bytecode form.
// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// CHECK-DAG: !view = !tile.view<4xf16, steps = [1], strides = [2]>
// CHECK-DAG: !view1 = !tile.view<16x16xi4, packed = #layout>
// CHECK-LABEL: tile.kernel @views
tile.kernel @views(%x: memref<?x?x?xf16>, %words: memref<?x?xi32>, %s: memref<f32>, %i: index, %j: index) {
  // CHECK: tile.view %{{.*}} : memref<?x?x?xf16> to !tile.view<2x4x8xf16>
  %all = tile.view %x : memref<?x?x?xf16> to !tile.view<2x4x8xf16>
  // CHECK: tile.view %{{.*}}[%{{.*}}, _, _] : memref<?x?x?xf16> to !tile.view<4x8xf16, pad = nan>
  %first = tile.view %x[%i, _, _] : memref<?x?x?xf16> to !tile.view<4x8xf16, pad = nan>
  // CHECK: tile.view %{{.*}}[_, %{{.*}}, _] : memref<?x?x?xf16> to !tile.view<8x4xf16, order = [1, 0]>
  %second = tile.view %x[_, %i, _] : memref<?x?x?xf16> to !tile.view<8x4xf16, order = [1, 0]>
  // CHECK: tile.view %{{.*}}[%{{.*}}, _, %{{.*}}] {hot} : memref<?x?x?xf16> to !view
  %two = tile.view %x[%i, _, %j] {hot} : memref<?x?x?xf16> to !tile.view<4xf16, steps = [1], strides = [2]>
  // CHECK: tile.view %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : memref<?x?x?xf16> to !tile.view<f16>
  %point = tile.view %x[%i, %j, %j] : memref<?x?x?xf16> to !tile.view<f16>
  // CHECK: tile.view %{{.*}} : memref<?x?xi32> to !view1
  %packed = tile.view %words : memref<?x?xi32> to !tile.view<16x16xi4, packed = #tile.layout<offset [4:d1*2, 2:d1]>>
  // CHECK: tile.view %{{.*}} : memref<f32> to !tile.view<f32>
  %scalar = tile.view %s : memref<f32> to !tile.view<f32>
  // CHECK: tile.num_tiles %{{.*}} dim 2 : !tile.view<2x4x8xf16>
  %n = tile.num_tiles %all dim 2 : !tile.view<2x4x8xf16>
  // CHECK: tile.in_bounds %{{.*}}[%{{.*}}, %{{.*}}] : !tile.view<4x8xf16, pad = nan> -> tensor<4x8xi1>
  %in = tile.in_bounds %first[%i, %j] : !tile.view<4x8xf16, pad = nan> -> tensor<4x8xi1>
  // CHECK: tile.in_bounds %{{.*}}[] : !tile.view<f32> -> i1
  %in0 = tile.in_bounds %scalar[] : !tile.view<f32> -> i1
  // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : !tile.view<2x4x8xf16> -> tensor<2x4x8xf16>
  %v = tile.load %all[%i, %i, %j] : !tile.view<2x4x8xf16> -> tensor<2x4x8xf16>
  // CHECK: tile.load %{{.*}}[] {tile.cache = "streaming", tile.latency = 400 : i64} : !tile.view<f32> -> f32
  %w = tile.load %scalar[] {tile.cache = "streaming", tile.latency = 400} : !tile.view<f32> -> f32
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : tensor<2x4x8xf16>, !tile.view<2x4x8xf16>
  tile.store %v, %all[%i, %j, %j] : tensor<2x4x8xf16>, !tile.view<2x4x8xf16>
  // CHECK: tile.store %{{.*}}, %{{.*}}[] combine(max) : f32, !tile.view<f32>
  tile.store %w, %scalar[] combine(max) : f32, !tile.view<f32>
  tile.return
}

// CHECK-LABEL: tile.kernel @addresses
tile.kernel @addresses(%p: i64, %m: index, %n: index, %out: memref<64xf32>) {
  // CHECK: tile.memref_at %{{.*}} sizes [%{{.*}}, %{{.*}}] : i64 to memref<?x?xf16>
  %a = tile.memref_at %p sizes [%m, %n] : i64 to memref<?x?xf16>
  // CHECK: tile.memref_at %{{.*}} sizes [%{{.*}}, 64] {table} : i64 to memref<?x64xf16>
  %b = tile.memref_at %p sizes [%m, 64] {table} : i64 to memref<?x64xf16>
  // CHECK: tile.memref_at %{{.*}} sizes [%{{.*}}, 8] strides [%{{.*}}, 1] : i64 to memref<?x8xf16, strided<[?, 1]>>
  %c = tile.memref_at %p sizes [%m, 8] strides [%n, 1] : i64 to memref<?x8xf16, strided<[?, 1]>>
  // CHECK: tile.memref_at %{{.*}} sizes [] : i64 to memref<f32>
  %d = tile.memref_at %p sizes [] : i64 to memref<f32>
  tile.return
}

// CHECK-LABEL: tile.kernel @places
tile.kernel @places(%x: memref<?xf32>, %table: memref<?x?xf32>, %at: memref<?xi32>, %address: memref<?xi64>, %i: index) {
  %X = tile.view %x : memref<?xf32> to !tile.view<64xf32>
  %T = tile.view %table : memref<?x?xf32> to !tile.view<64x128xf32>
  %I = tile.view %at : memref<?xi32> to !tile.view<64xi32>
  %A = tile.view %address : memref<?xi64> to !tile.view<64xi64>
  %k = tile.load %I[%i] : !tile.view<64xi32> -> tensor<64xi32>
  %p = tile.load %A[%i] : !tile.view<64xi64> -> tensor<64xi64>
  %in = tile.in_bounds %I[%i] : !tile.view<64xi32> -> tensor<64xi1>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  // CHECK: tile.gather %{{.*}}[%{{.*}}, %{{.*}}] bounds(clamp) : !tile.view<64x128xf32>[tensor<64xi32>, index] -> tensor<64x128xf32>
  %rows = tile.gather %T[%k, %i] bounds(clamp) : !tile.view<64x128xf32>[tensor<64xi32>, index] -> tensor<64x128xf32>
  // CHECK: tile.gather %{{.*}}[%{{.*}}] bounds(trap) : memref<?xf32>[tensor<64xi32>] -> tensor<64xf32>
  %e = tile.gather %x[%k] bounds(trap) : memref<?xf32>[tensor<64xi32>] -> tensor<64xf32>
  // CHECK: tile.gather %{{.*}}[%{{.*}}] mask %{{.*}} bounds(trap) : memref<?xf32>[tensor<64xi32>] -> tensor<64xf32>
  %masked = tile.gather %x[%k] mask %in bounds(trap) : memref<?xf32>[tensor<64xi32>] -> tensor<64xf32>
  // CHECK: tile.gather %{{.*}}[%{{.*}}] mask %{{.*}} other %{{.*}} bounds(drop) : memref<?xf32>[tensor<64xi32>] -> tensor<64xf32>
  %other = tile.gather %x[%k] mask %in other %zero bounds(drop) : memref<?xf32>[tensor<64xi32>] -> tensor<64xf32>
  // CHECK: tile.gather %{{.*}} mask %{{.*}} other %{{.*}} bounds(trap) : tensor<64xi64> -> tensor<64xf32>
  %far = tile.gather %p mask %in other %zero bounds(trap) : tensor<64xi64> -> tensor<64xf32>
  // CHECK: tile.gather %{{.*}}[%{{.*}}] axis 0 bounds(clamp) : tensor<64xf32>[tensor<64xi32>] -> tensor<64xf32>
  %near = tile.gather %e[%k] axis 0 bounds(clamp) : tensor<64xf32>[tensor<64xi32>] -> tensor<64xf32>
  // CHECK: tile.scatter %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] bounds(trap) : tensor<64x128xf32>, !tile.view<64x128xf32>[tensor<64xi32>, index]
  tile.scatter %rows, %T[%k, %i] bounds(trap) : tensor<64x128xf32>, !tile.view<64x128xf32>[tensor<64xi32>, index]
  // CHECK: tile.scatter %{{.*}}, %{{.*}}[%{{.*}}] mask %{{.*}} combine(add) bounds(drop) : tensor<64xf32>, memref<?xf32>[tensor<64xi32>]
  tile.scatter %e, %x[%k] mask %in combine(add) bounds(drop) : tensor<64xf32>, memref<?xf32>[tensor<64xi32>]
  // CHECK: tile.scatter %{{.*}}, %{{.*}} mask %{{.*}} bounds(trap) : tensor<64xf32>, tensor<64xi64>
  tile.scatter %e, %p mask %in bounds(trap) : tensor<64xf32>, tensor<64xi64>
  tile.return
}

// CHECK-LABEL: tile.kernel @atomics
tile.kernel @atomics(%x: memref<?xi32>, %f: memref<?xf32>, %s: memref<i32>, %at: memref<?xi32>, %i: index, %one: i32) {
  %I = tile.view %at : memref<?xi32> to !tile.view<64xi32>
  %k = tile.load %I[%i] : !tile.view<64xi32> -> tensor<64xi32>
  %in = tile.in_bounds %I[%i] : !tile.view<64xi32> -> tensor<64xi1>
  %v = arith.constant dense<1.0> : tensor<64xf32>
  // CHECK: tile.atomic_rmw xchg %{{.*}}, %{{.*}}[%{{.*}}] acq_rel device : i32, memref<?xi32> -> i32
  %a = tile.atomic_rmw xchg %one, %x[%i] acq_rel device : i32, memref<?xi32> -> i32
  // CHECK: tile.atomic_rmw umax %{{.*}}, %{{.*}}[] relaxed block : i32, memref<i32> -> i32
  %b = tile.atomic_rmw umax %one, %s[] relaxed block : i32, memref<i32> -> i32
  // CHECK: tile.atomic_rmw fadd %{{.*}}, %{{.*}}[%{{.*}}] mask %{{.*}} relaxed system : tensor<64xf32>, memref<?xf32>[tensor<64xi32>] -> tensor<64xf32>
  %c = tile.atomic_rmw fadd %v, %f[%k] mask %in relaxed system : tensor<64xf32>, memref<?xf32>[tensor<64xi32>] -> tensor<64xf32>
  // CHECK: tile.atomic_cas %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}] acquire cluster : i32, memref<?xi32> -> i32
  %d = tile.atomic_cas %one, %a, %x[%i] acquire cluster : i32, memref<?xi32> -> i32
  // CHECK: tile.atomic_cas %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}] mask %{{.*}} relaxed device : tensor<64xi32>, memref<?xi32>[tensor<64xi32>] -> tensor<64xi32>
  %e = tile.atomic_cas %k, %k, %x[%k] mask %in relaxed device : tensor<64xi32>, memref<?xi32>[tensor<64xi32>] -> tensor<64xi32>
  // CHECK: tile.atomic_load %{{.*}}[] relaxed device : memref<i32> -> i32
  %g = tile.atomic_load %s[] relaxed device : memref<i32> -> i32
  // CHECK: tile.atomic_load %{{.*}}[%{{.*}}] acquire system : memref<?xi32> -> i32
  %h = tile.atomic_load %x[%i] acquire system : memref<?xi32> -> i32
  // CHECK: tile.atomic_wait %{{.*}}[%{{.*}}] least %{{.*}} acquire system : memref<?xi32>, i32
  tile.atomic_wait %x[%i] least %h acquire system : memref<?xi32>, i32
  // CHECK: tile.atomic_store %{{.*}}, %{{.*}}[%{{.*}}] release system : i32, memref<?xi32>
  tile.atomic_store %h, %x[%i] release system : i32, memref<?xi32>
  tile.return
}
