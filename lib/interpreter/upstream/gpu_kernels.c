// Programs in upstream's dialect gpu: kernels run block by block, thread by thread.
//
// A kernel without barriers runs its threads one after the other. The threads of any other are parts that take turns
// (tile/partitions.h). Memory of a block is new for each block. Two blocks that touch one element without atomics are
// an error (numerics.md §6); threads of one block that race are the emulator's to find. Host and device share one
// memory, and the program's order satisfies every token.
#include "lib/interpreter/tile/partitions.h"
#include "lib/interpreter/upstream/upstream.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/gpu.h"

#include <stdlib.h>
#include <string.h>

enum { MostThreads = 1024, Sizes = 6, LaunchArguments = 12 };

// Where threads wait for each other.
typedef struct Meeting {
  int64_t arrived, generation, count;
} Meeting;

// The block that runs.
typedef struct GpuBlock {
  MlirOperation module; // its gpu.module; null: it stands in a gpu.launch
  int64_t sizes[3], count;
  Global *memory;                      // of the block alone
  Meeting barrier, lanes[MostThreads]; // of a group of lanes: at its first one's number
  Element values[MostThreads], last;   // of a reduction
} GpuBlock;

typedef struct Kernel {
  const Instruction *launch;
  const InterpretBody *body;
  const InterpretRegion *region;
  const Frame *around;   // whose values the region of a gpu.launch sees; null: none
  MlirOperation code;    // the gpu.launch or gpu.func
  intptr_t firstOperand; // of those that become arguments
  int64_t sizes[Sizes];  // of the grid, of a block
} Kernel;

//===--- who runs -------------------------------------------------------------------===//

static bool giveIndex(Machine *machine, Frame *frame, const Instruction *instruction, const int64_t *numbers) {
  if (!machine->grid.gpu)
    return interpretFail(machine, instruction->op, "runs outside of a kernel");
  setResult(frame, instruction, 0,
            valueOfInteger(numbers[gpuDimensionOf(tileOpAttribute(instruction->op, "dimension"))]));
  return true;
}

bool interpretGpuThreadId(Machine *machine, Frame *frame, const Instruction *instruction) {
  return giveIndex(machine, frame, instruction, machine->grid.thread);
}

bool interpretGpuBlockId(Machine *machine, Frame *frame, const Instruction *instruction) {
  return giveIndex(machine, frame, instruction, machine->grid.ids);
}

bool interpretGpuBlockDim(Machine *machine, Frame *frame, const Instruction *instruction) {
  return giveIndex(machine, frame, instruction, machine->grid.gpu ? machine->grid.gpu->sizes : NULL);
}

bool interpretGpuGridDim(Machine *machine, Frame *frame, const Instruction *instruction) {
  return giveIndex(machine, frame, instruction, machine->grid.sizes);
}

//===--- barriers, reductions -------------------------------------------------------===//

// `whole`: what the threads are of, in a message.
static bool meet(Machine *machine, const Instruction *instruction, Meeting *meeting, int64_t count, const char *whole) {
  int64_t generation = meeting->generation;
  if (!interpretStep(machine, instruction->op, 1)) // who comes here has gone on
    return false;
  if (meeting->arrived && meeting->count != count)
    return interpretFail(machine, instruction->op, "is in groups of %lld threads, and other threads in groups of %lld",
                         (long long)count, (long long)meeting->count);
  meeting->count = count;
  if (++meeting->arrived == count) {
    meeting->arrived = 0;
    ++meeting->generation;
    return true;
  }
  while (meeting->generation == generation)
    if (!interpretPartitionYield(machine))
      return !machine->failed && interpretFail(machine, instruction->op,
                                               "waits for threads of the %s that never come here: %lld of %lld did",
                                               whole, (long long)meeting->arrived, (long long)count);
  return true;
}

static bool meetBlock(Machine *machine, const Instruction *instruction) {
  GpuBlock *block = machine->grid.gpu;
  return block ? meet(machine, instruction, &block->barrier, block->count, "block")
               : interpretFail(machine, instruction->op, "runs outside of a kernel");
}

bool interpretGpuBarrier(Machine *machine, Frame *frame, const Instruction *instruction) {
  (void)frame;
  return meetBlock(machine, instruction);
}

