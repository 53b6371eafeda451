// Clusters of blocks (cluster.h): what each has allocated, whom a multicast reaches, and running them together.
#include "lib/interpreter/tile/cluster.h"
#include "lib/interpreter/tile/partitions.h"
#include "lib/interpreter/tile/products_under_way.h"
#include "lib/interpreter/tile/tile.h"
#include "lib/support/grow.h"

#include <stdlib.h>

//===--- buffers and barriers of others ---------------------------------------------------===//

bool interpretClusterNote(Machine *machine, const Instruction *instruction, InterpretValue value) {
  ClusterBlock *block = machine->grid.block;
  if (!block)
    return true;
  Allocation *allocations = tessera_grow(block->allocations, block->count, sizeof *allocations);
  if (!allocations)
    return interpretOutOfMemory(machine, instruction->op);
  block->allocations = allocations;
  block->allocations[block->count++] = (Allocation){instruction->op, valueRetain(value)};
  return true;
}

static bool isPartOf(InterpretValue part, InterpretValue whole) {
  bool areArrays = part.object->kind == ObjectArray && whole.object->kind == ObjectArray;
  return areArrays ? arrayOf(part)->storage == arrayOf(whole)->storage : part.object == whole.object;
}

// Which allocation of the block a value is (part of), counted among those of its op: the op, and how many came before.
static bool findAllocation(const ClusterBlock *block, InterpretValue value, MlirOperation *op, int *before) {
  for (int i = 0; i < block->count; ++i)
    if (isPartOf(value, block->allocations[i].value)) {
      *op = block->allocations[i].op;
      *before = 0;
      for (int j = 0; j < i; ++j)
        *before += mlirOperationEqual(block->allocations[j].op, *op);
      return true;
    }
  return false;
}

static InterpretValue *allocationOf(const ClusterBlock *block, MlirOperation op, int before) {
  for (int i = 0; i < block->count; ++i)
    if (mlirOperationEqual(block->allocations[i].op, op) && before-- == 0)
      return &block->allocations[i].value;
  return NULL;
}

static InterpretValue partLike(Machine *machine, const Instruction *instruction, InterpretValue own,
                               InterpretValue whole) {
  if (own.object->kind != ObjectArray)
    return valueRetain(whole);
  const Array *part = arrayOf(own);
  Array *alias = interpretArrayAlias(arrayOf(whole), part->offset, part->rank, part->sizes, part->strides);
  if (!alias)
    interpretOutOfMemory(machine, instruction->op);
  return (InterpretValue){.object = alias ? &alias->object : NULL};
}

InterpretValue interpretClusterPeer(Machine *machine, const Instruction *instruction, int number, InterpretValue own) {
  ClusterBlock *self = machine->grid.block;
  const InterpretValue none = {.object = NULL};
  MlirOperation op;
  int before;
  if (!self || &self->cluster->blocks[number] == self)
    return valueRetain(own);
  if (!findAllocation(self, own, &op, &before)) {
    interpretFail(machine, instruction->op, "names memory that no tile.alloc of this block has made");
    return none;
  }
  const ClusterBlock *block = &self->cluster->blocks[number];
  InterpretValue *whole;
  while (!(whole = allocationOf(block, op, before)))
    if (!interpretPartitionYield(machine)) {
      interpretFail(machine, instruction->op, "reaches block %d of its cluster, which never allocates what it names",
                    number);
      return none;
    }
  return partLike(machine, instruction, own, *whole);
}

int interpretClusterRow(const Machine *machine, const Instruction *instruction, int *blocks) {
  const ClusterBlock *self = machine->grid.block;
  if (!self) {
    blocks[0] = 0;
    return 1;
  }
  bool isAlong[MaxGridRank] = {false};
  for (intptr_t i = 0; i < interpretCountIn(instruction, "multicast"); ++i)
    isAlong[interpretNumberIn(instruction, "multicast", i)] = true;
  int count = 0;
  for (int b = 0; b < self->cluster->count; ++b) {
    bool reaches = true;
    for (int axis = 0; axis < MaxGridRank; ++axis)
      reaches &= isAlong[axis] || self->cluster->blocks[b].position[axis] == self->position[axis];
    if (reaches)
      blocks[count++] = b;
  }
  return count;
}

