// Whether Triton takes every op of arith and math in a module of tt.funcs: it has no tangent, for instance, and asks a
// library of the target for it.
#pragma once

#include "lib/capi/common.h"

bool ttirCheck(MlirOperation module); // false after an error at the op
