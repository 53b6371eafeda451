// One block of a GPT-style transformer, forward: 2 sequences of 128 tokens, width 256, 8 heads of 32.
//   y = x + attention(norm(x)),   out = y + mlp(norm(y)),   mlp(h) = gelu(h · w1 + b1) · w2 + b2
// Tokens of both sequences are rows of one 256x256 matrix; attention is causal.
#id2   = affine_map<(i, j) -> (i, j)>
#row   = affine_map<(i, j) -> (i)>
#col   = affine_map<(i, j) -> (j)>
#id4   = affine_map<(b, h, i, j) -> (b, h, i, j)>
// scores[b, h, i, j] = sum over d of q[b, i, h, d] · k[b, h, d, j]
#q     = affine_map<(b, h, i, j, d) -> (b, i, h, d)>
#k     = affine_map<(b, h, i, j, d) -> (b, h, d, j)>
#score = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
// mixed[b, i, h, d] = sum over j of p[b, h, i, j] · v[b, j, h, d]
#p     = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#v     = affine_map<(b, h, i, d, j) -> (b, j, h, d)>
#mix   = affine_map<(b, h, i, d, j) -> (b, i, h, d)>

// (x - mean) / sqrt(variance + 1e-5) · gamma + beta, row by row.
func.func private @norm(%x: tensor<256x256xf32>, %gamma: tensor<256xf32>, %beta: tensor<256xf32>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %width = arith.constant 256.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %rows = tensor.empty() : tensor<256xf32>
  %out = tensor.empty() : tensor<256x256xf32>
  %z = linalg.fill ins(%zero : f32) outs(%rows : tensor<256xf32>) -> tensor<256xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<256x256xf32>) outs(%z : tensor<256xf32>) dimensions = [1]
  %squares = linalg.generic {indexing_maps = [#id2, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %sum : tensor<256x256xf32>, tensor<256xf32>) outs(%z : tensor<256xf32>) {
  ^bb0(%e: f32, %s: f32, %a: f32):
    %mean = arith.divf %s, %width : f32
    %d = arith.subf %e, %mean : f32
    %d2 = arith.mulf %d, %d : f32
    %r = arith.addf %a, %d2 : f32
    linalg.yield %r : f32
  } -> tensor<256xf32>
  %y = linalg.generic {indexing_maps = [#id2, #row, #row, #col, #col, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum, %squares, %gamma, %beta : tensor<256x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>)
      outs(%out : tensor<256x256xf32>) {
  ^bb0(%e: f32, %s: f32, %q: f32, %g: f32, %b: f32, %unused: f32):
    %mean = arith.divf %s, %width : f32
    %variance = arith.divf %q, %width : f32
    %stable = arith.addf %variance, %epsilon : f32
    %scale = math.rsqrt %stable : f32
    %d = arith.subf %e, %mean : f32
    %n = arith.mulf %d, %scale : f32
    %ng = arith.mulf %n, %g : f32
    %r = arith.addf %ng, %b : f32
    linalg.yield %r : f32
  } -> tensor<256x256xf32>
  return %y : tensor<256x256xf32>
}

// x · w + bias, all 256 wide.
func.func private @linear(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>, %bias: tensor<256xf32>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %m = linalg.matmul ins(%x, %w : tensor<256x256xf32>, tensor<256x256xf32>) outs(%z : tensor<256x256xf32>) -> tensor<256x256xf32>
  %y = linalg.generic {indexing_maps = [#id2, #col, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%m, %bias : tensor<256x256xf32>, tensor<256xf32>) outs(%e : tensor<256x256xf32>) {
  ^bb0(%a: f32, %b: f32, %unused: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<256x256xf32>
  return %y : tensor<256x256xf32>
}

func.func private @attention(%x: tensor<256x256xf32>, %wq: tensor<256x256xf32>, %bq: tensor<256xf32>,
                             %wk: tensor<256x256xf32>, %bk: tensor<256xf32>, %wv: tensor<256x256xf32>, %bv: tensor<256xf32>,
                             %wo: tensor<256x256xf32>, %bo: tensor<256xf32>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.17677669529663687 : f32   // 1 / sqrt(32)
  %masked = arith.constant -1.0e+30 : f32
  %q2 = func.call @linear(%x, %wq, %bq) : (tensor<256x256xf32>, tensor<256x256xf32>, tensor<256xf32>) -> tensor<256x256xf32>
  %k2 = func.call @linear(%x, %wk, %bk) : (tensor<256x256xf32>, tensor<256x256xf32>, tensor<256xf32>) -> tensor<256x256xf32>
  %v2 = func.call @linear(%x, %wv, %bv) : (tensor<256x256xf32>, tensor<256x256xf32>, tensor<256xf32>) -> tensor<256x256xf32>
  %q = tensor.expand_shape %q2 [[0, 1], [2, 3]] output_shape [2, 128, 8, 32] : tensor<256x256xf32> into tensor<2x128x8x32xf32>
  %k4 = tensor.expand_shape %k2 [[0, 1], [2, 3]] output_shape [2, 128, 8, 32] : tensor<256x256xf32> into tensor<2x128x8x32xf32>
  %v = tensor.expand_shape %v2 [[0, 1], [2, 3]] output_shape [2, 128, 8, 32] : tensor<256x256xf32> into tensor<2x128x8x32xf32>

  %ek = tensor.empty() : tensor<2x8x32x128xf32>
  %k = linalg.transpose ins(%k4 : tensor<2x128x8x32xf32>) outs(%ek : tensor<2x8x32x128xf32>) permutation = [0, 2, 3, 1]
  %es = tensor.empty() : tensor<2x8x128x128xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x8x128x128xf32>) -> tensor<2x8x128x128xf32>
  %qk = linalg.generic {indexing_maps = [#q, #k, #score], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x128x8x32xf32>, tensor<2x8x32x128xf32>) outs(%zs : tensor<2x8x128x128xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x8x128x128xf32>
  // Token i sees tokens j <= i.
  %causal = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x8x128x128xf32>) outs(%es : tensor<2x8x128x128xf32>) {
  ^bb0(%a: f32, %unused: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %seen = arith.cmpi ule, %j, %i : index
    %s = arith.mulf %a, %scale : f32
    %r = arith.select %seen, %s, %masked : f32
    linalg.yield %r : f32
  } -> tensor<2x8x128x128xf32>
  %ep = tensor.empty() : tensor<2x8x128x128xf32>
  %p = linalg.softmax dimension(3) ins(%causal : tensor<2x8x128x128xf32>) outs(%ep : tensor<2x8x128x128xf32>) -> tensor<2x8x128x128xf32>

  %em = tensor.empty() : tensor<2x128x8x32xf32>
  %zm = linalg.fill ins(%zero : f32) outs(%em : tensor<2x128x8x32xf32>) -> tensor<2x128x8x32xf32>
  %mixed4 = linalg.generic {indexing_maps = [#p, #v, #mix], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%p, %v : tensor<2x8x128x128xf32>, tensor<2x128x8x32xf32>) outs(%zm : tensor<2x128x8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x128x8x32xf32>
  %mixed = tensor.collapse_shape %mixed4 [[0, 1], [2, 3]] : tensor<2x128x8x32xf32> into tensor<256x256xf32>
  %y = func.call @linear(%mixed, %wo, %bo) : (tensor<256x256xf32>, tensor<256x256xf32>, tensor<256xf32>) -> tensor<256x256xf32>
  return %y : tensor<256x256xf32>
}

// gelu(a) = a/2 · (1 + erf(a / sqrt 2))
func.func private @mlp(%x: tensor<256x256xf32>, %w1: tensor<256x1024xf32>, %b1: tensor<1024xf32>,
                       %w2: tensor<1024x256xf32>, %b2: tensor<256xf32>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %root = arith.constant 0.70710678118654752 : f32
  %e1 = tensor.empty() : tensor<256x1024xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<256x1024xf32>) -> tensor<256x1024xf32>
  %m1 = linalg.matmul ins(%x, %w1 : tensor<256x256xf32>, tensor<256x1024xf32>) outs(%z1 : tensor<256x1024xf32>) -> tensor<256x1024xf32>
  %h = linalg.generic {indexing_maps = [#id2, #col, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%m1, %b1 : tensor<256x1024xf32>, tensor<1024xf32>) outs(%e1 : tensor<256x1024xf32>) {
  ^bb0(%m: f32, %b: f32, %unused: f32):
    %a = arith.addf %m, %b : f32
    %t = arith.mulf %a, %root : f32
    %f = math.erf %t : f32
    %g = arith.addf %f, %one : f32
    %u = arith.mulf %a, %half : f32
    %r = arith.mulf %u, %g : f32
    linalg.yield %r : f32
  } -> tensor<256x1024xf32>
  %e2 = tensor.empty() : tensor<256x256xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<256x256xf32>) -> tensor<256x256xf32>
  %m2 = linalg.matmul ins(%h, %w2 : tensor<256x1024xf32>, tensor<1024x256xf32>) outs(%z2 : tensor<256x256xf32>) -> tensor<256x256xf32>
  %y = linalg.generic {indexing_maps = [#id2, #col, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%m2, %b2 : tensor<256x256xf32>, tensor<256xf32>) outs(%e2 : tensor<256x256xf32>) {
  ^bb0(%m: f32, %b: f32, %unused: f32):
    %s = arith.addf %m, %b : f32
    linalg.yield %s : f32
  } -> tensor<256x256xf32>
  return %y : tensor<256x256xf32>
}

func.func @main(%x3: tensor<2x128x256xf32>, %gamma1: tensor<256xf32>, %beta1: tensor<256xf32>,
                %wq: tensor<256x256xf32>, %bq: tensor<256xf32>, %wk: tensor<256x256xf32>, %bk: tensor<256xf32>,
                %wv: tensor<256x256xf32>, %bv: tensor<256xf32>, %wo: tensor<256x256xf32>, %bo: tensor<256xf32>,
                %gamma2: tensor<256xf32>, %beta2: tensor<256xf32>, %w1: tensor<256x1024xf32>, %b1: tensor<1024xf32>,
                %w2: tensor<1024x256xf32>, %b2: tensor<256xf32>) -> tensor<2x128x256xf32> {
  %x = tensor.collapse_shape %x3 [[0, 1], [2]] : tensor<2x128x256xf32> into tensor<256x256xf32>
  %n1 = func.call @norm(%x, %gamma1, %beta1) : (tensor<256x256xf32>, tensor<256xf32>, tensor<256xf32>) -> tensor<256x256xf32>
  %a = func.call @attention(%n1, %wq, %bq, %wk, %bk, %wv, %bv, %wo, %bo)
      : (tensor<256x256xf32>, tensor<256x256xf32>, tensor<256xf32>, tensor<256x256xf32>, tensor<256xf32>,
         tensor<256x256xf32>, tensor<256xf32>, tensor<256x256xf32>, tensor<256xf32>) -> tensor<256x256xf32>
  %e = tensor.empty() : tensor<256x256xf32>
  %y = linalg.add ins(%x, %a : tensor<256x256xf32>, tensor<256x256xf32>) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %n2 = func.call @norm(%y, %gamma2, %beta2) : (tensor<256x256xf32>, tensor<256xf32>, tensor<256xf32>) -> tensor<256x256xf32>
  %m = func.call @mlp(%n2, %w1, %b1, %w2, %b2)
      : (tensor<256x256xf32>, tensor<256x1024xf32>, tensor<1024xf32>, tensor<1024x256xf32>, tensor<256xf32>) -> tensor<256x256xf32>
  %out = linalg.add ins(%y, %m : tensor<256x256xf32>, tensor<256x256xf32>) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %out3 = tensor.expand_shape %out [[0, 1], [2]] output_shape [2, 128, 256] : tensor<256x256xf32> into tensor<2x128x256xf32>
  return %out3 : tensor<2x128x256xf32>
}