static int64_t threadNumber(const Machine *machine) {
  const GpuBlock *block = machine->grid.gpu;
  const int64_t *thread = machine->grid.thread;
  return (thread[2] * block->sizes[1] + thread[1]) * block->sizes[0] + thread[0];
}

// The op of arith; none where the operation has none for these numbers.
static TileUpstream reducingOp(MlirAttribute attribute, bool isFloat) {
  static const struct {
    TileUpstream ofIntegers, ofFloats;
  } kinds[] = {
      [GpuAllReduceOperation_Add] = {ArithOp_AddI, ArithOp_AddF},
      [GpuAllReduceOperation_Mul] = {ArithOp_MulI, ArithOp_MulF},
      [GpuAllReduceOperation_Minui] = {ArithOp_MinUI, TileUpstream_None},
      [GpuAllReduceOperation_Minsi] = {ArithOp_MinSI, TileUpstream_None},
      [GpuAllReduceOperation_Maxui] = {ArithOp_MaxUI, TileUpstream_None},
      [GpuAllReduceOperation_Maxsi] = {ArithOp_MaxSI, TileUpstream_None},
      [GpuAllReduceOperation_And] = {ArithOp_AndI, TileUpstream_None},
      [GpuAllReduceOperation_Or] = {ArithOp_OrI, TileUpstream_None},
      [GpuAllReduceOperation_Xor] = {ArithOp_XOrI, TileUpstream_None},
      [GpuAllReduceOperation_Minnumf] = {TileUpstream_None, ArithOp_MinNumF},
      [GpuAllReduceOperation_Maxnumf] = {TileUpstream_None, ArithOp_MaxNumF},
      [GpuAllReduceOperation_Minimumf] = {TileUpstream_None, ArithOp_MinimumF},
      [GpuAllReduceOperation_Maximumf] = {TileUpstream_None, ArithOp_MaximumF},
  };
  int word = gpuAllReduceOperationOf(attribute);
  return word < 0 ? TileUpstream_None : isFloat ? kinds[word].ofFloats : kinds[word].ofIntegers;
}

static bool reduceNamed(Machine *machine, const Instruction *instruction, const Element *values, int64_t count,
                        MlirAttribute named, Element *result) {
  TileUpstream kind = reducingOp(named, instruction->in.isFloat);
  return interpretReduceElements(machine, instruction, kind, values, count, result);
}

static bool reduceByRegion(Machine *machine, Frame *frame, const Instruction *instruction, GpuBlock *block) {
  const InterpretRegion *region = &instruction->regions[0];
  block->last = block->values[0];
  for (int64_t i = 1; i < block->count; ++i) {
    InterpretValue arguments[] = {valueOfElement(block->last), valueOfElement(block->values[i])};
    if (!interpretRegionRun(machine, frame, region, 2, arguments))
      return false;
    block->last = frame->yielded[0].scalar;
  }
  return true;
}

bool interpretGpuAllReduce(Machine *machine, Frame *frame, const Instruction *instruction) {
  GpuBlock *block = machine->grid.gpu;
  MlirAttribute named = tileOpAttribute(instruction->op, "op");
  if (mlirAttributeIsNull(tileOpAttribute(instruction->op, "uniform")))
    return interpretUnknown(machine, instruction->op, "not interpreted yet: a reduction that is not uniform");
  if (!block)
    return interpretFail(machine, instruction->op, "runs outside of a kernel");
  block->values[threadNumber(machine)] = operandOf(frame, instruction, 0).scalar;
  if (!meetBlock(machine, instruction))
    return false;
  bool isFirst = threadNumber(machine) == 0, isNamed = !mlirAttributeIsNull(named);
  if (isFirst && !(isNamed ? reduceNamed(machine, instruction, block->values, block->count, named, &block->last)
                           : reduceByRegion(machine, frame, instruction, block)))
    return false;
  if (!meetBlock(machine, instruction))
    return false;
  setResult(frame, instruction, 0, valueOfElement(block->last));
  return true;
}

//===--- lanes of a subgroup ---------------------------------------------------------===//

// No chip has smaller subgroups, so a block of that many threads is one.
enum { LeastLanes = 32 };

// The threads that exchange values: `width` in a row. The last group of a block may have fewer.
typedef struct Lanes {
  int64_t first, count, own;
} Lanes;

