// Attention's tiles. See attention.h.
#include "lib/search/attention.h"

#include "lib/support/integer.h"

#include "lib/search/construct.h"
#include "lib/search/model.h"

#include <math.h>

// Bytes of a score and of a sum. Bounds of the blocks that are tried; copies that are under way beside the one that is
// used.
enum { SumBytes = 4, MostKeys = 1024, MostQueries = 128, LeastKeys = 32, MostParts = 64, Stages = 2, WarpsOfBlock = 4 };

// Blocks of keys that the programs of a head visit.
static int64_t blocksVisited(const TileAttentionSizes *s, int64_t queries, int64_t keys) {
  int64_t visited = 0;
  for (int64_t query = 0; query < s->queries; query += queries) {
    int64_t first = 0, end = s->keys;
    for (int i = 0; i < s->numBounds; ++i) {
      const TileAttentionBound *bound = &s->bounds[i];
      int64_t at = query + ((bound->slope > 0) == bound->isUpper ? queries - 1 : 0);
      int64_t key = tessera_max(0, bound->slope * at + bound->constant);
      if (bound->isUpper)
        end = tessera_min(end, key);
      else
        first = tessera_max(first, key);
    }
    visited += first < end ? tessera_ceil_div(end, keys) - first / keys : 0;
  }
  return visited;
}

//===--- a CPU ---------------------------------------------------------------------------===//

// The innermost level that holds so many bytes.
static int levelOf(const TileSearchTarget *target, double bytes) {
  int level = 0;
  while (level + 1 < target->numLevels && bytes > (double)target->levels[level].bytes)
    ++level;
  return level;
}

static double lineCycles(const TileSearchTarget *target, int level) {
  const TileSearchLevel *l = &target->levels[level];
  double byBandwidth = (double)l->line * (double)target->cores * target->clock / l->bandwidth;
  return fmax((double)l->latency / (double)target->model.missesPacking, byBandwidth);
}

// rows × vectors += rows × depth · depth × vectors, by register tiles.
static double productCycles(const TileSearchTarget *target, int64_t rows, int64_t vectors, int64_t depth) {
  int64_t mostRows = target->model.registerRows, mostVectors = target->model.attentionVectors;
  int64_t wide = tessera_min(vectors, mostVectors), tall = tessera_min(rows, mostRows);
  double fma = (double)(tall * wide) / (double)target->fmaPerCycle;
  double loads = (double)(tall + wide) / (double)target->loadsPerCycle;
  double step = fmax(fmax(fma, loads), (double)target->fmaLatency);
  double tiles = (double)tessera_ceil_div(rows, mostRows) * (double)tessera_ceil_div(vectors, mostVectors);
  return tiles * (step * (double)depth + (double)target->model.tileStart);
}

static double cpuSeconds(const TileSearchTarget *target, const TileAttentionSizes *s, int64_t queries, int64_t keys) {
  int64_t vectors = tessera_ceil_div(queries * SumBytes, target->vectorBytes);
  double line = (double)target->levels[0].line, scores = (double)(keys * vectors);
  double score = (double)target->model.scoreCycles, rescale = (double)target->model.rescaleCycles;
  double perBlock = productCycles(target, keys, vectors, s->depth) + productCycles(target, s->channels, vectors, keys) +
                    scores * score + (double)(s->channels * vectors) * rescale + (double)target->model.keysStart;
  // Scores and weights beyond L1 are written and read there; keys and values come from where a head's lie.
  int scoreLevel = levelOf(target, 2 * scores * (double)target->vectorBytes);
  perBlock += scoreLevel ? 2 * scores * lineCycles(target, scoreLevel) : 0;
  double bytes = (double)(keys * (s->depth + s->channels) * s->bytes);
  int level = levelOf(target, (double)(s->keys * (s->depth + s->channels) * s->bytes));
  perBlock += level ? bytes / line * lineCycles(target, level) : 0;
  int64_t tiles = tessera_ceil_div(s->queries, queries), programs = s->heads * tiles;
  double program = (double)blocksVisited(s, queries, keys) / (double)tiles * perBlock +
                   (double)target->model.programStart + (double)((s->depth + s->channels) * vectors) * rescale;
  return program * (double)tessera_ceil_div(programs, target->cores) / target->clock;
}

