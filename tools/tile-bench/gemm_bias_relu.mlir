// What:   C = relu(A·B + bias) in f32 for any M, N, K, as a CPU wants it: one program owns 512 rows of C and all columns.
// Level:  tile kernel, with local buffers for packed operands.
// Shows:  packing is tile.copy of a view into a slice of a buffer whose layout says how; the micro-kernel is a loop over
//         k that carries an 8x32 accumulator, in it one tile.mma of an 8x8 by an 8x32 slice, read where they lie; C is
//         prefetched first and touched last; the epilogue is plain arith on the accumulator under "last block of K".
//         Edges: zero padding in the packed operands, masks only on bias and C.
// Blocks: kc = 256, mc = 512, 8 x 32 registers (BLIS' model for 48 KB of L1 and 1 MB of L2; dialects/tile/RATIONALE.md).
// Grid:   ceildiv(M, 512)

!panels = !tile.buffer<512x256xf32, #tile.layout<offset [256:d1, 512:d0] pad 16 every 256>, local>
!panel_piece = !tile.buffer<8x64xf32, #tile.layout<offset [64:d1, 8:d0]>, local>
!panel_step = !tile.buffer<8x8xf32, #tile.layout<offset [8:d1, 8:d0]>, local>
!columns = !tile.buffer<256x32xf32, #tile.layout<offset [32:d1, 256:d0]>, local>
!column_piece = !tile.buffer<64x32xf32, #tile.layout<offset [32:d1, 64:d0]>, local>
!column_step = !tile.buffer<8x32xf32, #tile.layout<offset [32:d1, 8:d0]>, local>

tile.kernel @gemm_bias_relu(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %bias: memref<?xf32>, %c: memref<?x?xf32>) {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<8x32xf32>
  %PA = tile.alloc : !panels
  %PB = tile.alloc : !columns
  %A = tile.view %a : memref<?x?xf32> to !tile.view<8x64xf32>
  %B = tile.view %b : memref<?x?xf32> to !tile.view<64x32xf32>
  %V = tile.view %bias : memref<?xf32> to !tile.view<32xf32>
  %C = tile.view %c : memref<?x?xf32> to !tile.view<8x32xf32>
  %depth = memref.dim %a, %c1 : memref<?x?xf32>
  %nk = arith.ceildivui %depth, %c256 : index
  %ni = tile.num_tiles %C dim 0 : !tile.view<8x32xf32>
  %nj = tile.num_tiles %C dim 1 : !tile.view<8x32xf32>
  %last_k = arith.subi %nk, %c1 : index
  %first_i = arith.muli %p, %c64 : index
  %rest_i = arith.subi %ni, %first_i : index
  %panels = arith.minsi %rest_i, %c64 : index

  scf.for %k = %c0 to %nk step %c1 {
    %k0 = arith.muli %k, %c256 : index
    %rest_k = arith.subi %depth, %k0 : index
    %kc = arith.minsi %rest_k, %c256 : index
    %first_piece = arith.muli %k, %c4 : index
    %first = arith.cmpi eq, %k, %c0 : index
    %last = arith.cmpi eq, %k, %last_k : index
    scf.for %i = %c0 to %panels step %c1 {
      %row = arith.muli %i, %c8 : index
      %ci = arith.addi %first_i, %i : index
      scf.for %t = %c0 to %kc step %c64 {
        %q = arith.divui %t, %c64 : index
        %piece = arith.addi %first_piece, %q : index
        %to = tile.slice %PA[%row, %t] : !panels -> !panel_piece
        tile.copy %A[%ci, %piece] to %to : !tile.view<8x64xf32> to !panel_piece
      }
    }
    scf.for %j = %c0 to %nj step %c1 {
      scf.for %t = %c0 to %kc step %c64 {
        %q = arith.divui %t, %c64 : index
        %piece = arith.addi %first_piece, %q : index
        %to = tile.slice %PB[%t, 0] : !columns -> !column_piece
        tile.copy %B[%piece, %j] to %to : !tile.view<64x32xf32> to !column_piece
      }
      scf.for %i = %c0 to %panels step %c1 {
        %row = arith.muli %i, %c8 : index
        %ci = arith.addi %first_i, %i : index
        tile.prefetch %C[%ci, %j] write : !tile.view<8x32xf32>
        %product = scf.for %t = %c0 to %kc step %c8 iter_args(%acc = %zero) -> (tensor<8x32xf32>) {
          %pa = tile.slice %PA[%row, %t] : !panels -> !panel_step
          %pb = tile.slice %PB[%t, 0] : !columns -> !column_step
          %x = tile.load %pa : !panel_step -> tensor<8x8xf32>
          %y = tile.load %pb : !column_step -> tensor<8x32xf32>
          %z = tile.mma %x, %y, %acc : tensor<8x8xf32>, tensor<8x32xf32> -> tensor<8x32xf32>
          scf.yield %z : tensor<8x32xf32>
        }
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
