// The meanings of the Sparse ops, one function each, by the table in sparse.c.
#ifndef TESSERA_INTERPRETER_SPARSE_H
#define TESSERA_INTERPRETER_SPARSE_H

#include "lib/interpreter/entries.h"

#define SPARSE_MEANINGS(X)                                                                                             \
  X(executeSparsePack)                                                                                                 \
  X(executeSparseUnpack)                                                                                               \
  X(executeSparseConvert)                                                                                              \
  X(executeSparseAssemble)                                                                                             \
  X(executeSparseDisassemble)                                                                                          \
  X(executeSparseTranspose)                                                                                            \
  X(executeSparseSpmv)                                                                                                 \
  X(executeSparseSpmm)                                                                                                 \
  X(executeSparseSddmm)                                                                                                \
  X(executeSparseSpgemm)                                                                                               \
  X(executeSparseAdd)                                                                                                  \
  X(executeSparseMul)                                                                                                  \
  X(executeSparseMap)                                                                                                  \
  X(executeSparseSelect)                                                                                               \
  X(executeSparseReduce)                                                                                               \
  X(executeSparseDetect)                                                                                               \
  X(executeSparseSread)                                                                                                \
  X(executeSparseSwrite)

#define X(function) bool function(Machine *machine, Frame *frame, const Instruction *instruction);
SPARSE_MEANINGS(X)
#undef X

#endif
