// The semantics of the Sparse ops: the hooks that the rows of ops.def name, called sparse<CName>Op<Hook>.
// Verifiers run after the row's own checks (operand counts, constraints, attribute kinds), so they may rely on them.
#pragma once

#include "lib/capi/op.h"

#define SPARSE_VERIFY(name) bool sparse##name##OpVerify(MlirOperation op)
#define SPARSE_VERIFY_REGIONS(name) bool sparse##name##OpVerifyRegions(MlirOperation op)
#define SPARSE_FOLD(name)                                                                                              \
  bool sparse##name##OpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results)
