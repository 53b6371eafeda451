// The numbers of a machine that tile construction asks for, read once from its description (lib/machine).
//
//   TileSearchTarget target;
//   if (!tileSearchReadTarget(machine, &target, &error)) …
//   tileSearchSetOperator(&target, &op);                // rates and instruction for the operator's types
#pragma once

#include "lib/machine/machine.h"
#include "lib/search/operator.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TileSearchLevels = 8, TileSearchLevelName = 12 };

// The fitted numbers of the cost models: the machine's keys `model.*`.
typedef struct TileSearchModel {
#define COUNT(field, key, kind, meaning) int64_t field;
#define RATIO(field, key, kind, units, meaning) double field;
#include "lib/machine/model.def"
#undef COUNT
#undef RATIO
} TileSearchModel;

typedef struct TileSearchLevel {
  char name[TileSearchLevelName];
  int64_t bytes;       // of one instance
  int64_t ways;        // of a cache; 8 where the file is silent
  int64_t instances;   // 0: one per core
  int64_t transaction; // bytes
  int64_t line;        // bytes of a cache line; of what is no cache, a transaction
  int64_t latency;     // cycles
  double bandwidth;    // bytes per second, all cores
} TileSearchLevel;

typedef struct TileSearchTarget {
  bool isGpu;
  int64_t cores;
  double clock; // cycles per second
  int numLevels;
  TileSearchLevel levels[TileSearchLevels]; // memory, innermost first, registers left out; the last is global memory
  int shared;                               // the level that a program manages itself, or -1
  // A GPU's.
  int64_t lanes, partitions, registersPerCore, registersPerThread, threadsPerBlock, warpsPerCore, blocksPerCore;
  int64_t sharedPerBlock;
  int64_t clusterBlocks; // programs that may share copies; 1: none
  bool hasAsyncCopies;
  // A CPU's.
  int64_t vectorBytes, vectorRegisters, fmaPerCycle, fmaLatency, loadsPerCycle;
  TileSearchModel model;
  // For one operator: operations per cycle and core, and the matrix instruction's shape; of a GPU without one
  // for the types, what a warp's lanes cover by one element each; else 1, 1, 1.
  double rate;
  bool hasAtom;
  int64_t atom[3];
  bool hasGroupAtom;     // an instruction of several warps, whose right factor is in shared memory, takes the types
  bool hasTensorAtom;    // an instruction does whose factors are in shared memory, and whose sums in tensor memory
  int64_t groupRows;     // of either; of a group of four warps, or of all
  int64_t tensorColumns; // of tensor memory; 0: there is none
} TileSearchTarget;

// Fails, with the error, where the description lacks what a model needs.
bool tileSearchReadTarget(const TileMachine *machine, TileSearchTarget *target, TileError *error);
// True if `seconds` is less than `against` by at least `model.gain.percent`.
bool tileSearchGains(const TileSearchTarget *target, double seconds, double against);
// Registers of a thread when so many warps share those of a core equally.
int64_t tileSearchEqualRegisters(const TileSearchTarget *target, int64_t warps);
// Registers of a thread that multiplies in one of `groups` groups of four warps. One more group only starts copies, and
// gives its registers away.
int64_t tileSearchGroupRegisters(const TileSearchTarget *target, int64_t groups);
// Sets rate and atom. Among the instructions that accept the operator's types and one warp issues, the least tall and
// wide one aligns tiles. A type without a rate computes as f32 does.
void tileSearchSetOperator(const TileMachine *machine, const TileOperator *op, TileSearchTarget *target);

#ifdef __cplusplus
}
#endif
