// Printing an op by its row's format: the inverse of op_parse.c.
// Spaces: one before everything, but none after an opening bracket or a stated space, none before , ) ] } > and none
// before ( [ { < behind a name or value (upstream's rules, `declarative assembly format`).
#include "lib/ir/op_format.h"
#include "lib/ir/op_spec.h"
#include "lib/ir/support.h"
#include <string.h>

typedef enum After { After_Word, After_Punctuation, After_Glue } After;

typedef struct Print {
  const TileOpSpec *spec;
  MlirOperation op;
  MlirExtPrinter printer;
  After after;
} Print;

static inline void write(MlirExtPrinter printer, const char *text) { mlirExtPrinterPrint(printer, tileString(text)); }

// Before anything but a literal.
static void space(Print *print) {
  if (print->after != After_Glue)
    write(print->printer, " ");
  print->after = After_Word;
}

//===--- values -------------------------------------------------------------===//
static void printValues(MlirExtPrinter printer, MlirOperation op, intptr_t begin, intptr_t count) {
  for (intptr_t i = 0; i < count; ++i) {
    if (i)
      write(printer, ", ");
    mlirExtPrinterPrintOperand(printer, mlirOperationGetOperand(op, begin + i));
  }
}

static void printType(const TileOpSpec *spec, MlirExtPrinter printer, MlirType type) {
  (spec->table->printType ? spec->table->printType : mlirExtPrinterPrintType)(printer, type);
}

static void printTypes(const Print *print, bool isOperand, intptr_t begin, intptr_t count) {
  MlirOperation op = print->op;
  for (intptr_t i = 0; i < count; ++i) {
    if (i)
      write(print->printer, ", ");
    printType(print->spec, print->printer, isOperand ? tileOperandType(op, begin + i) : tileResultType(op, begin + i));
  }
}

static void groupOf(const Print *print, bool isOperand, int group, intptr_t *begin, intptr_t *count) {
  (isOperand ? tileSpecOperandGroup : tileSpecResultGroup)(print->spec, print->op, group, begin, count);
}

static void printOperandElement(Print *print, const TileElement *element) {
  intptr_t begin, count;
  groupOf(print, true, element->index, &begin, &count);
  if (count == 0)
    return;
  space(print);
  printValues(print->printer, print->op, begin, count);
}

static void printTypeElement(Print *print, const TileElement *element) {
  bool isOperand = element->kind == TileElement_OperandType;
  intptr_t begin, count;
  groupOf(print, isOperand, element->index, &begin, &count);
  if (count == 0)
    return;
  space(print);
  printTypes(print, isOperand, begin, count);
}

// All of a side (index -1) or one group.
static void sideOf(const Print *print, bool isOperand, int index, intptr_t *begin, intptr_t *count) {
  *begin = 0;
  *count = isOperand ? mlirOperationGetNumOperands(print->op) : mlirOperationGetNumResults(print->op);
  if (index >= 0)
    groupOf(print, isOperand, index, begin, count);
}

// Null: not all operands and results have one type.
static MlirType commonType(MlirOperation op) {
  MlirType first = tileFirstResultType(op);
  bool isCommon = true;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    isCommon &= mlirTypeEqual(tileOperandType(op, i), first);
  for (intptr_t i = 1; i < mlirOperationGetNumResults(op); ++i)
    isCommon &= mlirTypeEqual(tileResultType(op, i), first);
  return isCommon ? first : (MlirType){NULL};
}

static void printFunctionalType(Print *print, const TileElement *element) {
  intptr_t begin, count;
  MlirType common = element->isCommon ? commonType(print->op) : (MlirType){NULL};
  space(print);
  if (!mlirTypeIsNull(common)) {
    printType(print->spec, print->printer, common);
    return;
  }
  sideOf(print, true, element->index, &begin, &count);
  write(print->printer, "(");
  printTypes(print, true, begin, count);
  write(print->printer, ") -> ");
  sideOf(print, false, element->second, &begin, &count);
  bool bare = count == 1 && !mlirTypeIsAFunction(tileResultType(print->op, begin));
  write(print->printer, bare ? "" : "(");
  printTypes(print, false, begin, count);
  write(print->printer, bare ? "" : ")");
}

