// A warp waits for what it has loaded where it uses it, behind a branch too: a load ahead of other work costs less.
// RUN: %tile_run %s --target=emulate:sm_80 --predict --seed=1 --stats=%t.json --out=%t.npy
// RUN: %python -c "import json, sys; k = json.load(open(sys.argv[1]))['kernels']; late, early = (k[n]['predicted_cycles'] for n in ('late', 'early')); assert early < late - 150, (early, late)" %t.json
// Work between a load and its use hides the load, in one block too; work ahead of the load does not.
// RUN: %python -c "import json, sys; k = json.load(open(sys.argv[1]))['kernels']; behind, beside = (k[n]['predicted_cycles'] for n in ('behind', 'beside')); assert beside < behind - 150, (beside, behind)" %t.json
func.func @main(%x: memref<32xf32>, %y: memref<32xf32>, %z: memref<32xf32>, %n: memref<1xi32>) {
  %c1 = arith.constant 1 : index
  tile.launch @late grid(%c1) ins(%x, %y, %n : memref<32xf32>, memref<32xf32>, memref<1xi32>) outs(%z : memref<32xf32>)
  tile.launch @early grid(%c1) ins(%x, %y, %n : memref<32xf32>, memref<32xf32>, memref<1xi32>) outs(%z : memref<32xf32>)
  tile.launch @behind grid(%c1) ins(%x, %y, %n : memref<32xf32>, memref<32xf32>, memref<1xi32>) outs(%z : memref<32xf32>)
  tile.launch @beside grid(%c1) ins(%x, %y, %n : memref<32xf32>, memref<32xf32>, memref<1xi32>) outs(%z : memref<32xf32>)
  return
}
tile.kernel private @late(%x: memref<32xf32>, %y: memref<32xf32>, %n: memref<1xi32>, %z: memref<32xf32>) attributes {warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %vx = tile.view %x : memref<32xf32> to !tile.view<32xf32>
  %vy = tile.view %y : memref<32xf32> to !tile.view<32xf32>
  %vz = tile.view %z : memref<32xf32> to !tile.view<32xf32>
  %k = memref.load %n[%c0] : memref<1xi32>
  %some = arith.cmpi ne, %k, %zero : i32
  scf.if %some {
    %b = tile.load %vy[%c0] : !tile.view<32xf32> -> tensor<32xf32>
    %c = arith.addf %b, %b : tensor<32xf32>
    tile.store %c, %vz[%c0] : tensor<32xf32>, !tile.view<32xf32>
  }
  %a = tile.load %vx[%c0] : !tile.view<32xf32> -> tensor<32xf32>
  %d = arith.mulf %a, %a : tensor<32xf32>
  tile.store %d, %vz[%c0] : tensor<32xf32>, !tile.view<32xf32>
  tile.return
}
tile.kernel private @early(%x: memref<32xf32>, %y: memref<32xf32>, %n: memref<1xi32>, %z: memref<32xf32>) attributes {warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %vx = tile.view %x : memref<32xf32> to !tile.view<32xf32>
  %vy = tile.view %y : memref<32xf32> to !tile.view<32xf32>
  %vz = tile.view %z : memref<32xf32> to !tile.view<32xf32>
  %k = memref.load %n[%c0] : memref<1xi32>
  %a = tile.load %vx[%c0] : !tile.view<32xf32> -> tensor<32xf32>
  %some = arith.cmpi ne, %k, %zero : i32
  scf.if %some {
    %b = tile.load %vy[%c0] : !tile.view<32xf32> -> tensor<32xf32>
    %c = arith.addf %b, %b : tensor<32xf32>
    tile.store %c, %vz[%c0] : tensor<32xf32>, !tile.view<32xf32>
  }
  %d = arith.mulf %a, %a : tensor<32xf32>
  tile.store %d, %vz[%c0] : tensor<32xf32>, !tile.view<32xf32>
  tile.return
}
tile.kernel private @behind(%x: memref<32xf32>, %y: memref<32xf32>, %n: memref<1xi32>, %z: memref<32xf32>) attributes {warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %vx = tile.view %x : memref<32xf32> to !tile.view<32xf32>
  %vy = tile.view %y : memref<32xf32> to !tile.view<32xf32>
  %vz = tile.view %z : memref<32xf32> to !tile.view<32xf32>
  %w0 = tile.load %vy[%c0] : !tile.view<32xf32> -> tensor<32xf32>
  %w1 = arith.mulf %w0, %w0 : tensor<32xf32>
  %w2 = arith.mulf %w1, %w1 : tensor<32xf32>
  %w3 = arith.mulf %w2, %w2 : tensor<32xf32>
  %w4 = arith.mulf %w3, %w3 : tensor<32xf32>
  %w5 = arith.mulf %w4, %w4 : tensor<32xf32>
  %w6 = arith.mulf %w5, %w5 : tensor<32xf32>
  %w7 = arith.mulf %w6, %w6 : tensor<32xf32>
  %w8 = arith.mulf %w7, %w7 : tensor<32xf32>
  %w9 = arith.mulf %w8, %w8 : tensor<32xf32>
  %w10 = arith.mulf %w9, %w9 : tensor<32xf32>
  %w11 = arith.mulf %w10, %w10 : tensor<32xf32>
  %w12 = arith.mulf %w11, %w11 : tensor<32xf32>
  %w13 = arith.mulf %w12, %w12 : tensor<32xf32>
  %w14 = arith.mulf %w13, %w13 : tensor<32xf32>
  %w15 = arith.mulf %w14, %w14 : tensor<32xf32>
  %w16 = arith.mulf %w15, %w15 : tensor<32xf32>
  %w17 = arith.mulf %w16, %w16 : tensor<32xf32>
  %w18 = arith.mulf %w17, %w17 : tensor<32xf32>
  %w19 = arith.mulf %w18, %w18 : tensor<32xf32>
  %w20 = arith.mulf %w19, %w19 : tensor<32xf32>
  %w21 = arith.mulf %w20, %w20 : tensor<32xf32>
  %w22 = arith.mulf %w21, %w21 : tensor<32xf32>
  %w23 = arith.mulf %w22, %w22 : tensor<32xf32>
  %w24 = arith.mulf %w23, %w23 : tensor<32xf32>
  %w25 = arith.mulf %w24, %w24 : tensor<32xf32>
  %w26 = arith.mulf %w25, %w25 : tensor<32xf32>
  %w27 = arith.mulf %w26, %w26 : tensor<32xf32>
  %w28 = arith.mulf %w27, %w27 : tensor<32xf32>
  %w29 = arith.mulf %w28, %w28 : tensor<32xf32>
  %w30 = arith.mulf %w29, %w29 : tensor<32xf32>
  %w31 = arith.mulf %w30, %w30 : tensor<32xf32>
  %w32 = arith.mulf %w31, %w31 : tensor<32xf32>
  %w33 = arith.mulf %w32, %w32 : tensor<32xf32>
  %w34 = arith.mulf %w33, %w33 : tensor<32xf32>
  %w35 = arith.mulf %w34, %w34 : tensor<32xf32>
  %w36 = arith.mulf %w35, %w35 : tensor<32xf32>
  %w37 = arith.mulf %w36, %w36 : tensor<32xf32>
  %w38 = arith.mulf %w37, %w37 : tensor<32xf32>
  %w39 = arith.mulf %w38, %w38 : tensor<32xf32>
  %w40 = arith.mulf %w39, %w39 : tensor<32xf32>
  %w41 = arith.mulf %w40, %w40 : tensor<32xf32>
  %w42 = arith.mulf %w41, %w41 : tensor<32xf32>
  %w43 = arith.mulf %w42, %w42 : tensor<32xf32>
  %w44 = arith.mulf %w43, %w43 : tensor<32xf32>
  %w45 = arith.mulf %w44, %w44 : tensor<32xf32>
  %w46 = arith.mulf %w45, %w45 : tensor<32xf32>
  %w47 = arith.mulf %w46, %w46 : tensor<32xf32>
  %w48 = arith.mulf %w47, %w47 : tensor<32xf32>
  %w49 = arith.mulf %w48, %w48 : tensor<32xf32>
  %w50 = arith.mulf %w49, %w49 : tensor<32xf32>
  %w51 = arith.mulf %w50, %w50 : tensor<32xf32>
  %w52 = arith.mulf %w51, %w51 : tensor<32xf32>
  %w53 = arith.mulf %w52, %w52 : tensor<32xf32>
  %w54 = arith.mulf %w53, %w53 : tensor<32xf32>
  %w55 = arith.mulf %w54, %w54 : tensor<32xf32>
  %w56 = arith.mulf %w55, %w55 : tensor<32xf32>
  %w57 = arith.mulf %w56, %w56 : tensor<32xf32>
  %w58 = arith.mulf %w57, %w57 : tensor<32xf32>
  %w59 = arith.mulf %w58, %w58 : tensor<32xf32>
  %w60 = arith.mulf %w59, %w59 : tensor<32xf32>
  %w61 = arith.mulf %w60, %w60 : tensor<32xf32>
  %w62 = arith.mulf %w61, %w61 : tensor<32xf32>
  %w63 = arith.mulf %w62, %w62 : tensor<32xf32>
  %w64 = arith.mulf %w63, %w63 : tensor<32xf32>
  %w65 = arith.mulf %w64, %w64 : tensor<32xf32>
  %w66 = arith.mulf %w65, %w65 : tensor<32xf32>
  %w67 = arith.mulf %w66, %w66 : tensor<32xf32>
  %w68 = arith.mulf %w67, %w67 : tensor<32xf32>
  %w69 = arith.mulf %w68, %w68 : tensor<32xf32>
  %w70 = arith.mulf %w69, %w69 : tensor<32xf32>
  %w71 = arith.mulf %w70, %w70 : tensor<32xf32>
  %w72 = arith.mulf %w71, %w71 : tensor<32xf32>
  %w73 = arith.mulf %w72, %w72 : tensor<32xf32>
  %w74 = arith.mulf %w73, %w73 : tensor<32xf32>
  %w75 = arith.mulf %w74, %w74 : tensor<32xf32>
  %w76 = arith.mulf %w75, %w75 : tensor<32xf32>
  %w77 = arith.mulf %w76, %w76 : tensor<32xf32>
  %w78 = arith.mulf %w77, %w77 : tensor<32xf32>
  %w79 = arith.mulf %w78, %w78 : tensor<32xf32>
  %w80 = arith.mulf %w79, %w79 : tensor<32xf32>
  %w81 = arith.mulf %w80, %w80 : tensor<32xf32>
  %w82 = arith.mulf %w81, %w81 : tensor<32xf32>
  %w83 = arith.mulf %w82, %w82 : tensor<32xf32>
  %w84 = arith.mulf %w83, %w83 : tensor<32xf32>
  %w85 = arith.mulf %w84, %w84 : tensor<32xf32>
  %w86 = arith.mulf %w85, %w85 : tensor<32xf32>
  %w87 = arith.mulf %w86, %w86 : tensor<32xf32>
  %w88 = arith.mulf %w87, %w87 : tensor<32xf32>
  %w89 = arith.mulf %w88, %w88 : tensor<32xf32>
  %w90 = arith.mulf %w89, %w89 : tensor<32xf32>
  %w91 = arith.mulf %w90, %w90 : tensor<32xf32>
  %w92 = arith.mulf %w91, %w91 : tensor<32xf32>
  %w93 = arith.mulf %w92, %w92 : tensor<32xf32>
  %w94 = arith.mulf %w93, %w93 : tensor<32xf32>
  %w95 = arith.mulf %w94, %w94 : tensor<32xf32>
  %w96 = arith.mulf %w95, %w95 : tensor<32xf32>
  %w97 = arith.mulf %w96, %w96 : tensor<32xf32>
  %w98 = arith.mulf %w97, %w97 : tensor<32xf32>
  %w99 = arith.mulf %w98, %w98 : tensor<32xf32>
  %w100 = arith.mulf %w99, %w99 : tensor<32xf32>
  %a = tile.load %vx[%c0] : !tile.view<32xf32> -> tensor<32xf32>
  %d = arith.mulf %a, %w100 : tensor<32xf32>
  tile.store %d, %vz[%c0] : tensor<32xf32>, !tile.view<32xf32>
  tile.return
}
tile.kernel private @beside(%x: memref<32xf32>, %y: memref<32xf32>, %n: memref<1xi32>, %z: memref<32xf32>) attributes {warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %vx = tile.view %x : memref<32xf32> to !tile.view<32xf32>
  %vy = tile.view %y : memref<32xf32> to !tile.view<32xf32>
  %vz = tile.view %z : memref<32xf32> to !tile.view<32xf32>
  %w0 = tile.load %vy[%c0] : !tile.view<32xf32> -> tensor<32xf32>
  %a = tile.load %vx[%c0] : !tile.view<32xf32> -> tensor<32xf32>
  %w1 = arith.mulf %w0, %w0 : tensor<32xf32>
  %w2 = arith.mulf %w1, %w1 : tensor<32xf32>
  %w3 = arith.mulf %w2, %w2 : tensor<32xf32>
  %w4 = arith.mulf %w3, %w3 : tensor<32xf32>
  %w5 = arith.mulf %w4, %w4 : tensor<32xf32>
  %w6 = arith.mulf %w5, %w5 : tensor<32xf32>
  %w7 = arith.mulf %w6, %w6 : tensor<32xf32>
  %w8 = arith.mulf %w7, %w7 : tensor<32xf32>
  %w9 = arith.mulf %w8, %w8 : tensor<32xf32>
  %w10 = arith.mulf %w9, %w9 : tensor<32xf32>
  %w11 = arith.mulf %w10, %w10 : tensor<32xf32>
  %w12 = arith.mulf %w11, %w11 : tensor<32xf32>
  %w13 = arith.mulf %w12, %w12 : tensor<32xf32>
  %w14 = arith.mulf %w13, %w13 : tensor<32xf32>
  %w15 = arith.mulf %w14, %w14 : tensor<32xf32>
  %w16 = arith.mulf %w15, %w15 : tensor<32xf32>
  %w17 = arith.mulf %w16, %w16 : tensor<32xf32>
  %w18 = arith.mulf %w17, %w17 : tensor<32xf32>
  %w19 = arith.mulf %w18, %w18 : tensor<32xf32>
  %w20 = arith.mulf %w19, %w19 : tensor<32xf32>
  %w21 = arith.mulf %w20, %w20 : tensor<32xf32>
  %w22 = arith.mulf %w21, %w21 : tensor<32xf32>
  %w23 = arith.mulf %w22, %w22 : tensor<32xf32>
  %w24 = arith.mulf %w23, %w23 : tensor<32xf32>
  %w25 = arith.mulf %w24, %w24 : tensor<32xf32>
  %w26 = arith.mulf %w25, %w25 : tensor<32xf32>
  %w27 = arith.mulf %w26, %w26 : tensor<32xf32>
  %w28 = arith.mulf %w27, %w27 : tensor<32xf32>
  %w29 = arith.mulf %w28, %w28 : tensor<32xf32>
  %w30 = arith.mulf %w29, %w29 : tensor<32xf32>
  %w31 = arith.mulf %w30, %w30 : tensor<32xf32>
  %w32 = arith.mulf %w31, %w31 : tensor<32xf32>
  %w33 = arith.mulf %w32, %w32 : tensor<32xf32>
  %w34 = arith.mulf %w33, %w33 : tensor<32xf32>
  %w35 = arith.mulf %w34, %w34 : tensor<32xf32>
  %w36 = arith.mulf %w35, %w35 : tensor<32xf32>
  %w37 = arith.mulf %w36, %w36 : tensor<32xf32>
  %w38 = arith.mulf %w37, %w37 : tensor<32xf32>
  %w39 = arith.mulf %w38, %w38 : tensor<32xf32>
  %w40 = arith.mulf %w39, %w39 : tensor<32xf32>
  %w41 = arith.mulf %w40, %w40 : tensor<32xf32>
  %w42 = arith.mulf %w41, %w41 : tensor<32xf32>
  %w43 = arith.mulf %w42, %w42 : tensor<32xf32>
  %w44 = arith.mulf %w43, %w43 : tensor<32xf32>
  %w45 = arith.mulf %w44, %w44 : tensor<32xf32>
  %w46 = arith.mulf %w45, %w45 : tensor<32xf32>
  %w47 = arith.mulf %w46, %w46 : tensor<32xf32>
  %w48 = arith.mulf %w47, %w47 : tensor<32xf32>
  %w49 = arith.mulf %w48, %w48 : tensor<32xf32>
  %w50 = arith.mulf %w49, %w49 : tensor<32xf32>
  %w51 = arith.mulf %w50, %w50 : tensor<32xf32>
  %w52 = arith.mulf %w51, %w51 : tensor<32xf32>
  %w53 = arith.mulf %w52, %w52 : tensor<32xf32>
  %w54 = arith.mulf %w53, %w53 : tensor<32xf32>
  %w55 = arith.mulf %w54, %w54 : tensor<32xf32>
  %w56 = arith.mulf %w55, %w55 : tensor<32xf32>
  %w57 = arith.mulf %w56, %w56 : tensor<32xf32>
  %w58 = arith.mulf %w57, %w57 : tensor<32xf32>
  %w59 = arith.mulf %w58, %w58 : tensor<32xf32>
  %w60 = arith.mulf %w59, %w59 : tensor<32xf32>
  %w61 = arith.mulf %w60, %w60 : tensor<32xf32>
  %w62 = arith.mulf %w61, %w61 : tensor<32xf32>
  %w63 = arith.mulf %w62, %w62 : tensor<32xf32>
  %w64 = arith.mulf %w63, %w63 : tensor<32xf32>
  %w65 = arith.mulf %w64, %w64 : tensor<32xf32>
  %w66 = arith.mulf %w65, %w65 : tensor<32xf32>
  %w67 = arith.mulf %w66, %w66 : tensor<32xf32>
  %w68 = arith.mulf %w67, %w67 : tensor<32xf32>
  %w69 = arith.mulf %w68, %w68 : tensor<32xf32>
  %w70 = arith.mulf %w69, %w69 : tensor<32xf32>
  %w71 = arith.mulf %w70, %w70 : tensor<32xf32>
  %w72 = arith.mulf %w71, %w71 : tensor<32xf32>
  %w73 = arith.mulf %w72, %w72 : tensor<32xf32>
  %w74 = arith.mulf %w73, %w73 : tensor<32xf32>
  %w75 = arith.mulf %w74, %w74 : tensor<32xf32>
  %w76 = arith.mulf %w75, %w75 : tensor<32xf32>
  %w77 = arith.mulf %w76, %w76 : tensor<32xf32>
  %w78 = arith.mulf %w77, %w77 : tensor<32xf32>
  %w79 = arith.mulf %w78, %w78 : tensor<32xf32>
  %w80 = arith.mulf %w79, %w79 : tensor<32xf32>
  %w81 = arith.mulf %w80, %w80 : tensor<32xf32>
  %w82 = arith.mulf %w81, %w81 : tensor<32xf32>
  %w83 = arith.mulf %w82, %w82 : tensor<32xf32>
  %w84 = arith.mulf %w83, %w83 : tensor<32xf32>
  %w85 = arith.mulf %w84, %w84 : tensor<32xf32>
  %w86 = arith.mulf %w85, %w85 : tensor<32xf32>
  %w87 = arith.mulf %w86, %w86 : tensor<32xf32>
  %w88 = arith.mulf %w87, %w87 : tensor<32xf32>
  %w89 = arith.mulf %w88, %w88 : tensor<32xf32>
  %w90 = arith.mulf %w89, %w89 : tensor<32xf32>
  %w91 = arith.mulf %w90, %w90 : tensor<32xf32>
  %w92 = arith.mulf %w91, %w91 : tensor<32xf32>
  %w93 = arith.mulf %w92, %w92 : tensor<32xf32>
  %w94 = arith.mulf %w93, %w93 : tensor<32xf32>
  %w95 = arith.mulf %w94, %w94 : tensor<32xf32>
  %w96 = arith.mulf %w95, %w95 : tensor<32xf32>
  %w97 = arith.mulf %w96, %w96 : tensor<32xf32>
  %w98 = arith.mulf %w97, %w97 : tensor<32xf32>
  %w99 = arith.mulf %w98, %w98 : tensor<32xf32>
  %w100 = arith.mulf %w99, %w99 : tensor<32xf32>
  %d = arith.mulf %a, %w100 : tensor<32xf32>
  tile.store %d, %vz[%c0] : tensor<32xf32>, !tile.view<32xf32>
  tile.return
}
