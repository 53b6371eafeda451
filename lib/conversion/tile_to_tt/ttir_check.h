// Ops of arith become Triton's own. Whether Triton takes every other op of arith and math in a module of tt.funcs:
// it has no tangent, for instance, and asks a library of the target for it.
#pragma once

#include "lib/capi/common.h"

bool ttirFinish(MlirOperation module); // false after an error at the op
