// Which function means which Sparse op. The switch has no default: an op without meaning does not compile.
#include "lib/interpreter/sparse.h"
#include "dialects/sparse/ops.h"
#include "lib/interpreter/upstream.h"

Execute sparseExecute(MlirOperation op) {
  switch (sparseOpKind(op)) {
  case SparseOp_None:
    return NULL;
  case SparseOp_Pack:
    return executeSparsePack;
  case SparseOp_Unpack:
    return executeSparseUnpack;
  case SparseOp_Convert:
    return executeSparseConvert;
  case SparseOp_Assemble:
    return executeSparseAssemble;
  case SparseOp_Disassemble:
    return executeSparseDisassemble;
  case SparseOp_Transpose:
    return executeSparseTranspose;
  case SparseOp_Spmv:
    return executeSparseSpmv;
  case SparseOp_Spmm:
    return executeSparseSpmm;
  case SparseOp_Sddmm:
    return executeSparseSddmm;
  case SparseOp_Spgemm:
    return executeSparseSpgemm;
  case SparseOp_Add:
    return executeSparseAdd;
  case SparseOp_Mul:
    return executeSparseMul;
  case SparseOp_Map:
    return executeSparseMap;
  case SparseOp_Select:
    return executeSparseSelect;
  case SparseOp_Reduce:
    return executeSparseReduce;
  case SparseOp_Detect:
    return executeSparseDetect;
  case SparseOp_Sread:
    return executeSparseSread;
  case SparseOp_Swrite:
    return executeSparseSwrite;
  case SparseOp_Yield:
    return executeYield;
  }
  return NULL;
}
