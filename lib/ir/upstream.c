// Upstream's ops as numbers: names are found by hashing into a table that is made when the tree is built.
#include "lib/ir/upstream.h"
#include "lib/ir/op_spec.h"
#include "lib/ir/support.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/vector.h"

typedef struct Name {
  const char *text;
  int length;
  unsigned properties;
} Name;
static const Name names[] = {
#include "upstream/names.inc"
};
enum { NumNames = sizeof names / sizeof *names };

// Number + 1 of the name that hashes there; 0: none. Collisions stand behind.
static const uint16_t slots[] = {
#include "upstream/slots.inc"
};
enum { NumSlots = sizeof slots / sizeof *slots };

TileUpstream tileUpstreamKindOfName(MlirStringRef name) {
  uint32_t slot = tileNameHash(name.data, name.length) % NumSlots;
  for (; slots[slot]; slot = (slot + 1) % NumSlots) {
    const Name *entry = &names[slots[slot] - 1];
    if ((size_t)entry->length == name.length && !memcmp(entry->text, name.data, name.length))
      return slots[slot] - 1;
  }
  return TileUpstream_None;
}

TileUpstream tileUpstreamKind(MlirOperation op) {
  return mlirOperationIsNull(op) ? TileUpstream_None : tileUpstreamKindOfName(tileOpName(op));
}

bool tileUpstreamIsOneOf(MlirOperation op, const TileUpstream *kinds) {
  TileUpstream kind = tileUpstreamKind(op);
  while (*kinds != TileUpstream_None && *kinds != kind)
    ++kinds;
  return *kinds != TileUpstream_None;
}

const char *tileUpstreamName(TileUpstream kind) { return kind >= 0 && kind < NumNames ? names[kind].text : NULL; }
unsigned tileUpstreamProperties(TileUpstream kind) { return kind >= 0 && kind < NumNames ? names[kind].properties : 0; }
intptr_t tileUpstreamNumOps(void) { return NumNames; }

int tileUpstreamWord(MlirAttribute attribute, const char *const *texts) {
  char text[128] = "";
  if (!mlirAttributeIsNull(attribute))
    tileAttributeText(attribute, text, sizeof text);
  for (int i = 0; texts[i]; ++i)
    if (!strcmp(texts[i], text))
      return i;
  return -1;
}

//===--- source text --------------------------------------------------------===//
static const TileUpstreamSource sources[] = {
#include "upstream/sources.inc"
};

const TileUpstreamSource *tileUpstreamSource(TileUpstream kind) {
  return kind >= 0 && kind < NumNames ? &sources[kind] : NULL;
}

void tileUpstreamSourceOperands(MlirOperation op, const TileUpstreamSource *source, intptr_t group, intptr_t *begin,
                                intptr_t *count) {
  if (source->hasSegments)
    tileUpstreamOperandSegment(op, source->numGroups, source->loose, group, begin, count);
  else
    tileUpstreamGroup(mlirOperationGetNumOperands(op), source->numGroups, source->loose, group, begin, count);
}

//===--- building -----------------------------------------------------------===//
MlirValue tileBuildCast(TileBuilder *builder, TileUpstream kind, MlirValue operand, MlirType type) {
  return tileBuildValue(builder, tileUpstreamName(kind), type, 1, &operand, NULL);
}

MlirValue tileBuildUnary(TileBuilder *builder, TileUpstream kind, MlirValue operand) {
  return tileBuildCast(builder, kind, operand, mlirValueGetType(operand));
}

MlirValue tileBuildBinary(TileBuilder *builder, TileUpstream kind, MlirValue lhs, MlirValue rhs) {
  return tileBuildValue(builder, tileUpstreamName(kind), mlirValueGetType(lhs), 2, (MlirValue[]){lhs, rhs}, NULL);
}

//===--- casts of numbers ---------------------------------------------------===//
MlirType tileNumberType(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  return mlirTypeIsAVector(type) ? mlirShapedTypeGetElementType(type) : type;
}

MlirType tileNumberTypeAs(MlirValue like, MlirType element) {
  MlirType type = mlirValueGetType(like);
  if (!mlirTypeIsAVector(type))
    return element;
  int64_t size = mlirShapedTypeGetDimSize(type, 0);
  return mlirVectorTypeGet(1, &size, element);
}