//===--- attributes, regions ------------------------------------------------===//
static void printAttributeElement(Print *print, const TileElement *element) {
  const TileAttributeSpec *attribute = &print->spec->attributes[element->index];
  if (element->isSilent)
    return;
  MlirAttribute value = tileOpAttributeAt(print->op, element->index);
  if (mlirAttributeIsNull(value))
    return;
  space(print);
  if (attribute->isUnit)
    write(print->printer, attribute->name);
  else
    tileSpecPrintKind(attribute->kind, print->printer, value);
}

// Whether a terminator says nothing that its name does not.
static bool isImplied(const TileOpSpec *spec, MlirRegion region) {
  MlirBlock block = spec->implicitTerminator ? mlirRegionGetFirstBlock(region) : (MlirBlock){NULL};
  MlirOperation last = mlirBlockIsNull(block) ? (MlirOperation){NULL} : mlirBlockGetTerminator(block);
  return !mlirOperationIsNull(last) && tileOpIs(last, spec->implicitTerminator) &&
         mlirOperationGetNumOperands(last) == 0 && mlirOperationGetNumAttributes(last) == 0;
}

static bool isEmpty(MlirRegion region) { return mlirBlockIsNull(mlirRegionGetFirstBlock(region)); }

static void printRegions(Print *print, const TileElement *element) {
  TileArity arity = print->spec->regions[element->index].arity;
  intptr_t end = arity == TileArity_Variadic ? mlirOperationGetNumRegions(print->op) : element->index + 1;
  for (intptr_t i = element->index; i < end; ++i) {
    MlirRegion region = mlirOperationGetRegion(print->op, i);
    if (arity == TileArity_Optional && isEmpty(region))
      return;
    if (i > element->index)
      write(print->printer, ",");
    space(print);
    mlirExtPrinterPrintRegion(print->printer, region, true, !isImplied(print->spec, region));
  }
}

static bool dictionaryIsEmpty(const Print *print) {
  if (mlirExtOperationHasDiscardableAttributes(print->op))
    return false;
  for (int i = 0; print->spec->dictHoldsInherent && i < print->spec->numAttributes; ++i)
    if (!print->spec->attributes[i].inFormat &&
        !mlirAttributeIsNull(tileSpecAttribute(&print->spec->attributes[i], print->op)))
      return false;
  return true;
}

static void printDictionary(Print *print, const TileElement *element) {
  if (dictionaryIsEmpty(print)) // the usual case; upstream would build the dictionary to find out
    return;
  mlirExtPrinterPrintAttributeDictionary(print->printer, print->op, print->spec->numElided, print->spec->elided,
                                         element->withKeyword);
  print->after = After_Word;
}

//===--- literals, directives -----------------------------------------------===//
static void printLiteral(Print *print, const TileElement *element) {
  bool tight = element->closes || (print->after == After_Word && element->opens);
  bool spaced = print->after != After_Glue && !tight; // the space before the text is written with it
  mlirExtPrinterPrint(print->printer, mlirStringRefCreate(element->text - spaced, element->length + spaced));
  print->after = element->opens ? After_Glue : element->isPunctuation ? After_Punctuation : After_Word;
}

static void printSpace(Print *print, const TileElement *element) {
  if (*element->text == '\n')
    mlirExtPrinterNewline(print->printer);
  else
    mlirExtPrinterPrint(print->printer, mlirStringRefCreate(element->text, element->length));
  print->after = After_Glue;
}

static void printCustom(Print *print, const TileElement *element) {
  const TileOpSpec *spec = print->spec;
  if (!element->directive) {
    if (print->after == After_Punctuation)
      write(print->printer, " ");
    tilePrintMixedList(print->printer, print->op, spec->operands[element->arguments[0].index].name,
                       spec->attributes[element->arguments[1].index].name, 0);
  } else if (!element->directive->isPresent || element->directive->isPresent(print->op)) {
    space(print);
    element->directive->print(print->op, print->printer);
  }
  print->after = After_Word;
}

//===--- elements -----------------------------------------------------------===//
static void printElement(Print *print, const TileElement *element) {
  switch (element->kind) {
  case TileElement_Literal:
    return printLiteral(print, element);
  case TileElement_Space:
    return printSpace(print, element);
  case TileElement_Operand:
    return printOperandElement(print, element);
  case TileElement_Attribute:
    return printAttributeElement(print, element);
  case TileElement_Region:
    return printRegions(print, element);
  case TileElement_OperandType:
  case TileElement_ResultType:
    return printTypeElement(print, element);
  case TileElement_AttrDict:
    return printDictionary(print, element);
  case TileElement_FunctionalType:
    return printFunctionalType(print, element);
  case TileElement_Custom:
    return printCustom(print, element);
  case TileElement_Group:
    return;
  }
}

