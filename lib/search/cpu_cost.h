// What the kinds of a CPU's matrix products share: what a level of memory costs, what a step of a register tile costs,
// and the questions that several kinds ask. Part of lib/search; kind.h is the way in.
//
// Costs are cycles of one core. A core does its multiply-adds, its packing and its stores of C one after another, so
// the time of a program is their sum. Source: BLIS (Van Zee and van de Geijn, ACM TOMS 41(3), 2015); block sizes after
// Low et al., ACM TOMS 43(2), 2016.
#pragma once

#include "lib/search/kind.h"

// Rows of a tile register (AMX), and its columns of 32 bits; tile registers that a kernel uses for sums.
enum { TileCpuTileRows = 16, TileCpuTilesOfSums = 4 };

//===--- numbers --------------------------------------------------------------------===//

int64_t tileCpuLeast(int64_t a, int64_t b);
int64_t tileCpuMost(int64_t a, int64_t b);
double tileCpuLarger(double a, double b);
int64_t tileCpuElementBytes(const TileOperatorOperand *operand);
// Bytes of an element where a kernel packs the operand: narrow factors are packed as wide as sums, unless a dot
// instruction multiplies them.
int64_t tileCpuPackedBytes(const TileOperator *op, int index);
// Bytes of the operand's whole tensor.
double tileCpuOperandBytes(const TileOperator *op, int index);
// Lanes of a vector of sums: narrow floats are summed in f32.
int64_t tileCpuLanes(const TileOperator *op, const TileSearchTarget *target);
// Bytes from one index of a dimension to the next.
int64_t tileCpuStride(const TileOperatorOperand *operand, int dim);

//===--- memory ---------------------------------------------------------------------===//

// The innermost level that holds so many bytes beside as many others.
int tileCpuLevelOf(const TileSearchTarget *target, double bytes);
// The innermost level that holds `rows` rows of `width` bytes, `stride` bytes apart, beside as many others.
int tileCpuLevelOfPanel(const TileSearchTarget *target, int64_t rows, int64_t width, int64_t stride);
// Cycles for a line of the level where the core waits for `atOnce` lines at a time, or as its bandwidth allows.
double tileCpuLineCycles(const TileSearchTarget *target, int level, int64_t atOnce);
// Cycles by which a line that comes from L2 prolongs multiply-adds: `model.exposed.misses.percent` of its own.
double tileCpuExposedLine(const TileSearchTarget *target);
// How many of `rows` rows, `stride` bytes apart, have a line in a set where the first row, `lines` lines wide, has one.
int64_t tileCpuRowsSharing(const TileSearchLevel *level, int64_t rows, int64_t lines, int64_t stride);
// L1 holds as many lines of a column of B as the core waits for at once: they do not evict each other on arrival.
bool tileCpuRowsAreApart(const TileOperator *op, const TileSearchTarget *target);

//===--- arithmetic -----------------------------------------------------------------===//

// Cycles of one step of k of a register tile: multiply-adds, loads of B's row and A's elements, or the sums' latency.
double tileCpuStepCycles(const TileSearchTarget *target, int64_t rows, int64_t vectors);
// Cycles of one step of tile registers: 16 groups of k of a block of sums.
double tileCpuTilesCycles(const TileOperator *op, const TileSearchTarget *target, int64_t rows, int64_t columns);
// As above, for a row of register tiles over `n` columns; `perVector` more for each vector of B.
double tileCpuRowStepCycles(const TileOperator *op, const TileSearchTarget *target, int64_t rows, int64_t columns,
                            int64_t n, double perVector);
// Work and waiting: the shorter hides behind the longer, except for the part that loads expose.
double tileCpuOverlapped(const TileSearchTarget *target, double work, double waiting);

//===--- register tiles and sizes -----------------------------------------------------===//

// Columns of the last panel where it is narrower than `columns` by whole vectors: kernels have a register tile of its
// own for it. 0: the last panel is like the others, or there is no other.
int64_t tileCpuLastPanel(const TileOperator *op, const TileSearchTarget *target, int64_t columns);
// Register tiles of `kind`, the most promising first: their sums cover the latency of the multiply-adds, they fit the
// registers together with a row of B and an element of A, and they pad little.
int tileCpuRegisterTiles(const TileOperator *op, const TileSearchTarget *target, TileKind kind, TileSearchTile *tiles);
// Registers that the sums take: vectors, or tile registers.
int64_t tileCpuRegistersOf(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile);
// A kernel of this tile is faster where B, a constant, lies in panels from the start: it packs B, or waits for B where
// it lies. The tile is chosen as for any other B, so that the sums are the same to the bit.
bool tileCpuGainsByPanels(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile);
// Known extents, floats of the result's type, contiguous rows of B.
bool tileCpuMayReadInPlace(const TileOperator *op);
// Sizes of a dimension for a register tile: along m and n whole register tiles, along k parts that end evenly.
int tileCpuSizes(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *start, double padding,
                 int dim, int64_t *sizes, int capacity);
// Appends a size that is larger than all before it.
int tileCpuAppendSize(int64_t *sizes, int count, int capacity, int64_t size);
// Faults of the register tile and of the block's multiples of it; null: there is none.
const char *tileCpuRegisterFault(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile,
                                 char *buffer, size_t capacity);

//===--- the prediction ----------------------------------------------------------------===//

typedef struct TileCpuCycles {
  double compute, packing, update; // update: C's lines
  double waiting;                  // part of compute or packing: for memory
  int operandLevel;                // where what is packed or streamed comes from
} TileCpuCycles;

// Programs and steps of the grid, and the traffic.
TilePrediction tileCpuGrid(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile);
// Time, bound and occupancy of a matrix product whose programs take `one` each.
void tileCpuPredict(const TileOperator *op, const TileSearchTarget *target, const TileCpuCycles *one,
                    TilePrediction *prediction);
// As above, of a tile that fits unless `misfit` says what it exceeds, by what one program of it takes.
typedef TileCpuCycles (*TileCpuCyclesOf)(const TileOperator *op, const TileSearchTarget *target,
                                         const TileSearchTile *tile);
TilePrediction tileCpuPredictTile(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile,
                                  int64_t registers, const char *misfit, TileCpuCyclesOf cyclesOf);
// Cycles until all programs are done, by `cores` of the machine's cores: waking them takes time too.
double tileCpuCyclesOfAll(const TileSearchTarget *target, int64_t programs, double each, double *cores);
// Keeps the name of the largest term.
void tileCpuAddTerm(TilePrediction *prediction, double *largest, const char *name, double cycles);
