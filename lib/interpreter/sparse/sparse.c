// Which function means which Sparse op: interpretSparse<CName> for each row of ops.def.
#include "lib/interpreter/sparse/sparse.h"
#include "dialects/sparse/ops.h"
#include "lib/interpreter/upstream/upstream.h"

static const Execute meanings[SparseNumOps] = {
#define HOOKS(...)
#define TESSERA_OP(cname, ...) [SparseOp_##cname] = interpretSparse##cname,
#include "dialects/sparse/ops.def"
#undef TESSERA_OP
#undef HOOKS
};

Execute sparseExecute(MlirOperation op) {
  SparseOp kind = sparseOpKind(op);
  return kind == SparseOp_None ? NULL : meanings[kind];
}

bool interpretSparseYield(Machine *machine, Frame *frame, const Instruction *instruction) {
  return interpretYield(machine, frame, instruction);
}
