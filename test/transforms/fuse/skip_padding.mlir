// RUN: %tile_opt %s -split-input-file --pass-pipeline='builtin.module(tile-skip-padding,func.func(cse),tile.kernel(canonicalize))' | FileCheck %s

!rows = !tile.view<8x16xf32, steps = [1, 16]>

// A row of the image is at `row + tap - 1`: the loop over taps leaves out rows that are not in the image. Along the tile
// the index becomes smaller, and the view pads. The padded size is asked for.
// CHECK-LABEL: tile.kernel private @conv
// CHECK-SAME: (%[[X:.*]]: memref<1x?x?x16xf32>, %[[W:.*]]: memref<3x3x16x16xf32>,
// CHECK-DAG: %[[Y:.*]] = tile.program_id 2
// CHECK-DAG: %[[HEIGHT:.*]] = memref.dim %[[X]], %c1
// CHECK-DAG: %[[ABOVE:.*]] = arith.subi %c1, %[[Y]]
// CHECK-DAG: %[[FIRST:.*]] = arith.maxsi %[[ABOVE]], %c0
// CHECK-DAG: %[[BELOW:.*]] = arith.addi %[[ABOVE]], %[[HEIGHT]]
// CHECK: scf.for %[[TAP:.*]] = %[[FIRST]] to %{{.*}} step %c1
// CHECK: scf.for %[[OVER:.*]] = %c0 to %c3 step %c1
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[TAP]]
// CHECK: %[[PLACE:.*]] = arith.subi %[[ROW]], %c1
// CHECK: tile.view %[[X]][%c0, %[[PLACE]], _, _]
// CHECK: arith.subi %{{.*}}, %c1
// CHECK: tile.view %[[W]][%[[TAP]], %[[OVER]], _, _]
tile.kernel private @conv(%x: memref<1x?x?x16xf32>, %w: memref<3x3x16x16xf32>, %y: memref<1x?x?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %i = tile.program_id 1
  %row = tile.program_id 2
  %sum = scf.for %tap = %c0 to %c3 step %c1 iter_args(%s = %zero) -> (tensor<8x16xf32>) {
    %line = scf.for %over = %c0 to %c3 step %c1 iter_args(%t = %s) -> (tensor<8x16xf32>) {
      %r = arith.addi %row, %tap : index
      %b = arith.muli %i, %c8 : index
      %c = arith.addi %b, %over : index
      %X = tile.view %x[%c0, %r, _, _] : memref<1x?x?x16xf32> to !rows
      %a = tile.load %X[%c, %c0] : !rows -> tensor<8x16xf32>
      %W = tile.view %w[%tap, %over, _, _] : memref<3x3x16x16xf32> to !tile.view<16x16xf32>
      %f = tile.load %W[%c0, %c0] : !tile.view<16x16xf32> -> tensor<16x16xf32>
      %m = tile.mma %a, %f, %t : tensor<8x16xf32>, tensor<16x16xf32> -> tensor<8x16xf32>
      scf.yield %m : tensor<8x16xf32>
    }
    scf.yield %line : tensor<8x16xf32>
  }
  %Y = tile.view %y[%c0, %row, _, _] : memref<1x?x?x16xf32> to !tile.view<8x16xf32>
  tile.store %sum, %Y[%i, %c0] : tensor<8x16xf32>, !tile.view<8x16xf32>
  tile.return
}

// CHECK-LABEL: func.func @image
// CHECK-SAME: (%[[X:[a-z0-9]*]]:
// CHECK-NOT: tensor.pad
// CHECK: %[[DIM:.*]] = tensor.dim %[[X]], %c1
// CHECK: arith.addi %[[DIM]], %c2
// CHECK: tile.launch @conv {{.*}} ins(%[[X]], %{{.*}} : tensor<1x?x?x16xf32>
func.func @image(%x: tensor<1x?x?x16xf32>, %e: tensor<1x?x?x16xf32>, %n: index) -> (tensor<1x?x?x16xf32>, index) {
  %w = arith.constant dense<2.0> : tensor<3x3x16x16xf32>
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x?x?x16xf32> to tensor<1x?x?x16xf32>
  %size = tensor.dim %p, %c1 : tensor<1x?x?x16xf32>
  %y = tile.launch @conv grid(%c1, %n, %n) ins(%p, %w : tensor<1x?x?x16xf32>, tensor<3x3x16x16xf32>) outs(%e : tensor<1x?x?x16xf32>) -> tensor<1x?x?x16xf32>
  return %y, %size : tensor<1x?x?x16xf32>, index
}

// -----

