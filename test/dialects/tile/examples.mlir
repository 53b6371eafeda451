// The examples of the reference pages, in a place where each is legal: every example of ops.def stands here, word for
// word (examples.py says which does not), and parses and verifies.
// RUN: %python %source/test/dialects/examples.py %source/dialects/tile/ops.def %s 62
// RUN: sh %source/test/round_trip.sh %s %t %tile_opt

#offsets = #tile.layout<offset [32:d1, 128:d0]>
#panels = #tile.layout<offset [8:d0, 32:d1, 8:d0*8]>
#wide = #tile.layout<reg [8:d1, 16:d0*8], lane [16:d1*8, 2:d0], warp [4:d0*2]>
#fragment = #tile.layout<reg [2:d1, 2:d0*8, 8:d1*8, 4:d0*16], lane [4:d1*2, 8:d0], warp [2:d0*64, 2:d1*64]>
#lhs = #tile.layout<reg [2:d1, 2:d0*8, 4:d1*8, 4:d0*16], lane [4:d1*2, 8:d0], warp [2:d0*64, 2:_]>
#acc = #tile.layout<reg [2:d1, 2:d0*8, 32:d1*8], lane [4:d1*2, 8:d0], warp [4:d0*16, 2:d0*64]>
#sa = #tile.layout<offset [64:d1, 8:d0+d1*8, 16:d0*8]>
#sb = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8, 4:d1*64]>

// Structure.
tile.kernel @scale(%x: memref<?xf32>, %y: memref<?xf32>) attributes {warps = 4 : i32} {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<256xf32>
  %Y = tile.view %y : memref<?xf32> to !tile.view<256xf32>
  %v = tile.load %X[%i] : !tile.view<256xf32> -> tensor<256xf32>
  tile.store %v, %Y[%i] : tensor<256xf32>, !tile.view<256xf32>
  tile.return
}
tile.func private @relu(%x: tensor<64xf32>) -> tensor<64xf32> {
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %y = arith.maximumf %x, %zero : tensor<64xf32>
  tile.return %y : tensor<64xf32>
}
tile.func @calls(%x: tensor<64xf32>, %count: index) -> (tensor<64xf32>, index) {
  %y = tile.call @relu(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %sum = arith.addf %x, %y : tensor<64xf32>
  tile.return %sum, %count : tensor<64xf32>, index
}
func.func @launches(%gm: index, %gn: index, %a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf16>, %x: tensor<?xf32>) {
  %y = tile.launch @gemm grid(%gm, %gn) ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>)
      outs(%c : tensor<?x?xf16>) meets [shared, global] -> tensor<?x?xf16>
  %t = tile.transfer %x to @device1 : tensor<?xf32>
  return
}
tile.kernel private @gemm(memref<?x?xf16>, memref<?x?xf16>, memref<?x?xf16>)
tile.kernel @programs(%x: memref<?x?xf16>, %m: index) {
  %i = tile.program_id 0
  %n0 = tile.num_programs 0
  %a = tile.assume %x align 16 sizes [_, 8] strides [8, 1] : memref<?x?xf16>
  %n = tile.assume %m divisible 8 range [1, 4096] : index
  tile.return
}
tile.kernel @persistent() {
  %n = tile.num_programs 0
  tile.return
}

