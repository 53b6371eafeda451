// Ops of every version go through bytecode of 13.5 and come back as they were. test/run/cuda_tile has the common ones.
// RUN: tile-opt %s -o %t.before
// RUN: tile-translate %s --tile-to-cuda-tile=13.5 -o %t.tileirbc
// RUN: tile-translate %t.tileirbc --import-cuda-tile -o %t.read
// RUN: tile-opt %t.read -o %t.after
// RUN: diff %t.before %t.after
// RUN: tile-translate %t.tileirbc --tile-to-cuda-tile=13.5 -o %t.again
// RUN: cmp %t.tileirbc %t.again

// RUN: not tile-translate %s --tile-to-cuda-tile=13.1 -o %t.old 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: ops.mlir:{{[0-9]+}}:{{[0-9]+}}: error: 'cuda_tile.global' op is constant or private, which version 13.3 brings
// RUN: not tile-translate %s --tile-to-cuda-tile=13.6 -o %t.old 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: --tile-to-cuda-tile=13.6: no version of CUDA Tile IR that can be written; accepted: 13.1 to 13.5

module {
  cuda_tile.global @table dense<[1, 2, 3, 4]> : tensor<4xi32> alignment = 16 constant private
  cuda_tile.entry @memory(%p: tensor<!cuda_tile.ptr<f32>>, %q: tensor<!cuda_tile.ptr<i32>>, %n: tensor<i32>, %c: tensor<i1>) attributes {optimization_hints = {sm_100 = {num_cta_in_cga = 2 : i32, occupancy = 1 : i32}}} {
    %g = cuda_tile.get_global @table : tile<ptr<i32>>
    %a = cuda_tile.alloca num_elem = 64, alignment = 16 global : tile<ptr<f32>>
    %t = cuda_tile.make_token : token
    %wait = cuda_tile.gdc_wait_tko token = %t : (token) -> token
    %start = cuda_tile.gdc_launch_dependents_tko : () -> token
    %fence = cuda_tile.memory_fence_alias_tko %wait : (token) -> token
    %all = cuda_tile.join_tokens %fence, %start : (token, token) -> token
    %v = cuda_tile.make_tensor_view %p, shape = [%n], strides = [%n] : (tile<ptr<f32>>, tile<i32>, tile<i32>) -> tensor_view<?x16xf32, strides=[?,1]>
    %s = cuda_tile.make_strided_view %v : strided_view<tile=(8x16), traversal_strides=[4,16], padding_value = pos_inf, tensor_view<?x16xf32, strides=[?,1]>, dim_map=[1,0]>
    %w = cuda_tile.make_gather_scatter_view %v : gather_scatter_view<tile=(8x16), tensor_view<?x16xf32, strides=[?,1]>, sparse_dim=0>
    %x, %x1 = cuda_tile.load_view_tko relaxed device %s[%n, %n] inbounds = [true, false] token = %all : (strided_view<tile=(8x16), traversal_strides=[4,16], padding_value = pos_inf, tensor_view<?x16xf32, strides=[?,1]>, dim_map=[1,0]>, tile<i32>, tile<i32>, token) -> (tile<8x16xf32>, token)
    %r = cuda_tile.atomic_red_view_tko relaxed sys %s[%n, %n], addf, %x : (strided_view<tile=(8x16), traversal_strides=[4,16], padding_value = pos_inf, tensor_view<?x16xf32, strides=[?,1]>, dim_map=[1,0]>, tile<i32>, tile<i32>, tile<8x16xf32>) -> token
    %m:2 = cuda_tile.multimem_load_reduce_view_tko weak %s[%n, %n], add : (strided_view<tile=(8x16), traversal_strides=[4,16], padding_value = pos_inf, tensor_view<?x16xf32, strides=[?,1]>, dim_map=[1,0]>, tile<i32>, tile<i32>) -> (tile<8x16xf32>, token)
    %m1 = cuda_tile.multimem_reduce_view_tko release device %s[%n, %n], max, %x token = %r : (strided_view<tile=(8x16), traversal_strides=[4,16], padding_value = pos_inf, tensor_view<?x16xf32, strides=[?,1]>, dim_map=[1,0]>, tile<8x16xf32>, tile<i32>, tile<i32>, token) -> token
    %m2 = cuda_tile.multimem_store_view_tko weak %s[%n, %n], %x : (strided_view<tile=(8x16), traversal_strides=[4,16], padding_value = pos_inf, tensor_view<?x16xf32, strides=[?,1]>, dim_map=[1,0]>, tile<8x16xf32>, tile<i32>, tile<i32>) -> token
    %old, %o1 = cuda_tile.atomic_cas_tko acq_rel tl_blk %q, %n, %n mask = %c token = %m1 : (tile<ptr<i32>>, tile<i32>, tile<i32>, tile<i1>, token) -> (tile<i32>, token)
    %sizes:2 = cuda_tile.get_tensor_shape %v : (tensor_view<?x16xf32, strides=[?,1]>) -> (tile<i32>, tile<i32>)
    %print = cuda_tile.print_tko "old %d" (%old) token = %o1 : (tile<i32>, token) -> token
    cuda_tile.assert %c, "holds" : tile<i1>
    %l, %l1 = cuda_tile.load_ptr_tko acquire sys %q mask = %c padding = %n {optimization_hints = {sm_90 = {latency = 3 : i32}}} : (tile<ptr<i32>>, tile<i1>, tile<i32>) -> (tile<i32>, token)
    %i = cuda_tile.ptr_to_int %q : tile<ptr<i32>> -> tile<i64>
    %j = cuda_tile.int_to_ptr %i : tile<i64> -> tile<ptr<i32>>
    %k = cuda_tile.ptr_to_ptr %j : tile<ptr<i32>> -> tile<ptr<f32>>
    cuda_tile.return
  }
  cuda_tile.entry @values(%n: tensor<i32>) {
    %x = cuda_tile.constant dense<[0.5, -0.0, 0x7FC00000, 1.0]> : tensor<4xf32>
    %b = cuda_tile.constant dense<[true, false, true, true]> : tensor<4xi1>
    %all = cuda_tile.constant dense<true> : tensor<4xi1>
    %h = cuda_tile.constant dense<2.5> : tensor<2xf16>
    %e = cuda_tile.constant dense<1.5> : tensor<16x32xf8E4M3FN>
    %f = cuda_tile.constant dense<1.0> : tensor<16x1xf8E8M0FNU>
    %acc = cuda_tile.constant dense<0.0> : tensor<16x32xf32>
    %e1 = cuda_tile.constant dense<1.5> : tensor<32x32xf8E4M3FN>
    %f1 = cuda_tile.constant dense<1.0> : tensor<1x32xf8E8M0FNU>
    %scaled = cuda_tile.mmaf_scaled %e, %e1, %acc, %f, %f1 : (tile<16x32xf8E4M3FN>, tile<32x32xf8E4M3FN>, tile<16x32xf32>, tile<16x1xf8E8M0FNU>, tile<1x32xf8E8M0FNU>) -> tile<16x32xf32>
    %fast = cuda_tile.mmaf %e, %e1, %acc fast_acc : (tile<16x32xf8E4M3FN>, tile<32x32xf8E4M3FN>, tile<16x32xf32>) -> tile<16x32xf32>
    %packed = cuda_tile.pack %h : tile<2xf16> -> tile<4xi8>
    %unpacked = cuda_tile.unpack %packed : tile<4xi8> -> tile<2xf16>
    %x2 = cuda_tile.ftof %x rounding<zero> : tile<4xf32> -> tile<4xf16>
    %inserted = cuda_tile.insert %h into %x2[%n] : (tile<2xf16>, tile<4xf16>, tile<i32>) -> tile<4xf16>
    %fma = cuda_tile.fma %x, %x, %x rounding<positive_inf> flush_to_zero : tile<4xf32>
    %top = cuda_tile.maxf %fma, %x propagate_nan flush_to_zero : tile<4xf32>
    %t = cuda_tile.tanh %top rounding<approx> : tile<4xf32>
    %exp = cuda_tile.exp %t rounding<approx> : tile<4xf32>
    %n4 = cuda_tile.ftoi %exp signed saturating : tile<4xf32> -> tile<4xi32>
    %p = cuda_tile.fpowi %exp, %n4 : tile<4xf32>, tile<4xi32>
    %neg = cuda_tile.negi %n4 overflow<no_signed_wrap> : tile<4xi32>
    %div = cuda_tile.divi %neg, %n4 signed rounding<negative_inf> : tile<4xi32>
    %up = cuda_tile.mulhii %div, %n4 : tile<4xi32>
    %angle = cuda_tile.atan2 %exp, %p : tile<4xf32>
    %same = cuda_tile.assume div_by<8, every 2 along 0>, %n4 : tile<4xi32>
    %low = cuda_tile.assume bounded<-3, 12>, %same : tile<4xi32>
    %loop = "cuda_tile.for"(%n, %n, %n, %n) <{unsignedCmp}> ({
    ^bb0(%i: tensor<i32>, %sum: tensor<i32>):
      cuda_tile.continue %sum : tile<i32>
    }) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %scan = "cuda_tile.scan"(%exp) <{dim = 0 : i64, reverse = true, identities = [0.0 : f32]}> ({
    ^bb0(%a: tensor<f32>, %c: tensor<f32>):
      %d = cuda_tile.addf %a, %c : tile<f32>
      cuda_tile.yield %d : tile<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    cuda_tile.return
  }
}
