// Launches that become one: what tile-co-schedule-kernels found, what lanes do of it, and its kernel.
//
//   co_schedule_kernels.c            which launches, and where: fills tasks, rounds and roots of a Program
//   launch_program_plan.c            kinds, what single programs need, the plan of lanes in words
//   launch_program_kernel.c          the kernel, and what the host does ahead of its launch
//
// Tasks stand in the order of the fronts of launches. The plan is a constant of 32-bit words: templates/program.mlir
// says what they are. A launch's operands are addresses in a table, a row for each launch, which the host fills: roots
// are known there only.
#pragma once

#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/launches/launch_order.h"
#include "lib/analysis/launches/program_box.h"
#include "lib/ir/builder.h"
#include "lib/search/lane_plan.h"

enum { GridRank = 3, MostRank = 8, MostRoots = 256 };
enum { RecordWords = 16, RecordAwaits = 3 }; // of an item in the plan

// A loop whose rounds are known: its body's launches may become rounds of one program.
typedef struct Rounds {
  MlirOperation loop; // null: none
  int64_t first, step, count;
} Rounds;

typedef struct Task {
  MlirOperation launch, kernel;
  int64_t grid[GridRank], programs;
  intptr_t step;
  int kind;
} Task;

typedef struct Program {
  Task *tasks;
  intptr_t count;
  Rounds rounds;
  // The kinds: of each the first task.
  Task **kinds;
  intptr_t numKinds;
  MlirValue roots[MostRoots];
  bool isWritten[MostRoots];
  intptr_t numRoots;
  TileLanePlan *lanes;
  TileProgramBox **boxes; // of each kind: of each program, operand, and read and written; null: not asked, or too many
  intptr_t operands;      // the most of a launch
  int32_t *plan;
  intptr_t words;
  int64_t registers; // that a thread may have, so that all lanes are resident; 0: as many as there are
} Program;

// Where a memref begins in its root, in elements: offset + stride × the loop's index.
typedef struct Place {
  int64_t offset, stride;
} Place;

bool tileLaunchPlaceOf(const Rounds *rounds, MlirValue memref, Place *place); // false: not known
// The place of the memref's root among the program's; it becomes one. -1: there are too many.
intptr_t tileProgramRootOf(Program *program, MlirValue memref);

static inline bool tileProgramIsLoop(const Program *program) { return !mlirOperationIsNull(program->rounds.loop); }

static inline intptr_t tileLaunchOperandCount(MlirOperation launch) {
  return tileLaunchOpGetNumInputs(launch) + tileLaunchOpGetNumOutputs(launch);
}

static inline MlirValue tileLaunchOperand(MlirOperation launch, intptr_t i) {
  intptr_t inputs = tileLaunchOpGetNumInputs(launch);
  return i < inputs ? tileLaunchOpGetInputs(launch, i) : tileLaunchOpGetOutputs(launch, i - inputs);
}

static inline MlirBlock tileKernelBody(MlirOperation kernel) {
  return mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel));
}

// Warps of the kernel; 0: nobody says.
int64_t tileKernelWarps(MlirOperation kernel);
// Some of its tiles have layouts, or have none.
void tileKernelLooksAt(MlirOperation kernel, bool *isLaidOut, bool *isOpen);

// Orders the tasks by fronts, finds the kinds, deals the programs to lanes and writes the plan. `order` has the tasks'
// steps. False after a diagnostic.
bool tileProgramBuildPlan(Program *program, const TileLaunchOrder *order, int64_t lanes);
// Launches a kernel that does what the plan says, at the place of the last task or of the loop. `width`: lanes of a
// warp. False after a diagnostic.
bool tileProgramBuildLaunch(MlirOperation module, const Program *program, int64_t width);
void tileProgramFree(Program *program);
