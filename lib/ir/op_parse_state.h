// What the parts of the op parser share: the operands, types and attributes parsed so far. Not for others.
#pragma once

#include "lib/ir/op_format.h"
#include "lib/ir/op_spec.h"
#include "lib/ir/support.h"

enum { TileParseInlineItems = 12 };

typedef struct TileParseOperandItem {
  MlirExtOperand operand;
  int group;
} TileParseOperandItem;
// Types of operands have their group's number, types of results numOperands + their group's.
typedef struct TileParseTypeItem {
  MlirType type;
  int group;
} TileParseTypeItem;

typedef struct TileParseRange {
  int begin, count;
} TileParseRange;

struct TileParse {
  const TileOpSpec *spec;
  const MlirExtOpDefinition *definition;
  MlirExtParser parser;
  MlirExtOpState state;
  MlirContext context;
  MlirExtSourceLocation location;
  TileParseOperandItem *operands, inlineOperands[TileParseInlineItems];
  TileParseTypeItem *types, inlineTypes[TileParseInlineItems];
  int numOperands, operandCapacity, numTypes, typeCapacity;
  bool operandsMixed, typesMixed; // a group's items do not stand together: sorted before they are read
  TileParseRange operandRanges[TileMaxValues], typeRanges[TileMaxValues];
};

// op_parse_values.c. Groups are positions in the row's operands; for types, results follow the operands.
int tileParseNumGroups(const TileParse *parse);
void tileParsePushOperand(TileParse *parse, int group, MlirExtOperand operand);
void tileParsePushType(TileParse *parse, int group, MlirType type);
void tileParseGatherItems(TileParse *parse); // a group's items stand together afterwards
bool tileParseComma(TileParse *parse);       // an optional one
bool tileParseOneOperand(TileParse *parse, int group);
MlirExtParseResult tileParseMaybeOperand(TileParse *parse, int group);
bool tileParseMoreOperands(TileParse *parse, int group); // the rest of a list whose first operand is there
MlirExtParseResult tileParseOperandGroup(TileParse *parse, int group, bool isRequired);
MlirExtParseResult tileParseTypeGroup(TileParse *parse, int group, TileArity arity, bool isRequired);
bool tileParseSignature(TileParse *parse, const TileElement *element); // functional-type
bool tileParseResolve(TileParse *parse);                               // at the end

bool tileParseAttributeOf(TileParse *parse, const TileAttributeSpec *attribute); // op_parse.c
