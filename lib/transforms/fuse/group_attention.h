// What tile-group-ops{ops=attention} does. See group_attention.c.
#pragma once

#include "lib/capi/pass.h"

// Writes a group around each attention of the module and adds their number to `groups`. Asks the pass for its options
// `chip` and `remarks`. False after a diagnostic.
bool tileGroupAttention(MlirOperation module, MlirExtPass pass, uint64_t *groups);
