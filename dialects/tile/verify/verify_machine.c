// A scheduled kernel against its machine (on_machine.h): threads, registers, shared memory, copy engines, MMA atoms.
// Why: nobody hard-codes a chip; what a chip has stands in its file, and a kernel that asks for more is wrong here
// already, not in a back end.
// Expects: ops verified by themselves. Leaves: true, or a diagnostic at the op at fault with a note at the kernel.
// Cost: the machine's file is read once per kernel. What a file does not say is not checked.
#include "dialects/tile/on_machine.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"
#include "lib/layout/algebra.h"
#include "lib/layout/text.h"
#include "lib/layout/tiling.h"
#include "lib/machine/machine.h"

#include <stdio.h>
#include <string.h>

typedef struct Fit {
  MlirOperation kernel;
  TileMachine *machine;
  bool ok;
} Fit;

static int64_t numberOf(const Fit *fit, const char *key, int64_t otherwise) {
  int64_t value = otherwise;
  tileMachineGetInteger(fit->machine, key, &value);
  return value;
}

static bool expectAtMost(const Fit *fit, MlirOperation op, const char *what, int64_t seen, const char *key) {
  int64_t limit = numberOf(fit, key, INT64_MAX);
  return seen <= limit || tileErrorWithNote(op, mlirOperationGetLocation(fit->kernel), "the machine is named here",
                                            "has %lld %s, expected at most %s's %lld", (long long)seen, what,
                                            tileMachineGetName(fit->machine), (long long)limit);
}

//===--- threads, registers, memory -----------------------------------------===//

static bool verifyThreads(const Fit *fit) {
  int64_t warps = 1;
  tileIntegerOf(fit->kernel, "warps", &warps);
  return expectAtMost(fit, fit->kernel, "threads", warps * numberOf(fit, "warp.width", 1), "threads.per_block");
}

static bool verifyRegisters(const Fit *fit, MlirOperation op) {
  int64_t sum = 0, width = numberOf(fit, "warp.width", 1);
  for (intptr_t i = 0, count = tileArrayCount(op, "registers"); i < count; ++i) {
    int64_t registers = tileArrayAt(op, "registers", i);
    if (!expectAtMost(fit, op, "registers in a thread", registers, "registers.per_thread"))
      return false;
    sum += registers * tileArrayAt(op, "warps", i) * width;
  }
  return expectAtMost(fit, op, "registers in all partitions", sum, "registers.per_core");
}

// One buffer by itself; how several share a level is planned elsewhere.
static bool verifyBuffer(const Fit *fit, MlirOperation op) {
  MlirType type = tileOnlyResultType(op);
  if (!tileTypeIsABuffer(type) || !tileStringEquals(tileBufferTypeGetLevel(type), "shared"))
    return true;
  TileLayout layout = tileLayoutAttrGetLayout(tileBufferTypeGetLayout(type));
  int64_t stages = tileBufferTypeGetStages(type), width = tileElementWidth(tileTypeGetElement(type));
  int64_t bits = (int64_t)tileLayoutPaddedSize(&layout) * (width ? width : 64) * (stages ? stages : 1);
  return expectAtMost(fit, op, "bytes of shared memory", (bits + 7) / 8, "shared.per_block.bytes");
}

//===--- engines ------------------------------------------------------------===//

static bool verifyEngine(const Fit *fit, MlirOperation op) {
  MlirStringRef engine = tileKeywordOf(op, "engine");
  char word[64];
  snprintf(word, sizeof word, "%.*s", (int)engine.length, engine.data);
  if (!engine.length || tileMachineListHas(fit->machine, "engines", word))
    return true;
  const char *engines = tileMachineGetText(fit->machine, "engines");
  return tileErrorWithNote(op, mlirOperationGetLocation(fit->kernel), "the machine is named here",
                           "copies by engine \"%s\", expected one of %s's: %s", word, tileMachineGetName(fit->machine),
                           engines ? engines : "it has none");
}

//===--- atoms --------------------------------------------------------------===//

// The operand's layout is the atom's fragment, repeated. An empty fragment: the operand lies in memory.
static bool verifyFragment(const Fit *fit, MlirOperation op, const char *name, const char *fragmentText) {
  MlirType type = mlirValueGetType(tileOpOperand(op, name));
  MlirAttribute attribute = tileTypeGetLayout(type);
  TileLayout layout, fragment, tiling;
  TileError error;
  if (!*fragmentText || !tileTypeIsATile(type) || mlirAttributeIsNull(attribute))
    return true;
  layout = tileLayoutAttrGetLayout(attribute);
  // At rank 3 the first axis is a batch, which no fragment has.
  if (!tileLayoutParse(fragmentText, strlen(fragmentText), &fragment, &error) ||
      (tileTypeGetRank(type) == 3 && !tileLayoutInsertAxis(&fragment, 0, &fragment, &error)) ||
      tileLayoutDivide(&layout, &fragment, &tiling, &error))
    return true;
  MlirStringRef seen = tileLayoutAttrGetText(attribute);
  return tileErrorWithNote(op, mlirOperationGetLocation(fit->kernel), "the machine is named here",
                           "%s has layout <%.*s>, expected the atom's fragment <%s>, repeated: %s", name,
                           (int)seen.length, seen.data, fragmentText, error.text);
}

