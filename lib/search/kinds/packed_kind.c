// The kind `packed`: a program owns a block of C and walks k in blocks. For each block of k it packs its rows of A
// (they stay in L2), then, panel by panel, columns of B (they stay in L1, if they can), and multiplies register tiles
// whose sums stay in registers. The kernel of large products. Cost: multiply-adds with their padding, the lines that
// packing waits for, and C's lines once per block of k.
#include "lib/search/construct.h"
#include "lib/search/cpu_cost.h"
#include "lib/support/integer.h"

static bool applies(const TileOperator *op, const TileSearchTarget *target) { return !target->isGpu && op->isMatrix; }

static int starts(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tiles) {
  return tileCpuRegisterTiles(op, target, TileKind_Packed, tiles);
}

// Bytes of B's packed panel.
static int64_t packedPanel(const TileOperator *op, const TileSearchTile *tile) {
  return tile->size[op->k] * tile->registers.columns * tileCpuPackedBytes(op, op->rhs);
}

// L2 holds B's panel where L1 is too small for it, and half of L2 is for what passes by.
static const char *misfitOf(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  const TileSearchLevel *l2 = &target->levels[target->numLevels > 1 ? 1 : 0];
  int64_t rows = tile->registers.rows, columns = tile->registers.columns, depth = tile->size[op->k];
  int64_t vectors = tessera_ceil_div(columns, tileCpuLanes(op, target));
  int64_t block = tile->size[op->m] * tessera_bucket(depth) * tileCpuPackedBytes(op, op->lhs);
  if (!op->isByTiles && rows * vectors + vectors + 1 > target->vectorRegisters)
    return "registers";
  return block > l2->bytes / 2 || packedPanel(op, tile) > l2->bytes / 4 ? l2->name : NULL;
}

static TileCpuCycles cyclesOf(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  const TileOperatorOperand *a = &op->operands[op->lhs], *b = &op->operands[op->rhs], *c = &op->operands[op->out];
  const TileSearchModel *model = &target->model;
  int64_t m = tileCpuLeast(tile->size[op->m], op->dims[op->m].extent);
  int64_t n = tileCpuLeast(tile->size[op->n], op->dims[op->n].extent);
  int64_t k = op->dims[op->k].extent, depth = tile->size[op->k], panel = tile->registers.columns;
  int64_t lanes = tileCpuLanes(op, target), last = tileCpuLastPanel(op, target, panel);
  int64_t rowsOfTiles = tessera_ceil_div(m, tile->registers.rows), grain = last > 0 ? lanes : panel;
  int64_t columns = tessera_ceil_div(n, grain) * grain;
  // Beside B's panel pass a register tile of C, and the rows of A that are multiplied and the next ones. (Of dot
  // instructions and tile registers this was not measured.)
  bool isByMultiplyAdds = op->group == 1;
  int64_t passing =
      tile->registers.rows * (2 * depth * tileCpuPackedBytes(op, op->lhs) + panel * tileCpuElementBytes(c));
  bool isInL1 = packedPanel(op, tile) + (isByMultiplyAdds ? passing : 0) <= target->levels[0].bytes;
  double perLine = isByMultiplyAdds ? tileCpuExposedLine(target) : model->exposedMisses / (double)target->loadsPerCycle;
  double blocks = (double)tessera_ceil_div(k, depth), panels = (double)tessera_ceil_div(n, panel);
  double perVector = isInL1 ? 0 : perLine;
  double step = tileCpuRowStepCycles(op, target, tile->registers.rows, panel, n, perVector);
  int levelA = tileCpuLevelOf(target, tileCpuOperandBytes(op, op->lhs));
  int levelB = tileCpuLevelOf(target, tileCpuOperandBytes(op, op->rhs));
  int levelC = tileCpuLevelOf(target, (double)(m * n * tileCpuElementBytes(c)));
  double line = (double)target->levels[0].line, linesA = (double)(m * k * tileCpuElementBytes(a)) / line;
  double linesB = (double)(columns * k * tileCpuElementBytes(b)) / line;
  TileCpuCycles cycles = {.operandLevel = linesA > linesB ? levelA : levelB};
  double steps = (double)tessera_ceil_div(k, op->group) * step + blocks * panels * (double)model->tileStart;
  double linesAgain =
      panels * (double)(rowsOfTiles * tile->registers.rows * k * tileCpuPackedBytes(op, op->lhs)) / line;
  cycles.compute = (double)rowsOfTiles * steps + blocks * panels * (double)model->panelStart;
  cycles.compute += isByMultiplyAdds ? linesAgain * perLine : 0;
  // Each element of an operand that is read in windows is waited for once.
  double held = (double)tileOperandCount(a) / (double)(op->dims[op->m].extent * k);
  int64_t missesB = tileCpuRowsAreApart(op, target) ? model->missesPacking : model->missesConflict;
  cycles.waiting = (held < 1 ? held : 1) * linesA * tileCpuLineCycles(target, levelA, model->missesPacking) +
                   linesB * tileCpuLineCycles(target, levelB, missesB);
  int64_t run = op->dims[op->k].run;
  double runs = (isByMultiplyAdds ? panels * (double)k : 0) +
                (run ? (double)(m * tessera_ceil_div(k, tileCpuLeast(depth, run))) : 0);
  cycles.packing = cycles.waiting + linesA + linesB + runs * (double)model->runStart;
  // A vector of C that no line begins with is in two lines.
  bool isAligned = op->dims[op->n].extent * tileCpuElementBytes(c) % target->levels[0].line == 0;
  int64_t vectors = columns / lanes;
  cycles.update = blocks * (double)(rowsOfTiles * tile->registers.rows * vectors) *
                  (1 + tileCpuLineCycles(target, levelC, model->missesUpdate)) * (isAligned ? 1 : 2);
  return cycles;
}

static TilePrediction predict(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  return tileCpuPredictTile(op, target, tile, tileCpuRegistersOf(op, target, tile), misfitOf(op, target, tile),
                            cyclesOf);
}

const TileKernelKind tilePackedKind = {
    .name = "packed",
    .product = TileProduct_Packed,
    .hasRegisterTile = true,
    .isStoredPerBlock = true,
    .applies = applies,
    .starts = starts,
    .sizes = tileCpuSizes,
    .predict = predict,
    .fault = tileCpuRegisterFault,
};
