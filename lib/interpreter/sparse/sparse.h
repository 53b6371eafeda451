// The meanings of the Sparse ops, one function each, by the table in sparse.c.
#ifndef TESSERA_INTERPRETER_SPARSE_H
#define TESSERA_INTERPRETER_SPARSE_H

#include "lib/interpreter/sparse/entries.h"

#define SPARSE_MEANINGS(X)                                                                                             \
  X(interpretSparsePack)                                                                                               \
  X(interpretSparseUnpack)                                                                                             \
  X(interpretSparseConvert)                                                                                            \
  X(interpretSparseAssemble)                                                                                           \
  X(interpretSparseDisassemble)                                                                                        \
  X(interpretSparseTranspose)                                                                                          \
  X(interpretSparseSpmv)                                                                                               \
  X(interpretSparseSpmm)                                                                                               \
  X(interpretSparseSddmm)                                                                                              \
  X(interpretSparseSpgemm)                                                                                             \
  X(interpretSparseAdd)                                                                                                \
  X(interpretSparseMul)                                                                                                \
  X(interpretSparseMap)                                                                                                \
  X(interpretSparseSelect)                                                                                             \
  X(interpretSparseReduce)                                                                                             \
  X(interpretSparseDetect)                                                                                             \
  X(interpretSparseSread)                                                                                              \
  X(interpretSparseSwrite)

#define X(function) bool function(Machine *machine, Frame *frame, const Instruction *instruction);
SPARSE_MEANINGS(X)
#undef X

#endif
