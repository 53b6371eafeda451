// What tile construction and convert-linalg-to-tile know of one linalg op: a loop nest over dimensions d0, d1, …, each
// parallel or a reduction, and how every operand is indexed by them.
//
//   TileStructured s;
//   if (tileStructuredRead(op, &target, &s)) … s.dims[0].isReduction, s.operands[1].results[0] …
//
// Only what a tile can hold is read: maps whose results are sums of dimensions times constants (no floordiv, no mod),
// bodies of elementwise arith and math ops and tensor.extract. Everything else stays linalg.
#pragma once

#include "dialects/tile/questions.h"
#include "lib/capi/pass.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_arena.h"
#include "lib/ir/support.h"
#include "lib/search/kind.h"
#include "lib/search/target.h"

// A body larger than MaxBodyValues operands and operations stays linalg.
enum { MaxDims = 12, MaxOperandRank = 8, MaxOperands = 16, MaxCaptures = 8, MaxBodyValues = 1024, MaxTerms = 8 };

typedef struct TileDim {
  bool isReduction;
  int64_t extent;      // mlirShapedTypeGetDynamicSize() when unknown
  int64_t tile;        // chosen size; 1: one index at a time
  int64_t planned;     // what an unknown extent is planned for, as the op's tile.extents says; 0: nothing
  int64_t step;        // elements from one tile to the next; 0: as many as a tile has
  int64_t scheduled;   // the size that the op's schedule says; 0: nothing
  int64_t panels;      // tiles one program takes along it
  int axis;            // axis of the iteration tile, or -1 when tile == 1
  int operand, result; // an operand's dimension that has this extent
} TileDim;

// factor · (d floordiv divisor mod modulus): what was a dimension of its own before it became part of d; modulus 0:
// none.
typedef struct TileTerm {
  int dim;
  int64_t divisor, modulus, factor;
} TileTerm;

typedef struct TileOperand {
  MlirValue value; // tensor or scalar on the host
  bool isTensor;
  int rank;
  // Axis i is indexed by constants[i] + sum over d of factors[i][d] · d.
  int64_t constants[MaxOperandRank], factors[MaxOperandRank][MaxDims];
  int results[MaxOperandRank]; // the dimension that indexes axis i alone, or -1: a constant or a sum
  // Above 0: the only axis is indexed by constants[0] + the sum of terms, as merged dimensions index what is read in
  // windows; its factors are not 0 where a term has the dimension. Only matrix products take such an operand.
  int numTerms;
  TileTerm terms[MaxTerms];
  MlirAttribute initial; // outputs: the constant every element starts from; null: read it from memory
} TileOperand;

// What kernels are for, and the memory of what is read of ops (tileTargetOfPass, tileTargetFree in target_of_pass.h).
typedef struct TileTarget {
  TileMachine *machine; // the caller's; on a CPU this one's where the program names none
  TileSearchTarget search;
  bool hasDot[TileNumDots]; // a CPU's dot instructions
  MlirAttribute attribute;  // #tile.machine, or null where the program names none
  uint64_t *constantPanels; // counts the constants that become panels, for the pass's statistics; or null
  TileArena *arena;         // dims, operands and captures of every TileStructured of the pass
} TileTarget;

// Where weights of few bits are converted (`convert` of a schedule): in registers, beside the arithmetic that takes
// them; once for a program, into the memory that it manages (shared memory, L1); or once, into memory, by a kernel of
// its own.
typedef enum TileConvert {
  TileConvert_Unsaid,
  TileConvert_Register,
  TileConvert_Shared,
  TileConvert_Memory
} TileConvert;

// A handle: dims, operands and captures lie in the target's arena, and a plain copy shares them (tileStructuredCopy).
typedef struct TileStructured {
  const TileTarget *target; // what the kernel is for
  MlirOperation op;
  MlirBlock body;
  int numDims, numInputs, numOutputs; // operands: inputs first
  int numCaptures;
  TileDim *dims;          // room for MaxDims
  TileOperand *operands;  // room for MaxOperands of what tileStructuredCreate makes, else for those that there are
  MlirValue *captures;    // scalars from outside that the body uses, tensors it extracts from; room for MaxCaptures
  int64_t warps;          // of a GPU's program; 0: whoever assigns layouts decides
  int64_t registers;      // the most of a GPU's thread; 0: as the chip has
  int64_t group;          // above 1: so many tiles of the second last parallel dimension before the next of the last
  MlirAttribute schedule; // the op's #tile.schedule, or what was constructed; null: none, or it says formats alone
  TileConvert convert;    // what the op's #tile.schedule says of its formats
  MlirAttribute codes;    // null: nothing
} TileStructured;

// The op's #tile.schedule; null also if it says formats alone (`convert`, `codes`), so that its tile is still open.
MlirAttribute tileOpGetTileSchedule(MlirOperation op);
// A schedule with these formats beside what `schedule` (null: nothing) has; `codes` may be null.
MlirAttribute tileScheduleWithFormats(MlirContext context, MlirAttribute schedule, TileConvert convert,
                                      MlirAttribute codes);