static bool verifyTypes(const Fit *fit, MlirOperation op, const TileMachineAtom *atom) {
  char text[3][32];
  static const char *const names[] = {"lhs", "rhs", "accumulator"};
  for (int i = 0; i < 3; ++i)
    tileTypeText(tileTypeGetElement(mlirValueGetType(tileOpOperand(op, names[i]))), text[i], sizeof text[i]);
  const char *part = tileFactorPart(op);
  if (tileMachineAtomTakes(atom, text[0], text[1], text[2]) ||
      (part && tileMachineAtomTakes(atom, part, part, text[2])))
    return true;
  return tileErrorWithNote(op, mlirOperationGetLocation(fit->kernel), "the machine is named here",
                           "multiplies %s by %s into %s, expected what the atom takes: %s", text[0], text[1], text[2],
                           atom->types);
}

// "fma" is no instruction of a file: threads multiply and add scalars. Each has all of k for its accumulators.
static bool verifyMultiplyAdd(MlirOperation op, uint32_t side, const char *name) {
  MlirType sum = tileOnlyResultType(op), type = mlirValueGetType(tileOpOperand(op, name));
  MlirAttribute accumulator = tileTypeGetLayout(sum), seen = tileTypeGetLayout(type);
  intptr_t rank = tileTypeGetRank(sum);
  TileLayout layout, wanted;
  TileError error;
  if (mlirAttributeIsNull(accumulator) || mlirAttributeIsNull(seen))
    return true;
  layout = tileLayoutAttrGetLayout(accumulator);
  if (!tileLayoutMultiplyAdd(&layout, side, (uint32_t)rank, tileTypeGetSize(type, side == 0 ? rank - 1 : rank - 2),
                             &wanted, &error))
    return tileError(op, "%s has no layout for multiply-adds: %s", name, error.text);
  layout = tileLayoutAttrGetLayout(seen);
  if (tileLayoutEquals(&layout, &wanted))
    return true;
  MlirStringRef seenText = tileLayoutAttrGetText(seen);
  MlirStringRef wantedText = tileLayoutAttrGetText(tileLayoutAttrGet(mlirOperationGetContext(op), &wanted));
  return tileError(op, "%s has layout <%.*s>, expected <%.*s>: all of k in the threads that accumulate", name,
                   (int)seenText.length, seenText.data, (int)wantedText.length, wantedText.data);
}

static bool verifyAtom(const Fit *fit, MlirOperation op) {
  MlirStringRef text = tileKeywordOf(op, "atom");
  TileMachineAtom atom;
  TileError error;
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)text.length, text.data);
  if (!text.length)
    return true;
  if (tileStringEquals(text, "fma"))
    return verifyMultiplyAdd(op, 0, "lhs") && verifyMultiplyAdd(op, 1, "rhs");
  if (!tileMachineFindAtom(fit->machine, name, &atom, &error))
    return tileErrorWithNote(op, mlirOperationGetLocation(fit->kernel), "the machine is named here", "%s", error.text);
  if (tileMmaSparseOpIsA(op) != !!atom.fragment[3][0])
    return tileErrorWithNote(op, mlirOperationGetLocation(fit->kernel), "the machine is named here",
                             "has atom %s, which multiplies %s left factors", name,
                             atom.fragment[3][0] ? "sparse" : "dense");
  if (atom.fragment[3][0] && !verifyFragment(fit, op, "places", atom.fragment[3]))
    return false;
  return verifyTypes(fit, op, &atom) && verifyFragment(fit, op, "lhs", atom.fragment[0]) &&
         verifyFragment(fit, op, "rhs", atom.fragment[1]) && verifyFragment(fit, op, "accumulator", atom.fragment[2]);
}

//===--- the walk -----------------------------------------------------------===//

static bool verifyOp(const Fit *fit, MlirOperation op) {
  if (tileWarpSpecializeOpIsA(op))
    return verifyRegisters(fit, op);
  if (tileAllocOpIsA(op))
    return verifyBuffer(fit, op);
  if (tileCopyAsyncOpIsA(op))
    return verifyEngine(fit, op);
  bool isProduct = tileMmaOpIsA(op) || tileMmaSparseOpIsA(op) || tileMmaAsyncOpIsA(op);
  return !isProduct || verifyAtom(fit, op);
}

static MlirWalkResult visit(MlirOperation op, void *data) {
  Fit *fit = data;
  fit->ok = verifyOp(fit, op);
  return fit->ok ? MlirWalkResultAdvance : MlirWalkResultInterrupt;
}

bool tileVerifyOnMachine(MlirOperation kernel) {
  MlirAttribute machine = tileOpAttribute(kernel, "machine");
  TileError error;
  if (mlirAttributeIsNull(machine))
    return true;
  Fit fit = {.kernel = kernel, .machine = tileMachineAttrLoad(machine, &error), .ok = true};
  if (!fit.machine)
    return tileError(kernel, "%s", error.text);
  fit.ok = verifyThreads(&fit);
  if (fit.ok)
    mlirOperationWalk(kernel, visit, &fit, MlirWalkPreOrder);
  tileMachineDestroy(fit.machine);
  return fit.ok;
}
