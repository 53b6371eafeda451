// What the files of this room share while they turn one gpu.module into host code: the module under construction, the
// function at work, and how to make calls. Every op that has a meaning of its own is a row: nvvm_ops.c, hopper_ops.c,
// rocdl_ops.c, llvm_ops.c.
#pragma once

#include "lib/emulator/emulator.h"
#include "lib/emulator/instructions/instructions.h"
#include "lib/ir/builder.h"
#include "lib/ir/support.h"

// What a compiled program keeps: see program.c.
typedef struct EmulatorSite {
  MlirLocation location;
  char *name;       // "gemm.mlir:12:7 'nvvm.barrier0'"
  MlirOperation op; // while compiling
} EmulatorSite;

typedef struct EmulatorGlobal {
  char *name;
  uint64_t bytes;
  uint32_t offset, alignment; // in shared memory
  bool isShared, isConstant;
  void *address; // of one that is not shared
  // Of a shared one: the kernel that alone takes its address, -1 for none or several functions.
  intptr_t onlyKernel;
  MlirOperation user; // while compiling: a function that does; null: none
} EmulatorGlobal;

// An alloca of the function at work (private_memory.h).
typedef struct EmulatorPrivate {
  MlirValue address, own; // own: the tessera_emu_private_t
} EmulatorPrivate;
enum { EmulatorMostPrivates = 256 };

typedef struct EmulatorBuild {
  const TileEmulatorOptions *options;
  TileEmulatorProgram *program;
  MlirContext context;
  MlirOperation module; // the host's
  MlirBlock body;
  MlirType pointer, i1, i8, i16, i32, i64, f32, f64;
  int64_t declaredCount;   // functions of the host that are declared at the start of `body`
  bool failed, loadsToLds; // loadsToLds: waits have something to wait for (rocdl_waits.c)
  // the function at work
  MlirOperation function;
  MlirValue self, shared;
  MlirValue fullMask;  // of the warp; null until it is wanted
  MlirOperation frame; // an alloca: operands and results of collectives pass through it
  uint32_t frameBytes;
  EmulatorPrivate privates[EmulatorMostPrivates];
  int numPrivates;
  intptr_t use, useEnd; // sites of ops that emulatorMarkUses has met before they are lowered, in that order: the next
} EmulatorBuild;

