// Which integers a value of a body can be, so that sums and differences of codes are known not to wrap.
#pragma once

#include "lib/ir/support.h"

#include <stdint.h>

typedef struct TileCodeRange {
  int64_t least, most;
} TileCodeRange;

// What `value`, a signed integer of at most 32 bits in `body`, can be. False where this is not known to be less than
// all of 32 bits, and for other types.
bool tileCodeRangeOf(MlirBlock body, MlirValue value, TileCodeRange *range);
// As above, of the value's bits as an unsigned integer (arith.extui, arith.uitofp).
bool tileUnsignedCodeRangeOf(MlirBlock body, MlirValue value, TileCodeRange *range);
