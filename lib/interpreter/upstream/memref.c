// The ops of memref: memory that is written in place. Reads and writes go through memory.c, which knows who touched
// what.
#include "lib/interpreter/upstream/upstream.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "upstream/arith.h"

#include <stdlib.h>

bool interpretDealloc(Machine *machine, Frame *frame, const Instruction *instruction) {
  Storage *storage = arrayOperand(frame, instruction, 0)->storage;
  if (storage->isDead)
    return interpretFail(machine, instruction->op, "deallocates memory twice");
  storage->isDead = true;
  return true;
}

// New memory with the old elements as far as they fit; the old memory is gone.
bool interpretRealloc(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0);
  int64_t size = mlirShapedTypeGetDimSize(tileOnlyResultType(instruction->op), 0);
  if (instruction->numOperands > 1 && !interpretIndexOperand(machine, frame, instruction, 1, &size))
    return false;
  Array *to = interpretMemoryExpectAlive(machine, instruction, from->storage)
                  ? interpretNewArray(machine, instruction, 1, &size)
                  : NULL;
  if (!to)
    return false;
  for (int64_t i = 0; i < size && i < from->sizes[0]; ++i)
    arrayElements(to)[i] = from->storage->elements[interpretPlaceOf(from, &i)];
  from->storage->isDead = true;
  setResult(frame, instruction, 0, valueOfObject(&to->object));
  return interpretStep(machine, instruction->op, size);
}

// The vector that lies at a place of memory of vectors.
static Array *vectorAt(const Array *memory, int64_t place, int indices) {
  return interpretArrayAlias(memory, place, memory->rank - indices, memory->sizes + indices, memory->strides + indices);
}

// One element, or a vector's.
bool interpretLoad(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *array = arrayOperand(frame, instruction, 0);
  int indices = instruction->numOperands - 1;
  int64_t place;
  Element x;
  if (!interpretCheckedPlace(machine, frame, instruction, array, 1, &place))
    return false;
  if (indices == array->rank) {
    if (!interpretMemoryRead(machine, instruction, array->storage, place, &x))
      return false;
    setResult(frame, instruction, 0, valueOfElement(x));
    return true;
  }
  Array *part = vectorAt(array, place, indices);
  Array *vector = part ? interpretNewArray(machine, instruction, part->rank, part->sizes) : NULL;
  bool ok = vector && interpretCopyElements(machine, instruction, part, vector);
  if (part)
    valueRelease(valueOfObject(&part->object));
  if (vector)
    setResult(frame, instruction, 0, valueOfObject(&vector->object));
  return ok || (!part && interpretOutOfMemory(machine, instruction->op));
}

bool interpretStore(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *array = arrayOperand(frame, instruction, 1);
  InterpretValue value = operandOf(frame, instruction, 0);
  int indices = instruction->numOperands - 2;
  int64_t place;
  if (!interpretCheckedPlace(machine, frame, instruction, array, 2, &place))
    return false;
  if (!value.object)
    return interpretMemoryWrite(machine, instruction, array->storage, place, value.scalar);
  Array *part = vectorAt(array, place, indices);
  bool ok = part && interpretCopyElements(machine, instruction, arrayOf(value), part);
  if (part)
    valueRelease(valueOfObject(&part->object));
  return ok || (!part && interpretOutOfMemory(machine, instruction->op));
}

bool interpretSubview(Machine *machine, Frame *frame, const Instruction *instruction) {
  Array *part = interpretSliceOf(machine, frame, instruction, arrayOperand(frame, instruction, 0), 1,
                                 tileOnlyResultType(instruction->op));
  if (part)
    setResult(frame, instruction, 0, valueOfObject(&part->object));
  return part != NULL;
}

bool interpretCopyElements(Machine *machine, const Instruction *instruction, const Array *from, const Array *to) {
  int64_t index[InterpreterMaxRank] = {0};
  Element x;
  for (int i = 0; i < from->rank; ++i)
    if (from->sizes[i] != to->sizes[i])
      return interpretFail(machine, instruction->op, "copies size %lld to size %lld in dimension %d",
                           (long long)from->sizes[i], (long long)to->sizes[i], i);
  if (interpretArrayCount(from) == 0)
    return true;
  do
    if (!interpretMemoryRead(machine, instruction, from->storage, interpretPlaceOf(from, index), &x) ||
        !interpretMemoryWrite(machine, instruction, to->storage, interpretPlaceOf(to, index), x))
      return false;
  while (interpretIndexNext(from->rank, from->sizes, index));
  return interpretStep(machine, instruction->op, interpretArrayCount(from));
}

