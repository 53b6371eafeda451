// The scheduled level in its sequential meaning (docs/numerics.md §6): buffers, copies that land at their wait,
// barriers. From its start until it lands, what a copy writes is in flight: reading or writing it is an error.
#include "dialects/tile/ops.h"
#include "lib/interpreter/tile/cluster.h"
#include "lib/interpreter/tile/partitions.h"
#include "lib/interpreter/tile/products_under_way.h"
#include "lib/interpreter/tile/tile.h"

#include <stdlib.h>
#include <string.h>

//===--- buffers --------------------------------------------------------------------===//

static bool allocateBarrier(Machine *machine, Frame *frame, const Instruction *instruction, MlirType type) {
  Barrier *barrier = interpretBarrierCreate(tileBarrierTypeGetCount(type), tileBarrierTypeGetArrivals(type));
  if (!barrier)
    return interpretOutOfMemory(machine, instruction->op);
  setResult(frame, instruction, 0, valueOfObject(&barrier->object));
  return interpretClusterNote(machine, instruction, valueOfObject(&barrier->object));
}

// A ring is an array with one more axis, in front: its stages.
bool interpretTileAlloc(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirType type = tileAllocOpGetResultType(instruction->op);
  if (tileTypeIsABarrier(type))
    return allocateBarrier(machine, frame, instruction, type);
  int64_t sizes[InterpreterMaxRank], stages = tileTypeIsABuffer(type) ? tileBufferTypeGetStages(type) : 0;
  int rank = 0;
  if (stages)
    sizes[rank++] = stages;
  for (int i = 0; i < (int)tileTypeGetRank(type); ++i)
    sizes[rank++] = tileTypeGetSize(type, i);
  Array *array = interpretNewArray(machine, instruction, rank, sizes);
  if (!array)
    return false;
  setResult(frame, instruction, 0, valueOfObject(&array->object));
  return interpretClusterNote(machine, instruction, valueOfObject(&array->object));
}

bool interpretTileSlot(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *ring = arrayOperand(frame, instruction, 0);
  int64_t use;
  if (!interpretIndexOperand(machine, frame, instruction, 1, &use))
    return false;
  if (use < 0)
    return interpretFail(machine, instruction->op, "asks for use %lld of a ring; expected at least 0", (long long)use);
  Array *stage = interpretArrayAlias(ring, ring->offset + use % ring->sizes[0] * ring->strides[0], ring->rank - 1,
                                     ring->sizes + 1, ring->strides + 1);
  if (!stage)
    return interpretOutOfMemory(machine, instruction->op);
  setResult(frame, instruction, 0, valueOfObject(&stage->object));
  return true;
}

//===--- copies -----------------------------------------------------------------------===//

static Reach reachOfCopy(Machine *machine, const Instruction *instruction, InterpretValue base,
                         const int64_t *indices) {
  Reach reach = {machine, instruction, base};
  if (valueIsView(base)) {
    reach.count = viewOf(base)->rank;
    for (int i = 0; i < reach.count; ++i)
      reach.indices[i] = valueOfInteger(indices[i]);
  }
  return reach;
}

static Array *tileLike(Machine *machine, const Instruction *instruction, InterpretValue source,
                       InterpretValue destination) {
  if (valueIsView(source) && valueIsView(destination)) {
    interpretFail(machine, instruction->op, "copies from a view to a view");
    return NULL;
  }
  const Array *buffer = arrayOf(valueIsView(source) ? destination : source);
  return interpretNewArray(machine, instruction, buffer->rank, buffer->sizes);
}

static bool copyNow(Machine *machine, const Instruction *instruction, InterpretValue source, InterpretValue destination,
                    const int64_t *indices) {
  Reach from = reachOfCopy(machine, instruction, source, indices);
  Reach to = reachOfCopy(machine, instruction, destination, indices);
  Array *tile = tileLike(machine, instruction, source, destination);
  bool ok = tile && interpretReachRead(&from, tile) && interpretReachWrite(&to, tile);
  if (tile)
    valueRelease(valueOfObject(&tile->object));
  return ok;
}

bool interpretTileCopy(Machine *machine, Frame *frame, const Instruction *instruction) {
  int64_t indices[InterpreterMaxRank];
  return interpretIndexOperands(machine, frame, instruction, 2, instruction->numOperands - 2, indices) &&
         copyNow(machine, instruction, operandOf(frame, instruction, 0), operandOf(frame, instruction, 1), indices);
}

