// RUN: %tile_opt %s --pass-pipeline='builtin.module(llvm.func(tile-move-bf16-as-bits),canonicalize)' | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline='builtin.module(llvm.func(tile-move-bf16-as-bits),canonicalize)' | FileCheck %s

// Signatures and calls keep bf16; what is only moved, through branches too, is i16.
// CHECK: llvm.func @callee(bf16, vector<9xbf16>) -> bf16
llvm.func @callee(bf16, vector<9xbf16>) -> bf16
// CHECK-LABEL: llvm.func @moved(
// CHECK-SAME: %[[s:[a-z0-9]+]]: bf16) -> bf16
// CHECK-DAG: %[[zero:.*]] = llvm.mlir.constant(dense<0.000000e+00> : vector<9xbf16>)
// CHECK-DAG: %[[other:.*]] = llvm.bitcast %[[zero]] : vector<9xbf16> to vector<9xi16>
// CHECK-DAG: %[[t:.*]] = llvm.bitcast %[[s]] : bf16 to i16
// CHECK: %[[v:.*]] = llvm.intr.masked.load %{{.*}}, %{{.*}}, %[[other]] {alignment = 2 : i32} : (!llvm.ptr, vector<9xi1>, vector<9xi16>) -> vector<9xi16>
// CHECK: %[[x:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i16
// CHECK: llvm.cond_br %{{.*}}, ^bb1(%[[v]], %[[x]] : vector<9xi16>, i16), ^bb1(%[[other]], %[[t]] : vector<9xi16>, i16)
// CHECK: ^bb1(%[[w:.*]]: vector<9xi16>, %[[y:.*]]: i16):
// CHECK: llvm.store %[[w]], %{{.*}} : vector<9xi16>
// CHECK-DAG: %[[a:.*]] = llvm.bitcast %[[y]] : i16 to bf16
// CHECK-DAG: %[[b:.*]] = llvm.bitcast %[[w]] : vector<9xi16> to vector<9xbf16>
// CHECK: %[[r:.*]] = llvm.call @callee(%[[a]], %[[b]])
// CHECK: %[[bits:.*]] = llvm.bitcast %[[r]] : bf16 to i16
// CHECK: llvm.store %[[bits]], %{{.*}} : i16
// CHECK: llvm.return %{{.*}} : bf16
llvm.func @moved(%p: !llvm.ptr, %q: !llvm.ptr, %m: vector<9xi1>, %c: i1, %s: bf16) -> bf16 {
  %zero = llvm.mlir.constant(dense<0.0> : vector<9xbf16>) : vector<9xbf16>
  %v = llvm.intr.masked.load %p, %m, %zero {alignment = 2 : i32} : (!llvm.ptr, vector<9xi1>, vector<9xbf16>) -> vector<9xbf16>
  %x = llvm.load %q : !llvm.ptr -> bf16
  llvm.cond_br %c, ^a(%v, %x : vector<9xbf16>, bf16), ^a(%zero, %s : vector<9xbf16>, bf16)
^a(%w: vector<9xbf16>, %y: bf16):
  llvm.store %w, %q : vector<9xbf16>, !llvm.ptr
  %r = llvm.call @callee(%y, %w) : (bf16, vector<9xbf16>) -> bf16
  llvm.store %r, %p : bf16, !llvm.ptr
  llvm.return %y : bf16
}

// Arrays are taken apart where they cross into or out of the function.
// CHECK-LABEL: llvm.func @arrays
// CHECK: %[[e:.*]] = llvm.extractvalue %{{.*}}[1]
// CHECK: llvm.bitcast %[[e]] : vector<3xbf16> to vector<3xi16>
// CHECK: llvm.store %{{.*}} : vector<3xi16>
// CHECK: llvm.load %{{.*}} -> vector<3xi16>
// CHECK: llvm.bitcast %{{.*}} : vector<3xi16> to vector<3xbf16>
// CHECK: llvm.return %{{.*}} : !llvm.array<2 x vector<3xbf16>>
llvm.func @arrays(%p: !llvm.ptr, %a: !llvm.array<2 x vector<3xbf16>>) -> !llvm.array<2 x vector<3xbf16>> {
  %v = llvm.extractvalue %a[1] : !llvm.array<2 x vector<3xbf16>>
  llvm.store %v, %p : vector<3xbf16>, !llvm.ptr
  %w = llvm.load %p : !llvm.ptr -> vector<3xbf16>
  %b = llvm.insertvalue %w, %a[0] : !llvm.array<2 x vector<3xbf16>>
  llvm.return %b : !llvm.array<2 x vector<3xbf16>>
}

// What is in a struct stays bf16 there.
// CHECK-LABEL: llvm.func @structs
// CHECK: llvm.store %{{.*}} : i16
// CHECK: llvm.load %{{.*}} -> i16
// CHECK: llvm.bitcast %{{.*}} : i16 to bf16
// CHECK: llvm.insertvalue %{{.*}} : !llvm.struct<(bf16, i32)>
llvm.func @structs(%p: !llvm.ptr, %a: !llvm.struct<(bf16, i32)>) -> !llvm.struct<(bf16, i32)> {
  %v = llvm.extractvalue %a[0] : !llvm.struct<(bf16, i32)>
  llvm.store %v, %p : bf16, !llvm.ptr
  %w = llvm.load %p : !llvm.ptr -> bf16
  %b = llvm.insertvalue %w, %a[0] : !llvm.struct<(bf16, i32)>
  llvm.return %b : !llvm.struct<(bf16, i32)>
}