TileUpstream tileVectorCombiner(MlirAttribute kindOrNull, bool isFloat) {
  static const struct {
    TileUpstream ofIntegers, ofFloats;
  } kinds[] = {
      [VectorCombiningKind_Add] = {ArithOp_AddI, ArithOp_AddF},
      [VectorCombiningKind_Mul] = {ArithOp_MulI, ArithOp_MulF},
      [VectorCombiningKind_Minui] = {ArithOp_MinUI, TileUpstream_None},
      [VectorCombiningKind_Minsi] = {ArithOp_MinSI, TileUpstream_None},
      [VectorCombiningKind_Maxui] = {ArithOp_MaxUI, TileUpstream_None},
      [VectorCombiningKind_Maxsi] = {ArithOp_MaxSI, TileUpstream_None},
      [VectorCombiningKind_And] = {ArithOp_AndI, TileUpstream_None},
      [VectorCombiningKind_Or] = {ArithOp_OrI, TileUpstream_None},
      [VectorCombiningKind_Xor] = {ArithOp_XOrI, TileUpstream_None},
      [VectorCombiningKind_Minnumf] = {TileUpstream_None, ArithOp_MinNumF},
      [VectorCombiningKind_Maxnumf] = {TileUpstream_None, ArithOp_MaxNumF},
      [VectorCombiningKind_Minimumf] = {TileUpstream_None, ArithOp_MinimumF},
      [VectorCombiningKind_Maximumf] = {TileUpstream_None, ArithOp_MaximumF},
  };
  int kind = mlirAttributeIsNull(kindOrNull) ? VectorCombiningKind_Add : vectorCombiningKindOf(kindOrNull);
  return kind < 0 ? TileUpstream_None : isFloat ? kinds[kind].ofFloats : kinds[kind].ofIntegers;
}

MlirValue tileBuildIntegerCast(TileBuilder *builder, MlirValue value, MlirType element, bool isSigned) {
  MlirType from = tileNumberType(value), type = tileNumberTypeAs(value, element);
  if (mlirTypeEqual(from, element))
    return value;
  if (mlirTypeIsAIndex(from) || mlirTypeIsAIndex(element))
    return tileBuildCast(builder, isSigned ? ArithOp_IndexCast : ArithOp_IndexCastUI, value, type);
  bool isWider = tileMemoryBits(element) > tileMemoryBits(from);
  return tileBuildCast(builder, isWider ? isSigned ? ArithOp_ExtSI : ArithOp_ExtUI : ArithOp_TruncI, value, type);
}

MlirValue tileBuildFloatCast(TileBuilder *builder, MlirValue value, MlirType element) {
  MlirType from = tileNumberType(value);
  if (mlirTypeEqual(from, element))
    return value;
  return tileBuildCast(builder, tileMemoryBits(element) > tileMemoryBits(from) ? ArithOp_ExtF : ArithOp_TruncF, value,
                       tileNumberTypeAs(value, element));
}

//===--- groups of values ---------------------------------------------------===//
void tileUpstreamGroup(intptr_t total, intptr_t numGroups, intptr_t loose, intptr_t group, intptr_t *begin,
                       intptr_t *count) {
  tileSpecGroup(NULL, (int)numGroups, (int)loose, (MlirAttribute){NULL}, total, group, begin, count);
}

static void segment(MlirAttribute sizes, intptr_t total, intptr_t numGroups, intptr_t loose, intptr_t group,
                    intptr_t *begin, intptr_t *count) {
  if (!mlirAttributeIsNull(sizes)) {
    tileSpecGroup(NULL, (int)mlirDenseArrayGetNumElements(sizes), -1, sizes, total, group, begin, count);
    return;
  }
  *count = group < loose ? 1 : (total - loose) / (numGroups - loose);
  *begin = group < loose ? group : loose + (group - loose) * *count;
}

void tileUpstreamOperandSegment(MlirOperation op, intptr_t numGroups, intptr_t loose, intptr_t group, intptr_t *begin,
                                intptr_t *count) {
  segment(mlirOperationGetInherentAttributeByName(op, tileString("operandSegmentSizes")),
          mlirOperationGetNumOperands(op), numGroups, loose, group, begin, count);
}

void tileUpstreamResultSegment(MlirOperation op, intptr_t numGroups, intptr_t loose, intptr_t group, intptr_t *begin,
                               intptr_t *count) {
  segment(mlirOperationGetInherentAttributeByName(op, tileString("resultSegmentSizes")), mlirOperationGetNumResults(op),
          numGroups, loose, group, begin, count);
}