static bool lanesOf(Machine *machine, const Instruction *instruction, int64_t width, Lanes *lanes) {
  const GpuBlock *block = machine->grid.gpu;
  if (!block)
    return interpretFail(machine, instruction->op, "runs outside of a kernel");
  if (width < 1 || (block->count > width && (width & (width - 1))))
    return interpretUnknown(machine, instruction->op,
                            "not interpreted yet: groups of %lld lanes in a block of %lld threads", (long long)width,
                            (long long)block->count);
  int64_t number = threadNumber(machine), first = number / width * width;
  *lanes = (Lanes){first, block->count - first < width ? block->count - first : width, number - first};
  return true;
}

static bool meetLanes(Machine *machine, const Instruction *instruction, const Lanes *lanes) {
  return meet(machine, instruction, &machine->grid.gpu->lanes[lanes->first], lanes->count, "subgroup");
}

// The lane that is read, of `width`.
static int64_t laneRead(MlirOperation op, int64_t own, int64_t offset) {
  switch (gpuShuffleModeOf(gpuShuffleOpGetMode(op))) {
  case GpuShuffleMode_Xor:
    return own ^ offset;
  case GpuShuffleMode_Up:
    return own - offset;
  case GpuShuffleMode_Down:
    return own + offset;
  default:
    return offset;
  }
}

// A lane that is not there gives poison.
bool interpretGpuShuffle(Machine *machine, Frame *frame, const Instruction *instruction) {
  int64_t offset, width;
  Lanes lanes;
  if (operandOf(frame, instruction, 0).object)
    return interpretUnknown(machine, instruction->op, "not interpreted yet: a shuffle of vectors");
  if (!interpretIndexOperand(machine, frame, instruction, 1, &offset) ||
      !interpretIndexOperand(machine, frame, instruction, 2, &width) || !lanesOf(machine, instruction, width, &lanes))
    return false;
  GpuBlock *block = machine->grid.gpu;
  block->values[lanes.first + lanes.own] = operandOf(frame, instruction, 0).scalar;
  if (!meetLanes(machine, instruction, &lanes))
    return false;
  int64_t from = laneRead(instruction->op, lanes.own, offset);
  bool isInside = from >= 0 && from < width, isThere = isInside && from < lanes.count;
  Element value = isThere ? block->values[lanes.first + from] : elementMissing(ELEMENT_POISON);
  if (!meetLanes(machine, instruction, &lanes))
    return false;
  setResult(frame, instruction, 0, valueOfElement(value));
  setResult(frame, instruction, 1, valueOfInteger(isInside ? -1 : 0));
  return true;
}

bool interpretGpuSubgroupReduce(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirAttribute size = tileOpAttribute(instruction->op, "cluster_size"),
                stride = tileOpAttribute(instruction->op, "cluster_stride");
  GpuBlock *block = machine->grid.gpu;
  bool isStrided = !mlirAttributeIsNull(stride) && mlirIntegerAttrGetValueInt(stride) != 1;
  if (operandOf(frame, instruction, 0).object || isStrided ||
      (mlirAttributeIsNull(size) && block && block->count > LeastLanes))
    return interpretUnknown(
        machine, instruction->op,
        "not interpreted yet: a reduction of vectors, of strided lanes, or of a whole subgroup in a "
        "block of more than %d threads",
        LeastLanes);
  Lanes lanes;
  Element result;
  if (!lanesOf(machine, instruction, mlirAttributeIsNull(size) ? LeastLanes : mlirIntegerAttrGetValueInt(size), &lanes))
    return false;
  block->values[lanes.first + lanes.own] = operandOf(frame, instruction, 0).scalar;
  if (!meetLanes(machine, instruction, &lanes) ||
      !reduceNamed(machine, instruction, &block->values[lanes.first], lanes.count,
                   tileOpAttribute(instruction->op, "op"), &result) ||
      !meetLanes(machine, instruction, &lanes))
    return false;
  setResult(frame, instruction, 0, valueOfElement(result));
  return true;
}

//===--- memory of a block ----------------------------------------------------------===//

MlirOperation interpretGpuSymbol(const Machine *machine, MlirStringRef name) {
  const GpuBlock *block = machine->grid.gpu;
  return block && !mlirOperationIsNull(block->module) ? interpretFindSymbol(block->module, name)
                                                      : (MlirOperation){NULL};
}