// Dilated taps: the first is the one from which `tap * 17` reaches the image. Sizes that are known stay known.
// CHECK-LABEL: tile.kernel private @dilated
// CHECK-SAME: (%{{.*}}: memref<128x40x16xf32>
// CHECK: %[[ABOVE:.*]] = arith.subi %c51, %{{.*}}
// CHECK: %[[BELOW:.*]] = arith.subi %c179, %{{.*}}
// CHECK: %[[MORE:.*]] = arith.maxsi %[[ABOVE]], %c0
// CHECK: %[[FIRST:.*]] = arith.ceildivsi %[[MORE]], %c17
// CHECK: %[[MOST:.*]] = arith.maxsi %[[BELOW]], %c0
// CHECK: %[[LAST:.*]] = arith.ceildivsi %[[MOST]], %c17
// CHECK: %[[END:.*]] = arith.minsi %[[LAST]], %c7
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]]
tile.kernel private @dilated(%x: memref<230x40x16xf32>, %w: memref<7x16x16xf32>, %y: memref<128x40x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c17 = arith.constant 17 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %i = tile.program_id 0
  %row = tile.program_id 1
  %sum = scf.for %tap = %c0 to %c7 step %c1 iter_args(%s = %zero) -> (tensor<8x16xf32>) {
    %far = arith.muli %tap, %c17 : index
    %r = arith.addi %row, %far : index
    %X = tile.view %x[%r, _, _] : memref<230x40x16xf32> to !tile.view<8x16xf32>
    %a = tile.load %X[%i, %c0] : !tile.view<8x16xf32> -> tensor<8x16xf32>
    %W = tile.view %w[%tap, _, _] : memref<7x16x16xf32> to !tile.view<16x16xf32>
    %f = tile.load %W[%c0, %c0] : !tile.view<16x16xf32> -> tensor<16x16xf32>
    %m = tile.mma %a, %f, %s : tensor<8x16xf32>, tensor<16x16xf32> -> tensor<8x16xf32>
    scf.yield %m : tensor<8x16xf32>
  }
  %Y = tile.view %y[%row, _, _] : memref<128x40x16xf32> to !tile.view<8x16xf32>
  tile.store %sum, %Y[%i, %c0] : tensor<8x16xf32>, !tile.view<8x16xf32>
  tile.return
}
// CHECK-LABEL: func.func @far
// CHECK-NOT: tensor.pad
func.func @far(%x: tensor<128x40x16xf32>, %e: tensor<128x40x16xf32>) -> tensor<128x40x16xf32> {
  %w = arith.constant dense<2.0> : tensor<7x16x16xf32>
  %zero = arith.constant 0.0 : f32
  %c5 = arith.constant 5 : index
  %c128 = arith.constant 128 : index
  %p = tensor.pad %x low[51, 0, 0] high[51, 0, 0] {
  ^bb0(%a: index, %b: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<128x40x16xf32> to tensor<230x40x16xf32>
  %y = tile.launch @dilated grid(%c5, %c128) ins(%p, %w : tensor<230x40x16xf32>, tensor<7x16x16xf32>) outs(%e : tensor<128x40x16xf32>) -> tensor<128x40x16xf32>
  return %y : tensor<128x40x16xf32>
}

// -----

// Left alone: padding that is not zero; a factor that is not known, or has an infinity, whose product with zero is nan; a
// second launch without padding; a kernel that stores what it loads.
tile.kernel private @taps(%x: memref<10x8x16xf32>, %w: memref<3x16x16xf32>, %y: memref<8x8x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %row = tile.program_id 0
  %sum = scf.for %tap = %c0 to %c3 step %c1 iter_args(%s = %zero) -> (tensor<8x16xf32>) {
    %r = arith.addi %row, %tap : index
    %X = tile.view %x[%r, _, _] : memref<10x8x16xf32> to !tile.view<8x16xf32>
    %a = tile.load %X[%c0, %c0] : !tile.view<8x16xf32> -> tensor<8x16xf32>
    %W = tile.view %w[%tap, _, _] : memref<3x16x16xf32> to !tile.view<16x16xf32>
    %f = tile.load %W[%c0, %c0] : !tile.view<16x16xf32> -> tensor<16x16xf32>
    %m = tile.mma %a, %f, %s : tensor<8x16xf32>, tensor<16x16xf32> -> tensor<8x16xf32>
    scf.yield %m : tensor<8x16xf32>
  }
  %Y = tile.view %y[%row, _, _] : memref<8x8x16xf32> to !tile.view<8x16xf32>
  tile.store %sum, %Y[%c0, %c0] : tensor<8x16xf32>, !tile.view<8x16xf32>
  tile.return
}
tile.kernel private @moves(%x: memref<10x8x16xf32>, %y: memref<8x8x16xf32>) {
  %c0 = arith.constant 0 : index
  %row = tile.program_id 0
  %X = tile.view %x[%row, _, _] : memref<10x8x16xf32> to !tile.view<8x16xf32>
  %a = tile.load %X[%c0, %c0] : !tile.view<8x16xf32> -> tensor<8x16xf32>
  %Y = tile.view %y[%row, _, _] : memref<8x8x16xf32> to !tile.view<8x16xf32>
  tile.store %a, %Y[%c0, %c0] : tensor<8x16xf32>, !tile.view<8x16xf32>
  tile.return
}
// CHECK-LABEL: func.func @ones
// CHECK-COUNT-2: tensor.pad
func.func @ones(%x: tensor<8x8x16xf32>, %e: tensor<8x8x16xf32>) -> (tensor<8x8x16xf32>, tensor<8x8x16xf32>) {
  %w = arith.constant dense<2.0> : tensor<3x16x16xf32>
  %zero = arith.constant 0.0 : f32
  %c8 = arith.constant 8 : index
  %p = tensor.pad %x low[1, 0, 0] high[1, 0, 0] {
  ^bb0(%a: index, %b: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<8x8x16xf32> to tensor<10x8x16xf32>
  %y = tile.launch @moves grid(%c8) ins(%p : tensor<10x8x16xf32>) outs(%e : tensor<8x8x16xf32>) -> tensor<8x8x16xf32>
  %one = arith.constant 1.0 : f32
  %q = tensor.pad %x low[1, 0, 0] high[1, 0, 0] {
  ^bb0(%a: index, %b: index, %c: index):
    tensor.yield %one : f32
  } : tensor<8x8x16xf32> to tensor<10x8x16xf32>
  %z = tile.launch @taps grid(%c8) ins(%q, %w : tensor<10x8x16xf32>, tensor<3x16x16xf32>) outs(%e : tensor<8x8x16xf32>) -> tensor<8x8x16xf32>
  return %y, %z : tensor<8x8x16xf32>, tensor<8x8x16xf32>
}

// -----

tile.kernel private @taps(%x: memref<10x8x16xf32>, %w: memref<3x16x16xf32>, %y: memref<8x8x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %row = tile.program_id 0
  %sum = scf.for %tap = %c0 to %c3 step %c1 iter_args(%s = %zero) -> (tensor<8x16xf32>) {
    %r = arith.addi %row, %tap : index
    %X = tile.view %x[%r, _, _] : memref<10x8x16xf32> to !tile.view<8x16xf32>
    %a = tile.load %X[%c0, %c0] : !tile.view<8x16xf32> -> tensor<8x16xf32>
    %W = tile.view %w[%tap, _, _] : memref<3x16x16xf32> to !tile.view<16x16xf32>
    %f = tile.load %W[%c0, %c0] : !tile.view<16x16xf32> -> tensor<16x16xf32>
    %m = tile.mma %a, %f, %s : tensor<8x16xf32>, tensor<16x16xf32> -> tensor<8x16xf32>
    scf.yield %m : tensor<8x16xf32>
  }
  %Y = tile.view %y[%row, _, _] : memref<8x8x16xf32> to !tile.view<8x16xf32>
  tile.store %sum, %Y[%c0, %c0] : tensor<8x16xf32>, !tile.view<8x16xf32>
  tile.return
}
// CHECK-LABEL: func.func @infinite
// CHECK-COUNT-3: tensor.pad
func.func @infinite(%x: tensor<8x8x16xf32>, %w: tensor<3x16x16xf32>, %e: tensor<8x8x16xf32>)
    -> (tensor<8x8x16xf32>, tensor<8x8x16xf32>, tensor<8x8x16xf32>) {
  %known = arith.constant dense<2.0> : tensor<3x16x16xf32>
  %inf = arith.constant dense<0x7F800000> : tensor<3x16x16xf32>
  %zero = arith.constant 0.0 : f32
  %c8 = arith.constant 8 : index
  %p = tensor.pad %x low[1, 0, 0] high[1, 0, 0] {
  ^bb0(%a: index, %b: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<8x8x16xf32> to tensor<10x8x16xf32>
  %y0 = tile.launch @taps grid(%c8) ins(%p, %w : tensor<10x8x16xf32>, tensor<3x16x16xf32>) outs(%e : tensor<8x8x16xf32>) -> tensor<8x8x16xf32>
  %q = tensor.pad %y0 low[1, 0, 0] high[1, 0, 0] {
  ^bb0(%a: index, %b: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<8x8x16xf32> to tensor<10x8x16xf32>
  %y1 = tile.launch @taps grid(%c8) ins(%q, %inf : tensor<10x8x16xf32>, tensor<3x16x16xf32>) outs(%e : tensor<8x8x16xf32>) -> tensor<8x8x16xf32>
  %r = tensor.pad %y1 low[1, 0, 0] high[1, 0, 0] {
  ^bb0(%a: index, %b: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<8x8x16xf32> to tensor<10x8x16xf32>
  %y2 = tile.launch @taps grid(%c8) ins(%r, %known : tensor<10x8x16xf32>, tensor<3x16x16xf32>) outs(%e : tensor<8x8x16xf32>) -> tensor<8x8x16xf32>
  return %y0, %y1, %y2 : tensor<8x8x16xf32>, tensor<8x8x16xf32>, tensor<8x8x16xf32>
}

// -----

// A kernel without a body stays as it is.
// CHECK: tile.kernel private @declared(memref<?xf32>)
tile.kernel private @declared(memref<?xf32>)