static bool attributeIsPresent(const Print *print, const TileAttributeSpec *attribute) {
  MlirAttribute value = tileSpecAttribute(attribute, print->op);
  if (mlirAttributeIsNull(value) || !attribute->defaultText)
    return !mlirAttributeIsNull(value);
  if (attribute->defaultIsEmpty && mlirAttributeIsADenseI64Array(value)) // spares making the usual default
    return mlirDenseArrayGetNumElements(value) != 0;
  return !mlirAttributeEqual(value, tileSpecDefault(attribute, mlirOperationGetContext(print->op)));
}

static bool anchorIsPresent(const Print *print, const TileElement *anchor) {
  intptr_t begin, count;
  switch (anchor->kind) {
  case TileElement_Attribute:
    return attributeIsPresent(print, &print->spec->attributes[anchor->index]);
  case TileElement_Region:
    return anchor->index < mlirOperationGetNumRegions(print->op) &&
           !isEmpty(mlirOperationGetRegion(print->op, anchor->index));
  case TileElement_Custom:
    if (anchor->directive)
      return anchor->directive->isPresent(print->op);
    MlirAttribute sizes = tileSpecAttribute(&print->spec->attributes[anchor->arguments[1].index], print->op);
    return !mlirAttributeIsNull(sizes) && mlirDenseArrayGetNumElements(sizes) > 0;
  default:
    groupOf(print, anchor->kind != TileElement_ResultType, anchor->index, &begin, &count);
    return count > 0;
  }
}

static void printElements(Print *print, int begin, int end) {
  const TileElement *elements = print->spec->elements;
  for (int i = begin; i < end; i += 1 + elements[i].count)
    if (elements[i].kind != TileElement_Group)
      printElement(print, &elements[i]);
    else if (anchorIsPresent(print, &elements[elements[i].anchor]))
      printElements(print, i + 1, i + 1 + elements[i].count);
}

void tileTablePrint(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer) {
  Print print = {definition->data, op, printer, After_Word};
  printElements(&print, 0, print.spec->numElements);
}

//===--- what directives may do ---------------------------------------------===//
void tilePrintOperands(MlirExtPrinter printer, MlirOperation op, const char *name) {
  intptr_t begin, count;
  tileOpOperands(op, name, &begin, &count);
  printValues(printer, op, begin, count);
}

void tilePrintOperandTypes(MlirExtPrinter printer, MlirOperation op, const char *name) {
  intptr_t begin, count;
  tileOpOperands(op, name, &begin, &count);
  printTypes(&(Print){.printer = printer, .op = op, .spec = tileSpecOf(op)}, true, begin, count);
}

void tilePrintAttribute(MlirExtPrinter printer, MlirOperation op, const char *name) {
  const TileOpSpec *spec = tileSpecOf(op);
  TilePlace place = tileSpecFind(spec, name, strlen(name));
  MlirAttribute value = tileOpAttributeAt(op, place.index);
  if (!mlirAttributeIsNull(value))
    tileSpecPrintKind(spec->attributes[place.index].kind, printer, value);
}

void tilePrintMixedList(MlirExtPrinter printer, MlirOperation op, const char *operands, const char *attribute,
                        int64_t placeholder) {
  MlirAttribute items = mlirOperationGetInherentAttributeByName(op, tileString(attribute));
  intptr_t begin, count, numItems = mlirAttributeIsNull(items) ? 0 : mlirDenseArrayGetNumElements(items);
  tileOpOperands(op, operands, &begin, &count);
  write(printer, "[");
  for (intptr_t i = 0; i < numItems; ++i) {
    int64_t item = mlirDenseI64ArrayGetElement(items, i);
    write(printer, i ? ", " : "");
    if (item == INT64_MIN && count-- > 0)
      mlirExtPrinterPrintOperand(printer, mlirOperationGetOperand(op, begin++));
    else if (placeholder && item == placeholder)
      write(printer, "_");
    else
      mlirExtPrinterPrintInteger(printer, item);
  }
  write(printer, "]");
}