Global **interpretGpuMemory(Machine *machine) { return &machine->grid.gpu->memory; }

// An array that stands for argument `index` of the kernel: memory of the block or of the thread.
static Array *newMemory(Machine *machine, const Kernel *kernel, MlirType type) {
  int64_t sizes[InterpreterMaxRank];
  int rank = (int)mlirShapedTypeGetRank(type);
  for (int d = 0; d < rank && d < InterpreterMaxRank; ++d)
    sizes[d] = mlirShapedTypeGetDimSize(type, d);
  return interpretNewArray(machine, kernel->launch, rank, sizes);
}

//===--- one block ------------------------------------------------------------------===//

// The arguments that all threads of a block share: operands, then memory of the block.
static intptr_t sharedArguments(const Kernel *kernel) {
  MlirAttribute attributions = tileOpAttribute(kernel->code, "workgroup_attributions");
  intptr_t operands = kernel->launch->numOperands - kernel->firstOperand;
  return operands + (mlirAttributeIsNull(attributions) ? 0 : (intptr_t)mlirIntegerAttrGetValueInt(attributions));
}

static bool bindKernel(Machine *machine, const Kernel *kernel, const Frame *caller, Frame *frame,
                       const InterpretValue *shared) {
  const InterpretBlock *block = kernel->region->blocks;
  intptr_t operands = kernel->launch->numOperands - kernel->firstOperand, common = sharedArguments(kernel);
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel->code, 0));
  for (int i = 0; i < block->numArguments; ++i) {
    InterpretValue value;
    if (i < operands) {
      value = valueRetain(operandOf(caller, kernel->launch, kernel->firstOperand + i));
    } else if (i < common) {
      value = valueRetain(shared[i - operands]);
    } else {
      Array *own = newMemory(machine, kernel, mlirValueGetType(mlirBlockGetArgument(entry, i)));
      if (!own)
        return false;
      value = valueOfObject(&own->object);
    }
    frameSet(frame, block->arguments[i], value);
  }
  return true;
}

static void bindLaunch(const Machine *machine, const Kernel *kernel, Frame *frame) {
  const InterpretBlock *block = kernel->region->blocks;
  const int64_t *parts[] = {machine->grid.ids, machine->grid.thread, kernel->sizes, kernel->sizes + 3};
  for (int i = 0; i < LaunchArguments && i < block->numArguments; ++i)
    frameSet(frame, block->arguments[i], valueOfInteger(parts[i / 3][i % 3]));
}

static bool makeFrame(Machine *machine, const Kernel *kernel, const Frame *caller, const InterpretValue *shared,
                      Frame *frame) {
  if (!interpretFrameCreate(machine, kernel->body, frame))
    return interpretOutOfMemory(machine, kernel->launch->op);
  for (int i = 0; kernel->around && i < kernel->body->numSlots; ++i)
    frame->slots[i] = valueRetain(kernel->around->slots[i]);
  if (!kernel->around)
    return bindKernel(machine, kernel, caller, frame, shared);
  bindLaunch(machine, kernel, frame);
  return true;
}

static void setThread(Machine *machine, const Kernel *kernel, int64_t number) {
  int64_t *thread = machine->grid.thread;
  thread[0] = number % kernel->sizes[3];
  thread[1] = number / kernel->sizes[3] % kernel->sizes[4];
  thread[2] = number / (kernel->sizes[3] * kernel->sizes[4]);
}

static bool runOneByOne(Machine *machine, const Kernel *kernel, const Frame *caller, const InterpretValue *shared) {
  bool ok = true;
  for (int64_t i = 0; i < machine->grid.gpu->count && ok; ++i) {
    Frame frame;
    setThread(machine, kernel, i);
    ok = makeFrame(machine, kernel, caller, shared, &frame) &&
         interpretRegionRun(machine, &frame, kernel->region, 0, NULL);
    if (frame.slots)
      interpretFrameDestroy(&frame);
  }
  return ok;
}

