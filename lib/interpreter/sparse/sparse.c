// Which function means which Sparse op. The switch has no default: an op without meaning does not compile.
#include "lib/interpreter/sparse/sparse.h"
#include "dialects/sparse/ops.h"
#include "lib/interpreter/upstream/upstream.h"

Execute sparseExecute(MlirOperation op) {
  switch (sparseOpKind(op)) {
  case SparseOp_None:
    return NULL;
  case SparseOp_Pack:
    return interpretSparsePack;
  case SparseOp_Unpack:
    return interpretSparseUnpack;
  case SparseOp_Convert:
    return interpretSparseConvert;
  case SparseOp_Assemble:
    return interpretSparseAssemble;
  case SparseOp_Disassemble:
    return interpretSparseDisassemble;
  case SparseOp_Transpose:
    return interpretSparseTranspose;
  case SparseOp_Spmv:
    return interpretSparseSpmv;
  case SparseOp_Spmm:
    return interpretSparseSpmm;
  case SparseOp_Sddmm:
    return interpretSparseSddmm;
  case SparseOp_Spgemm:
    return interpretSparseSpgemm;
  case SparseOp_Add:
    return interpretSparseAdd;
  case SparseOp_Mul:
    return interpretSparseMul;
  case SparseOp_Map:
    return interpretSparseMap;
  case SparseOp_Select:
    return interpretSparseSelect;
  case SparseOp_Reduce:
    return interpretSparseReduce;
  case SparseOp_Detect:
    return interpretSparseDetect;
  case SparseOp_Sread:
    return interpretSparseSread;
  case SparseOp_Swrite:
    return interpretSparseSwrite;
  case SparseOp_Yield:
    return interpretYield;
  }
  return NULL;
}
