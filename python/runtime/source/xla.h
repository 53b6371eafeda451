// xla.h - programs as custom calls of XLA, for jax.ffi (tessera.jax).
#pragma once

#include "lib/run/program_file.h"

// A handler of XLA's foreign function interface, as a capsule named "xla._CUSTOM_CALL_TARGET". It calls the program
// whose tessera_program_t is at the address in the attribute `program`, on XLA's buffers without a copy. The program
// must outlive all computations that call it.
void *xla_handler(void);
