// tensor_map.h - checks the description of a tensor (lib/support/tensor_map.h) before a driver encodes it.
#pragma once

#include "lib/support/status.h"
#include "lib/support/tensor_map.h"

// Returns true if the engine can copy boxes of the tensor. Otherwise writes the reason to |out_error| and returns
// false.
bool tessera_tensor_map_check(const tessera_tensor_map_t *map, tessera_error_t *out_error);