// Marks a buffer's elements; views' stay as they are until the copy lands.
static bool markInFlight(Machine *machine, const Instruction *instruction, InterpretValue destination) {
  int64_t index[InterpreterMaxRank] = {0};
  if (valueIsView(destination))
    return true;
  const Array *buffer = arrayOf(destination);
  do {
    int64_t place = interpretPlaceOf(buffer, index);
    Element *x = &buffer->storage->elements[place];
    if (buffer->storage->products &&
        !interpretMemoryExpectNoProduct(machine, instruction, buffer->storage, place, AccessWrite))
      return false;
    if (x->bound == ELEMENT_IN_FLIGHT)
      return interpretFail(machine, instruction->op, "copies into a buffer that another copy under way will write");
    *x = elementMissing(ELEMENT_IN_FLIGHT);
  } while (interpretIndexNext(buffer->rank, buffer->sizes, index));
  return true;
}

static void clearInFlight(InterpretValue destination) {
  int64_t index[InterpreterMaxRank] = {0};
  if (valueIsView(destination))
    return;
  const Array *buffer = arrayOf(destination);
  do
    buffer->storage->elements[interpretPlaceOf(buffer, index)] = elementMissing(ELEMENT_UNWRITTEN);
  while (interpretIndexNext(buffer->rank, buffer->sizes, index));
}

static bool landAll(Machine *machine, PendingCopies *copies) {
  bool ok = true;
  for (int i = 0; i < copies->count && ok; ++i) {
    PendingCopy *copy = &copies->items[i];
    const Instruction at = {.op = copy->op};
    clearInFlight(copy->destination);
    ok = copyNow(machine, &at, copy->source, copy->destination, copy->indices);
  }
  interpretPendingClear(copies);
  return ok;
}

static int64_t bytesOf(InterpretValue source, InterpretValue destination, const Format *format) {
  const Array *buffer = arrayOf(valueIsView(source) ? destination : source);
  return interpretArrayCount(buffer) * format->width / 8;
}

static Barrier *barrierOperand(const Frame *frame, const Instruction *instruction, intptr_t group) {
  return (Barrier *)operandOf(frame, instruction, interpretGroupBegin(instruction, group)).object;
}

// The round that a use names; null for rounds below 0, which have completed (or after an error).
static bool roundOf(Machine *machine, const Frame *frame, const Instruction *instruction, Barrier *barrier,
                    intptr_t group, int64_t *use, Round **round) {
  *round = NULL;
  if (!interpretIndexOperand(machine, frame, instruction, interpretGroupBegin(instruction, group), use))
    return false;
  if (*use < 0)
    return true;
  if (*use > INT32_MAX)
    return interpretFail(machine, instruction->op, "names round %lld of a barrier", (long long)*use);
  *round = interpretBarrierRound(barrier, *use);
  return *round || interpretOutOfMemory(machine, instruction->op);
}

// Starts a copy whose references are its own: into a round's list, or into a token's.
static bool startCopy(Machine *machine, const Instruction *instruction, PendingCopies *copies, PendingCopy copy) {
  bool ok = markInFlight(machine, instruction, copy.destination);
  return (interpretPendingAppend(copies, copy) || interpretOutOfMemory(machine, instruction->op)) && ok;
}

// One block's share: into its buffer, reported to its barrier's round (or to the token of the block that copies).
static bool copyToBlock(Machine *machine, const Frame *frame, const Instruction *instruction, int block,
                        PendingCopy copy, Token *token) {
  copy.destination = interpretClusterPeer(machine, instruction, block, operandOf(frame, instruction, 1));
  if (!copy.destination.object)
    return false;
  valueRetain(copy.source);
  if (token)
    return startCopy(machine, instruction, &token->copies, copy);
  InterpretValue barrier = interpretClusterPeer(machine, instruction, block,
                                                operandOf(frame, instruction, interpretGroupBegin(instruction, 3)));
  Round *round = NULL;
  int64_t use;
  bool ok = barrier.object && roundOf(machine, frame, instruction, (Barrier *)barrier.object, 4, &use, &round);
  if (ok && !round)
    ok =
        interpretFail(machine, instruction->op, "signals round %lld of a barrier; expected at least 0", (long long)use);
  if (ok) {
    round->copied += copy.bytes;
    ++machine->steps;
    ok = startCopy(machine, instruction, &round->copies, copy);
  } else {
    valueRelease(copy.source);
    valueRelease(copy.destination);
  }
  valueRelease(barrier);
  return ok;
}

