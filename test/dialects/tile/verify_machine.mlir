// What a kernel must not ask of the machine that it names.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

// expected-error @+2 {{'tile.kernel' op has 2048 threads, expected at most sm_90a's 1024}}
// expected-note @+1 {{the machine is named here}}
tile.kernel @k() attributes {machine = #tile.machine<"sm_90a">, warps = 64 : i32} {
  tile.return
}

// -----

// expected-note @+1 {{the machine is named here}}
tile.kernel @k(%i: index) attributes {machine = #tile.machine<"sm_90a">, warps = 12 : i32} {
  // expected-error @+1 {{'tile.warp_specialize' op has 256 registers in a thread, expected at most sm_90a's 255}}
  tile.warp_specialize captures(%i : index) partition "a" warps(4) registers(256) {
    tile.yield
  }
  tile.return
}

// -----

// expected-note @+1 {{the machine is named here}}
tile.kernel @k(%i: index) attributes {machine = #tile.machine<"sm_90a">, warps = 12 : i32} {
  // expected-error @+1 {{'tile.warp_specialize' op has 66560 registers in all partitions, expected at most sm_90a's 65536}}
  tile.warp_specialize captures(%i : index) partition "a" warps(4) registers(40) {
    tile.yield
  } partition "b" warps(8) registers(240) {
    tile.yield
  }
  tile.return
}

// -----

#o = #tile.layout<offset [128:d1, 256:d0]>
// expected-note @+1 {{the machine is named here}}
tile.kernel @k() attributes {machine = #tile.machine<"gfx942">, warps = 4 : i32} {
  // expected-error @+1 {{'tile.alloc' op has 131072 bytes of shared memory, expected at most gfx942's 65536}}
  %b = tile.alloc : !tile.buffer<256x128xf16, #o, shared, stages = 2>
  tile.return
}

// -----

// What if there were more?
#o = #tile.layout<offset [128:d1, 256:d0]>
tile.kernel @k() attributes {machine = #tile.machine<"gfx942", "shared.per_block.bytes" = 131072>, warps = 4 : i32} {
  %b = tile.alloc : !tile.buffer<256x128xf16, #o, shared, stages = 2>
  tile.return
}

// -----

#o = #tile.layout<offset [8:d0]>
// expected-note @+1 {{the machine is named here}}
tile.kernel @k(%m: memref<?xf32>, %i: index) attributes {machine = #tile.machine<"sm_80">, warps = 4 : i32} {
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  %b = tile.alloc : !tile.buffer<8xf32, #o, shared>
  // expected-error @+1 {{'tile.copy_async' op copies by engine "tma", expected one of sm_80's: cp.async}}
  %t = tile.copy_async %v[%i] to %b engine "tma" : !tile.view<8xf32> to !tile.buffer<8xf32, #o, shared>
  tile.wait %t
  tile.return
}

// -----

#acc = #tile.layout<reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]>
#lhs = #tile.layout<reg [2:d1, 2:d0*8, 2:d1*8], lane [4:d1*2, 8:d0]>
#rhs = #tile.layout<reg [2:d0, 2:d0*8], lane [4:d0*2, 8:d1]>
// expected-note @+1 {{the machine is named here}}
tile.kernel @k() attributes {machine = #tile.machine<"sm_80">, warps = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<16x16xf16, #lhs>
  %b = arith.constant dense<1.0> : tensor<16x8xf16, #rhs>
  %c = arith.constant dense<1.0> : tensor<16x8xf32, #acc>
  %d = tile.mma %a, %b, %c atom "mma.sync.m16n8k16" : tensor<16x16xf16, #lhs>, tensor<16x8xf16, #rhs> -> tensor<16x8xf32, #acc>
  // expected-error @+1 {{'tile.mma' op machine sm_80 has no atom 'mfma.32x32x8'; it has: mma.sync.m16n8k16}}
  %e = tile.mma %a, %b, %c atom "mfma.32x32x8" : tensor<16x16xf16, #lhs>, tensor<16x8xf16, #rhs> -> tensor<16x8xf32, #acc>
  tile.return
}

// -----

#acc = #tile.layout<reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]>
#lhs = #tile.layout<reg [2:d1, 2:d0*8, 2:d1*8], lane [4:d1*2, 8:d0]>
#rhs = #tile.layout<reg [2:d0, 2:d0*8], lane [4:d0*2, 8:d1]>
// expected-note @+1 {{the machine is named here}}
tile.kernel @k() attributes {machine = #tile.machine<"sm_80">, warps = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<16x16xf64, #lhs>
  %b = arith.constant dense<1.0> : tensor<16x8xf64, #rhs>
  %c = arith.constant dense<1.0> : tensor<16x8xf64, #acc>
  // expected-error @+1 {{'tile.mma' op multiplies f64 by f64 into f64, expected what the atom takes: f16,f16,f32}}
  %d = tile.mma %a, %b, %c atom "mma.sync.m16n8k16" : tensor<16x16xf64, #lhs>, tensor<16x8xf64, #rhs> -> tensor<16x8xf64, #acc>
  tile.return
}