typedef struct EmulatorRow EmulatorRow;
// Replaces `op`. False after a diagnostic.
typedef bool (*EmulatorLower)(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
struct EmulatorRow {
  const char *name; // of the op; one that ends with '*' stands for all that begin so
  EmulatorLower lower;
  const char *callee; // what lower is told beside
  int64_t number;
};
// Ends with a null name. The longest match counts.
extern const EmulatorRow emulatorNvvmRows[], emulatorHopperRows[], emulatorBlackwellRows[], emulatorRocdlRows[],
    emulatorLlvmRows[];

//===--- program.c: what is kept -----------------------------------------------===//

uint32_t emulatorSite(EmulatorBuild *build, MlirOperation op);
// Memory that lives as long as the program; constants of instructions lie in it. Null when out of memory.
void *emulatorKeep(EmulatorBuild *build, const void *data, size_t bytes);
// Takes the matrix's places over.
const tessera_matrix_t *emulatorKeepMatrix(EmulatorBuild *build, const tessera_matrix_t *matrix);
EmulatorGlobal *emulatorGlobal(const EmulatorBuild *build, MlirStringRef name);

//===--- emit.c: small pieces of code ---------------------------------------------===//

MlirValue emulatorI32(EmulatorBuild *build, TileBuilder *b, int64_t value);
MlirValue emulatorI64(EmulatorBuild *build, TileBuilder *b, int64_t value);
MlirValue emulatorAddress(EmulatorBuild *build, TileBuilder *b, const void *address); // a burnt-in pointer
MlirValue emulatorFlat(EmulatorBuild *build, TileBuilder *b, MlirValue pointer);      // to address space 0
// An integer or float of up to 32 bits as an i32, of 64 as an i64; and back to `type`.
MlirValue emulatorToBits(EmulatorBuild *build, TileBuilder *b, MlirValue value);
MlirValue emulatorFromBits(EmulatorBuild *build, TileBuilder *b, MlirValue bits, MlirType type);
// Calls a C function, declaring it on first use. `result`: null type for none. Returns a null value then.
MlirValue emulatorCall(EmulatorBuild *build, TileBuilder *b, const char *callee, MlirType result, intptr_t count,
                       const MlirValue *operands);
// Calls a function of the module itself: nothing is declared.
MlirValue emulatorCallDefined(EmulatorBuild *build, TileBuilder *b, const char *callee, MlirType result, intptr_t count,
                              const MlirValue *operands);
// emulatorCall with self in front and the op's site at the end.
MlirValue emulatorCallAt(EmulatorBuild *build, TileBuilder *b, MlirOperation op, const char *callee, MlirType result,
                         intptr_t count, const MlirValue *operands);
// tessera_emu_collective of the whole warp, all at this op.
void emulatorCollective(EmulatorBuild *build, TileBuilder *b, MlirOperation op, tessera_emu_meaning_t meaning,
                        const void *parameter, MlirValue contribution);
// As above; what the lanes did to memory before is in order before what they do after.
void emulatorOrderedCollective(EmulatorBuild *build, TileBuilder *b, MlirOperation op, tessera_emu_meaning_t meaning,
                               MlirValue contribution);
// `offset` bytes beyond a pointer; places in the frame, which grows as needed.
MlirValue emulatorOffset(EmulatorBuild *build, TileBuilder *b, MlirValue pointer, int64_t offset);
MlirValue emulatorFrame(EmulatorBuild *build, TileBuilder *b, uint32_t offset, uint32_t bytes);
void emulatorStore(EmulatorBuild *build, TileBuilder *b, MlirValue value, MlirValue pointer);
MlirValue emulatorLoad(EmulatorBuild *build, TileBuilder *b, MlirType type, MlirValue pointer);
// Stores the op's operands [first, first + count) one after another from `offset` of the frame on; returns where it
// ended.
uint32_t emulatorStoreOperands(EmulatorBuild *build, TileBuilder *b, MlirOperation op, intptr_t first, intptr_t count,
                               uint32_t offset);
// The value of `type` (a struct: its fields one after another) from `offset` of the frame.
MlirValue emulatorLoadPacked(EmulatorBuild *build, TileBuilder *b, MlirType type, uint32_t offset);
// Erases the op after its result (if it has one) became `value`.
void emulatorReplace(MlirOperation op, MlirValue value);

//===--- questions ------------------------------------------------------------===//

uint64_t emulatorBytes(MlirType type); // in memory; 0 for a type that has no size
int64_t emulatorInteger(MlirOperation op, const char *attribute, int64_t otherwise);
bool emulatorHas(MlirOperation op, const char *attribute);                    // a unit attribute
bool emulatorSays(MlirOperation op, const char *attribute, const char *text); // its text contains `text`
bool emulatorConstant(MlirValue value, int64_t *constant);                    // of llvm.mlir.constant, also a splat
bool emulatorRefuse(EmulatorBuild *build, MlirOperation op, const char *format, ...) // false
    __attribute__((format(printf, 3, 4)));

//===--- the passes over a function -------------------------------------------------===//

void emulatorKeepLarge(MlirOperation function); // calls.c: a function with large allocas is not inlined
// calls.c: before a call of `function`, whether the stack has room for it.
void emulatorCheckStack(EmulatorBuild *build, TileBuilder *b, MlirValue self, MlirOperation function, uint32_t site);
bool emulatorLowerCall(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row); // calls.c
bool emulatorCallMath(EmulatorBuild *build, MlirOperation op, MlirStringRef name);      // calls.c: false if it is none
// count.c: for each block of the function, how many instructions of each class it has.
void emulatorCountBlocks(EmulatorBuild *build, MlirRegion body);
// count.c: tells the machine, for predictions, before each first use of what one of the ops loads.
void emulatorMarkUses(EmulatorBuild *build, const TileOps *ops);