//===--- the cluster's barrier ------------------------------------------------------------===//

static bool allHaveArrived(const Cluster *cluster, int64_t syncs) {
  for (int b = 0; b < cluster->count; ++b)
    if (cluster->blocks[b].syncs < syncs)
      return false;
  return true;
}

// A partition runs as one; blocks of a cluster wait for each other.
bool interpretTileSync(Machine *machine, Frame *frame, const Instruction *instruction) {
  ClusterBlock *self = machine->grid.block;
  (void)frame;
  if (!self || !interpretHasAttribute(instruction, "scope"))
    return true;
  int64_t syncs = ++self->syncs;
  ++machine->steps;
  while (!allHaveArrived(self->cluster, syncs))
    if (!interpretPartitionYield(machine))
      return interpretFail(machine, instruction->op, "waits for blocks of the cluster that do not come here");
  return true;
}

//===--- running ------------------------------------------------------------------------------===//

static void blockClear(ClusterBlock *block) {
  for (int i = 0; i < block->count; ++i)
    valueRelease(block->allocations[i].value);
  free(block->allocations);
  block->allocations = NULL;
  block->count = 0;
  block->syncs = 0;
}

static bool readCluster(Machine *machine, const Instruction *instruction, Cluster *cluster) {
  for (int axis = 0; axis < interpretCountIn(instruction, "cluster"); ++axis) {
    cluster->sizes[axis] = interpretNumberIn(instruction, "cluster", axis);
    cluster->count *= (int)cluster->sizes[axis];
    if (machine->grid.sizes[axis] % cluster->sizes[axis] != 0)
      return interpretFail(machine, instruction->op,
                           "has a grid of %lld along axis %d; expected a multiple of the cluster's %lld",
                           (long long)machine->grid.sizes[axis], axis, (long long)cluster->sizes[axis]);
  }
  return cluster->count <= MaxClusterBlocks ||
         interpretFail(machine, instruction->op, "has %d blocks in a cluster; the interpreter runs up to %d together",
                       cluster->count, MaxClusterBlocks);
}

static void placeBlock(Machine *machine, Cluster *cluster, int number, const int64_t *origin, Part *part) {
  ClusterBlock *block = &cluster->blocks[number];
  int64_t rest = number;
  Grid grid = machine->grid;
  block->cluster = cluster;
  for (int axis = 0; axis < MaxGridRank; ++axis) {
    block->position[axis] = rest % cluster->sizes[axis];
    rest /= cluster->sizes[axis];
    grid.ids[axis] = origin[axis] * cluster->sizes[axis] + block->position[axis];
  }
  gridNumber(&grid);
  grid.block = block;
  part->grid = grid;
}

bool interpretRunClusters(Machine *machine, const Instruction *instruction, const InterpretBody *body, int count,
                          const InterpretValue *arguments) {
  Cluster cluster = {.sizes = {1, 1, 1}, .count = 1};
  if (!readCluster(machine, instruction, &cluster))
    return false;
  int64_t origin[MaxGridRank] = {0}, counts[MaxGridRank];
  for (int axis = 0; axis < MaxGridRank; ++axis)
    counts[axis] = machine->grid.sizes[axis] / cluster.sizes[axis];
  cluster.blocks = calloc((size_t)cluster.count, sizeof *cluster.blocks);
  Part *parts = calloc((size_t)cluster.count, sizeof *parts);
  bool ok = (cluster.blocks && parts) || interpretOutOfMemory(machine, instruction->op);
  if (ok && interpretCountOf(MaxGridRank, counts) > 0)
    do {
      for (int b = 0; b < cluster.count; ++b) {
        parts[b] = (Part){body, arguments, count};
        placeBlock(machine, &cluster, b, origin, &parts[b]);
      }
      ok = interpretRunParts(machine, instruction, cluster.count, parts);
      interpretProductsForget(machine);
      for (int b = 0; b < cluster.count; ++b)
        blockClear(&cluster.blocks[b]);
    } while (ok && interpretIndexNext(MaxGridRank, counts, origin));
  free(parts);
  free(cluster.blocks);
  return ok;
}
