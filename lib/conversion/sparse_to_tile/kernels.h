// The kernels of sparse ops: tile kernels written as text in kernels/*.mlir, with $NAMES for what differs from one use
// to another. Why text: they read as the programs they are, and a new one is a file.
//
//   SparseKernels kernels = sparseKernelsBegin(module);
//   MlirAttribute symbol = sparseKernelGet(&kernels, "spmm_csr", (SparseWord[]){{"E", "f32"}, …, {NULL}}, location);
//   sparseKernelsEnd(&kernels);
#ifndef TESSERA_CONVERSION_SPARSE_TO_TILE_KERNELS_H
#define TESSERA_CONVERSION_SPARSE_TO_TILE_KERNELS_H

#include "lib/ir/support.h"
#include "lib/support/embedded_text.h"

extern const TileEmbeddedText sparseEmbeddedKernels[];
extern const size_t sparseEmbeddedKernelsCount;

// What stands for $NAME; may itself hold names. A list ends with a null name.
enum { SPARSE_WORD_BYTES = 400 };
typedef struct SparseWord {
  const char *name;
  char text[SPARSE_WORD_BYTES];
} SparseWord;

typedef struct SparseKernels {
  MlirOperation module;
  struct SparseKernelMade *made; // those in the module by their text
  uint64_t count;
} SparseKernels;

SparseKernels sparseKernelsBegin(MlirOperation module);
void sparseKernelsEnd(SparseKernels *kernels);

// The symbol of that kernel with those words, made where the module lacks it; equal texts share one. Null, after a
// diagnostic, for a text that is no kernel: a mistake in kernels/ or in the words.
MlirAttribute sparseKernelGet(SparseKernels *kernels, const char *name, const SparseWord *words, MlirLocation location);

#endif
