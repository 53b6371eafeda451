// Cost of conversions of weights by their place. See format_cost.h.
#include "lib/search/format_cost.h"

#include <math.h>

// Elements that a core converts in one cycle by one instruction each: a GPU's partitions issue one warp each, a CPU two
// vectors of f32.
static double elementsPerCycle(const TileSearchTarget *t) {
  enum { CpuPorts = 2, FloatBytes = 4 };
  return t->isGpu ? (double)(t->lanes * t->partitions) : (double)(CpuPorts * t->vectorBytes / FloatBytes);
}

// Bytes per second of the innermost level that all cores share and that holds so many bytes, else of the last one.
static double bandwidthFor(const TileSearchTarget *t, double bytes) {
  int level = t->numLevels - 1;
  while (level > 0 && t->levels[level - 1].instances == 1 && (double)t->levels[level - 1].bytes >= bytes)
    --level;
  return t->levels[level].bandwidth;
}

double tileFormatSeconds(const TileSearchTarget *t, const TileFormatProduct *p, TileFormatPlace place) {
  double storeAndLoad = 2 * (t->isGpu ? (double)t->model.accessInstructions : 1); // instructions of an element
  double all = (double)t->cores * t->clock, weights = p->columns * p->depth * p->batches;
  double product = 2 * p->rows * weights / (p->rate * all);
  double convert = weights * p->operations / (elementsPerCycle(t) * all);
  double pass = weights * storeAndLoad / (elementsPerCycle(t) * all);
  double codes = p->codeBytes / bandwidthFor(t, p->codeBytes), wide = p->weightBytes / bandwidthFor(t, p->weightBytes);
  switch (place) {
  case TileFormat_Register:
    return fmax(product + convert * ceil(p->rows / p->rowsOfRegisters), codes);
  case TileFormat_Shared:
    return fmax(product + (convert + pass) * ceil(p->rows / p->rowsOfProgram), codes);
  case TileFormat_Memory:
  case TileFormatPlaces:
    break;
  }
  // Stored, and loaded again for the product. Between two kernels a GPU waits for the launch, and a CPU's other cores
  // wake again.
  return fmax(convert, codes) + wide + fmax(product, wide) + (t->isGpu ? t->model.launchSeconds : t->model.wakeSeconds);
}
