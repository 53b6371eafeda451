// What an operator's emitter works with: the node, its inputs and attributes, values of known and unknown sizes, and
// the ways to compute new values.
//
//   static bool emitRelu(Node *node) { return onnxReturn(node, onnxMap(node, node->in[0]->type, 1, node->in, relu,
//   NULL)); }
//
// A value knows its rank and, as values of type index, its sizes. A small tensor of integers may also be known element
// by element: constants and arithmetic on sizes. What is computed from such values alone is computed at import
// (fold.h); so the shape arithmetic of a model disappears, and what depends on dynamic sizes becomes index arithmetic.
#pragma once

#include "lib/import/onnx/types.h"
#include "lib/ir/builder.h"
#include "lib/ir/upstream.h"
#include "lib/support/array.h"

enum { OnnxMaxRank = TESSERA_MAX_RANK / 2, OnnxMaxElements = 256 };

// A tensor whose data stay in a file.
typedef struct OnnxWeight {
  const char *file;
  const unsigned char *start; // of the file in memory
  OnnxText name;
} OnnxWeight;

typedef struct OnnxValue {
  OnnxKind kind; // Sequence: items; None: an optional without a value
  OnnxType type;
  int rank;
  MlirValue sizes[OnnxMaxRank]; // of type index
  MlirValue tensor;             // null: not built yet; onnxTensor builds it
  MlirValue *elements;          // of the element type; null: not known element by element
  int64_t count;                // of elements, of items
  const unsigned char *bytes;   // of a constant; null: none
  const OnnxWeight *weight;     // the file that the bytes lie in; null: none
  struct OnnxValue **items;
} OnnxValue;

typedef struct Import Import;
typedef struct Node {
  Import *import;
  const OnnxNode *raw;
  TileBuilder *b;
  int64_t opset;
  int numIn, numOut, kind; // kind: of the operator's row
  OnnxValue **in;          // null: left out; missing ones behind the last too, up to OnnxMaxInputs
  OnnxValue **out;
} Node;
enum { OnnxMaxInputs = 32 };

