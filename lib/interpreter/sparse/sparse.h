// The meanings of the Sparse ops, one function each, by the table in sparse.c.
#pragma once

#include "lib/interpreter/sparse/entries.h"

// The meaning of each op of ops.def is interpretSparse<CName>. The linker finds an op without one.
#define HOOKS(...)
#define TESSERA_OP(cname, ...)                                                                                         \
  bool interpretSparse##cname(Machine *machine, Frame *frame, const Instruction *instruction);
#include "dialects/sparse/ops.def"
#undef TESSERA_OP
#undef HOOKS
