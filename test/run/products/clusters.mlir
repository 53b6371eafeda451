// Products whose schedule says `cluster = [2]`: neighbouring programs share the copies of what both read, by TMA's
// multicast. The emulator gives what the interpreter does at sizes that no tile divides, and the bytes read are those of
// the closed form: (A as often as there are tiles along n) + (B as often as there are along m), one of them halved.
// RUN: %tile_run %s --entry=across --target=emulate:sm_90a --check-against=interpret --stats=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=ACROSS < %t.json
// RUN: %tile_run %s --entry=down --target=emulate:sm_90a --check-against=interpret --stats=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=DOWN < %t.json
// RUN: %tile_run %s --entry=padded --target=emulate:sm_90a --check-against=interpret --stats=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=PADDED < %t.json
// RUN: %tile_run %s --entry=walk --target=emulate:sm_90a --check-against=interpret --stats=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=WALK < %t.json
// RUN: %tile_run %s --entry=late --size=131 --target=emulate:sm_90a --check-against=interpret --stats=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=LATE < %t.json
// RUN: %tile_run %s --entry=rows --target=emulate:sm_90a --check-against=interpret --stats=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=ROWS < %t.json
// RUN: %tile_translate %s --tile-to-ptx --chip=sm_90a -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// CHECK: result 0: right
// PTX-COUNT-6: .reqnctapercluster 2, 1, 1
// PTX: .multicast::cluster

// Programs beside each other have one row of tiles of A: 200 x 136 x 2 x (4 / 2) + 136 x 232 x 2 x 4.
// ACROSS: "global_bytes_read": 361216
#across = #tile.schedule<block = [64, 64, 64], warps = [4, 1, 1], cluster = [2]>
func.func @across(%a: tensor<200x136xf16>, %b: tensor<136x232xf16>) -> tensor<200x232xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<200x232xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<200x232xf32>) -> tensor<200x232xf32>
  %0 = linalg.matmul {tile.schedule = #across} ins(%a, %b : tensor<200x136xf16>, tensor<136x232xf16>) outs(%f : tensor<200x232xf32>) -> tensor<200x232xf32>
  return %0 : tensor<200x232xf32>
}

// In groups of two rows of tiles programs beside each other have one column of B: 200 x 136 x 2 x 4 + 136 x 232 x 2 x (4 / 2).
// DOWN: "global_bytes_read": 343808
#down = #tile.schedule<block = [64, 64, 64], warps = [4, 1, 1], group = [2], cluster = [2]>
func.func @down(%a: tensor<200x136xf16>, %b: tensor<136x232xf16>) -> tensor<200x232xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<200x232xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<200x232xf32>) -> tensor<200x232xf32>
  %0 = linalg.matmul {tile.schedule = #down} ins(%a, %b : tensor<200x136xf16>, tensor<136x232xf16>) outs(%f : tensor<200x232xf32>) -> tensor<200x232xf32>
  return %0 : tensor<200x232xf32>
}

// Three tiles along n are padded with a fourth one, which loads nothing of B and stores nothing:
// 200 x 136 x 2 x (4 / 2) + 136 x 184 x 2 x 4.
// PADDED: "global_bytes_read": 308992
#padded = #tile.schedule<block = [64, 64, 64], warps = [4, 1, 1], cluster = [2]>
func.func @padded(%a: tensor<200x136xf16>, %b: tensor<136x184xf16>) -> tensor<200x184xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<200x184xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<200x184xf32>) -> tensor<200x184xf32>
  %0 = linalg.matmul {tile.schedule = #padded} ins(%a, %b : tensor<200x136xf16>, tensor<136x184xf16>) outs(%f : tensor<200x184xf32>) -> tensor<200x184xf32>
  return %0 : tensor<200x184xf32>
}

// Programs that walk over tiles: 288 of them for 264 programs.
// 1152 x 72 x 2 x 16 + 72 x 1024 x 2 x (18 / 2).
// WALK: "global_bytes_read": 3981312
#walk = #tile.schedule<block = [64, 64, 64], warps = [4, 1, 1], group = [2], cluster = [2]>
func.func @walk(%a: tensor<1152x72xf16>, %b: tensor<72x1024xf16>) -> tensor<1152x1024xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1152x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1152x1024xf32>) -> tensor<1152x1024xf32>
  %0 = linalg.matmul {tile.schedule = #walk} ins(%a, %b : tensor<1152x72xf16>, tensor<72x1024xf16>) outs(%f : tensor<1152x1024xf32>) -> tensor<1152x1024xf32>
  %h = tensor.empty() : tensor<1152x1024xf16>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<1152x1024xf32>) outs(%h : tensor<1152x1024xf16>) {
  ^bb0(%x: f32, %o: f16):
    %t = arith.truncf %x : f32 to f16
    linalg.yield %t : f16
  } -> tensor<1152x1024xf16>
  return %1 : tensor<1152x1024xf16>
}

// Rows known late: 131 x 136 x 2 x (4 / 2) + 136 x 184 x 2 x 3 + 131 x 184 x 4.
// LATE: "global_bytes_read": 317824
func.func @late(%a: tensor<?x136xf16>, %b: tensor<136x184xf16>, %c: tensor<?x184xf32>) -> tensor<?x184xf32> {
  %0 = linalg.matmul {tile.schedule = #padded} ins(%a, %b : tensor<?x136xf16>, tensor<136x184xf16>) outs(%c : tensor<?x184xf32>) -> tensor<?x184xf32>
  return %0 : tensor<?x184xf32>
}

// Three rows of tiles in groups of two: 184 x 136 x 2 x 4 + 136 x 200 x 2 x (4 / 2) + 184 x 200 x 4.
// ROWS: "global_bytes_read": 456192
func.func @rows(%a: tensor<184x136xf16>, %b: tensor<136x200xf16>, %c: tensor<184x200xf32>) -> tensor<184x200xf32> {
  %0 = linalg.matmul {tile.schedule = #down} ins(%a, %b : tensor<184x136xf16>, tensor<136x200xf16>) outs(%c : tensor<184x200xf32>) -> tensor<184x200xf32>
  return %0 : tensor<184x200xf32>
}
