// How convert-stablehlo-to-linalg stands for StableHLO's values, and what its files share.
//
// A function's body is built anew beside the old one. A tensor of rank 0 is a scalar; any other a tensor of signless
// elements; a complex one is two values, its real and imaginary parts. Whether integers are unsigned is read from the
// old types. Constants and broadcasts are built where they are used, so that maps and bodies take them in.
#pragma once

#include "dialects/foreign/stablehlo/stablehlo.h"
#include "lib/ir/builder.h"
#include "lib/ir/support.h"
#include "lib/ir/table.h"
#include "lib/support/array.h"

enum { HloMaxRank = TESSERA_MAX_RANK, HloMaxValues = 64 };

typedef struct HloValue {
  int count; // 2: complex; 0: an error was reported
  MlirValue parts[2];
} HloValue;

typedef struct Hlo {
  TileBuilder b;
  TileTable parts[2]; // of old values that stand for themselves
  TileTable open;     // of new tensors: the sizes that they were made with (open_sizes.c)
  struct HloOpen *opens;
  MlirOperation calls[64];
  int depth;      // of calls
  int64_t budget; // ops that may still be converted: calls are inlined
} Hlo;

//===--- values ---------------------------------------------------------------===//

MlirExtShape hloShape(MlirValue old);
MlirType hloElement(MlirType element); // signless; of a complex number that of its parts
MlirType hloType(MlirType old);        // of a part
MlirType hloTensor(MlirType element, intptr_t rank, const int64_t *sizes);
bool hloIsUnsigned(MlirType element); // i1 too
bool hloIsComplex(MlirType element);

void hloSet(Hlo *h, MlirValue old, HloValue value);
void hloSetOne(Hlo *h, MlirValue old, MlirValue value);
HloValue hloGet(Hlo *h, MlirValue old);       // a scalar where the rank is 0
HloValue hloGetTensor(Hlo *h, MlirValue old); // always a tensor
MlirValue hloOne(Hlo *h, MlirValue old);      // of a value that is not complex
MlirValue hloToTensor(Hlo *h, MlirValue scalar);
MlirValue hloFromTensor(Hlo *h, MlirValue tensor); // of rank 0

// What an old value is where another of `rank` dimensions is computed: a tensor and where its dimensions stand, or a
// scalar. Broadcasts, constants and dimensions of size 1 are looked through.
typedef struct HloSource {
  HloValue value; // tensors of `rank` dimensions; scalars where `isScalar`
  bool isScalar;
  intptr_t rank;
  int64_t dims[HloMaxRank]; // -1: index 0
} HloSource;
HloSource hloSource(Hlo *h, MlirValue old);

MlirValue hloEmpty(Hlo *h, MlirType element, intptr_t rank, const int64_t *sizes);
MlirValue hloFilled(Hlo *h, MlirValue scalar, intptr_t rank, const int64_t *sizes);
MlirValue hloIndexOf(Hlo *h, MlirValue integer,
                     bool isUnsigned); // index, of a scalar; of what is too large the largest
MlirValue hloSelect(Hlo *h, MlirValue condition, MlirValue a, MlirValue b);

//===--- open sizes ------------------------------------------------------------===//

// Sizes as values of type index, of an old value and of a new tensor; constants where the types know them.
MlirValue hloSizeOf(Hlo *h, MlirValue old, intptr_t d);
void hloSizesOf(Hlo *h, MlirValue old, MlirValue *sizes);
MlirValue hloTensorSize(Hlo *h, MlirValue tensor, intptr_t d);
void hloNoteSizes(Hlo *h, MlirValue tensor, intptr_t rank, const MlirValue *sizes); // that a tensor is made with
void hloForgetSizes(Hlo *h);
void hloAssertSame(Hlo *h, MlirValue a, MlirValue b); // of sizes that StableHLO takes for equal
// `open` is read where `sizes` is dynamic.
MlirValue hloEmptyOf(Hlo *h, MlirType element, intptr_t rank, const int64_t *sizes, const MlirValue *open);
MlirValue hloFilledOf(Hlo *h, MlirValue scalar, intptr_t rank, const int64_t *sizes, const MlirValue *open);

//===--- linalg.generic ---------------------------------------------------------===//