// Softmax apart: scores written and read once more, the rows shared by the cores.
static double cpuSoftmaxSeconds(const TileSearchTarget *target, const TileAttentionSizes *s) {
  double vectors = (double)(s->heads * s->queries) * (double)tessera_ceil_div(s->keys * SumBytes, target->vectorBytes);
  double lines = 2 * vectors * (double)target->vectorBytes / (double)target->levels[0].line;
  int level = levelOf(target, 2 * vectors * (double)target->vectorBytes);
  return (vectors * (double)target->model.scoreCycles + lines * lineCycles(target, level)) / (double)target->cores /
         target->clock;
}

static int64_t roundedUp(int64_t size, int64_t multiple) { return tessera_ceil_div(size, multiple) * multiple; }

// Among nearly equal predictions, the block with the fewest scores wins: it leaves most of the caches to others.
static void consider(const TileSearchTarget *target, TileSearchAttention *best, double seconds, int64_t queries,
                     int64_t keys) {
  ++best->evaluations;
  bool isSmaller = queries * keys < best->queries * best->keys;
  double equal = 1 + target->model.attentionEqual;
  if (seconds * (isSmaller ? 1 : equal) >= best->fused * (isSmaller ? equal : 1))
    return;
  best->fused = seconds;
  best->queries = queries;
  best->keys = keys;
}

static void searchCpu(const TileSearchTarget *target, const TileAttentionSizes *s, TileSearchAttention *best) {
  int64_t lanes = target->vectorBytes / SumBytes, most = tessera_bucket(s->queries);
  for (int64_t queries = tessera_min(lanes, most); queries <= tessera_min(most, MostQueries); queries *= 2)
    for (int64_t parts = tessera_ceil_div(s->keys, MostKeys); parts <= tessera_ceil_div(s->keys, LeastKeys); ++parts) {
      int64_t keys =
          roundedUp(tessera_ceil_div(s->keys, parts), tessera_min(target->model.registerRows, tessera_bucket(s->keys)));
      consider(target, best, cpuSeconds(target, s, queries, keys), queries, keys);
      if (parts >= MostParts)
        break;
    }
}

//===--- a GPU ---------------------------------------------------------------------------===//

// Keys and values of the blocks under way are in shared memory; sums, scores and queries in registers.
static bool fitsGpu(const TileSearchTarget *target, const TileAttentionSizes *s, int64_t queries, int64_t keys) {
  int64_t depth = tessera_bucket(s->depth), channels = tessera_bucket(s->channels);
  int64_t shared = (Stages * keys * (depth + channels) + queries * depth) * s->bytes;
  double tiles = (double)(queries * (channels + 2 * keys)) * SumBytes / 4.0 / (double)(WarpsOfBlock * target->lanes);
  return shared <= target->sharedPerBlock &&
         tileThreadRegisters(target, true, tiles, 0) <= tileRegisterLimit(target, true, WarpsOfBlock);
}

