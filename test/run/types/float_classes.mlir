// math.isinf, isnormal, isnan, isfinite, clampf and sincos of every float type on every target; in a kernel as well.
// RUN: %tile_run %s --target=cpu --target=emulate:sm_80 --target=emulate:gfx942 --check-against=interpret | FileCheck %s
// CHECK: right
// CHECK-NOT: {{[1-9][0-9]* of}}

// Small, usual and huge numbers, zeros, inf and nan: i * 2^k, divided, in every type.
#m = affine_map<(i) -> (i)>
func.func @main() -> (
    tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xf64>, tensor<256xf64>, tensor<256xf64>,
    tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>,
    tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>,
    tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xbf16>, tensor<256xbf16>, tensor<256xbf16>,
    tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xf8E5M2>, tensor<256xf8E5M2>, tensor<256xf8E5M2>,
    tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xf8E4M3FN>, tensor<256xf8E4M3FN>, tensor<256xf8E4M3FN>) {
  %i_f64 = tensor.empty() : tensor<256xi1>
  %f_f64 = tensor.empty() : tensor<256xf64>
  %r_f64:7 = linalg.generic {indexing_maps = [#m, #m, #m, #m, #m, #m, #m], iterator_types = ["parallel"]}
      outs(%i_f64, %i_f64, %i_f64, %i_f64, %f_f64, %f_f64, %f_f64 : tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xf64>, tensor<256xf64>, tensor<256xf64>) {
  ^bb0(%a: i1, %b: i1, %c: i1, %d: i1, %e: f64, %f: f64, %g: f64):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %s = arith.constant 56 : i64
    %h = arith.shli %n, %s : i64
    %o = arith.ori %h, %n : i64
    %x = arith.bitcast %o : i64 to f64
    %inf = math.isinf %x : f64
    %normal = math.isnormal %x : f64
    %nan = math.isnan %x : f64
    %finite = math.isfinite %x : f64
    %low = arith.constant -1.5 : f64
    %high = arith.constant 3.0 : f64
    %clamped = math.clampf %x to [%low, %high] : f64
    %sin, %cos = math.sincos %clamped : f64
    linalg.yield %inf, %normal, %nan, %finite, %clamped, %sin, %cos : i1, i1, i1, i1, f64, f64, f64
  } -> (tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xf64>, tensor<256xf64>, tensor<256xf64>)
  %i_f32 = tensor.empty() : tensor<256xi1>
  %f_f32 = tensor.empty() : tensor<256xf32>
  %r_f32:7 = linalg.generic {indexing_maps = [#m, #m, #m, #m, #m, #m, #m], iterator_types = ["parallel"]}
      outs(%i_f32, %i_f32, %i_f32, %i_f32, %f_f32, %f_f32, %f_f32 : tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>) {
  ^bb0(%a: i1, %b: i1, %c: i1, %d: i1, %e: f32, %f: f32, %g: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %s = arith.constant 24 : i32
    %h = arith.shli %n, %s : i32
    %o = arith.ori %h, %n : i32
    %x = arith.bitcast %o : i32 to f32
    %inf = math.isinf %x : f32
    %normal = math.isnormal %x : f32
    %nan = math.isnan %x : f32
    %finite = math.isfinite %x : f32
    %low = arith.constant -1.5 : f32
    %high = arith.constant 3.0 : f32
    %clamped = math.clampf %x to [%low, %high] : f32
    %sin, %cos = math.sincos %clamped : f32
    linalg.yield %inf, %normal, %nan, %finite, %clamped, %sin, %cos : i1, i1, i1, i1, f32, f32, f32
  } -> (tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>)
  %i_f16 = tensor.empty() : tensor<256xi1>
  %f_f16 = tensor.empty() : tensor<256xf16>
  %r_f16:7 = linalg.generic {indexing_maps = [#m, #m, #m, #m, #m, #m, #m], iterator_types = ["parallel"]}
      outs(%i_f16, %i_f16, %i_f16, %i_f16, %f_f16, %f_f16, %f_f16 : tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>) {
  ^bb0(%a: i1, %b: i1, %c: i1, %d: i1, %e: f16, %f: f16, %g: f16):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i16
    %s = arith.constant 8 : i16
    %h = arith.shli %n, %s : i16
    %o = arith.ori %h, %n : i16
    %x = arith.bitcast %o : i16 to f16
    %inf = math.isinf %x : f16
    %normal = math.isnormal %x : f16
    %nan = math.isnan %x : f16
    %finite = math.isfinite %x : f16
    %low = arith.constant -1.5 : f16
    %high = arith.constant 3.0 : f16
    %clamped = math.clampf %x to [%low, %high] : f16
    %sin, %cos = math.sincos %clamped : f16
    linalg.yield %inf, %normal, %nan, %finite, %clamped, %sin, %cos : i1, i1, i1, i1, f16, f16, f16
  } -> (tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>)
  %i_bf16 = tensor.empty() : tensor<256xi1>
  %f_bf16 = tensor.empty() : tensor<256xbf16>
  %r_bf16:7 = linalg.generic {indexing_maps = [#m, #m, #m, #m, #m, #m, #m], iterator_types = ["parallel"]}
      outs(%i_bf16, %i_bf16, %i_bf16, %i_bf16, %f_bf16, %f_bf16, %f_bf16 : tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xbf16>, tensor<256xbf16>, tensor<256xbf16>) {
  ^bb0(%a: i1, %b: i1, %c: i1, %d: i1, %e: bf16, %f: bf16, %g: bf16):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i16
    %s = arith.constant 8 : i16
    %h = arith.shli %n, %s : i16
    %o = arith.ori %h, %n : i16
    %x = arith.bitcast %o : i16 to bf16
    %inf = math.isinf %x : bf16
    %normal = math.isnormal %x : bf16
    %nan = math.isnan %x : bf16
    %finite = math.isfinite %x : bf16
    %low = arith.constant -1.5 : bf16
    %high = arith.constant 3.0 : bf16
    %clamped = math.clampf %x to [%low, %high] : bf16
    %sin, %cos = math.sincos %clamped : bf16
    linalg.yield %inf, %normal, %nan, %finite, %clamped, %sin, %cos : i1, i1, i1, i1, bf16, bf16, bf16
  } -> (tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xbf16>, tensor<256xbf16>, tensor<256xbf16>)
  %i_f8E5M2 = tensor.empty() : tensor<256xi1>
  %f_f8E5M2 = tensor.empty() : tensor<256xf8E5M2>
  %r_f8E5M2:7 = linalg.generic {indexing_maps = [#m, #m, #m, #m, #m, #m, #m], iterator_types = ["parallel"]}
      outs(%i_f8E5M2, %i_f8E5M2, %i_f8E5M2, %i_f8E5M2, %f_f8E5M2, %f_f8E5M2, %f_f8E5M2 : tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xf8E5M2>, tensor<256xf8E5M2>, tensor<256xf8E5M2>) {
  ^bb0(%a: i1, %b: i1, %c: i1, %d: i1, %e: f8E5M2, %f: f8E5M2, %g: f8E5M2):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i8
    %x = arith.bitcast %n : i8 to f8E5M2
    %inf = math.isinf %x : f8E5M2
    %normal = math.isnormal %x : f8E5M2
    %nan = math.isnan %x : f8E5M2
    %finite = math.isfinite %x : f8E5M2
    %low = arith.constant -1.5 : f8E5M2
    %high = arith.constant 3.0 : f8E5M2
    %clamped = math.clampf %x to [%low, %high] : f8E5M2
    %sin, %cos = math.sincos %clamped : f8E5M2
    linalg.yield %inf, %normal, %nan, %finite, %clamped, %sin, %cos : i1, i1, i1, i1, f8E5M2, f8E5M2, f8E5M2
  } -> (tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xf8E5M2>, tensor<256xf8E5M2>, tensor<256xf8E5M2>)
  %i_f8E4M3FN = tensor.empty() : tensor<256xi1>
  %f_f8E4M3FN = tensor.empty() : tensor<256xf8E4M3FN>
  %r_f8E4M3FN:7 = linalg.generic {indexing_maps = [#m, #m, #m, #m, #m, #m, #m], iterator_types = ["parallel"]}
      outs(%i_f8E4M3FN, %i_f8E4M3FN, %i_f8E4M3FN, %i_f8E4M3FN, %f_f8E4M3FN, %f_f8E4M3FN, %f_f8E4M3FN : tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xf8E4M3FN>, tensor<256xf8E4M3FN>, tensor<256xf8E4M3FN>) {
  ^bb0(%a: i1, %b: i1, %c: i1, %d: i1, %e: f8E4M3FN, %f: f8E4M3FN, %g: f8E4M3FN):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i8
    %x = arith.bitcast %n : i8 to f8E4M3FN
    %inf = math.isinf %x : f8E4M3FN
    %normal = math.isnormal %x : f8E4M3FN
    %nan = math.isnan %x : f8E4M3FN
    %finite = math.isfinite %x : f8E4M3FN
    %low = arith.constant -1.5 : f8E4M3FN
    %high = arith.constant 3.0 : f8E4M3FN
    %clamped = math.clampf %x to [%low, %high] : f8E4M3FN
    %sin, %cos = math.sincos %clamped : f8E4M3FN
    linalg.yield %inf, %normal, %nan, %finite, %clamped, %sin, %cos : i1, i1, i1, i1, f8E4M3FN, f8E4M3FN, f8E4M3FN
  } -> (tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xf8E4M3FN>, tensor<256xf8E4M3FN>, tensor<256xf8E4M3FN>)
  return %r_f64#0, %r_f64#1, %r_f64#2, %r_f64#3, %r_f64#4, %r_f64#5, %r_f64#6,
    %r_f32#0, %r_f32#1, %r_f32#2, %r_f32#3, %r_f32#4, %r_f32#5, %r_f32#6,
    %r_f16#0, %r_f16#1, %r_f16#2, %r_f16#3, %r_f16#4, %r_f16#5, %r_f16#6,
    %r_bf16#0, %r_bf16#1, %r_bf16#2, %r_bf16#3, %r_bf16#4, %r_bf16#5, %r_bf16#6,
    %r_f8E5M2#0, %r_f8E5M2#1, %r_f8E5M2#2, %r_f8E5M2#3, %r_f8E5M2#4, %r_f8E5M2#5, %r_f8E5M2#6,
    %r_f8E4M3FN#0, %r_f8E4M3FN#1, %r_f8E4M3FN#2, %r_f8E4M3FN#3, %r_f8E4M3FN#4, %r_f8E4M3FN#5, %r_f8E4M3FN#6 :
    tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xf64>, tensor<256xf64>, tensor<256xf64>,
    tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>,
    tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xf16>, tensor<256xf16>, tensor<256xf16>,
    tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xbf16>, tensor<256xbf16>, tensor<256xbf16>,
    tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xf8E5M2>, tensor<256xf8E5M2>, tensor<256xf8E5M2>,
    tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xi1>, tensor<256xf8E4M3FN>, tensor<256xf8E4M3FN>, tensor<256xf8E4M3FN>
}
