// How convert-tt-to-tile stands for TTIR's values, and what its files share.
//
// A function's body is built anew beside the old one. A tile loses its dimensions of size 1; one without other
// dimensions is a scalar. So expand_dims is nothing, and arithmetic on 64x1 is arithmetic on 64 elements. A pointer is
// a memref and an offset, an index counted in elements from its first one; one that was made from a number is its
// address. A descriptor or a block pointer is a pointer with sizes and strides.
#pragma once

#include "dialects/foreign/tt/tt.h"
#include "lib/ir/builder.h"
#include "lib/ir/convert_by.h"
#include "lib/ir/support.h"
#include "lib/ir/table.h"
#include "lib/ir/upstream.h"

typedef enum TritonKind { Triton_None, Triton_Plain, Triton_Pointer, Triton_Block, Triton_Undefined } TritonKind;

// A tensor in memory that is read in blocks.
typedef struct TritonBlock {
  MlirType block; // the tensor that is read or written
  intptr_t rank;
  MlirValue sizes[TtMaxRank], strides[TtMaxRank]; // index
  int64_t padding;                                // TtPadding
  bool hasOffsets;                                // a block pointer
} TritonBlock;

typedef struct TritonValue {
  TritonKind kind;    // None: an error was reported
  MlirValue value;    // plain; a pointer's offset or address (i64); a tile, or a scalar. A block's base offset
  MlirValue base;     // of pointers and blocks; null: `value` is an address in bytes
  MlirType pointee;   // of pointers: an element, which may be another type than the base's. Undefined: the old type
  TritonBlock *block; // of blocks
  MlirValue offsets[TtMaxRank]; // of block pointers: i32
} TritonValue;

typedef struct Triton {
  TileBuilder b;
  TileTable values;     // of old values: TritonValue *
  struct Owned *owned;  // what is freed at the end
  MlirOperation kernel; // the old function
} Triton;

//===--- values ---------------------------------------------------------------===//

void tritonSet(Triton *t, MlirValue old, TritonValue value);
void tritonSetPlain(Triton *t, MlirValue old, MlirValue value);
TritonValue tritonGet(Triton *t, MlirValue old); // kind None after an error
MlirValue tritonPlain(Triton *t, MlirValue old); // null after an error: not a number
void *tritonAllocate(Triton *t, size_t size);
void tritonFree(Triton *t);

MlirExtShape tritonShape(MlirType old);                                     // of a scalar: rank 0
MlirType tritonType(MlirType old);                                          // without dimensions of size 1
MlirType tritonWithElement(MlirType old, MlirType element);                 // so, of another element
MlirType tritonTile(intptr_t rank, const int64_t *sizes, MlirType element); // rank 0: the element
intptr_t tritonAxis(MlirType old, int64_t axis);                     // where dimension `axis` is; -1: it has size 1
MlirValue tritonReshaped(Triton *t, MlirValue value, MlirType type); // also from and to scalars
MlirValue tritonFull(Triton *t, MlirValue old);                      // with all dimensions; null after an error
void tritonSetFull(Triton *t, MlirValue old, MlirValue full);
MlirValue tritonIndex(Triton *t, MlirValue integer); // signed; of a scalar or a tile
MlirValue tritonSplat(Triton *t, MlirValue scalar, MlirType type);
void tritonToAddress(Triton *t, TritonValue *pointer); // gives up the base
MlirAttribute tritonAxes(Triton *t, int64_t axis);
MlirAttribute tritonWord(Triton *t, const char *word);

// The values that control flow carries for a value, and the value put together from them again.
intptr_t tritonFlatten(Triton *t, const TritonValue *value, MlirValue *parts);
TritonValue tritonUnflatten(Triton *t, const TritonValue *like, const MlirValue *parts);
enum { TritonMaxParts = TtMaxRank };
// What stands for both where control flow meets. Pointers to different memory become addresses, `into` here and
// `other` by another call. False after an error.
bool tritonMerge(Triton *t, MlirOperation at, TritonValue *into, const TritonValue *other);

//===--- conversions: false after a diagnostic ----------------------------------===//

bool tritonConvertBlock(Triton *t, MlirBlock block); // all but the terminator
// Sets `isKnown` false, and does nothing, where the op is another's.
bool tritonMemory(void *kernel, MlirOperation op, bool *isKnown);
bool tritonBlocks(void *kernel, MlirOperation op, bool *isKnown);
bool tritonShapes(void *kernel, MlirOperation op, bool *isKnown);
bool tritonCompute(void *kernel, MlirOperation op, bool *isKnown);
bool tritonReduction(void *kernel, MlirOperation op, bool *isKnown);
bool tritonControl(void *kernel, MlirOperation op, bool *isKnown);
bool tritonElementwise(Triton *t, MlirOperation op); // an op of arith or math, on new values
bool tritonExtern(Triton *t, MlirOperation op);
bool tritonInline(Triton *t, MlirOperation op);
bool tritonMap(Triton *t, MlirOperation op);
bool tritonProduct(Triton *t, MlirOperation op);
bool tritonScaledProduct(Triton *t, MlirOperation op);

// tt.func becomes func.func of one block, its calls inlined.
bool tritonStructure(MlirOperation module);