// The GPU that the kernel is for, or null.
const TileSearchTarget *tileStructuredGpu(const TileStructured *structured);

// How often ops are read, beside the statistics of passes: a decision that is made twice reads twice. No pass.
extern const MlirExtPassDefinition tileStructuredReads;

// The kind of kernel that the schedule names; TileKind_None: none, or one that is unknown.
TileKind tileStructuredNamedKind(const TileStructured *structured);

// False if `op` (null too) is not a linalg.generic on tensors that fits (no diagnostic: it then takes another way).
bool tileStructuredRead(MlirOperation op, const TileTarget *target, TileStructured *structured);
// An op without dimensions and operands yet; the caller fills them in.
TileStructured tileStructuredCreate(MlirOperation op, const TileTarget *target, int operands);
// Copies the op, with dimensions and operands of its own and room for `more` operands.
TileStructured tileStructuredCopy(const TileStructured *structured, int more);
// A copy whose tiles have these two dimensions as axes, in this order, and no other; -1: none.
TileStructured tileStructuredOver(const TileStructured *structured, int first, int second);
// All linalg.generic under `root`, but for those of a tile.group that has a schedule already. The caller frees the
// list.
TileOps tileStructuredCollect(MlirOperation root);
// False after a diagnostic where the op's tile.extents are not one for each dimension.
bool tileStructuredCheckExtents(const TileStructured *structured);
// A linalg.softmax: input and output indexed alike, the softmax dimension a reduction. Its body is null.
bool tileStructuredReadSoftmax(MlirOperation op, const TileTarget *target, TileStructured *structured);
// A linalg.pack or linalg.unpack, source and destination, over the dimensions of the tiled tensor. Its body is null.
// False for dynamic inner tiles and for padding other than zero.
bool tileStructuredReadRelayout(MlirOperation op, const TileTarget *target, TileStructured *structured);
bool tileStructuredHasReduction(const TileStructured *structured);
bool tileStructuredHasTerms(const TileStructured *structured); // some operand is indexed by merged dimensions
// True if the body asks for the position of its element: linalg.index, or tensor.extract, which is not to read beyond
// the last one.
bool tileStructuredUsesPosition(const TileStructured *structured);

// What the body yields first, and the input whose argument a value is (-1: none).
MlirValue tileStructuredYielded(const TileStructured *structured);
int tileStructuredInputOf(const TileStructured *structured, MlirValue value);

// Notes for each dimension an operand that tells its extent.
void tileStructuredNoteExtents(TileStructured *structured);

// An output that a reduction folds into starts from the constant it was filled with, if it was: sets `initial` and
// takes the tensor before the fill.
void tileStructuredStartFromConstants(TileStructured *structured);
// The operand's element type on the host.
MlirType tileOperandElementType(const TileOperand *operand);

bool tileDimIsRagged(const TileDim *dim); // its last tile may reach beyond the extent

// Axis `axis` of the operand is indexed by dimension `dim` alone.
void tileOperandSetAxis(TileOperand *operand, int axis, int dim);
// Every axis is indexed by one dimension or a constant, none of them by a dimension that another axis has.
bool tileOperandIsPlain(const TileOperand *operand);
bool tileOperandUses(const TileOperand *operand, int dim);
// dims[d]: the dimension that indexes in `to` the axis that d indexes in `from`; -1 for those that `from` does not
// have. False unless every axis of both has a dimension.
bool tileOperandMatch(const TileOperand *from, const TileOperand *to, int *dims);
// The operand has all dimensions but `without` (-1: all), in order.
bool tileOperandIsInOrder(const TileStructured *structured, const TileOperand *operand, int without);
// The axis that dimension `dim` indexes alone, or -1.
int tileOperandAxisOf(const TileOperand *operand, int dim);
// For an operand with terms: how many elements along `dim`, whose extent is known, from a multiple of it on lie one
// after another; 0: none, and of an operand without terms.
int64_t tileStructuredRun(const TileStructured *structured, const TileOperand *operand, int dim);
// The elements of a constant that is no splat and not so large that it should not be held twice, in its tensor's order,
// `size` bytes; null for any other operand.
const unsigned char *tileOperandConstantBytes(const TileOperand *operand, size_t *size);
// Dimension d becomes to[d].
void tileOperandRenumber(TileOperand *operand, const int *to, int numDims);
void tileStructuredRenumber(TileStructured *structured, const int *to);
// True if a tile may be wider than 1 along `dim` when it is so along `other` too (-1: along no other): in every operand
// it runs along one axis, forwards, and the other one along another.
bool tileStructuredCanTile(const TileStructured *structured, int dim, int other);

// The contiguous end of an operand: the dimension of its last axis that a tile can run along, or -1.
int tileOperandLastDim(const TileStructured *structured, const TileOperand *operand);
// The output is indexed by no reduction dimension: it accumulates.
bool tileStructuredAccumulates(const TileStructured *structured, const TileOperand *output);