// Whether the products run by themselves: one or two groups of warps with 64 queries each, fed by an engine that copies
// rows of whole pieces. Scores, sums and weights are in registers, queries too in shared memory. The limits are those
// of tile-specialize-warps.
static bool runsInGroups(const TileSearchTarget *target, const TileAttentionSizes *s, int64_t queries, int64_t keys) {
  enum { GroupQueries = 64, PieceBytes = 16 };
  const TileSearchModel *model = &target->model;
  int64_t depth = tessera_bucket(s->depth), channels = tessera_bucket(s->channels), groups = queries / GroupQueries;
  if (!target->hasGroupAtom || (groups != 1 && groups != 2) || keys < s->bytes * 8 ||
      s->depth * s->bytes % PieceBytes || s->channels * s->bytes % PieceBytes || s->bytes != 2)
    return false;
  int64_t threads = groups * WarpsOfBlock * target->lanes;
  int64_t values = queries * (channels + keys) + queries * keys * s->bytes / SumBytes;
  int64_t shared = (Stages * keys * (depth + channels) + queries * depth) * s->bytes;
  int64_t most =
      groups == 1 ? model->groupSumRegisters : tileSearchGroupRegisters(target, groups) - model->groupBesideRegisters;
  return values / threads <= most && shared + model->groupExchange <= target->sharedPerBlock;
}

// Whether scores and sums are in tensor memory. Four warps compute, a row in each thread: the scores of a round are in
// registers, and the sums, while they are rescaled. Two places for scores lie beside weights and sums.
static bool runsInTensor(const TileSearchTarget *target, const TileAttentionSizes *s, int64_t queries, int64_t keys) {
  enum { PieceBytes = 16, WordBytes = 4 };
  const TileSearchModel *model = &target->model;
  int64_t depth = tessera_bucket(s->depth), channels = tessera_bucket(s->channels);
  int64_t shared = (Stages * keys * (depth + channels) + queries * (depth + channels)) * s->bytes;
  return target->hasTensorAtom && queries == target->groupRows && s->bytes == 2 && keys >= s->bytes * 8 &&
         s->depth * s->bytes % PieceBytes == 0 && s->channels * s->bytes % PieceBytes == 0 &&
         tessera_max(keys, channels) <= model->groupSumRegisters &&
         keys + channels <= model->groupSumRegisters + model->groupBesideRegisters &&
         2 * keys + keys * s->bytes / WordBytes + channels <= target->tensorColumns &&
         shared + model->groupExchange <= target->sharedPerBlock;
}

static bool runsByItself(const TileSearchTarget *target, const TileAttentionSizes *s, int64_t queries, int64_t keys) {
  return runsInGroups(target, s, queries, keys) || runsInTensor(target, s, queries, keys);
}

// Bytes per second at which keys and values come: those of the heads under way stay in a cache that holds them.
static double keyBandwidth(const TileSearchTarget *target, const TileAttentionSizes *s, int64_t programsOfHead) {
  int64_t heads = tessera_min(s->heads, tessera_ceil_div(target->cores, programsOfHead));
  double bytes = (double)heads * (double)s->keys * (double)((s->depth + s->channels) * s->bytes);
  int level = target->shared + 1;
  while (level + 1 < target->numLevels && bytes > (double)target->levels[level].bytes)
    ++level;
  return target->levels[level].bandwidth;
}

// Products by matrix instructions, then the scores and the rescaled sums by all lanes; keys and values come meanwhile.
static double gpuSeconds(const TileSearchTarget *target, const TileAttentionSizes *s, int64_t queries, int64_t keys) {
  int64_t programsOfHead = tessera_ceil_div(s->queries, queries);
  double blocks = (double)(s->heads * blocksVisited(s, queries, keys)); // of keys, of all programs
  double columns = blocks * (double)keys;
  double operations = 2 * (double)queries * columns * (double)(s->depth + s->channels);
  double instructions = (double)queries * (columns * (double)target->model.scoreCycles +
                                           blocks * (double)(s->channels * target->model.rescaleCycles));
  double busy = (double)tessera_min(s->heads * programsOfHead, target->cores);
  double rate = target->rate * (runsByItself(target, s, queries, keys) ? 1 : target->model.attentionRate);
  double cycles = operations / rate + instructions / (double)(target->lanes * target->partitions);
  double bytes = columns * (double)((s->depth + s->channels) * s->bytes);
  return fmax(cycles / (busy * target->clock), bytes / keyBandwidth(target, s, programsOfHead)) +
         target->model.launchSeconds;
}

