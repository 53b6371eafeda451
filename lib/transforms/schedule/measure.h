// Runs an op on this CPU with each of several schedules and says how long it took.
//
//   double seconds[16];
//   char text[…];                                              // the op alone, as a program: what a cache is keyed by
//   if (tileMeasureProgram(op, null, text, sizeof text)) …     // false: it cannot be run alone
//   tileMeasure(op, count, schedules, "native", folder, seconds, &error);
//
// Each candidate is compiled by tile-translate in a process of its own, as many at once as there are cores, and run by
// tile-exec on one pinned core while nobody else who uses the same cache measures; they take turns, and medians count.
// The tools are looked for beside the running program, then on PATH. Cost: a second or so.
#pragma once

#include "lib/ir/builder.h"
#include "lib/support/error.h"

enum { TileMeasureMost = 16 };

// The op in a function of its own with this schedule (null: without); what it starts from comes along, everything else
// is an argument. False where a size is not known, the op has regions within its region, or `text` is too small.
bool tileMeasureProgram(MlirOperation op, MlirAttribute schedule, char *text, size_t capacity);
// Seconds of each candidate, at most TileMeasureMost, compiled for the CPU `chip`; infinite for one that did not
// compile or run. `lock`: a folder whose users measure one at a time, or null. False with the reason where nothing
// could be measured.
bool tileMeasure(MlirOperation op, int count, const MlirAttribute *schedules, const char *chip, const char *lock,
                 double *seconds, TileError *error);