// -----

#acc = #tile.layout<reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]>
#lhs = #tile.layout<reg [4:d1, 2:d0*8], lane [4:d1*4, 8:d0]>
#rhs = #tile.layout<reg [2:d0, 2:d0*8], lane [4:d0*2, 8:d1]>
// expected-note @+1 {{the machine is named here}}
tile.kernel @k() attributes {machine = #tile.machine<"sm_80">, warps = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<16x16xf16, #lhs>
  %b = arith.constant dense<1.0> : tensor<16x8xf16, #rhs>
  %c = arith.constant dense<1.0> : tensor<16x8xf32, #acc>
  // expected-error @+1 {{'tile.mma' op lhs has layout <reg [4:d1, 2:d0*8], lane [4:d1*4, 8:d0]>, expected the atom's fragment <reg [2:d1, 2:d0*8, 2:d1*8], lane [4:d1*2, 8:d0]>, repeated}}
  %d = tile.mma %a, %b, %c atom "mma.sync.m16n8k16" : tensor<16x16xf16, #lhs>, tensor<16x8xf16, #rhs> -> tensor<16x8xf32, #acc>
  tile.return
}

// -----

// At rank 3 the fragment repeats over batches; threads without an instruction have all of k for their accumulators.
#acc = #tile.layout<reg [2:d2, 2:d1*8, 2:d0], lane [4:d2*2, 8:d1]>
#lhs = #tile.layout<reg [2:d2, 2:d1*8, 2:d2*8, 2:d0], lane [4:d2*2, 8:d1]>
#rhs = #tile.layout<reg [2:d1, 2:d1*8, 2:d0], lane [4:d1*2, 8:d2]>
#sum = #tile.layout<reg [2:d1], lane [4:d1*2, 8:d0]>
#rows = #tile.layout<reg [4:d1], lane [4:_, 8:d0]>
#columns = #tile.layout<reg [4:d0, 2:d1], lane [4:d1*2, 8:_]>
tile.kernel @fits() attributes {machine = #tile.machine<"sm_80">, warps = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<2x16x16xf16, #lhs>
  %b = arith.constant dense<1.0> : tensor<2x16x8xf16, #rhs>
  %c = arith.constant dense<1.0> : tensor<2x16x8xf32, #acc>
  %d = tile.mma %a, %b, %c atom "mma.sync.m16n8k16" : tensor<2x16x16xf16, #lhs>, tensor<2x16x8xf16, #rhs> -> tensor<2x16x8xf32, #acc>
  %x = arith.constant dense<1.0> : tensor<8x4xf32, #rows>
  %y = arith.constant dense<1.0> : tensor<4x8xf32, #columns>
  %z = arith.constant dense<1.0> : tensor<8x8xf32, #sum>
  %w = tile.mma %x, %y, %z atom "fma" : tensor<8x4xf32, #rows>, tensor<4x8xf32, #columns> -> tensor<8x8xf32, #sum>
  tile.return
}

// -----

#sum = #tile.layout<reg [2:d1], lane [4:d1*2, 8:d0]>
#rows = #tile.layout<lane [4:d1, 8:d0]>
#columns = #tile.layout<reg [4:d0, 2:d1], lane [4:d1*2, 8:_]>
tile.kernel @k() attributes {machine = #tile.machine<"sm_80">, warps = 1 : i32} {
  %x = arith.constant dense<1.0> : tensor<8x4xf32, #rows>
  %y = arith.constant dense<1.0> : tensor<4x8xf32, #columns>
  %z = arith.constant dense<1.0> : tensor<8x8xf32, #sum>
  // expected-error @+1 {{'tile.mma' op lhs has layout <lane [4:d1, 8:d0]>, expected <reg [4:d1], lane [4:_, 8:d0]>: all of k in the threads that accumulate}}
  %w = tile.mma %x, %y, %z atom "fma" : tensor<8x4xf32, #rows>, tensor<4x8xf32, #columns> -> tensor<8x8xf32, #sum>
  tile.return
}

// -----