// "node 'conv1' (Conv): …" at the node's place. Returns false.
bool onnxError(const Node *node, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Zeroed, lives as long as the import. Null where memory has run out and the size is more than OnnxSmall (model.h).
void *onnxAllocate(const Node *node, size_t size);
bool onnxOutOfMemory(const Node *node); // false, after an error

//===--- attributes -----------------------------------------------------------===//

const OnnxAttribute *onnxAttribute(const Node *node, const char *name); // null: not there
int64_t onnxInt(const Node *node, const char *name, int64_t otherwise);
double onnxReal(const Node *node, const char *name, double otherwise);
bool onnxWord(const Node *node, const char *name, const char *word, bool otherwise); // is the text that word?
// False, after an error, if there are more than `most`. `count` -1: not there.
bool onnxInts(const Node *node, const char *name, int most, int64_t *items, int *count);
// An axis counted from the end becomes one from the start. False after an error.
bool onnxAxis(const Node *node, int64_t axis, int rank, int *result);

//===--- values ---------------------------------------------------------------===//

OnnxValue *onnxValue(const Node *node, OnnxType type, int rank, const MlirValue *sizes);
MlirType onnxElementType(const Node *node, OnnxType type);
MlirType onnxTensorType(const Node *node, const OnnxValue *value); // with the sizes that are constants
MlirValue onnxTensor(Node *node, OnnxValue *value);
OnnxValue *onnxOfTensor(Node *node, OnnxType type, MlirValue tensor, const MlirValue *sizes); // null sizes: the type's
// The same tensor as another type of ONNX (the signs of integers).
OnnxValue *onnxRetype(const Node *node, const OnnxValue *value, OnnxType type);
int64_t onnxStatic(MlirValue size);        // -1: dynamic
bool onnxIsSame(MlirValue a, MlirValue b); // certainly the same number
int64_t onnxCount(const OnnxValue *value); // of elements; -1: dynamic
// The elements of a small constant or computed tensor; null: not known here.
MlirValue *onnxElements(Node *node, OnnxValue *value);
// As above, but reads what only the running program knows. Null after an error: too many, or no fixed number.
MlirValue *onnxRead(Node *node, OnnxValue *value);
// As onnxRead, as indices. The number goes to `count`.
bool onnxReadIndices(Node *node, OnnxValue *value, int most, MlirValue *items, int *count);
// Constants: false after an error, which names the input.
bool onnxConstantInts(Node *node, OnnxValue *value, const char *what, int most, int64_t *items, int *count);
bool onnxConstantReals(Node *node, OnnxValue *value, const char *what, int most, double *items, int *count);
OnnxValue *onnxOfElements(Node *node, OnnxType type, int rank, const MlirValue *sizes, const MlirValue *elements,
                          int64_t count);
OnnxValue *onnxScalarValue(Node *node, OnnxType type, double number);
OnnxValue *onnxFill(Node *node, OnnxType type, int rank, const MlirValue *sizes, double number);
// A constant of these numbers, in C order: of floats, i32 or i64. Null after an error.
OnnxValue *onnxConstantOf(Node *node, OnnxType type, int rank, const int64_t *shape, const double *numbers);
// Checks while the program runs, or here where both are known: false after an error.
bool onnxCheckSame(Node *node, MlirValue a, MlirValue b, const char *what);
bool onnxCheck(Node *node, MlirValue condition, const char *what);
// A view with other sizes of as many elements.
OnnxValue *onnxReshape(Node *node, OnnxValue *value, int rank, const MlirValue *sizes);
OnnxValue *onnxTranspose(Node *node, OnnxValue *value, const int *permutation);
OnnxValue *onnxUnsqueeze(Node *node, OnnxValue *value, uint32_t axes, int rank); // bits of axes of the result
OnnxValue *onnxSqueeze(Node *node, OnnxValue *value, uint32_t axes);
OnnxValue *onnxSlice(Node *node, OnnxValue *value, const MlirValue *offsets, const MlirValue *sizes,
                     const int64_t *strides);
OnnxValue *onnxConcat(Node *node, int count, OnnxValue *const *values, int axis);
// `number` at the places around.
OnnxValue *onnxPad(Node *node, OnnxValue *value, const MlirValue *low, const MlirValue *high, MlirValue number);
OnnxValue *onnxCast(Node *node, OnnxValue *value, OnnxType type);
OnnxValue *onnxBroadcastTo(Node *node, OnnxValue *value, int rank, const MlirValue *sizes);

//===--- computing ------------------------------------------------------------===//

// What a body builds with: in a linalg.generic, or at import with constants.
typedef struct Body {
  Node *node;
  TileBuilder *b;
  const MlirValue *index; // of the result's element (onnxGenerate)
  const void *data;
  bool isFolding, failed; // failed: this cannot be computed at import
} Body;
typedef MlirValue OnnxElement(Body *body, const MlirValue *x);
typedef MlirValue OnnxPlace(Body *body);

// Element by element, with ONNX's broadcasting. Null after an error.
OnnxValue *onnxMap(Node *node, OnnxType type, int count, OnnxValue *const *inputs, OnnxElement *element,
                   const void *data);
// Each element from its place.
OnnxValue *onnxGenerate(Node *node, OnnxType type, int rank, const MlirValue *sizes, OnnxPlace *place,
                        const void *data);
MlirValue onnxAt(Body *body, OnnxValue *from, const MlirValue *index);
// Combines elements over the axes of `reduced` (bits), which the result lacks. `x` of element: the accumulator, the
// element.
OnnxValue *onnxReduceWith(Node *node, OnnxType type, OnnxValue *value, uint32_t reduced, double initial,
                          OnnxElement *combine, const void *data);
// A sum of products over the labels that the result lacks: labels[i] of input i, one character for each axis.
OnnxValue *onnxEinsum(Node *node, OnnxType type, OnnxValue *a, const char *aLabels, OnnxValue *b, const char *bLabels,
                      const char *labels);

// Results of a node. False for a null value: an error was reported.
bool onnxReturn(Node *node, OnnxValue *value);
bool onnxSetOut(Node *node, int index, OnnxValue *value);

// Scalars in a body; numbers of the type of `like`.
MlirValue onnxNumber(Body *body, MlirValue like, double number);
MlirValue onnxConvert(Body *body, MlirValue x, OnnxType from, OnnxType to);
// A number as float8e8m0: of its size the power of two. `saturates`: beyond the greatest one stands that, not nan.
typedef enum OnnxPowerRounding { OnnxPower_Up, OnnxPower_Down, OnnxPower_Nearest } OnnxPowerRounding;
MlirValue onnxToPower(Body *body, MlirValue x, OnnxType from, OnnxPowerRounding rounding, bool saturates);
MlirValue onnxToIndex(Body *body, MlirValue x);
#define ONNX_OP(kind, ...) onnxOp(body, kind, (MlirValue[]){__VA_ARGS__})
MlirValue onnxOp(Body *body, TileUpstream kind,
                 const MlirValue *operands); // one or two operands of one type, the result's
MlirValue onnxCompareF(Body *body, int predicate, MlirValue a, MlirValue b);
MlirValue onnxCompareI(Body *body, int predicate, MlirValue a, MlirValue b);
MlirValue onnxSelect(Body *body, MlirValue condition, MlirValue a, MlirValue b);

//===--- graphs ---------------------------------------------------------------===//

// Emits a graph of an attribute at the builder's place; `inputs` stand for its inputs. `outputs` has room for all.
bool onnxEmitGraph(Node *node, const OnnxGraph *graph, int numInputs, OnnxValue *const *inputs, OnnxValue **outputs);
TileBuilder *onnxBuilder(Node *node);
