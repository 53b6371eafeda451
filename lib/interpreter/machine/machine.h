// What the files of the interpreter share: the program decoded into instructions, and the machine that runs them.
// Decoding looks up names, types and values once per op instead of once per step; it makes runs 50 times faster.
// Expects: a verified module. Leaves: errors as located diagnostics, the first one also as text in machine->error.
//
// machine/ decodes and runs; upstream/, tile/ and sparse/ hold the meanings of ops.
// To add an upstream op: a row in upstream/scalars.h or upstream/upstream.h, and its function.
// To add a Tile or Sparse op: a case in tile/tile.c or sparse/sparse.c, and its function.
#pragma once

#include "lib/interpreter/interpreter.h"
#include "lib/interpreter/machine/value.h"
#include "lib/ir/support.h"
#include "lib/ir/upstream.h"

#include <math.h>

typedef struct Machine Machine;
typedef struct Frame Frame;
typedef struct Instruction Instruction;

// Runs an op: operands from the frame, results into it. False after machineFail.
typedef bool (*Execute)(Machine *machine, Frame *frame, const Instruction *instruction);
// Computes the op on single elements, none of them missing.
typedef bool (*ScalarFunction)(Machine *machine, const Instruction *instruction, const Element *x, Element *result);

// As above, for many elements: operand i of element k is x[i][k * steps[i]], its results go to results[r][k].
typedef bool (*StripeFunction)(Machine *machine, const Instruction *instruction, int64_t count, const Element *const *x,
                               const int64_t *steps, Element *const *results);

typedef struct Row {
  TileUpstream kind;
  Execute execute;
  ScalarFunction scalar; // what executeElementwise applies
  StripeFunction stripe; // not null: the same, faster
} Row;
const Row *interpretRowFind(TileUpstream kind); // null when not known

//===--- decoded programs -------------------------------------------------------===//

typedef struct InterpretBlock {
  Instruction *instructions;
  int numInstructions, numArguments;
  int *arguments; // slots
} InterpretBlock;

typedef struct InterpretRegion {
  InterpretBlock *blocks;
  int numBlocks;
} InterpretRegion;

struct Instruction {
  Execute execute;
  ScalarFunction scalar;
  StripeFunction stripe;
  MlirOperation op;
  int numOperands, numResults, numRegions;
  int *operands, *results; // slots of the frame
  InterpretRegion *regions;
  int successors[2]; // blocks, for branches
  bool isTerminator, isBranch;
  Format in, out;            // elements of operand 0 and result 0, where they have some
  int64_t predicate;         // of a comparison; of arith.truncf its rounding mode
  bool noSigned, noUnsigned; // nsw, nuw
  bool isApproximate;        // afn
  InterpretValue constant;   // of a constant
  void *plan;                // of a packed tile.view its InterpretPacking; freed with free
};

// A function or another isolated region: values are numbered within it.
typedef struct InterpretBody {
  const void *key; // the MLIR region
  InterpretRegion region;
  int numSlots;
  struct InterpretBody *next;
} InterpretBody;

// Decoded once per op and kept; null after an error. `index`: which region of the op.
const InterpretBody *interpretBodyOf(Machine *machine, MlirOperation op, int index);
void interpretBodiesDestroy(Machine *machine);

//===--- running ------------------------------------------------------------------===//

struct Frame {
  const InterpretBody *body;
  InterpretValue *slots;
  InterpretValue *yielded; // by the last terminator; owned
  int numYielded, maxYielded;
  int jump;             // block to go on with, or -1
  const int64_t *point; // of the linalg op that runs, for linalg.index
};

typedef struct Global {
  MlirOperation op;
  InterpretValue value;
  struct Global *next;
} Global;
void interpretForgetGlobals(Global *globals);

enum { MaxGridRank = 3, MaxClusterBlocks = 64 };
// The grid that is running. A kernel cannot launch, so there is one at most.
typedef struct Grid {
  MlirOperation launch; // null: none is running
  int64_t sizes[MaxGridRank], ids[MaxGridRank];
  int32_t instance;           // linear number of the one running
  bool hasAcquired;           // it synchronized with those before it
  struct ClusterBlock *block; // the running one's place in its cluster; null: there is none
  struct GpuBlock *gpu;       // of a launch of upstream's dialect gpu, the instance; null: there is none
  int64_t thread[MaxGridRank];
} Grid;

static inline void gridNumber(Grid *grid) {
  grid->instance = (int32_t)((grid->ids[0] * grid->sizes[1] + grid->ids[1]) * grid->sizes[2] + grid->ids[2]);
}

