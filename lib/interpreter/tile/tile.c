// Which function means which Tile op: interpretTile<CName> for each row of ops.def. Here are the ops whose meaning is
// nothing, or another op's.
#include "lib/interpreter/tile/tile.h"
#include "dialects/tile/ops.h"

static const Execute meanings[TileNumOps] = {
#define HOOKS(...)
#define TESSERA_OP(cname, ...) [TileOp_##cname] = interpretTile##cname,
#include "dialects/tile/ops.def"
#undef TESSERA_OP
#undef HOOKS
};

Execute tileExecute(MlirOperation op) {
  TileOp kind = tileOpKind(op);
  return kind == TileOp_None ? NULL : meanings[kind];
}

static bool doNothing(Machine *machine, Frame *frame, const Instruction *instruction) { return true; }

// The result is the first operand.
static bool passOn(Machine *machine, Frame *frame, const Instruction *instruction) {
  setResult(frame, instruction, 0, valueRetain(operandOf(frame, instruction, 0)));
  return true;
}

#define MEANS(cname, function)                                                                                         \
  bool interpretTile##cname(Machine *machine, Frame *frame, const Instruction *instruction) {                          \
    return function(machine, frame, instruction);                                                                      \
  }
MEANS(Yield, interpretTileReturn)
MEANS(ConvertLayout, passOn) // layouts have no meaning for values
MEANS(Prefetch, doNothing)   // a hint
MEANS(Fence, doNothing)      // memory is sequentially consistent here
MEANS(Kernel, doNothing)     // tile.launch runs it
MEANS(Func, doNothing)       // tile.call runs it