static double gpuSoftmaxSeconds(const TileSearchTarget *target, const TileAttentionSizes *s) {
  double scores = (double)s->heads * (double)s->queries * (double)s->keys * SumBytes;
  return 2 * scores / target->levels[target->numLevels - 1].bandwidth + 3 * target->model.launchSeconds;
}

static void searchGpu(const TileSearchTarget *target, const TileAttentionSizes *s, TileSearchAttention *best) {
  for (int64_t queries = 16; queries <= MostQueries; queries *= 2)
    for (int64_t keys = 16; keys <= MostQueries; keys *= 2) {
      bool isMore = (queries > 16 && queries >= 2 * s->queries) || (keys > 16 && keys >= 2 * s->keys) ||
                    (s->mostKeys && keys > s->mostKeys);
      if (isMore || (!fitsGpu(target, s, queries, keys) && !runsByItself(target, s, queries, keys)))
        continue;
      double seconds = gpuSeconds(target, s, queries, keys);
      ++best->evaluations;
      if (seconds > best->fused) // of equals the larger block: fewer rounds
        continue;
      best->fused = seconds;
      best->queries = queries;
      best->keys = keys;
    }
}

// Programs of one head see ever more keys: the shortest ones end the grid, so that all cores end together. The keys and
// values of heads that are visited side by side stay in half of the last cache.
static int64_t headsTogether(const TileSearchTarget *target, const TileAttentionSizes *s) {
  bool grows = false;
  for (int i = 0; i < s->numBounds; ++i)
    grows |= s->bounds[i].slope > 0 && s->bounds[i].isUpper;
  for (int i = 0; i < s->numBounds; ++i)
    grows &= s->bounds[i].slope <= 0 || s->bounds[i].isUpper;
  if (!grows)
    return 0;
  const TileSearchLevel *cache = &target->levels[target->numLevels - 2];
  int64_t bytes = s->keys * (s->depth + s->channels) * s->bytes, together = 1;
  for (int64_t heads = 1; heads <= s->heads && heads * bytes <= cache->bytes / 2; ++heads)
    together = s->heads % heads ? together : heads;
  return together;
}

// Pairs of programs, where all programs of a head visit the same blocks, and keys and values would take more than the
// difference that counts as none of the kernel's time less.
static int64_t clusterOf(const TileSearchTarget *target, const TileAttentionSizes *s, const TileSearchAttention *best) {
  enum { Pair = 2 };
  if (!best->queries || target->clusterBlocks < Pair || s->isOpen || s->numBounds || s->mostKeys ||
      !runsInGroups(target, s, best->queries, best->keys))
    return 0;
  int64_t programs = tessera_ceil_div(s->queries, best->queries);
  double columns = (double)(s->heads * blocksVisited(s, best->queries, best->keys) * best->keys);
  double bytes = columns * (double)((s->depth + s->channels) * s->bytes);
  bool pays = bytes * (1 - 1.0 / Pair) / keyBandwidth(target, s, programs) >= target->model.equal * best->fused;
  return programs % Pair == 0 && pays ? Pair : 0;
}

//===--- both ------------------------------------------------------------------------------===//

TileSearchAttention tileSearchAttention(const TileSearchTarget *target, const TileAttentionSizes *sizes,
                                        double products) {
  TileSearchAttention best = {.fused = INFINITY};
  best.heads = target->isGpu ? headsTogether(target, sizes) : 0;
  if (target->isGpu)
    searchGpu(target, sizes, &best);
  else
    searchCpu(target, sizes, &best);
  best.cluster = target->isGpu ? clusterOf(target, sizes, &best) : 0;
  best.apart = products + (target->isGpu ? gpuSoftmaxSeconds : cpuSoftmaxSeconds)(target, sizes);
  return best;
}