bool interpretTileCopyAsync(Machine *machine, Frame *frame, const Instruction *instruction) {
  PendingCopy copy = {instruction->op, operandOf(frame, instruction, 0)};
  int blocks[MaxClusterBlocks], self = 0, count = interpretClusterRow(machine, instruction, blocks);
  Format format = {.width = 8};
  interpretFormatOf(tileTypeGetElement(tileCopyAsyncOpGetSourceType(instruction->op)), &format);
  copy.bytes = bytesOf(copy.source, operandOf(frame, instruction, 1), &format);
  Token *token = interpretGroupCount(instruction, 3) ? NULL : interpretTokenCreate();
  if (!token && !interpretGroupCount(instruction, 3))
    return interpretOutOfMemory(machine, instruction->op);
  if (token)
    setResult(frame, instruction, 0, valueOfObject(&token->object));
  bool ok = interpretIndexOperands(machine, frame, instruction, interpretGroupBegin(instruction, 2),
                                   interpretGroupCount(instruction, 2), copy.indices);
  for (; self < count && ok; ++self)
    ok = copyToBlock(machine, frame, instruction, blocks[self], copy, token);
  return ok;
}

bool interpretTileJoin(Machine *machine, Frame *frame, const Instruction *instruction) {
  Token *token = interpretTokenCreate();
  if (!token)
    return interpretOutOfMemory(machine, instruction->op);
  token->parts = calloc((size_t)instruction->numOperands + 1, sizeof *token->parts);
  for (int i = 0; token->parts && i < instruction->numOperands; ++i)
    token->parts[token->numParts++] = (Token *)valueRetain(operandOf(frame, instruction, i)).object;
  setResult(frame, instruction, 0, valueOfObject(&token->object));
  return token->parts || interpretOutOfMemory(machine, instruction->op);
}

static bool landToken(Machine *machine, Token *token) {
  for (int i = 0; i < token->numParts; ++i)
    if (!landToken(machine, token->parts[i]))
      return false;
  return landAll(machine, &token->copies);
}

bool interpretTileWait(Machine *machine, Frame *frame, const Instruction *instruction) {
  for (int i = 0; i < instruction->numOperands; ++i)
    if (!landToken(machine, (Token *)operandOf(frame, instruction, i).object))
      return false;
  return true;
}

//===--- barriers -----------------------------------------------------------------------===//

static bool arriveAt(Machine *machine, const Frame *frame, const Instruction *instruction, Barrier *barrier) {
  Round *round;
  int64_t use;
  if (!roundOf(machine, frame, instruction, barrier, 1, &use, &round))
    return false;
  if (!round)
    return true;
  if (round->arrivals == barrier->arrivals)
    return interpretFail(machine, instruction->op, "arrives once more than the %lld times that complete round %lld",
                         (long long)barrier->arrivals, (long long)use);
  if (use >= barrier->stages && !interpretRoundIsComplete(barrier, &barrier->rounds[use - barrier->stages]))
    return interpretFail(machine, instruction->op, "arrives at round %lld before round %lld is complete",
                         (long long)use, (long long)(use - barrier->stages));
  ++round->arrivals;
  ++machine->steps; // what others wait for has changed
  if (interpretHasAttribute(instruction, "products") &&
      !interpretProductStart(machine, instruction, NULL, NULL, NULL, barrier, use))
    return false;
  round->expected += interpretHasAttribute(instruction, "expect") ? interpretIntegerOf(instruction, "expect") : 0;
  return true;
}

static bool arriveAtBlock(Machine *machine, const Frame *frame, const Instruction *instruction, int block) {
  InterpretValue barrier = interpretClusterPeer(machine, instruction, block, operandOf(frame, instruction, 0));
  bool ok = barrier.object && arriveAt(machine, frame, instruction, (Barrier *)barrier.object);
  valueRelease(barrier);
  return ok;
}

bool interpretTileBarrierArrive(Machine *machine, Frame *frame, const Instruction *instruction) {
  int64_t rank;
  if (interpretHasAttribute(instruction, "multicast")) {
    int row[MaxClusterBlocks], count = interpretClusterRow(machine, instruction, row);
    bool ok = true;
    for (int i = 0; i < count && ok; ++i)
      ok = arriveAtBlock(machine, frame, instruction, row[i]);
    return ok;
  }
  if (!interpretGroupCount(instruction, 2))
    return arriveAt(machine, frame, instruction, barrierOperand(frame, instruction, 0));
  if (!interpretIndexOperand(machine, frame, instruction, interpretGroupBegin(instruction, 2), &rank))
    return false;
  int blocks = machine->grid.block ? machine->grid.block->cluster->count : 1;
  if (rank < 0 || rank >= blocks)
    return interpretFail(machine, instruction->op, "arrives at block %lld of a cluster of %d", (long long)rank, blocks);
  return arriveAtBlock(machine, frame, instruction, (int)rank);
}

