// The rules of a format's components, checked for constants.
#pragma once

#include "lib/capi/op.h"

// `components`: the operands of an op, from `first` on, of `type`'s encoding (of one part of a sum). Reports at `op`
// and returns false for the first rule that constants among them break; says nothing of the others.
bool sparseVerifyConstants(MlirOperation op, MlirType type, intptr_t first);

// A constant to be packed keeps at most n of each window.
bool sparseVerifyWindows(MlirOperation op, MlirType type, MlirAttribute constant);
