// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts))' --verify-diagnostics

// expected-error @below {{has no machine; the kernel, the module or the option chip must name one}}
tile.kernel @nameless(%x: memref<32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  tile.return
}

// -----

// expected-error @below {{is for x86-64-v4, which has no warps: layouts are for GPUs}}
tile.kernel @cpu(%x: memref<32xf32>) attributes {machine = #tile.machine<"x86-64-v4">} {
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  tile.return
}

// -----

// expected-error @below {{is for x86-64-v4, which is a CPU: layouts are for GPUs}}
tile.kernel @cpu_with_warps(%x: memref<32xf32>) attributes {machine = #tile.machine<"x86-64-v4", "warp.width" = 64>} {
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  tile.return
}

// -----

// expected-error @below {{is to run on 3 warps, expected a power of two up to 64}}
tile.kernel @three(%x: memref<32xf32>) attributes {machine = #tile.machine<"sm_80">, warps = 3 : i32} {
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  tile.return
}

// -----

tile.func private @again(%x: tensor<32xf32>) -> tensor<32xf32> {
  // expected-error @below {{calls too deep, expected no recursion}}
  %y = tile.call @again(%x) : (tensor<32xf32>) -> tensor<32xf32>
  tile.return %y : tensor<32xf32>
}
tile.kernel @recursive(%x: memref<32xf32>) attributes {machine = #tile.machine<"sm_80">} {
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %y = tile.call @again(%zero) : (tensor<32xf32>) -> tensor<32xf32>
  tile.return
}

// -----

tile.func private @far(tensor<32xf32>) -> tensor<32xf32>
tile.kernel @external(%x: memref<32xf32>) attributes {machine = #tile.machine<"sm_80">} {
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  // expected-error @below {{calls a function without a body here, expected one to inline}}
  %y = tile.call @far(%zero) : (tensor<32xf32>) -> tensor<32xf32>
  tile.return
}

// -----

tile.kernel @regions(%x: memref<32xf32>, %n: index) attributes {machine = #tile.machine<"sm_80">} {
  // expected-error @below {{carries tiles through regions, expected scf.for, scf.while or scf.if}}
  %y = scf.index_switch %n -> tensor<32xf32>
  case 0 {
    %zero = arith.constant dense<0.0> : tensor<32xf32>
    scf.yield %zero : tensor<32xf32>
  }
  default {
    %one = arith.constant dense<1.0> : tensor<32xf32>
    scf.yield %one : tensor<32xf32>
  }
  tile.return
}

// -----

// As large as all registers of a core is fine, one row more is not.
tile.kernel @largest(%x: memref<?x1024xf32>) attributes {machine = #tile.machine<"sm_80">} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?x1024xf32> to !tile.view<64x1024xf32>
  %t = tile.load %X[%c0, %c0] : !tile.view<64x1024xf32> -> tensor<64x1024xf32>
  tile.store %t, %X[%c0, %c0] : tensor<64x1024xf32>, !tile.view<64x1024xf32>
  tile.return
}
tile.kernel @too_large(%x: memref<?x1024xf32>) attributes {machine = #tile.machine<"sm_80">} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?x1024xf32> to !tile.view<65x1024xf32>
  // expected-error @below {{makes a tile of type tensor<65x1024xf32>, 266240 bytes; the registers of a core of sm_80 hold 262144: make the tile smaller, or walk it in a loop}}
  %t = tile.load %X[%c0, %c0] : !tile.view<65x1024xf32> -> tensor<65x1024xf32>
  tile.store %t, %X[%c0, %c0] : tensor<65x1024xf32>, !tile.view<65x1024xf32>
  tile.return
}