bool interpretTileBarrierWait(Machine *machine, Frame *frame, const Instruction *instruction) {
  Barrier *barrier = barrierOperand(frame, instruction, 0);
  Round *round;
  int64_t use;
  if (!roundOf(machine, frame, instruction, barrier, 1, &use, &round))
    return false;
  while (round && !interpretRoundIsComplete(barrier, round)) {
    if (!interpretPartitionYield(machine))
      return interpretFail(machine, instruction->op,
                           "waits for round %lld, which nobody completes: %lld of %lld arrivals, %lld of %lld bytes",
                           (long long)use, (long long)round->arrivals, (long long)barrier->arrivals,
                           (long long)round->copied, (long long)round->expected);
    round = interpretBarrierRound(barrier, use); // another partition may have grown the list
  }
  ++machine->steps;
  interpretProductsEndAt(machine, barrier, use);
  return !round || landAll(machine, &round->copies);
}

//===--- products -------------------------------------------------------------------------===//

// Reports to the barrier that the op names, if any, and notes the product: its wait has yet to come.
static bool startProduct(Machine *machine, Frame *frame, const Instruction *instruction, Array *accumulator) {
  Barrier *barrier = interpretGroupCount(instruction, 3) ? barrierOperand(frame, instruction, 3) : NULL;
  Round *round;
  int64_t use = -1;
  if (barrier && !roundOf(machine, frame, instruction, barrier, 4, &use, &round))
    return false;
  if (barrier && round)
    ++round->arrivals;
  return interpretProductStart(machine, instruction, arrayOperand(frame, instruction, 0),
                               arrayOperand(frame, instruction, 1), accumulator, barrier, use);
}

// Products on one accumulator happen in order, so that one may follow another without a wait.
static void putProduct(const Array *accumulator, const Array *result) {
  int64_t index[InterpreterMaxRank] = {0};
  const Element *from = arrayElements(result);
  if (interpretArrayCount(result) > 0)
    do
      accumulator->storage->elements[interpretPlaceOf(accumulator, index)] = *from++;
    while (interpretIndexNext(accumulator->rank, accumulator->sizes, index));
}

// Where the op says that it does not add, what was there before is gone.
static bool clearUnlessAdding(Machine *machine, const Frame *frame, const Instruction *instruction,
                              const Array *accumulator) {
  int64_t index[InterpreterMaxRank] = {0}, adds = 1;
  if (!interpretGroupCount(instruction, 5))
    return true;
  if (!interpretIndexOperand(machine, frame, instruction, interpretGroupBegin(instruction, 5), &adds))
    return false;
  if (!adds && interpretArrayCount(accumulator) > 0)
    do
      accumulator->storage->elements[interpretPlaceOf(accumulator, index)] = elementOfInteger(0);
    while (interpretIndexNext(accumulator->rank, accumulator->sizes, index));
  return true;
}

bool interpretTileMmaAsync(Machine *machine, Frame *frame, const Instruction *instruction) {
  Array *accumulator = arrayOperand(frame, instruction, 2);
  if (!clearUnlessAdding(machine, frame, instruction, accumulator))
    return false;
  Instruction typed = *instruction;
  interpretFormatOf(tileTypeGetElement(tileMmaAsyncOpGetLhsType(instruction->op)), &typed.in);
  Array *result = interpretMultiplied(machine, &typed, arrayOperand(frame, instruction, 0),
                                      arrayOperand(frame, instruction, 1), accumulator, NULL, 0);
  if (!result)
    return false;
  bool isInMemory = instruction->numResults == 0;
  if (isInMemory) {
    putProduct(accumulator, result);
    valueRelease(valueOfObject(&result->object));
  } else
    interpretSetArray(frame, instruction, 0, result);
  return startProduct(machine, frame, instruction, isInMemory ? accumulator : NULL);
}

bool interpretTileMmaWait(Machine *machine, Frame *frame, const Instruction *instruction) {
  interpretProductsWait(machine, interpretIntegerOf(instruction, "pending"));
  setResult(frame, instruction, 0, valueRetain(operandOf(frame, instruction, 0)));
  return true;
}
