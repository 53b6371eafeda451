// The semantics of the Sparse ops: the hooks that the rows of ops.def name, called sparse<CName>Op<Hook>.
// Verifiers run after the row's own checks (operand counts, constraints, attribute kinds), so they may rely on them.
#ifndef TESSERA_DIALECTS_SPARSE_HOOKS_H
#define TESSERA_DIALECTS_SPARSE_HOOKS_H

#include "lib/capi/op.h"

#define SPARSE_VERIFY(name) bool sparse##name##OpVerify(MlirOperation op)
#define SPARSE_VERIFY_REGIONS(name) bool sparse##name##OpVerifyRegions(MlirOperation op)
#define SPARSE_FOLD(name)                                                                                              \
  bool sparse##name##OpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results)

//===--- verify_storage.c ---------------------------------------------------===//
SPARSE_VERIFY(Pack);
SPARSE_VERIFY(Unpack);
SPARSE_VERIFY(Convert);
SPARSE_VERIFY(Assemble);
SPARSE_VERIFY(Disassemble);
SPARSE_VERIFY(Transpose);

//===--- verify_compute.c ---------------------------------------------------===//
SPARSE_VERIFY(Spmv);
SPARSE_VERIFY(Spmm);
SPARSE_VERIFY(Sddmm);
SPARSE_VERIFY(Spgemm);
SPARSE_VERIFY(Add);
SPARSE_VERIFY(Mul);
SPARSE_VERIFY_REGIONS(Map);
SPARSE_VERIFY(Select);
SPARSE_VERIFY_REGIONS(Select);
SPARSE_VERIFY(Reduce);

//===--- verify_micro_tiles.c ------------------------------------------------===//
SPARSE_VERIFY(Detect);
SPARSE_VERIFY(Sread);
SPARSE_VERIFY(Swrite);

//===--- fold.c -------------------------------------------------------------===//
SPARSE_FOLD(Unpack);
SPARSE_FOLD(Convert);
SPARSE_FOLD(Disassemble);

#endif
