// Values that are not there yet: tokens of copies and accumulators of asynchronous products.
#ifndef TESSERA_DIALECTS_TILE_ASYNC_H
#define TESSERA_DIALECTS_TILE_ASYNC_H

#include "lib/capi/common.h"

// Tokens that `op` makes (results and arguments of its regions) reach a wait on every path, as far as structure tells;
// products that it starts are used only where that is allowed. Reports and returns false otherwise.
bool tileVerifyAsyncValues(MlirOperation op);

#endif
