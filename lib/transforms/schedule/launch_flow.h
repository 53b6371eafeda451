// Loops and branches that the device decides about, as segments of a program (launch_program.h).
//
//   TileFlowRange range = {.last = {NULL}};
//   while (tileFlowNextRange(&scheduling, block, &range)) {
//     Program program = {.place = mlirOperationGetNextInBlock(range.last)};
//     const char *why = tileFlowFindSegments(&scheduling, &range, &program, &copies);
//     …
//     mlirOperationDestroy(copies);
//   }
//
// A segment has the launches that run without a decision between them; a word of memory decides which segment follows.
// What stands behind a branch becomes part of both its sides, and the question of a loop part of its round, so each
// decision is made once. tile-move-control-flow-to-device makes such loops and branches.
#pragma once

#include "lib/transforms/schedule/launch_program.h"

// From the first to the last launch, loop or branch that one launch can do; `flow`: the first loop or branch.
typedef struct TileFlowRange {
  MlirOperation first, last, flow;
} TileFlowRange;

// The next range of the block behind `range->last` (null: from the block's beginning).
bool tileFlowNextRange(const Scheduling *s, MlirBlock block, TileFlowRange *range);
// Fills the program's segments and roots. The segments' blocks are in `copies`, which the caller destroys behind the
// program. Returns why the range stays on the host; null: it need not.
const char *tileFlowFindSegments(const Scheduling *s, const TileFlowRange *range, Program *program,
                                 MlirOperation *copies);
void tileFlowDestroy(const TileFlowRange *range); // once a launch does it all