// Memory whose address a program knows, and what its elements are.
typedef struct Addressed {
  Storage *storage;
  Format format;
} Addressed;

struct Machine {
  MlirOperation module;
  const TileInterpretOptions *options;
  uint64_t steps;
  int64_t undecided;
  int64_t viewBytesRead, viewBytesWritten;
  int depth;         // of calls
  const char *stack; // where the running thread's began
  intptr_t stackRoom;
  bool failed, unknown; // unknown: it failed at what the interpreter does not know
  tessera_error_t *error;
  InterpretBody *bodies;
  Global *globals;
  Grid grid;
  Storage *touched;
  Pool pool;
  uint64_t nextAddress;
  Addressed *addressed;
  intptr_t numAddressed;
  struct Group *group;       // of the parts that run, innermost (partitions.h); null: none
  struct Products *products; // under way (products_under_way.h); null: none yet
};

// Reports at the op and stops the program; the first report counts. Always false.
bool interpretFail(Machine *machine, MlirOperation op, const char *format, ...) __attribute__((format(printf, 3, 4)));
// As above, with a note at the other party.
bool interpretFailWithNote(Machine *machine, MlirOperation op, MlirOperation other, const char *note,
                           const char *format, ...) __attribute__((format(printf, 5, 6)));
// As above, when the program is not at fault: the interpreter does not know the op or type.
bool interpretUnknown(Machine *machine, MlirOperation op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool interpretOutOfMemory(Machine *machine, MlirOperation op);
// Counts steps against the budget.
bool interpretStep(Machine *machine, MlirOperation op, int64_t steps);
MlirOperation interpretFindSymbol(MlirOperation module, MlirStringRef name); // null when there is none

// Runs a region from its first block with these arguments (taken over); what it yields is in frame->yielded.
bool interpretRegionRun(Machine *machine, Frame *frame, const InterpretRegion *region, int numArguments,
                        const InterpretValue *arguments);
bool interpretFrameCreate(Machine *machine, const InterpretBody *body, Frame *frame);
void interpretFrameDestroy(Frame *frame);
// Takes the reference.
static inline void frameSet(Frame *frame, int slot, InterpretValue value) {
  InterpretValue old = frame->slots[slot];
  frame->slots[slot] = value;
  valueRelease(old);
}
// Calls a body in a frame of its own: arguments taken over, up to maxResults results given (references too).
bool interpretBodyCall(Machine *machine, MlirOperation at, const InterpretBody *body, int numArguments,
                       const InterpretValue *arguments, int maxResults, InterpretValue *results);

static inline InterpretValue operandOf(const Frame *frame, const Instruction *instruction, intptr_t index) {
  return frame->slots[instruction->operands[index]];
}
static inline Array *arrayOperand(const Frame *frame, const Instruction *instruction, intptr_t index) {
  return arrayOf(operandOf(frame, instruction, index));
}
static inline void setResult(Frame *frame, const Instruction *instruction, intptr_t index, InterpretValue value) {
  frameSet(frame, instruction->results[index], value);
}
// Moves what was yielded into slots; fewer slots than values is fine.
void interpretTakeYielded(Frame *frame, int count, const int *slots, int from);
// What every terminator does.
bool interpretYieldOperands(Frame *frame, const Instruction *instruction);

// Integers that the program goes on with: an error when missing.
bool interpretReadInteger(Machine *machine, const Instruction *instruction, Element x, int64_t *integer);
bool interpretIndexOperand(Machine *machine, const Frame *frame, const Instruction *instruction, intptr_t index,
                           int64_t *x);
bool interpretIndexOperands(Machine *machine, const Frame *frame, const Instruction *instruction, intptr_t begin,
                            intptr_t count, int64_t *indices);
// A group of the row of a Tile op: first operand and count.
intptr_t interpretGroupBegin(const Instruction *instruction, intptr_t group);
intptr_t interpretGroupCount(const Instruction *instruction, intptr_t group);

// A new array of the type of result `index`, static; null after an error.
Array *interpretNewResult(Machine *machine, const Instruction *instruction, intptr_t index);
Array *interpretNewArray(Machine *machine, const Instruction *instruction, int rank, const int64_t *sizes);
// Sets a result to a fresh array; a rank-0 tile's type may be a scalar: then its one element.
void interpretSetArray(Frame *frame, const Instruction *instruction, intptr_t index, Array *array);

//===--- memory ---------------------------------------------------------------------===//

typedef enum AccessKind { AccessRead, AccessWrite, AccessUpdate } AccessKind;
// Notes that the running instance touches an element, and reports a conflict with another instance.
bool interpretMemoryTouch(Machine *machine, const Instruction *instruction, Storage *storage, int64_t place,
                          AccessKind kind);
// As above, for part number `part` of `parts` of an element: a packed one of a word.
bool interpretMemoryTouchPart(Machine *machine, const Instruction *instruction, Storage *storage, int64_t place,
                              int part, int parts, AccessKind kind);
bool interpretMemoryExpectAlive(Machine *machine, const Instruction *instruction, const Storage *storage);
// Reports an access that a product under way forbids (products_under_way.h); asked only where Storage.products is not
// 0.
bool interpretMemoryExpectNoProduct(Machine *machine, const Instruction *instruction, const Storage *storage,
                                    int64_t place, AccessKind kind);
bool interpretMemoryRead(Machine *machine, const Instruction *instruction, Storage *storage, int64_t place, Element *x);
bool interpretMemoryWrite(Machine *machine, const Instruction *instruction, Storage *storage, int64_t place, Element x);
void interpretMemoryForgetTouches(Machine *machine);
// Reports an element that cannot be used and says why; true for one that can.
bool interpretElementExpect(Machine *machine, const Instruction *instruction, Element x, const char *use);
uint64_t interpretStorageAddress(Machine *machine, Storage *storage, const Format *format); // 0: no memory
void interpretForgetAddresses(Machine *machine);
// Null: nothing lies there. The result lives until the next address is given.
const Addressed *interpretStorageAt(Machine *machine, uint64_t address, uint64_t *offset);

//===--- what attributes say -------------------------------------------------------===//
bool interpretElementOfAttribute(MlirAttribute attribute, Element *x);          // integer, float or bool attribute
bool interpretValueOfAttribute(MlirAttribute attribute, InterpretValue *value); // that or elements
MlirType interpretElementTypeOf(MlirType type); // of a shaped type; else the type itself
bool interpretTypeIsShaped(MlirType type);

//===--- scalar operations, for ops that combine -------------------------------------===//
// Applies the op of a row (arith.addf) to two elements of a format.
bool interpretCombineElements(Machine *machine, const Instruction *instruction, const Row *row, const Format *format,
                              Element a, Element b, Element *result);
bool interpretElementwise(Machine *machine, Frame *frame, const Instruction *instruction);
enum { MaxScalarOperands = 3, MaxScalarResults = 2 };
// Every operand that is an array has the sizes of `shape`.
bool interpretExpectSizes(Machine *machine, Frame *frame, const Instruction *instruction, const Array *shape);
// Poison goes through; what nobody wrote may not be looked at.
bool interpretApplyScalar(Machine *machine, const Instruction *instruction, const Element *x, Element *results);
bool interpretApplyScalars(Machine *machine, const Instruction *instruction, int64_t count, const Element *const *x,
                           const int64_t *steps, Element *const *results);

// A sum of many terms in any order (docs/numerics.md §4): exact as f64 holds it, with what it takes to bound it.
typedef struct Sum {
  double value, magnitudes, errors, finite; // Σ a, Σ |a|, Σ of the terms' bounds, Σ |a| of those not infinite
  int64_t terms;
} Sum;
static inline void sumAdd(Sum *sum, Element x) {
  sum->value = sum->terms++ ? sum->value + x.f : x.f;
  sum->magnitudes += fabs(x.f);
  sum->finite += isfinite(x.f) ? fabs(x.f) : 0;
  sum->errors += x.bound;
}
// The product of two numbers of at most 24 digits is exact in f64; of f64 numbers it has f64's rounding, which the
// bound covers because every term counts.
static inline void sumAddProduct(Sum *sum, Element a, Element b) {
  double error = a.bound != 0 || b.bound != 0 ? fabs(a.f) * b.bound + fabs(b.f) * a.bound + a.bound * b.bound : 0;
  sumAdd(sum, elementOfFloat(a.f * b.f, error));
}
Element interpretSumFinish(const Sum *sum, const Format *format);
// A product of many factors in any order. In `magnitudes` Π |a| of the finite factors above 1, in `finite` that of the
// factors between 0 and 1: the largest and the smallest number that some order may meet on its way.
void interpretProductAdd(Sum *product, Element x);
Element interpretProductFinish(const Sum *product, const Format *format);

// All elements, at least one, combined by an op of arith in any order: sums and products bound their result for all
// orders.
bool interpretReduceElements(Machine *machine, const Instruction *instruction, TileUpstream kind, const Element *values,
                             int64_t count, Element *result);

Execute tileExecute(MlirOperation op);   // null: no Tile op
Execute sparseExecute(MlirOperation op); // null: no Sparse op
void *tilePlan(MlirOperation op);        // what is worked out when it is decoded; null: nothing
