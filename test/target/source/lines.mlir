// With --lines each statement stands at the line of the program that it comes from; without, the text is the same but
// for these directives.
// RUN: tile-translate %s --tile-to-cuda-source --lines -o %t.cu && FileCheck %s --input-file=%t.cu --check-prefix=CHECK
// RUN: tile-translate %s --tile-to-hip-source --lines | FileCheck %s --check-prefix=CHECK
// RUN: tile-translate %s --tile-to-c-source --lines -o %t.c && FileCheck %s --input-file=%t.c
// RUN: tile-translate %s --tile-to-cuda-source -o %t.plain.cu && grep -v '^#line' %t.cu | diff - %t.plain.cu
// RUN: %cc -O1 -g -S %t.c -o %t.s && FileCheck %s --input-file=%t.s --check-prefix=DEBUG
// RUN: not tile-translate %s --tile-to-ptx --lines 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: rm -rf %t.d && tile-translate %s --emit-project=%t.d --lines && FileCheck %s --input-file=%t.d/program.c

// DEBUG: .file {{.*}}lines.mlir"
// FORM: --lines applies only to forms of source text: --tile-to-c-source, --tile-to-cuda-source, …
tile.kernel @half(%x: memref<1024xf32>, %y: memref<1024xf32>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<1024xf32> to !tile.view<256xf32>
  %Y = tile.view %y : memref<1024xf32> to !tile.view<256xf32>
  // CHECK: #line [[#@LINE+1]] "{{.*}}lines.mlir"
  %v = tile.load %X[%i] : !tile.view<256xf32> -> tensor<256xf32>
  %w = arith.addf %v, %v : tensor<256xf32>
  // CHECK: #line [[#@LINE+1]] "{{.*}}lines.mlir"
  tile.store %w, %Y[%i] : tensor<256xf32>, !tile.view<256xf32>
  tile.return
}
func.func @main(%x: memref<1024xf32>, %y: memref<1024xf32>) {
  %c4 = arith.constant 4 : index
  tile.launch @half grid(%c4) ins(%x : memref<1024xf32>) outs(%y : memref<1024xf32>)
  return
}
