// copy.h - copies between strided memrefs, for compiled code. MLIR calls it by this name, hence not tessera_….
#pragma once

#include <stdint.h>

// A memref of any rank as MLIR passes it: |descriptor| points to allocated, aligned, offset, sizes[rank],
// strides[rank].
typedef struct tessera_unranked_memref_t {
  int64_t rank;
  void *descriptor;
} tessera_unranked_memref_t;

// Copies every element of |source|, each |bytes| large, to |target| of the same shape. The two do not overlap, except
// that they may be the same memory indexed alike.
void memrefCopy(int64_t bytes, const tessera_unranked_memref_t *source, const tessera_unranked_memref_t *target);
