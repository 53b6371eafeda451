// Types and attributes keep their meaning; defaults are not printed, texts are canonical, long ones get aliases.
// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// A view with more than a shape has an alias, and so has every buffer and layout; a schedule too.
// CHECK-DAG: #[[LANES:.*]] = #tile.layout<lane [32:d0]>
// CHECK-DAG: #[[OFFSETS:.*]] = #tile.layout<offset [32:d0]>
// CHECK-DAG: #[[PADDED:.*]] = #tile.layout<offset [64:d1, 8:d0] pad 16 every 64>
// CHECK-DAG: #[[ODD:.*]] = #tile.layout<reg [2:d0*32, 3:d0*64], lane [32:d0]>
// CHECK-DAG: !view = !tile.view<8x16xf16, steps = [1, 16], strides = [2, 1]>
// CHECK-DAG: !buffer{{.*}} = !tile.buffer<32xf32, #[[OFFSETS]], shared>
// CHECK-DAG: !buffer{{.*}} = !tile.buffer<32xf32, #[[OFFSETS]], local, stages = 1>
// CHECK-DAG: !buffer{{.*}} = !tile.buffer<8x64xf16, #[[PADDED]], shared, stages = 3>

// CHECK-DAG: #[[GPU:.*]] = #tile.schedule<block = [128, 128, 32], warp = [64, 64, 32], atom = "mma.sync.m16n8k16", warps = [2, 2, 1], stages = 3, group = [8, 1], split = 1, cluster = [2, 1], specialize = [4, 8]>
// CHECK-DAG: #[[CPU:.*]] = #tile.schedule<kind = "packed", register = [8, 32], cache = [192, 4096, 384]>
// CHECK-DAG: #[[NONE:.*]] = #tile.schedule<>

// CHECK: func.func private @views(!tile.view<f32>, !tile.view<4xf32>, !tile.view<4x8xindex>)
func.func private @views(!tile.view<f32>, !tile.view<4xf32>, !tile.view<4x8xindex>)
// CHECK: func.func private @defaults(!tile.view<4x8xf32>, !tile.view<4x8xf32>, !tile.view<4x8xf32>)
func.func private @defaults(!tile.view<4x8xf32, steps = [4, 8], strides = [1, 1]>, !tile.view<4x8xf32, order = [0, 1]>,
                            !tile.view<4x8xf32, pad = zero>)
// CHECK: func.func private @keys(!view, !tile.view<8x16xf16, order = [1, 0], pad = neg_inf>)
func.func private @keys(!tile.view<8x16xf16, strides = [2, 1], steps = [1, 16]>, !tile.view<8x16xf16, pad = neg_inf, order = [1, 0]>)
// CHECK: func.func private @pads(!tile.view<4xf32, pad = neg_zero>, !tile.view<4xf32, pad = nan>, !tile.view<4xf32, pad = inf>)
func.func private @pads(!tile.view<4xf32, pad = neg_zero>, !tile.view<4xf32, pad = nan>, !tile.view<4xf32, pad = inf>)
// CHECK: func.func private @narrow(!tile.view<4xi3>, !tile.view<4xf8E4M3FN>, !tile.view<4xf4E2M1FN>)
func.func private @narrow(!tile.view<4xi3>, !tile.view<4xf8E4M3FN>, !tile.view<4xf4E2M1FN>)

// CHECK: func.func private @buffers(!buffer{{[0-9]*}}, !buffer{{[0-9]*}}, !buffer{{[0-9]*}})
func.func private @buffers(!tile.buffer<32xf32, #tile.layout<offset [32:d0]>, shared>,
                           !tile.buffer<32xf32, #tile.layout<offset [32:d0]>, local, stages = 1>,
                           !tile.buffer<8x64xf16, #tile.layout<offset [64:d1, 8:d0] pad 16 every 64>, shared, stages = 3>)
// CHECK: func.func private @rings(!tile.barrier<1>, !tile.barrier<3>, !tile.barrier<3, arrivals = 2>, !tile.token)
func.func private @rings(!tile.barrier<1>, !tile.barrier<3, arrivals = 1>, !tile.barrier<3, arrivals = 2>, !tile.token)
// A buffer can hold a view's elements, a memref cannot hold a view; a function type can hold any.
// CHECK: func.func private @nested((!tile.view<4xf32>) -> !tile.token)
func.func private @nested((!tile.view<4xf32>) -> !tile.token)

// Two spellings of one layout are one attribute.
// CHECK: func.func private @one(tensor<32xf32, #[[LANES]]>, tensor<32xf32, #[[LANES]]>)
func.func private @one(tensor<32xf32, #tile.layout<lane [32:d0]>>, tensor<32xf32, #tile.layout<lane [2:d0, 16 : d0*2]>>)
// CHECK: func.func private @odd(tensor<192xf32, #[[ODD]]>)
func.func private @odd(tensor<192xf32, #tile.layout<reg [6:d0*32], lane [32:d0]>>)

// CHECK: func.func private @machine() attributes {tile.machine = #tile.machine<"sm_90a", "shared.bytes" = 466944>}
func.func private @machine() attributes {tile.machine = #tile.machine<"sm_90a", "shared.bytes" = 466944>}
// CHECK: func.func private @plain() attributes {tile.machine = #tile.machine<"gfx942">}
func.func private @plain() attributes {tile.machine = #tile.machine<"gfx942">}

// CHECK-LABEL: module @schedules
module @schedules {
  // The order of keys is the table's.
  // CHECK: tile.schedule = #[[GPU]]
  func.func private @gpu() attributes {tile.schedule = #tile.schedule<stages = 3, block = [128, 128, 32], warp = [64, 64, 32],
    atom = "mma.sync.m16n8k16", warps = [2, 2, 1], group = [8, 1], split = 1, cluster = [2, 1], specialize = [4, 8]>}
  // CHECK: tile.schedule = #[[CPU]]
  func.func private @cpu() attributes {tile.schedule = #tile.schedule<register = [8, 32], cache = [192, 4096, 384], kind = "packed">}
  // CHECK: tile.schedule = #[[NONE]]
  func.func private @none() attributes {tile.schedule = #tile.schedule<>}
}