// Memory.
tile.kernel @memory(%q: memref<?x?x?x128xf16>, %z: memref<?xf16>, %a: memref<?x?xf16>, %y: memref<?xf32>, %bins: memref<256xi32>,
                    %b: index, %h: index, %i: index, %k: index, %c0: index) {
  %Q = tile.view %q[%b, %h, _, _] : memref<?x?x?x128xf16> to !tile.view<128x128xf16>
  %X = tile.view %z : memref<?xf16> to !tile.view<2048xf16>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<128x32xf16>
  %Y = tile.view %y : memref<?xf32> to !tile.view<1024xf32>
  %B = tile.view %bins : memref<256xi32> to !tile.view<256xi32>
  %s = arith.constant dense<0.0> : tensor<1024xf32>
  %counts = arith.constant dense<0> : tensor<256xi32>
  %nk = tile.num_tiles %A dim 1 : !tile.view<128x32xf16>
  %m = tile.in_bounds %X[%i] : !tile.view<2048xf16> -> tensor<2048xi1>
  %x = tile.load %A[%i, %k] : !tile.view<128x32xf16> -> tensor<128x32xf16>
  tile.store %s, %Y[%i] : tensor<1024xf32>, !tile.view<1024xf32>
  tile.store %counts, %B[%c0] combine(add) : tensor<256xi32>, !tile.view<256xi32>
  tile.return
}
tile.kernel @loads() {
  %B = tile.alloc : !tile.buffer<128x32xf16, #offsets, shared>
  %y = tile.load %B : !tile.buffer<128x32xf16, #offsets, shared> -> tensor<128x32xf16, #lhs>
  tile.return
}
tile.kernel @addresses(%p: i64, %m: index, %k: index, %s: index) {
  %a = tile.memref_at %p sizes [%m, %k] : i64 to memref<?x?xf16>
  %b = tile.memref_at %p sizes [%m, 64] strides [%s, 1]
      : i64 to memref<?x64xf16, strided<[?, 1]>>
  tile.return
}
tile.kernel @gathers(%table: memref<?x?xf16>, %token: memref<?xi32>, %i: index, %j: index) {
  %T = tile.view %table : memref<?x?xf16> to !tile.view<64x128xf16>
  %I = tile.view %token : memref<?xi32> to !tile.view<64xi32>
  %row = tile.load %I[%i] : !tile.view<64xi32> -> tensor<64xi32>
  %e = tile.gather %T[%row, %j] bounds(drop)
      : !tile.view<64x128xf16>[tensor<64xi32>, index] -> tensor<64x128xf16>
  tile.return
}
tile.kernel @scatters(%table: memref<?x?xf32>, %token: memref<?xi32>, %i: index, %j: index) {
  %T = tile.view %table : memref<?x?xf32> to !tile.view<64x128xf32>
  %I = tile.view %token : memref<?xi32> to !tile.view<64xi32>
  %row = tile.load %I[%i] : !tile.view<64xi32> -> tensor<64xi32>
  %m = arith.constant dense<true> : tensor<64x128xi1>
  %g = arith.constant dense<1.0> : tensor<64x128xf32>
  tile.scatter %g, %T[%row, %j] mask %m combine(add) bounds(drop)
      : tensor<64x128xf32>, !tile.view<64x128xf32>[tensor<64xi32>, index]
  tile.return
}
tile.kernel @atomics(%ticket: memref<i32>, %lock: memref<?xi32>, %ready: memref<?xi32>, %one: i32, %free: i32, %mine: i32, %i: index, %l: index) {
  %old = tile.atomic_rmw add %one, %ticket[] relaxed device : i32, memref<i32> -> i32
  %f = tile.atomic_load %ready[%l] acquire device : memref<?xi32> -> i32
  tile.atomic_store %one, %ready[%i] release device : i32, memref<?xi32>
  tile.return
}
tile.kernel @wait(%counts: memref<?xi32>, %l: index, %n: i32) attributes {cooperative} {
  tile.atomic_wait %counts[%l] least %n acquire device : memref<?xi32>, i32
  tile.return
}
tile.kernel @exchange(%lock: memref<?xi32>, %free: i32, %mine: i32, %i: index) {
  %old = tile.atomic_cas %free, %mine, %lock[%i] acq_rel device : i32, memref<?xi32> -> i32
  tile.return
}

// Compute.
tile.func @product(%a: tensor<128x32xf16>, %b: tensor<32x128xf16>, %c: tensor<128x128xf32>) {
  %d = tile.mma %a, %b, %c : tensor<128x32xf16>, tensor<32x128xf16> -> tensor<128x128xf32>
  tile.return
}
tile.func @sparse(%a: tensor<64x32xf16>, %p: tensor<64x8xi8>, %b: tensor<64x128xf16>, %c: tensor<64x128xf32>) {
  %d = tile.mma_sparse %a at %p, %b, %c
      : tensor<64x32xf16>, tensor<64x8xi8>, tensor<64x128xf16> -> tensor<64x128xf32>
  tile.return
}
tile.func @scaled(%a: tensor<128x64xf8E4M3FN>, %sa: tensor<128x2xf8E8M0FNU>, %b: tensor<64x128xf8E4M3FN>,
                  %sb: tensor<2x128xf8E8M0FNU>, %c: tensor<128x128xf32>) {
  %d = tile.mma_scaled %a scale %sa, %b scale %sb, %c block 32
      : tensor<128x64xf8E4M3FN>, tensor<128x2xf8E8M0FNU>, tensor<64x128xf8E4M3FN>,
        tensor<2x128xf8E8M0FNU> -> tensor<128x128xf32>
  tile.return
}
tile.func @rows(%x: tensor<4x4096xf32>) {
  %m = tile.reduce {arith.maximumf} %x axes [1] : tensor<4x4096xf32> -> tensor<4xf32>
  %b = tile.broadcast %m axes [1] : tensor<4xf32> -> tensor<4x4096xf32>
  tile.return
}
tile.func @largest(%x: tensor<64xf32>, %at: tensor<64xi32>) {
  %v, %i = tile.reduce %x, %at axes [0] neutral [0xFF800000 : f32, 0 : i32]
      : tensor<64xf32>, tensor<64xi32> -> f32, i32 {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %gt = arith.cmpf oge, %a, %b : f32
    %r = arith.select %gt, %a, %b : f32
    %ri = arith.select %gt, %ai, %bi : i32
    tile.yield %r, %ri : f32, i32
  }
  %w = tile.reduce %x axes [0] neutral [0xFF800000 : f32] : tensor<64xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %larger = arith.maximumf %a, %b : f32
    tile.yield %larger : f32
  }
  tile.return
}
tile.func @orders(%v: tensor<1024xf32>, %p: tensor<1024xi32>, %carry: f32) {
  %s, %c = tile.scan {arith.addf} %v init %carry axis 0 : tensor<1024xf32>, f32
  %v8, %p8 = tile.topk %v, %p axis 0 descending
      : tensor<1024xf32>, tensor<1024xi32> -> tensor<8xf32>, tensor<8xi32>
  tile.return
}
tile.func @sorts(%k: tensor<8x64xf32>, %v: tensor<8x64xi32>, %w: tensor<4096xi32>, %in: tensor<4096xi1>) {
  %k1, %v1 = tile.sort %k, %v axis 1 descending : tensor<8x64xf32>, tensor<8x64xi32>
  %c = tile.histogram %w mask %in : tensor<4096xi32> -> tensor<256xi32>
  tile.return
}
tile.func @random(%seed: i64, %counter: tensor<256xindex>) {
  %bits = tile.random %seed, %counter : i64, tensor<256xindex> -> tensor<256x4xi32>
  tile.return
}
tile.func @convert(%x: tensor<64xf32>, %bits: tensor<64xi32>) {
  %y = tile.convert_type %x saturate rounding stochastic %bits : tensor<64xf32> -> tensor<64xf8E4M3FN>
  tile.return
}

