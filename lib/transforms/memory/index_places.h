// Which places an index tile names, for tile-raise-gathers-to-views: sums of products of scalars that a tile's
// coordinates step through; and what must hold at launch so that computing them did not wrap.
//
//   %at = pid * 1024 + iota      base: 1024 pid, steps: [1]
#pragma once

#include "lib/ir/builder.h"
#include "lib/ir/table.h"

enum {
  PlaceMaxTerms = 16,
  PlaceMaxFactors = 3,
  PlaceMaxAxes = 4,
  PlaceMaxChecks = 256,
  PlaceMaxLimits = 8,
  PlaceMaxSteps = 4096
};

// coefficient * factors[0] * …; factors are scalars of the kernel, of index or integer type, in the order of pointers.
typedef struct TilePlaceTerm {
  int64_t coefficient;
  int degree;
  MlirValue factors[PlaceMaxFactors];
} TilePlaceTerm;

typedef struct TilePlaceSum {
  int count; // 0: zero; -1: not known
  TilePlaceTerm terms[PlaceMaxTerms];
} TilePlaceSum;

typedef struct TilePlaces {
  bool isKnown;
  intptr_t rank;
  int64_t sizes[PlaceMaxAxes];
  TilePlaceSum base, steps[PlaceMaxAxes];
  // Along the axis, elements of this tile of numbers (its only axis that is) times the step, in place of coordinates.
  MlirValue numbers[PlaceMaxAxes];
  TilePlaceSum limit[PlaceMaxAxes]; // numbers are below
} TilePlaces;

// Values whose computation must not wrap, so that a sum is what it says.
typedef struct TileChecks {
  intptr_t count;
  MlirValue values[PlaceMaxChecks];
  int steps;       // of the analysis so far
  const char *why; // of a sum that is not known; for remarks
} TileChecks;

TilePlaceSum tilePlaceConstant(int64_t value);
TilePlaceSum tilePlaceAdd(const TilePlaceSum *a, const TilePlaceSum *b, int64_t times); // a + times * b
TilePlaceSum tilePlaceMul(const TilePlaceSum *a, const TilePlaceSum *b);
bool tilePlaceIsConstant(const TilePlaceSum *sum, int64_t *value);
bool tilePlaceIsKnown(const TilePlaceSum *sum);
bool tilePlaceIsMultiple(const TilePlaceSum *sum, int64_t of);
TilePlaceSum tilePlaceQuotient(const TilePlaceSum *sum, int64_t by); // of a multiple

TilePlaceSum tilePlaceOfScalar(MlirValue scalar, TileChecks *checks);
TilePlaces tilePlacesOf(MlirValue tile, TileChecks *checks);

// The mask as limits: coordinate a of the tile, plus `from`, is below `below`. It says besides that no floor is below
// 0: conditions as `0 <= 16 pid + i`, which hold for all coordinates if they hold for the first.
typedef struct TileLimit {
  intptr_t axis;
  TilePlaceSum from, below;
} TileLimit;
typedef struct TileMask {
  bool isKnown;
  intptr_t count;
  TileLimit limits[PlaceMaxLimits];
  intptr_t numFloors;
  TilePlaceSum floors[PlaceMaxLimits];
} TileMask;
TileMask tilePlaceMask(MlirValue mask, TileChecks *checks);

// The sum as an index, built where the builder stands.
MlirValue tilePlaceBuild(TileBuilder *builder, const TilePlaceSum *sum);
