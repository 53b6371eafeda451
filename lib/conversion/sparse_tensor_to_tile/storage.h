// How an encoded tensor of upstream's sparse_tensor is stored here: one tensor for each array of each level.
//
//   LevelStorage a;
//   sparseLevelStorageOf(type, &a);            // tensor<?x?xf64, #DCSR>: compressed, compressed
//   a.levels[1].positions;               // 2: the array among positions, coordinates, positions, coordinates, values
//
// Positions and coordinates are i64, whatever widths the encoding names; an array is as long as what is stored in it.
// Coordinates of coo that upstream interleaves stand level by level. Behind the arrays: one index for each open size.
#pragma once

#include "lib/capi/conversion.h"
#include "lib/ir/builder.h"

enum { LevelMax = 8, LevelMaxArrays = 2 * LevelMax + 1, LevelMaxValues = LevelMaxArrays + LevelMax };

typedef enum LevelKind {
  LevelKind_Dense,      // position = parent's position · size + coordinate
  LevelKind_Compressed, // of parent p: positions[p] to positions[p + 1] - 1
  LevelKind_Loose,      // of parent p: positions[2p] to positions[2p + 1] - 1
  LevelKind_Singleton,  // of parent p: p
  LevelKind_Structured, // of parent p: p · n to p · n + n - 1
} LevelKind;

// `dim` of the tensor, divided by `by` or its rest; by 1: itself. -1: the level lacks that array.
typedef struct StoredLevel {
  LevelKind kind;
  bool isUnique, isOrdered, isRest;
  int64_t n;
  intptr_t dim;
  int64_t by;
  intptr_t positions, coordinates;
} StoredLevel;

typedef struct LevelStorage {
  MlirType type, element;
  intptr_t rank, count; // levels; 0: a dense tensor
  StoredLevel levels[LevelMax];
  intptr_t values, numArrays; // the last array is that of values
  bool isTogether;            // upstream interleaves all coordinates of an entry
} LevelStorage;

// False for an encoding that has no storage here. A tensor without encoding has no levels.
bool sparseLevelStorageOf(MlirType type, LevelStorage *storage);
bool sparseLevelTypeIsEncoded(MlirType type);
// Whether no two positions have the coordinates of one place, in ascending order.
bool sparseLevelStorageIsUnique(const LevelStorage *storage);
// The type of array `index`: one open size.
MlirType sparseLevelArrayType(const LevelStorage *storage, intptr_t index);
// Size of a level, from the sizes of the tensor.
MlirValue sparseLevelSize(TileBuilder *builder, const StoredLevel *level, const MlirValue *sizes);