// Shape.
tile.func @shapes(%col0: index, %px: tensor<8x16x32xf16>, %w: tensor<128x64xf16>, %a: tensor<8xf32>, %b: tensor<1016xf32>) {
  %col = tile.iota dim 1 from %col0 : tensor<128x64xindex>
  %m = tile.reshape %px : tensor<8x16x32xf16> -> tensor<128x32xf16>
  %t = tile.transpose %w [1, 0] : tensor<128x64xf16> -> tensor<64x128xf16>
  %c = tile.cat %a, %b axis 0 : tensor<8xf32>, tensor<1016xf32> -> tensor<1024xf32>
  tile.return
}
tile.func @parts(%x: tensor<64x128xf32>, %k: index) {
  %s = tile.slice %x[0, %k] : tensor<64x128xf32> -> tensor<64x32xf32>
  %r = tile.insert %s into %x[0, %k] : tensor<64x32xf32>, tensor<64x128xf32> -> tensor<64x128xf32>
  tile.return
}
tile.func @bits(%x: tensor<64xi8>) {
  %n = tile.bitcast %x : tensor<64xi8> -> tensor<128xi4>
  tile.return
}

// The scheduled level.
tile.kernel @stages(%x: memref<?x?xf16>, %i: index, %k: index) attributes {machine = #tile.machine<"sm_90a">, warps = 4 : i32} {
  %A = tile.alloc at 8192 : !tile.buffer<128x32xf16, #offsets, shared, stages = 3>
  %full = tile.alloc : !tile.barrier<3>
  %a = tile.slot %A[%k] : !tile.buffer<128x32xf16, #offsets, shared, stages = 3>
  %h = arith.constant dense<0.0> : tensor<128x128xf16, #fragment>
  %o = tile.convert_layout %h : tensor<128x128xf16, #fragment> -> tensor<128x128xf16, #wide>
  tile.barrier_arrive %full[%k] expect 49152 : !tile.barrier<3>
  tile.fence async
  tile.fence acquire device
  tile.sync
  tile.sync cluster
  tile.return
}
tile.kernel @copies(%x: memref<?x?xf16>, %i: index, %k: index, %free: index) attributes {machine = #tile.machine<"sm_90a">, warps = 4 : i32} {
  %A = tile.view %x : memref<?x?xf16> to !tile.view<128x32xf16>
  %a = tile.alloc : !tile.buffer<128x32xf16, #offsets, shared>
  %full = tile.alloc : !tile.barrier<3>
  %empty = tile.alloc : !tile.barrier<3>
  %t = tile.copy_async %A[%i, %k] to %a
      : !tile.view<128x32xf16> to !tile.buffer<128x32xf16, #offsets, shared>
  tile.copy_async %A[%i, %k] to %a engine "tma" signals %full[%k]
      : !tile.view<128x32xf16> to !tile.buffer<128x32xf16, #offsets, shared>, !tile.barrier<3>
  tile.wait %t
  tile.barrier_wait %empty[%free] : !tile.barrier<3>
  tile.return
}
tile.kernel @joins(%x: memref<?x?xf16>, %i: index, %k: index) attributes {machine = #tile.machine<"sm_80">, warps = 4 : i32} {
  %A = tile.view %x : memref<?x?xf16> to !tile.view<128x32xf16>
  %B = tile.alloc : !tile.buffer<128x32xf16, #offsets, shared, stages = 2>
  %b0 = tile.slot %B[%i] : !tile.buffer<128x32xf16, #offsets, shared, stages = 2>
  %b1 = tile.slot %B[%k] : !tile.buffer<128x32xf16, #offsets, shared, stages = 2>
  %a = tile.copy_async %A[%i, %k] to %b0 : !tile.view<128x32xf16> to !tile.buffer<128x32xf16, #offsets, shared>
  %b = tile.copy_async %A[%i, %k] to %b1 : !tile.view<128x32xf16> to !tile.buffer<128x32xf16, #offsets, shared>
  %t = tile.join %a, %b
  tile.wait %t
  %t0 = tile.copy_async %A[%i, %k] to %b0 : !tile.view<128x32xf16> to !tile.buffer<128x32xf16, #offsets, shared>
  %t1 = tile.copy_async %A[%i, %k] to %b1 : !tile.view<128x32xf16> to !tile.buffer<128x32xf16, #offsets, shared>
  tile.wait %t0, %t1 pending 2
  tile.return
}
tile.kernel @packs(%v: memref<?x?xf32>, %c: memref<?x?xf32>, %i: index, %j: index, %k: index) {
  %V = tile.view %v : memref<?x?xf32> to !tile.view<64x32xf32>
  %C = tile.view %c : memref<?x?xf32> to !tile.view<8x48xf32>
  %B = tile.alloc : !tile.buffer<64x32xf32, #panels, local>
  tile.copy %V[%i, %k] to %B : !tile.view<64x32xf32> to !tile.buffer<64x32xf32, #panels, local>
  tile.prefetch %C[%i, %j] write : !tile.view<8x48xf32>
  tile.return
}
tile.kernel @products() attributes {machine = #tile.machine<"sm_90a">, warps = 8 : i32} {
  %x = tile.alloc : !tile.buffer<128x64xf16, #sa, shared>
  %w = tile.alloc : !tile.buffer<64x256xf16, #sb, shared>
  %t = arith.constant dense<0.0> : tensor<128x256xf32, #acc>
  %u = tile.mma_async %x, %w, %t atom "wgmma.m64n256k16"
      : !tile.buffer<128x64xf16, #sa, shared>, !tile.buffer<64x256xf16, #sb, shared>
      -> tensor<128x256xf32, #acc>
  %v = tile.mma_wait %u pending 1 : tensor<128x256xf32, #acc>
  tile.return
}
tile.kernel @partitions() attributes {warps = 12 : i32} {
  %full = tile.alloc : !tile.barrier<3>
  tile.warp_specialize captures(%full : !tile.barrier<3>)
  partition "load" warps(4) registers(40) {
    %c0 = arith.constant 0 : index
    tile.barrier_arrive %full[%c0] : !tile.barrier<3>
    tile.yield
  }
  partition "multiply" warps(8) {
    %c0 = arith.constant 0 : index
    tile.barrier_wait %full[%c0] : !tile.barrier<3>
    tile.yield
  }
  tile.return
}
tile.func @prints(%x: tensor<4xf32>, %ok: i1) {
  tile.print "x = {}", %x : tensor<4xf32>
  tile.assert %ok, "index out of range" : i1
  tile.return
}

