// What tile-specialize-warps decides for a kernel (specialize_warps.c), and what it makes of that
// (specialize_warps_build.c).
#pragma once

#include "lib/ir/support.h"
#include "lib/layout/layout.h"

enum { SpecializeGroupWarps = 4 }; // of the group that loads, and of each that multiplies

// A product's loop whose factors an engine loads and whose products run by themselves.
typedef struct SpecializePlan {
  MlirOperation kernel, loop, product;
  MlirOperation loads[2]; // of the left and the right factor
  MlirOperation store;    // of what goes out through shared memory; null: nothing
  TileOps inside;         // ops of the kernel that the partition that multiplies takes over, the loop among them
  TileLayout factors[2];  // how a stage lies in shared memory
  TileLayout result;      // how what is stored lies there
  char atom[64];
  MlirType sums;            // of the accumulator: wider than the product's where the atom adds in f32 only
  int64_t stages, expected; // expected: bytes of a stage
  int64_t groups;           // of warps that multiply
  int64_t registers[2];     // of a thread that loads, and of one that multiplies; 0: as they are
} SpecializePlan;

void tileSpecializeBuild(const SpecializePlan *plan);
