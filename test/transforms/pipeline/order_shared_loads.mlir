// RUN: %tile_opt %s --split-input-file --tile-order-shared-loads=ahead=2 --tile-pass-statistics 2>%t | FileCheck %s
// RUN: FileCheck %s --input-file=%t --check-prefix=COUNT
// COUNT: tile-order-shared-loads: 3 moved
// RUN: not %tile_opt %s --split-input-file --tile-order-shared-loads=ahead=0 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: error: {{.*}}ahead: 0; accepts 1 and more

// The second load, with what takes it apart, stands two ops of work ahead of its first use; the first load is wanted at
// once. What global memory is asked for stays early.
// CHECK-LABEL: llvm.func @product
// CHECK: %[[g:.*]] = llvm.load %{{.*}} : !llvm.ptr<1>
// CHECK-NEXT: %[[a:.*]] = llvm.load %{{.*}} : !llvm.ptr<3>
// CHECK-NEXT: llvm.fmul %[[a]], %[[a]]
// CHECK-NEXT: %[[v:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> vector<2xf32>
// CHECK-NEXT: %[[b:.*]] = llvm.extractelement %[[v]]
// CHECK-NEXT: llvm.fmul
// CHECK-NEXT: llvm.fmul
// CHECK-NEXT: llvm.fmul %[[b]]
// CHECK-NEXT: llvm.fmul %{{.*}}, %[[g]]
gpu.module @kernels {
  llvm.func @product(%p: !llvm.ptr<3>, %q: !llvm.ptr<3>, %r: !llvm.ptr<1>) -> f32 {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %g = llvm.load %r : !llvm.ptr<1> -> f32
    %a = llvm.load %p : !llvm.ptr<3> -> f32
    %v = llvm.load %q : !llvm.ptr<3> -> vector<2xf32>
    %b = llvm.extractelement %v[%zero : i32] : vector<2xf32>
    %1 = llvm.fmul %a, %a : f32
    %2 = llvm.fmul %1, %a : f32
    %3 = llvm.fmul %2, %a : f32
    %4 = llvm.fmul %b, %3 : f32
    %5 = llvm.fmul %4, %g : f32
    llvm.return %5 : f32
  }
}

// -----

// A store may change what is loaded behind it, a volatile load is an effect itself, and a use in another run of ops
// does not count.
// CHECK-LABEL: llvm.func @effects
// CHECK: %[[a:.*]] = llvm.load
// CHECK-NEXT: %[[b:.*]] = llvm.load volatile
// CHECK-NEXT: llvm.fmul
// CHECK-NEXT: llvm.fmul
// CHECK-NEXT: llvm.fmul
// CHECK-NEXT: llvm.store
// CHECK-NEXT: llvm.fmul %[[a]], %[[b]]
gpu.module @kernels {
  llvm.func @effects(%p: !llvm.ptr<3>, %q: !llvm.ptr<3>, %x: f32) -> f32 {
    %a = llvm.load %p : !llvm.ptr<3> -> f32
    %b = llvm.load volatile %q : !llvm.ptr<3> -> f32
    %1 = llvm.fmul %x, %x : f32
    %2 = llvm.fmul %1, %x : f32
    %3 = llvm.fmul %2, %x : f32
    llvm.store %3, %p : f32, !llvm.ptr<3>
    %4 = llvm.fmul %a, %b : f32
    llvm.return %4 : f32
  }
}

// -----

// A part whose place is known too late stays behind; loads of one place keep their order.
// CHECK-LABEL: llvm.func @late
// CHECK: llvm.fmul
// CHECK-NEXT: %[[a:.*]] = llvm.load
// CHECK-NEXT: %[[v:.*]] = llvm.load
// CHECK-NEXT: llvm.fmul
// CHECK-NEXT: %[[i:.*]] = llvm.add
// CHECK-NEXT: %[[b:.*]] = llvm.extractelement %[[v]][%[[i]]
// CHECK-NEXT: llvm.fmul %[[a]], %[[b]]
gpu.module @kernels {
  llvm.func @late(%p: !llvm.ptr<3>, %q: !llvm.ptr<3>, %x: f32, %n: i32) -> f32 {
    %a = llvm.load %p : !llvm.ptr<3> -> f32
    %v = llvm.load %q : !llvm.ptr<3> -> vector<2xf32>
    %1 = llvm.fmul %x, %x : f32
    %2 = llvm.fmul %1, %x : f32
    %i = llvm.add %n, %n : i32
    %b = llvm.extractelement %v[%i : i32] : vector<2xf32>
    %3 = llvm.fmul %a, %b : f32
    %4 = llvm.fmul %3, %2 : f32
    llvm.return %4 : f32
  }
}