typedef struct HloGeneric HloGeneric;
// Builds the body: `arguments` are the inputs' elements, then the outputs'; sets `results`, one for each output.
typedef bool (*HloBody)(Hlo *h, const HloGeneric *generic, const MlirValue *arguments, MlirValue *results);
struct HloGeneric {
  intptr_t parallel, reductions; // loops: parallel ones first
  intptr_t numInputs, numOutputs;
  MlirValue inputs[2 * HloMaxValues], outputs[2 * HloMaxValues];
  MlirAffineMap inputMaps[2 * HloMaxValues], outputMaps[2 * HloMaxValues];
  HloBody body;
  const void *data;
};
// Appends; a map of dimensions in their order.
void hloAddInput(HloGeneric *generic, MlirValue value, MlirAffineMap map);
void hloAddOutput(HloGeneric *generic, MlirValue value, MlirAffineMap map);
MlirAffineMap hloMap(Hlo *h, intptr_t dims, intptr_t count, const MlirAffineExpr *exprs);
MlirAffineMap hloMapOf(Hlo *h, intptr_t dims, intptr_t count, const int64_t *at); // -1: 0
MlirAffineMap hloIdentity(Hlo *h, intptr_t dims);
MlirAffineMap hloFirst(Hlo *h, intptr_t dims, intptr_t count); // (d0, …, dn) -> (d0, …, dm)
bool hloBuildGeneric(Hlo *h, const HloGeneric *generic, MlirValue *results);

//===--- conversions: false after a diagnostic --------------------------------------===//

bool hloConvertOp(Hlo *h, MlirOperation op);
bool hloConvertBlock(Hlo *h, MlirBlock block); // all but the terminator
// A region of one block on these values: what it returns. For bodies, values are scalars.
bool hloConvertRegion(Hlo *h, MlirRegion region, intptr_t count, const HloValue *arguments, HloValue *results);
bool hloConvertBody(Hlo *h, MlirRegion region, intptr_t count, const HloValue *arguments, HloValue *results);

// The op on elements that are scalars. Count 0: not an op on elements.
HloValue hloScalarOp(Hlo *h, MlirOperation op, const HloValue *operands);
bool hloIsElementwise(MlirOperation op);
HloValue hloComplexOp(Hlo *h, MlirOperation op, const HloValue *operands);
// These take scalars that are floats or complex numbers, both of one type.
HloValue hloMultiply(Hlo *h, HloValue a, HloValue b);
HloValue hloDivide(Hlo *h, HloValue a, HloValue b);
HloValue hloSubtract(Hlo *h, HloValue a, HloValue b);
HloValue hloConjugate(Hlo *h, HloValue a);
MlirValue hloFunction(Hlo *h, MlirOperation op, const MlirValue *operands); // of CHLO

bool hloElementwise(Hlo *h, MlirOperation op);
bool hloMove(Hlo *h, MlirOperation op, bool *isKnown);
bool hloProduct(Hlo *h, MlirOperation op, bool *isKnown);
bool hloReduction(Hlo *h, MlirOperation op, bool *isKnown);
bool hloGatherScatter(Hlo *h, MlirOperation op, bool *isKnown);
bool hloSorting(Hlo *h, MlirOperation op, bool *isKnown);
bool hloControl(Hlo *h, MlirOperation op, bool *isKnown);
bool hloMatrix(Hlo *h, MlirOperation op, bool *isKnown);
bool hloOpenSizes(Hlo *h, MlirOperation op, bool *isKnown);
// An empty tensor filled with the places along a dimension.
MlirValue hloCounted(Hlo *h, MlirValue empty, intptr_t rank, int64_t dimension);
// Shared by movement and windows: pads each part with the scalar, low and high possibly negative, elements apart.
MlirValue hloPad(Hlo *h, MlirValue tensor, MlirValue scalar, const int64_t *low, const int64_t *high,
                 const int64_t *interior);
MlirValue hloTransposed(Hlo *h, MlirValue tensor, const int64_t *permutation);
MlirValue hloReshaped(Hlo *h, MlirValue tensor, intptr_t rank, const int64_t *sizes);
MlirValue hloWithoutUnits(Hlo *h, MlirValue tensor, const bool *drops); // dimensions of size 1; one stays at least
MlirValue hloReversed(Hlo *h, MlirValue tensor, const StablehloList *dimensions);
MlirValue hloSliced(Hlo *h, MlirValue tensor, const int64_t *starts, const int64_t *sizes, const int64_t *strides);
// `inputs` sorted along `dimension` by a comparator of scalars.
typedef MlirValue (*HloBefore)(Hlo *h, const void *data, const HloValue *values); // a0, b0, a1, b1, …
bool hloSorted(Hlo *h, intptr_t count, HloValue *tensors, const MlirType *elements, int64_t dimension, HloBefore before,
               const void *data);
