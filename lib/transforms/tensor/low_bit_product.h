// Products that read a factor as codes: which cuts of the dimensions they need, and the new op. What
// tile-schedule-formats asks and tile-find-low-bit builds.
//
//   TileStructured s;
//   TileLowBitPlan plan;
//   if (tileLowBitRead(op, &target, &s))
//     for (int attempt = 0; attempt < TileLowBitAttempts; ++attempt)
//       if (tileLowBitMakePlan(&s, attempt, INT64_MAX, &plan)) … tileLowBitBuild(&b, &plan) …
#pragma once

#include "lib/analysis/low_bit/factor.h"
#include "lib/analysis/structured.h"

enum { TileLowBitParts = 6 };

// A dimension of the product as its parts, the innermost first.
typedef struct TileLowBitCuts {
  int count;
  int64_t cuts[TileLowBitParts], sizes[TileLowBitParts];
  int dims[TileLowBitParts]; // of the new op
  int last;                  // the part that comes last in the new op; 0: they stay in order
} TileLowBitCuts;

// A factor that is read as codes.
typedef struct TileLowBitSide {
  int input;
  TileFactor factor;
  int root;
} TileLowBitSide;

typedef struct TileLowBitPlan {
  const TileStructured *s;
  int other; // the input that stays as it is; -1: both are codes
  int count;
  TileLowBitSide sides[2];
  TileLowBitCuts parts[MaxDims];
  int numDims;
  bool isAlongReduction; // the largest tensor that is read has a reduction last
} TileLowBitPlan;

// Whether an op makes an input of the generic, as one makes weights that are converted. Asked first: to read an op is
// dear.
bool tileLowBitHasMadeInput(MlirOperation op);
// A product of two factors, one or both made by an op, whose schedule has no tile.
bool tileLowBitRead(MlirOperation op, const TileTarget *target, TileStructured *structured);
// Attempt 0: both factors are codes (on a GPU); 1 and 2: the right, the left factor is. False where the factor does not
// become smaller by a quarter, or an element of it takes part in more than `rows` products.
enum { TileLowBitAttempts = 3, TileLowBitFewRows = 4 };
bool tileLowBitMakePlan(const TileStructured *structured, int attempt, int64_t rows, TileLowBitPlan *plan);
// The new op beside the product; null where it would have too many operands.
MlirValue tileLowBitBuild(TileBuilder *builder, const TileLowBitPlan *plan);
// Destroys a new op that nothing uses, with what was made for it.
void tileLowBitDestroy(MlirValue product);
// How often an element of the input takes part in the product; INT64_MAX: as often as a size says that is not known.
int64_t tileLowBitRepeats(const TileStructured *structured, int input);

// On a CPU a sum converts a weight again for each row. It is measured to be faster than converting first for up to
// TileLowBitFewRows rows; a person may ask for more.
//
// Where the kernel of the new op converts its weights: where its schedule says, else where the kernel does by itself.
// TileConvert_Unsaid, with the reason, where no kernel does so there.
TileConvert tileLowBitPlace(const TileLowBitPlan *plan, MlirValue product, const char **why);

// Scales of 8 bits are widened once, before the product: a kernel would do so for each group, by arithmetic. `weights`:
// how many there are.
void tileLowBitWidenScales(MlirOperation product, int64_t weights);
