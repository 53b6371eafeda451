// signature.h - what an entry function of a program takes and gives: all that marshalling needs to know of it.
//
// tile-run reads it from the func.func, tile-exec from a program's manifest (lib/runtime/manifest.h).
#ifndef TESSERA_SUPPORT_SIGNATURE_H
#define TESSERA_SUPPORT_SIGNATURE_H

#include "lib/support/array.h"

enum { TESSERA_MAX_VALUES = 64 };

// One argument or result: a scalar (rank 0, not in memory) or a tensor/memref. Negative sizes are dynamic.
typedef struct tessera_value_t {
  tessera_element_t element;
  bool in_memory, is_memref; // is_memref: an argument the program may write
  int rank;
  int64_t shape[TESSERA_MAX_RANK];
} tessera_value_t;

typedef struct tessera_signature_t {
  int num_arguments, num_results;
  tessera_value_t arguments[TESSERA_MAX_VALUES], results[TESSERA_MAX_VALUES];
} tessera_signature_t;

#endif // TESSERA_SUPPORT_SIGNATURE_H
