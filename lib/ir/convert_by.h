// Conversions that walk a kernel op by op: which of their functions converts an op.
//
//   static const TileConvertOp conversions[] = {arithmetic, shapes, NULL};
//   bool isKnown, ok = tileConvertBy(conversions, &kernel, op, &isKnown);
//   return ok && (isKnown || tileError(op, "has no conversion to tt"));
#pragma once

#include "lib/ir/support.h"

// Converts ops of its kinds. Sets `isKnown` false, and does nothing, where the op is another's. False after an error.
typedef bool (*TileConvertOp)(void *kernel, MlirOperation op, bool *isKnown);

// By the first that knows the op. The list ends with NULL.
static inline bool tileConvertBy(const TileConvertOp *conversions, void *kernel, MlirOperation op, bool *isKnown) {
  bool ok = true;
  *isKnown = false;
  for (; ok && !*isKnown && *conversions; ++conversions)
    ok = (*conversions)(kernel, op, isKnown);
  return ok;
}