static bool runInTurns(Machine *machine, const Kernel *kernel, const Frame *caller, const InterpretValue *shared) {
  int count = (int)machine->grid.gpu->count, made = 0;
  Part *parts = calloc((size_t)count + 1, sizeof *parts);
  Frame *frames = calloc((size_t)count + 1, sizeof *frames);
  bool ok = (parts && frames) || interpretOutOfMemory(machine, kernel->launch->op);
  for (; made < count && ok; ++made) {
    setThread(machine, kernel, made);
    ok = makeFrame(machine, kernel, caller, shared, &frames[made]);
    parts[made] = (Part){.frame = &frames[made], .region = kernel->region, .grid = machine->grid};
  }
  ok = ok && interpretRunParts(machine, kernel->launch, count, parts);
  for (int i = 0; i < made; ++i)
    if (frames[i].slots)
      interpretFrameDestroy(&frames[i]);
  free(frames);
  free(parts);
  return ok;
}

static bool waits(MlirOperation op) {
  return gpuBarrierOpIsA(op) || gpuAllReduceOpIsA(op) || gpuShuffleOpIsA(op) || gpuSubgroupReduceOpIsA(op) ||
         funcCallOpIsA(op);
}

static bool mayWait(const Kernel *kernel) {
  TileOps ops = tileCollectOps(kernel->code, waits);
  bool may = ops.count > 0;
  tileOpsFree(&ops);
  return may;
}

static bool runBlock(Machine *machine, const Kernel *kernel, const Frame *caller, GpuBlock *block) {
  intptr_t operands = kernel->launch->numOperands - kernel->firstOperand;
  intptr_t common = kernel->around ? operands : sharedArguments(kernel);
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel->code, 0));
  InterpretValue *shared = calloc((size_t)(common - operands) + 1, sizeof *shared);
  bool ok = shared || interpretOutOfMemory(machine, kernel->launch->op);
  for (intptr_t i = operands; i < common && ok; ++i) {
    Array *memory = newMemory(machine, kernel, mlirValueGetType(mlirBlockGetArgument(entry, i)));
    ok = memory != NULL;
    if (ok)
      shared[i - operands] = valueOfObject(&memory->object);
  }
  ok = ok && (mayWait(kernel) ? runInTurns : runOneByOne)(machine, kernel, caller, shared);
  for (intptr_t i = 0; shared && i < common - operands; ++i)
    valueRelease(shared[i]);
  free(shared);
  interpretForgetGlobals(block->memory);
  return ok;
}

//===--- launches -------------------------------------------------------------------===//

static bool readSizes(Machine *machine, const Frame *frame, const Instruction *instruction, intptr_t first,
                      int64_t sizes[Sizes]) {
  int64_t threads = 1;
  if (!interpretIndexOperands(machine, frame, instruction, first, Sizes, sizes))
    return false;
  for (int i = 0; i < Sizes; ++i) {
    if (sizes[i] < 1 || sizes[i] > INT32_MAX)
      return interpretFail(machine, instruction->op, "a size of the launch is %lld, expected at least 1",
                           (long long)sizes[i]);
    threads *= i < 3 || threads > MostThreads ? 1 : sizes[i];
  }
  return threads <= MostThreads ||
         interpretFail(machine, instruction->op, "has more than %d threads in a block", MostThreads);
}

static bool runGrid(Machine *machine, const Kernel *kernel, const Frame *caller) {
  Grid outer = machine->grid, *grid = &machine->grid;
  GpuBlock *block = calloc(1, sizeof *block);
  if (!block)
    return interpretOutOfMemory(machine, kernel->launch->op);
  if (outer.gpu || !mlirOperationIsNull(outer.launch)) {
    free(block);
    return interpretUnknown(machine, kernel->launch->op, "not interpreted yet: a launch in a kernel");
  }
  *grid = (Grid){.launch = kernel->launch->op, .gpu = block};
  memcpy(grid->sizes, kernel->sizes, sizeof grid->sizes);
  bool ok = true;
  for (grid->ids[2] = 0; grid->ids[2] < grid->sizes[2] && ok; ++grid->ids[2])
    for (grid->ids[1] = 0; grid->ids[1] < grid->sizes[1] && ok; ++grid->ids[1])
      for (grid->ids[0] = 0; grid->ids[0] < grid->sizes[0] && ok; ++grid->ids[0]) {
        *block = (GpuBlock){.module = tileParentOp(kernel->code, gpuGPUModuleOpIsA),
                            .sizes = {kernel->sizes[3], kernel->sizes[4], kernel->sizes[5]},
                            .count = kernel->sizes[3] * kernel->sizes[4] * kernel->sizes[5]};
        gridNumber(grid);
        ok = runBlock(machine, kernel, caller, block);
      }
  interpretMemoryForgetTouches(machine);
  machine->grid = outer;
  free(block);
  return ok;
}

