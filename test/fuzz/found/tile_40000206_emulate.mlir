// Program 40000206 of the fuzzer: LLVM took minutes for the emulator's code of one long block.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=emulate:gfx942 --timeout=20 --replay %s
// in: positive i32 50x17 567082
// in: normal i1 50x39x0 762969
// in: normal bf16 3x1x33x40x1 952385
// in: normal i32 3x1x33x40x1 623307
tile.kernel @k40000206_0(%v0: memref<50x?xi32>, %v1: memref<50x?x?xi1>, %v2: memref<3x1x?x?x1xbf16>, %v3: memref<3x1x?x40x1xi32>) attributes {warps = 8 : i32} {
  %v4 = tile.program_id 0
  %v5 = tile.program_id 1
  %v6 = tile.view %v0 : memref<50x?xi32> to !tile.view<40x1xi32>
  %v7 = tile.load %v6[%v5, %v5] : !tile.view<40x1xi32> -> tensor<40x1xi32>
  %v8 = arith.trunci %v7 : tensor<40x1xi32> to tensor<40x1xi4>
  %v9 = arith.extsi %v8 : tensor<40x1xi4> to tensor<40x1xi16>
  %v10 = tile.broadcast %v7 axes [0] : tensor<40x1xi32> -> tensor<33x40x1xi32>
  %v11 = arith.constant 1 : index
  %v12 = arith.cmpi slt, %v4, %v11 : index
  %v15 = scf.if %v12 -> (tensor<33x40x1xi32>) {
    %v13 = arith.cmpi sle, %v9, %v9 : tensor<40x1xi16>
    scf.yield %v10 : tensor<33x40x1xi32>
  } else {
    %v14 = tile.cat %v10, %v10, %v10 axis 2 : tensor<33x40x1xi32>, tensor<33x40x1xi32>, tensor<33x40x1xi32> -> tensor<33x40x3xi32>
    scf.yield %v10 : tensor<33x40x1xi32>
  }
  %v16 = arith.cmpi ugt, %v5, %v5 : index
  %v17 = arith.sitofp %v15 : tensor<33x40x1xi32> to tensor<33x40x1xbf16>
  %v18 = math.ctpop %v7 : tensor<40x1xi32>
  %v19 = arith.cmpf one, %v17, %v17 : tensor<33x40x1xbf16>
  %v20 = arith.constant dense<-0.5> : tensor<33x40x1xbf16>
  %v21 = math.atan2 %v17, %v20 : tensor<33x40x1xbf16>
  %v22 = arith.constant 0 : index
  %v23 = tile.view %v1 : memref<50x?x?xi1> to !tile.view<33x40x1xi1>
  tile.store %v19, %v23[%v4, %v5, %v22] : tensor<33x40x1xi1>, !tile.view<33x40x1xi1>
  %v24 = tile.view %v2[%v4, %v5, _, _, _] : memref<3x1x?x?x1xbf16> to !tile.view<33x40x1xbf16>
  %v25 = arith.constant 0 : index
  tile.store %v21, %v24[%v25, %v25, %v25] : tensor<33x40x1xbf16>, !tile.view<33x40x1xbf16>
  %v26 = tile.view %v3[%v4, %v5, _, _, _] : memref<3x1x?x40x1xi32> to !tile.view<33x40x1xi32>
  %v27 = arith.constant 0 : index
  tile.store %v10, %v26[%v27, %v27, %v27] : tensor<33x40x1xi32>, !tile.view<33x40x1xi32>
  tile.return
}
func.func @main(%v0: tensor<50x?xi32>, %v1: tensor<50x?x?xi1>, %v2: tensor<3x1x?x?x1xbf16>, %v3: tensor<3x1x?x40x1xi32>) -> (tensor<50x?x?xi1>, tensor<3x1x?x?x1xbf16>, tensor<3x1x?x40x1xi32>) {
  %v4 = arith.constant 3 : index
  %v5 = arith.constant 1 : index
  %v6, %v7, %v8 = tile.launch @k40000206_0 grid(%v4, %v5) ins(%v0 : tensor<50x?xi32>) outs(%v1, %v2, %v3 : tensor<50x?x?xi1>, tensor<3x1x?x?x1xbf16>, tensor<3x1x?x40x1xi32>) -> tensor<50x?x?xi1>, tensor<3x1x?x?x1xbf16>, tensor<3x1x?x40x1xi32>
  return %v6, %v7, %v8 : tensor<50x?x?xi1>, tensor<3x1x?x?x1xbf16>, tensor<3x1x?x40x1xi32>
}
