// What:   C = relu(A·B + bias) in f32 for any M, N, K, as a CPU wants it: one program owns 512 rows of C and all columns.
// Level:  tile kernel, with local buffers for packed operands.
// Shows:  packing is tile.copy of a view into a buffer whose layout says how; the micro-kernel is one tile.mma of an
//         8x256 by a 256x32 tile, read where they lie; C is prefetched first and touched last; the epilogue is plain
//         arith on the accumulator under "last block of K". Edges: zero padding in the packed operands, masks only on
//         bias and C.
// Blocks: kc = 256, mc = 512, 8 x 32 registers (reference: BLIS' model for 48 KB L1, 1 MB L2; see RATIONALE.md).
// Grid:   ceildiv(M, 512)

#panels = #tile.layout<offset [256:d1, 512:d0] pad 16 every 256>
#panel = #tile.layout<offset [256:d1, 8:d0] pad 16 every 256>
#columns = #tile.layout<offset [32:d1, 256:d0]>

tile.kernel @gemm_bias_relu(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %bias: memref<?xf32>, %c: memref<?x?xf32>) {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<8x32xf32>
  %PA = tile.alloc : !tile.buffer<512x256xf32, #panels, local>
  %PB = tile.alloc : !tile.buffer<256x32xf32, #columns, local>
  %A = tile.view %a : memref<?x?xf32> to !tile.view<8x256xf32>
  %B = tile.view %b : memref<?x?xf32> to !tile.view<256x32xf32>
  %V = tile.view %bias : memref<?xf32> to !tile.view<32xf32>
  %C = tile.view %c : memref<?x?xf32> to !tile.view<8x32xf32>
  %nk = tile.num_tiles %A dim 1 : !tile.view<8x256xf32>
  %ni = tile.num_tiles %C dim 0 : !tile.view<8x32xf32>
  %nj = tile.num_tiles %C dim 1 : !tile.view<8x32xf32>
  %last_k = arith.subi %nk, %c1 : index
  %first_i = arith.muli %p, %c64 : index
  %rest = arith.subi %ni, %first_i : index
  %panels = arith.minsi %rest, %c64 : index

  scf.for %k = %c0 to %nk step %c1 {
    scf.for %i = %c0 to %panels step %c1 {
      %row = arith.muli %i, %c8 : index
      %ci = arith.addi %first_i, %i : index
      %to = tile.slice %PA[%row, 0] : !tile.buffer<512x256xf32, #panels, local> -> !tile.buffer<8x256xf32, #panel, local>
      tile.copy %A[%ci, %k] to %to : !tile.view<8x256xf32> to !tile.buffer<8x256xf32, #panel, local>
    }
    %first = arith.cmpi eq, %k, %c0 : index
    %last = arith.cmpi eq, %k, %last_k : index
    scf.for %j = %c0 to %nj step %c1 {
      tile.copy %B[%k, %j] to %PB : !tile.view<256x32xf32> to !tile.buffer<256x32xf32, #columns, local>
      %y = tile.load %PB : !tile.buffer<256x32xf32, #columns, local> -> tensor<256x32xf32>
      scf.for %i = %c0 to %panels step %c1 {
        %row = arith.muli %i, %c8 : index
        %ci = arith.addi %first_i, %i : index
        tile.prefetch %C[%ci, %j] write : !tile.view<8x32xf32>
        %from = tile.slice %PA[%row, 0] : !tile.buffer<512x256xf32, #panels, local> -> !tile.buffer<8x256xf32, #panel, local>
        %x = tile.load %from : !tile.buffer<8x256xf32, #panel, local> -> tensor<8x256xf32>
        %product = tile.mma %x, %y, %zero : tensor<8x256xf32>, tensor<256x32xf32> -> tensor<8x32xf32>
        %sum = scf.if %first -> (tensor<8x32xf32>) {
          scf.yield %product : tensor<8x32xf32>
        } else {
          %old = tile.load %C[%ci, %j] : !tile.view<8x32xf32> -> tensor<8x32xf32>
          %s = arith.addf %product, %old : tensor<8x32xf32>
          scf.yield %s : tensor<8x32xf32>
        }
        %out = scf.if %last -> (tensor<8x32xf32>) {
          %v = tile.load %V[%j] : !tile.view<32xf32> -> tensor<32xf32>
          %vb = tile.broadcast %v axes [0] : tensor<32xf32> -> tensor<8x32xf32>
          %t = arith.addf %sum, %vb : tensor<8x32xf32>
          %r = arith.maximumf %t, %zero : tensor<8x32xf32>
          scf.yield %r : tensor<8x32xf32>
        } else {
          scf.yield %sum : tensor<8x32xf32>
        }
        tile.store %out, %C[%ci, %j] : tensor<8x32xf32>, !tile.view<8x32xf32>
      }
    }
  }
  tile.return
}
