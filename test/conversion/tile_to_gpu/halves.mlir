// A tile of 128 KiB changes its layout through the 64 KiB that gfx942 has: in halves, by a bit that is the registers' in
// both layouts; one of 256 KiB in quarters. Without bank conflicts, as the whole would.
// RUN: %tile_run %s --target=emulate:gfx942 --check-against=interpret --stats=%t.json && FileCheck %s --input-file=%t.json
// CHECK: "shared_bank_conflicts": 0,
// CHECK: "barriers": 3,
// CHECK: "shared_memory_bytes": 65536
// RUN: sed 's/xi32/xi64/g' %s > %t.mlir
// RUN: %tile_run %t.mlir --target=emulate:gfx942 --check-against=interpret --stats=%t.json && FileCheck %s --input-file=%t.json --check-prefix=QUARTERS
// QUARTERS: "barriers": 7,
// QUARTERS: "shared_memory_bytes": 65536
module attributes {tile.machine = #tile.machine<"gfx942">} {
  func.func @main(%x: tensor<1024x32xi32>) -> tensor<32x1024xi32> {
    %one = arith.constant 1 : index
    %e = tensor.empty() : tensor<32x1024xi32>
    %y = tile.launch @turn grid(%one) ins(%x : tensor<1024x32xi32>) outs(%e : tensor<32x1024xi32>) -> tensor<32x1024xi32>
    return %y : tensor<32x1024xi32>
  }
  tile.kernel private @turn(%x: memref<1024x32xi32>, %y: memref<32x1024xi32>) attributes {machine = #tile.machine<"gfx942">, warps = 4 : i32} {
    %zero = arith.constant 0 : index
    %X = tile.view %x : memref<1024x32xi32> to !tile.view<1024x32xi32>
    %Y = tile.view %y : memref<32x1024xi32> to !tile.view<32x1024xi32>
    %tile = tile.load %X[%zero, %zero] : !tile.view<1024x32xi32> -> tensor<1024x32xi32>
    %turned = tile.transpose %tile [1, 0] : tensor<1024x32xi32> -> tensor<32x1024xi32>
    tile.store %turned, %Y[%zero, %zero] : tensor<32x1024xi32>, !tile.view<32x1024xi32>
    tile.return
  }
}