func.func @group(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
%z = tile.group ins(%x, %y : tensor<8xf32>, tensor<8xf32>) meets [register] -> tensor<8xf32> {
^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
  %e = tensor.empty() : tensor<8xf32>
  %s = linalg.add ins(%a, %b : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.exp ins(%s : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  tile.yield %r : tensor<8xf32>
}
  return %z : tensor<8xf32>
}

// Quantized tensors.
func.func @quantized(%codes: tensor<64x128xi4>, %scales: tensor<64x4xf16>) -> tensor<64x128xf32> {
  %w = tile.assemble_quantized(%codes, %scales) : tensor<64x128xi4>, tensor<64x4xf16>
    -> tensor<64x128xf32, #tile.quantized<codes = i4, group = [1, 32], scale = f16>>
  %d = tile.dequantize %w
    : tensor<64x128xf32, #tile.quantized<codes = i4, group = [1, 32], scale = f16>> -> tensor<64x128xf32>
  return %d : tensor<64x128xf32>
}

func.func @quantized_parts(%w: tensor<64x128xf32, #tile.quantized<codes = i4, group = [1, 32], scale = f16>>) -> tensor<64x4xf16> {
  %codes, %scales = tile.disassemble_quantized %w
    : tensor<64x128xf32, #tile.quantized<codes = i4, group = [1, 32], scale = f16>>
    -> tensor<64x128xi4>, tensor<64x4xf16>
  return %scales : tensor<64x4xf16>
}