// A scaled product has the fragments of its instruction, and scales in the threads that accumulate.
#acc = #tile.layout<reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]>
#lhs = #tile.layout<reg [4:d1, 2:d0*8, 2:d1*16], lane [4:d1*4, 8:d0]>
#rhs = #tile.layout<reg [4:d0, 2:d0*16], lane [4:d0*4, 8:d1]>
#row_scales = #tile.layout<reg [2:d0], lane [4:_, 8:d0*2]>
#column_scales = #tile.layout<reg [2:d1], lane [4:d1*2, 8:_]>
tile.kernel @k() attributes {machine = #tile.machine<"sm_89">, warps = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<16x32xf8E4M3FN, #lhs>
  %s = arith.constant dense<1.0> : tensor<16x1xf8E8M0FNU, #row_scales>
  %b = arith.constant dense<1.0> : tensor<32x8xf8E4M3FN, #rhs>
  %t = arith.constant dense<1.0> : tensor<1x8xf8E8M0FNU, #column_scales>
  %c = arith.constant dense<1.0> : tensor<16x8xf32, #acc>
  // expected-error @+1 {{'tile.mma_scaled' op lhs_scale has layout <reg [2:d0], lane [4:_, 8:d0*2]>, expected <reg [2:d0*8], lane [4:_, 8:d0]>: all of k in the threads that accumulate}}
  %d = tile.mma_scaled %a scale %s, %b scale %t, %c block 32 atom "mma.sync.m16n8k32" : tensor<16x32xf8E4M3FN, #lhs>, tensor<16x1xf8E8M0FNU, #row_scales>, tensor<32x8xf8E4M3FN, #rhs>, tensor<1x8xf8E8M0FNU, #column_scales> -> tensor<16x8xf32, #acc>
  tile.return
}

// -----

#acc = #tile.layout<reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]>
#lhs = #tile.layout<reg [4:d1, 2:d0*8, 2:d1*16], lane [4:d1*4, 8:d0]>
#rhs = #tile.layout<reg [4:d0, 2:d0*16], lane [4:d0*4, 8:d1]>
#row_scales = #tile.layout<reg [2:d1, 2:d0*8], lane [4:_, 8:d0]>
#column_scales = #tile.layout<reg [2:d0, 2:d1], lane [4:d1*2, 8:_]>
// expected-note @+1 {{the machine is named here}}
tile.kernel @k() attributes {machine = #tile.machine<"sm_89">, warps = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<16x32xf8E4M3FN, #lhs>
  %s = arith.constant dense<1.0> : tensor<16x2xf8E4M3FN, #row_scales>
  %b = arith.constant dense<1.0> : tensor<32x8xf8E4M3FN, #rhs>
  %t = arith.constant dense<1.0> : tensor<2x8xf8E4M3FN, #column_scales>
  %c = arith.constant dense<1.0> : tensor<16x8xf32, #acc>
  // expected-error @+1 {{'tile.mma_scaled' op has blocks of 16 and atom mma.sync.m16n8k32, expected an atom whose depth, 32, divides the block}}
  %d = tile.mma_scaled %a scale %s, %b scale %t, %c block 16 atom "mma.sync.m16n8k32" : tensor<16x32xf8E4M3FN, #lhs>, tensor<16x2xf8E4M3FN, #row_scales>, tensor<32x8xf8E4M3FN, #rhs>, tensor<2x8xf8E4M3FN, #column_scales> -> tensor<16x8xf32, #acc>
  tile.return
}

// -----

#acc = #tile.layout<reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]>
#lhs = #tile.layout<reg [8:d1, 2:d0*8, 2:d1*32], lane [4:d1*8, 8:d0]>
#rhs = #tile.layout<reg [8:d0, 2:d0*32], lane [4:d0*8, 8:d1]>
#row_scales = #tile.layout<reg [4:d1], lane [2:d0*8, 2:_, 8:d0]>
#column_scales = #tile.layout<reg [4:d0], lane [4:_, 8:d1]>
// expected-note @+1 {{the machine is named here}}
tile.kernel @k() attributes {machine = #tile.machine<"sm_120a">, warps = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<16x64xf4E2M1FN, #lhs>
  %s = arith.constant dense<1.0> : tensor<16x4xf8E4M3FN, #row_scales>
  %b = arith.constant dense<1.0> : tensor<64x8xf4E2M1FN, #rhs>
  %t = arith.constant dense<1.0> : tensor<4x8xf8E4M3FN, #column_scales>
  %c = arith.constant dense<1.0> : tensor<16x8xf32, #acc>
  %d = tile.mma_scaled %a scale %s, %b scale %t, %c block 16 atom "mma.scaled.nv.m16n8k64" : tensor<16x64xf4E2M1FN, #lhs>, tensor<16x4xf8E4M3FN, #row_scales>, tensor<64x8xf4E2M1FN, #rhs>, tensor<4x8xf8E4M3FN, #column_scales> -> tensor<16x8xf32, #acc>
  // expected-error @+1 {{'tile.mma_scaled' op has atom mma.scaled.m16n8k64, which takes scales of f8E8M0FNU for blocks of 32}}
  %e = tile.mma_scaled %a scale %s, %b scale %t, %c block 16 atom "mma.scaled.m16n8k64" : tensor<16x64xf4E2M1FN, #lhs>, tensor<16x4xf8E4M3FN, #row_scales>, tensor<64x8xf4E2M1FN, #rhs>, tensor<4x8xf8E4M3FN, #column_scales> -> tensor<16x8xf32, #acc>
  tile.return
}