static void giveTokens(Frame *frame, const Instruction *instruction, int from) {
  for (int i = from; i < instruction->numResults; ++i)
    setResult(frame, instruction, i, valueOfInteger(0));
}

bool interpretGpuLaunch(Machine *machine, Frame *frame, const Instruction *instruction) {
  Kernel kernel = {.launch = instruction,
                   .body = frame->body,
                   .region = &instruction->regions[0],
                   .around = frame,
                   .code = instruction->op,
                   .firstOperand = instruction->numOperands};
  giveTokens(frame, instruction, 0);
  return readSizes(machine, frame, instruction, gpuLaunchOpGetNumAsyncDependencies(instruction->op), kernel.sizes) &&
         runGrid(machine, &kernel, frame);
}

bool interpretGpuLaunchFunc(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirOperation op = instruction->op;
  MlirAttribute symbol = tileOpAttribute(op, "kernel");
  MlirOperation module = interpretFindSymbol(machine->module, mlirSymbolRefAttrGetRootReference(symbol));
  MlirOperation code =
      mlirOperationIsNull(module) ? module : interpretFindSymbol(module, mlirSymbolRefAttrGetLeafReference(symbol));
  if (!gpuGPUFuncOpIsA(code))
    return interpretUnknown(machine, op, "not interpreted yet: a kernel that is no gpu.func");
  Kernel kernel = {.launch = instruction, .body = interpretBodyOf(machine, code, 0), .code = code};
  if (!kernel.body)
    return false;
  kernel.region = &kernel.body->region;
  kernel.firstOperand = gpuLaunchFuncOpGetKernelOperandsBegin(op);
  giveTokens(frame, instruction, 0);
  return readSizes(machine, frame, instruction, gpuLaunchFuncOpGetNumAsyncDependencies(op), kernel.sizes) &&
         runGrid(machine, &kernel, frame);
}

//===--- memory of the host ---------------------------------------------------------===//

bool interpretGpuWait(Machine *machine, Frame *frame, const Instruction *instruction) {
  (void)machine;
  giveTokens(frame, instruction, 0);
  return true;
}

// Without the tokens in front.
static Instruction withoutTokens(const Instruction *instruction, intptr_t tokens) {
  Instruction rest = *instruction;
  rest.operands += tokens;
  rest.numOperands -= (int)tokens;
  return rest;
}

bool interpretGpuAlloc(Machine *machine, Frame *frame, const Instruction *instruction) {
  Instruction rest = withoutTokens(instruction, gpuAllocOpGetNumAsyncDependencies(instruction->op));
  giveTokens(frame, instruction, 1);
  return interpretAlloc(machine, frame, &rest);
}

bool interpretGpuDealloc(Machine *machine, Frame *frame, const Instruction *instruction) {
  Instruction rest = withoutTokens(instruction, gpuDeallocOpGetNumAsyncDependencies(instruction->op));
  giveTokens(frame, instruction, 0);
  return interpretDealloc(machine, frame, &rest);
}

bool interpretGpuMemcpy(Machine *machine, Frame *frame, const Instruction *instruction) {
  intptr_t tokens = gpuMemcpyOpGetNumAsyncDependencies(instruction->op);
  giveTokens(frame, instruction, 0);
  return interpretCopyElements(machine, instruction, arrayOperand(frame, instruction, tokens + 1),
                               arrayOperand(frame, instruction, tokens));
}

bool interpretGpuMemset(Machine *machine, Frame *frame, const Instruction *instruction) {
  intptr_t tokens = gpuMemsetOpGetNumAsyncDependencies(instruction->op);
  const Array *to = arrayOperand(frame, instruction, tokens);
  Element x = operandOf(frame, instruction, tokens + 1).scalar;
  int64_t index[InterpreterMaxRank] = {0};
  giveTokens(frame, instruction, 0);
  if (interpretArrayCount(to) == 0)
    return true;
  do
    if (!interpretMemoryWrite(machine, instruction, to->storage, interpretPlaceOf(to, index), x))
      return false;
  while (interpretIndexNext(to->rank, to->sizes, index));
  return interpretStep(machine, instruction->op, interpretArrayCount(to));
}
