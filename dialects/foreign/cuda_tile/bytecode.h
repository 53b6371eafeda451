// What the reader and the writer of CUDA Tile IR's bytecode share: how the rows of ops.def are encoded.
//
// An op is: opcode, result types (with their number before them if the op has a variadic operand or result), flags,
// attributes, operands, regions. Flags are bits: first optional and unit attributes, then optional operands. A count
// stands before a variadic operand, or before all operands if only one group is not single. The numbers of words
// (rounding modes, scopes) are their places in the lists of words.c.
#pragma once

#include "lib/capi/dialect.h"
#include "lib/ir/op_spec.h"

enum { CudaTileOldest = 1, CudaTileNewest = 5 };       // versions 13.1 to 13.5
enum { CudaTileFlagEntry = 2, CudaTileFlagHints = 4 }; // of functions

typedef enum CudaTileSection {
  CudaTileSection_End,
  CudaTileSection_String,
  CudaTileSection_Functions,
  CudaTileSection_Debug,
  CudaTileSection_Constant,
  CudaTileSection_Type,
  CudaTileSection_Global,
  CudaTileSection_Count
} CudaTileSection;
enum { CudaTileSectionIsAligned = 0x80, CudaTilePadding = 0xCB };
static const char cudaTileMagic[8] = "\x7fTileIR"; // the null byte belongs to it

typedef enum CudaTileTypeTag {
  CudaTileTag_I1,
  CudaTileTag_I8,
  CudaTileTag_I16,
  CudaTileTag_I32,
  CudaTileTag_I64,
  CudaTileTag_F16,
  CudaTileTag_BF16,
  CudaTileTag_F32,
  CudaTileTag_TF32,
  CudaTileTag_F64,
  CudaTileTag_F8E4M3FN,
  CudaTileTag_F8E5M2,
  CudaTileTag_Pointer,
  CudaTileTag_Tile,
  CudaTileTag_TensorView,
  CudaTileTag_PartitionView,
  CudaTileTag_Function,
  CudaTileTag_Token,
  CudaTileTag_F8E8M0FNU,
  CudaTileTag_F4E2M1FN,
  CudaTileTag_GatherScatterView,
  CudaTileTag_StridedView,
  CudaTileTag_I4
} CudaTileTypeTag;
// The type of a tag that has no parameters; null: the tag has some, or is unknown.
MlirType cudaTileSimpleType(MlirContext context, unsigned tag);
// The tag of a type without parameters. -1: not one of them.
int cudaTileSimpleTag(MlirType type);

typedef enum CudaTileAttributeTag {
  CudaTileAttribute_Integer = 1,
  CudaTileAttribute_Float,
  CudaTileAttribute_Bool,
  CudaTileAttribute_Type,
  CudaTileAttribute_String,
  CudaTileAttribute_Array,
  CudaTileAttribute_Dense,
  CudaTileAttribute_DivBy,
  CudaTileAttribute_SameElements,
  CudaTileAttribute_Dictionary,
  CudaTileAttribute_Hints,
  CudaTileAttribute_Bounded
} CudaTileAttributeTag;

typedef enum CudaTileDebugTag {
  CudaTileDebug_CompileUnit = 1,
  CudaTileDebug_File,
  CudaTileDebug_LexicalBlock,
  CudaTileDebug_Location,
  CudaTileDebug_Subprogram,
  CudaTileDebug_CallSite
} CudaTileDebugTag;

// A place in a function is fused<{linkage = "k", name = "k", file = "k.py", directory = "/d", line = 3 : i64, scope =
// 3 : i64}>["/d/k.py":5:9], where the dictionary tells the function. These are its keys.
#define CUDA_TILE_DEBUG_LINKAGE "linkage"
#define CUDA_TILE_DEBUG_NAME "name"
#define CUDA_TILE_DEBUG_FILE "file"
#define CUDA_TILE_DEBUG_DIRECTORY "directory"
#define CUDA_TILE_DEBUG_LINE "line"
#define CUDA_TILE_DEBUG_SCOPE "scope" // the line where the body begins

const MlirExtDialectDefinition *cudaTileDialectDefinition(void); // its ops stand in the order of the rows
unsigned cudaTileOpcode(const TileOpSpec *spec);
// The version that brought the op (name null), or one of its attributes, operands or results: 1 for 13.1.
int cudaTileSince(const TileOpSpec *spec, const char *nameOrNull);
bool cudaTileCountsResults(const TileOpSpec *spec);
// Whether a flag alone stands for the attribute (a unit), or a flag tells if the attribute is there.
bool cudaTileAttributeIsFlagged(const TileAttributeSpec *attribute);
// Whether a version's encoding of the op holds flags at all.
bool cudaTileHasFlags(const TileOpSpec *spec, int version);

// How an attribute is encoded, by the kind of its column.
typedef enum CudaTileEncoding {
  CudaTileEncoding_Word,
  CudaTileEncoding_Number,
  CudaTileEncoding_Bool,
  CudaTileEncoding_String,
  CudaTileEncoding_Symbol,
  CudaTileEncoding_I32Array,
  CudaTileEncoding_Flags,
  CudaTileEncoding_Constant,
  CudaTileEncoding_Array,
  CudaTileEncoding_Tagged,
  CudaTileEncoding_Hints
} CudaTileEncoding;
CudaTileEncoding cudaTileEncodingOf(const TileAttributeSpec *attribute);
