// Layouts as places: which coordinates a thread's registers have, which hold copies, and which register of one layout
// holds what a register of another wants.
#include "lib/conversion/tile_to_gpu/engine.h"
#include "lib/support/grow.h"
