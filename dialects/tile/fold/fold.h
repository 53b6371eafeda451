// What the folds of the Tile dialect share.
#pragma once

#include "lib/capi/op.h"

bool tileFoldToValue(MlirExtFoldResults results, MlirValue value); // always true
// A constant that is a splat or a scalar, as a constant of `type` with that one element. False (nothing appended) for
// any other constant and for none.
bool tileFoldToSplat(MlirExtFoldResults results, MlirType type, MlirAttribute constant);
// Sets the inherent attribute `name` to an i64 array.
void tileSetArray(MlirOperation op, const char *name, intptr_t count, const int64_t *values);
// True when the view's tile at these indices (`indexAt(data, i)`) is known to lie wholly in memory: static sizes,
// constant indices.
bool tileIsInside(MlirValue view, intptr_t count, MlirValue (*indexAt)(void *data, intptr_t index), void *data);