bool interpretCopy(Machine *machine, Frame *frame, const Instruction *instruction) {
  return interpretCopyElements(machine, instruction, arrayOperand(frame, instruction, 0),
                               arrayOperand(frame, instruction, 1));
}

bool interpretPointer(Machine *machine, Frame *frame, const Instruction *instruction) {
  uint64_t address = interpretStorageAddress(machine, arrayOperand(frame, instruction, 0)->storage, &instruction->in);
  setResult(frame, instruction, 0, valueOfInteger((int64_t)address));
  return address || interpretOutOfMemory(machine, instruction->op);
}

//===--- other names for memory -----------------------------------------------------------===//

static bool giveAlias(Machine *machine, Frame *frame, const Instruction *instruction, Array *alias) {
  if (!alias)
    return interpretOutOfMemory(machine, instruction->op);
  setResult(frame, instruction, 0, valueOfObject(&alias->object));
  return true;
}

bool interpretMemrefTranspose(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *array = arrayOperand(frame, instruction, 0);
  MlirAffineMap map = mlirAffineMapAttrGetValue(tileOpAttribute(instruction->op, "permutation"));
  int64_t sizes[InterpreterMaxRank], strides[InterpreterMaxRank];
  for (int i = 0; i < array->rank; ++i) {
    intptr_t from = mlirAffineDimExprGetPosition(mlirAffineMapGetResult(map, i));
    sizes[i] = array->sizes[from];
    strides[i] = array->strides[from];
  }
  return giveAlias(machine, frame, instruction, interpretArrayAlias(array, array->offset, array->rank, sizes, strides));
}

// Offset, sizes and strides anew, within the memory.
bool interpretReinterpretCast(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *array = arrayOperand(frame, instruction, 0);
  int64_t offset, sizes[InterpreterMaxRank], strides[InterpreterMaxRank];
  int rank = (int)mlirShapedTypeGetRank(tileOnlyResultType(instruction->op)), cursor = 1;
  if (!interpretReadMixed(machine, frame, instruction, "static_offsets", &cursor, 1, &offset) ||
      !interpretReadMixed(machine, frame, instruction, "static_sizes", &cursor, rank, sizes) ||
      !interpretReadMixed(machine, frame, instruction, "static_strides", &cursor, rank, strides))
    return false;
  int64_t least = offset, most = offset;
  for (int i = 0; i < rank; ++i) {
    int64_t reach = (sizes[i] - 1) * strides[i];
    least += reach < 0 ? reach : 0;
    most += reach > 0 ? reach : 0;
  }
  if (interpretCountOf(rank, sizes) > 0 && (least < 0 || most >= array->storage->count))
    return interpretFail(machine, instruction->op, "is out of bounds: elements %lld to %lld of memory that has %lld",
                         (long long)least, (long long)most, (long long)array->storage->count);
  return giveAlias(machine, frame, instruction, interpretArrayAlias(array, offset, rank, sizes, strides));
}

// Kinds as arith::AtomicRMWKind numbers them; the result is what was there before, as upstream's lowering has it.
bool interpretMemrefAtomic(Machine *machine, Frame *frame, const Instruction *instruction) {
  static const TileUpstream ops[] = {ArithOp_AddF,     ArithOp_AddI,    ArithOp_AndI,  TileUpstream_None,
                                     ArithOp_MaximumF, ArithOp_MaxNumF, ArithOp_MaxSI, ArithOp_MaxUI,
                                     ArithOp_MinimumF, ArithOp_MinNumF, ArithOp_MinSI, ArithOp_MinUI,
                                     ArithOp_MulF,     ArithOp_MulI,    ArithOp_OrI,   ArithOp_XOrI};
  const Array *array = arrayOperand(frame, instruction, 1);
  int64_t kind = mlirIntegerAttrGetValueInt(tileOpAttribute(instruction->op, "kind")), place;
  Element old, x = operandOf(frame, instruction, 0).scalar;
  if (kind < 0 || kind >= (int64_t)(sizeof ops / sizeof *ops))
    return interpretUnknown(machine, instruction->op, "not interpreted yet: kind %lld", (long long)kind);
  if (!interpretCheckedPlace(machine, frame, instruction, array, 2, &place) ||
      !interpretMemoryExpectAlive(machine, instruction, array->storage) ||
      !interpretMemoryTouch(machine, instruction, array->storage, place, AccessUpdate))
    return false;
  old = array->storage->elements[place];
  if (!interpretElementExpect(machine, instruction, old, "reads"))
    return false;
  const Row *row = interpretRowFind(ops[kind]);
  if (row && !interpretCombineElements(machine, instruction, row, &instruction->in, old, x, &x))
    return false;
  setResult(frame, instruction, 0, valueOfElement(old));
  array->storage->elements[place] = x;
  return true;
}
