// Launches that become one: what tile-co-schedule-kernels found, what lanes do of it, and its kernel.
//
//   co_schedule_kernels.c            which launches, and where: fills tasks, rounds and roots of a Program
//   launch_program_questions.c       which launches may become part of one
//   launch_program_arena.c           one allocation for temporaries
//   launch_flow.c                    which loops and branches: fills the segments of a Program
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
#include "lib/analysis/target_of_pass.h"
#include "lib/ir/builder.h"
#include "lib/search/lane_plan.h"
#include "lib/search/lane_price.h"

// A program takes launches up to MostRoots; programs built before it may have put some into arenas of theirs.
enum { GridRank = 3, MostRank = 8, MostRoots = 256, RoomForRoots = 480 };
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
  MlirValue roots[RoomForRoots];
  bool isWritten[RoomForRoots], isArena[RoomForRoots];
  intptr_t numRoots;
  TileLanePlan *lanes;
  TileProgramBox **boxes; // of each kind: of each program, operand, and read and written; null: not asked, or too many
  intptr_t operands;      // the most of a launch
  int32_t *plan;
  intptr_t words;
  int64_t registers; // that a thread may have, so that all lanes are resident; 0: as many as there are
  // Of a program with loops and branches: its tasks are those of the segments, one after another.
  struct Segment *segments;
  intptr_t numSegments;
  int64_t numLanes, numCounters; // lanes: of the whole program
  MlirOperation place;           // the launch stands here; null: at the last task, or at the loop
} Program;

// Launches without a decision between them, and what is decided behind them (launch_flow.h).
typedef struct Segment {
  Program part;             // its tasks, in their order, and their plan
  intptr_t firstTask;       // in the whole program
  int64_t firstCounter;     // of its plan, in the whole program
  MlirValue condition;      // the word that decides; null: nothing is decided, the end follows
  intptr_t then, otherwise; // segments; -1: the end
  int64_t decider;          // lane; -1: none
  MlirBlock block;          // copies of its launches
} Segment;

// Where a memref begins in its root, in elements: offset + stride × the loop's index.
typedef struct Place {
  int64_t offset, stride;
} Place;

// What a pass that makes programs of launches is about.
typedef struct Scheduling {
  MlirOperation module;
  MlirExtPass pass;
  TileTarget target;
  bool always, remarks;
  int64_t lanes; // 0: the machine's cores
} Scheduling;

MlirOperation tileLaunchKernel(MlirOperation launch); // null: it is not in this module
bool tileLaunchReadGrid(MlirOperation launch, int64_t grid[GridRank], int64_t *programs); // false: not known
// Why the launch, or one that accesses this memory, cannot become part of a program; null: it can.
const char *tileLaunchWhyStays(const Scheduling *s, const Rounds *rounds, MlirOperation launch);
const char *tileLaunchWhyBodyStays(const Scheduling *s, MlirOperation launch); // as WhyStays, but for its operands
const char *tileLaunchWhyMemoryStays(const Rounds *rounds, MlirValue memref);
// How much longer its programs take turns on lanes than as a grid. Expects a grid that is known.
int64_t tileLaunchTurns(const Scheduling *s, MlirOperation launch, int64_t lanes);
// Whether one launch of lanes is predicted to take less than launches by the host (lib/search/lane_price.h). If not, a
// remark at the op says so. Always true if all that is legal was asked for.
bool tileLaunchesGain(const Scheduling *s, MlirOperation at, const TileLaneCounts *counts);
bool tileKernelHasProduct(MlirOperation kernel);
bool tileKernelHasTiles(MlirOperation kernel);
// Why the kernel cannot be in a program with the first one that has tiles: without layouts, a body on other warps than
// its own would add up in another order. Null: it can, or there is no other one.
const char *tileKernelWhyBesideStays(MlirOperation first, MlirOperation kernel);
// Memory that only launches use, and that nobody keeps.
bool tileMemoryIsTemporary(MlirValue root);
// Makes the launch's memory roots of the program; false: there are too many. Until temporaries are placed, one
// temporary of a block stands for all of the block.
bool tileProgramHasRoom(Program *program, MlirOperation launch);
void tileProgramMarkWritten(Program *program, MlirOperation launch);
void tileProgramAddTask(Program *program, const TileLaunchOrder *order, intptr_t step); // behind tileProgramHasRoom

bool tileLaunchPlaceOf(const Rounds *rounds, MlirValue memref, Place *place); // false: not known
// The place of the memref's root among the program's; it becomes one. -1: there are too many.
intptr_t tileProgramRootOf(Program *program, MlirValue memref);

enum { FlowLog = 16, FlowSegments = 256 }; // the log as in templates/flow.mlir; of segments a thread holds counts

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
// As tileProgramBuildPlan for a segment, without words; `decides`: one lane awaits all that the segment does.
bool tileProgramBuildPart(Program *part, const TileLaunchOrder *order, int64_t lanes, bool decides, int64_t *decider);
// The plan of a program of segments in words, and its kinds.
void tileProgramJoinSegments(Program *program);
// Words of the table of operands for a launch. In a loop a row has the strides behind the addresses.
intptr_t tileProgramRowWords(const Program *program);
// Puts the temporaries of the program's launches into an arena for each block that they are allocated in. Expects that
// the order of the ops is no longer needed. Returns the bytes of the arenas.
int64_t tileProgramPlaceTemporaries(MlirOperation module, Program *program);
// A constant of the module, at the builder's place.
MlirValue tileProgramBuildGlobal(MlirOperation module, TileBuilder *host, const char *name, intptr_t count,
                                 const int64_t *words);
// Launches a kernel that does what the plan says, at the place of the last task or of the loop. `width`: lanes of a
// warp. False after a diagnostic.
bool tileProgramBuildLaunch(MlirOperation module, const Program *program, int64_t width);
void tileProgramFree(Program *program);
