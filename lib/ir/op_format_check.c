// Refuses formats that can be read in two ways, or whose optional groups cannot be told to be there by one token.
// For each element that may be missing or go on, everything that could come next is compared with how it begins.
#include "lib/ir/op_spec.h"
#include <string.h>

typedef struct Check {
  const TileOpSpec *spec;
  const TileSpecError *error;
} Check;

static const TileAttributeKind *kindOf(const Check *check, const TileElement *element) {
  return check->spec->attributes[element->index].kind;
}
static bool isKind(const Check *check, const TileElement *element, const char *name) {
  return !strcmp(check->spec->attributes[element->index].kindName, name);
}
static bool isLiteral(const TileElement *element, const char *text) {
  return element->kind == TileElement_Literal && !strcmp(element->text, text);
}
static TileArity arityOf(const Check *check, const TileElement *element) {
  switch (element->kind) {
  case TileElement_Operand:
  case TileElement_OperandType:
    return check->spec->operands[element->index].arity;
  case TileElement_ResultType:
    return check->spec->results[element->index].arity;
  case TileElement_Region:
    return check->spec->regions[element->index].arity;
  default:
    return TileArity_One;
  }
}
static bool isType(const TileElement *element) {
  return element->kind == TileElement_OperandType || element->kind == TileElement_ResultType;
}

// Attributes parsed by upstream's generic parser, which takes a `:` and a type behind them as theirs.
static bool isGeneric(const Check *check, const TileElement *element) {
  const TileAttributeKind *kind = kindOf(check, element);
  return element->kind == TileElement_Attribute && !kind->parse && !kind->keywords && !isKind(check, element, "unit") &&
         !isKind(check, element, "array") && !isKind(check, element, "dictionary") &&
         !isKind(check, element, "affine map");
}

//===--- how elements begin -------------------------------------------------===//
static bool listHolds(const char *const *keywords, const char *text) {
  for (; keywords && *keywords; ++keywords)
    if (!strcmp(*keywords, text))
      return true;
  return false;
}

// Could `next` begin with this literal?
static bool beginsWith(const Check *check, const TileElement *next, const char *text) {
  bool word = text[0] == '_' || (text[0] | 32) >= 'a';
  switch (next->kind) {
  case TileElement_Literal:
    return !strcmp(next->text, text);
  case TileElement_Attribute:
    if (isKind(check, next, "unit"))
      return !strcmp(check->spec->attributes[next->index].name, text);
    if (kindOf(check, next)->keywords)
      return listHolds(kindOf(check, next)->keywords, text);
    if (!strcmp(text, "["))
      return strstr(check->spec->attributes[next->index].kindName, "array") || isGeneric(check, next);
    return (word && isKind(check, next, "keyword")) || (!strcmp(text, "{") && isKind(check, next, "dictionary"));
  case TileElement_Region:
    return !strcmp(text, "{");
  case TileElement_AttrDict:
    return !strcmp(text, next->withKeyword ? "attributes" : "{");
  case TileElement_FunctionalType:
  case TileElement_OperandType:
  case TileElement_ResultType:
    return !strcmp(text, "(");
  case TileElement_Custom:
    return !next->directive && !strcmp(text, "[");
  default:
    return false;
  }
}

// Could both attributes begin with one token?
static bool attributesBeginAlike(const Check *check, const TileElement *a, const TileElement *b) {
  const TileAttributeKind *first = kindOf(check, a), *second = kindOf(check, b);
  if (first->keywords && second->keywords) {
    for (const char *const *keyword = first->keywords; *keyword; ++keyword)
      if (listHolds(second->keywords, *keyword))
        return true;
    return false;
  }
  return isGeneric(check, b) || first == second || (first->keywords && isKind(check, b, "keyword"));
}

// Could `next` begin as the attribute does?
static bool beginsAsAttribute(const Check *check, const TileElement *attribute, const TileElement *next) {
  const TileAttributeKind *kind = kindOf(check, attribute);
  if (isKind(check, attribute, "unit"))
    return beginsWith(check, next, check->spec->attributes[attribute->index].name);
  for (const char *const *keyword = kind->keywords; keyword && *keyword; ++keyword)
    if (beginsWith(check, next, *keyword))
      return true;
  return next->kind == TileElement_Attribute && attributesBeginAlike(check, attribute, next);
}

// Could `next` begin as `element` does? `element` is what may stand first in an optional group.
static bool beginAlike(const Check *check, const TileElement *element, const TileElement *next) {
  switch (element->kind) {
  case TileElement_Literal:
    return beginsWith(check, next, element->text);
  case TileElement_Operand:
    return next->kind == TileElement_Operand;
  case TileElement_Region:
    return beginsWith(check, next, "{");
  case TileElement_OperandType:
  case TileElement_ResultType:
    return isType(next) || isLiteral(next, "(") || (next->kind == TileElement_Attribute && isKind(check, next, "type"));
  case TileElement_Attribute:
    return beginsAsAttribute(check, element, next);
  default:
    return false;
  }
}

//===--- what may come next -------------------------------------------------===//
typedef bool (*Conflict)(const Check *check, const TileElement *element, const TileElement *next);

// May the element leave no token?
static bool mayBeEmpty(const Check *check, const TileElement *element) {
  if (element->kind == TileElement_Space || element->kind == TileElement_AttrDict || element->isSilent)
    return true;
  if (element->kind == TileElement_Custom)
    return element->directive && element->directive->isPresent;
  TileArity arity = arityOf(check, element);
  return arity == TileArity_Variadic || (arity == TileArity_Optional && !element->isRequired);
}

// The first of the elements [begin, end) that could come first and conflicts; null if none does. `*stopped` when one
// of them always leaves a token.
static const TileElement *findConflict(const Check *check, const TileElement *element, int begin, int end,
                                       Conflict conflict, bool *stopped) {
  const TileElement *elements = check->spec->elements;
  *stopped = false;
  for (int i = begin; i < end && !*stopped; ++i) {
    const TileElement *next = &elements[i];
    if (next->kind == TileElement_Group) {
      bool inner;
      const TileElement *found = findConflict(check, element, i + 1, i + 1 + next->count, conflict, &inner);
      if (found)
        return found;
      i += next->count;
      continue;
    }
    if (next->kind != TileElement_Space && !next->isSilent && conflict(check, element, next))
      return next;
    *stopped = !mayBeEmpty(check, next);
  }
  return NULL;
}

static bool expectNo(const Check *check, const TileElement *element, int after, Conflict conflict, const char *what) {
  bool stopped;
  const TileElement *next = findConflict(check, element, after, check->spec->numElements, conflict, &stopped);
  return !next || tileSpecError(check->error, check->spec, "format",
                                "ambiguous: %s (at \"%.24s\") is followed by one that could begin the same way "
                                "(at \"%.24s\")",
                                what, element->source, next->source);
}

//===--- the rules ----------------------------------------------------------===//
static bool goesOnWithComma(const Check *check, const TileElement *element, const TileElement *next) {
  return beginAlike(check, element, next) || (arityOf(check, element) == TileArity_Variadic && isLiteral(next, ","));
}
static bool takesColon(const Check *check, const TileElement *element, const TileElement *next) {
  return isLiteral(next, ":");
}
static bool opensBrace(const Check *check, const TileElement *element, const TileElement *next) {
  return next->kind == TileElement_Region || isLiteral(next, "{");
}

// The kinds of attribute that may decide a group: those parsed by one optional token.
static bool mayDecide(const Check *check, const TileElement *first) {
  static const char *const kinds[] = {"unit", "i32", "i64", "index", "string", "symbol", NULL};
  switch (first->kind) {
  case TileElement_Literal:
    return true;
  case TileElement_Attribute:
    return kindOf(check, first)->keywords || listHolds(kinds, check->spec->attributes[first->index].kindName);
  case TileElement_Operand:
  case TileElement_OperandType:
  case TileElement_ResultType:
  case TileElement_Region:
    return arityOf(check, first) != TileArity_One;
  default:
    return false;
  }
}

static bool mayAnchor(const Check *check, const TileElement *anchor) {
  switch (anchor->kind) {
  case TileElement_Attribute:
    return check->spec->attributes[anchor->index].isOptional;
  case TileElement_Custom:
    return !anchor->directive || anchor->directive->isPresent;
  case TileElement_Operand:
  case TileElement_OperandType:
  case TileElement_ResultType:
  case TileElement_Region:
    return arityOf(check, anchor) != TileArity_One;
  default:
    return false;
  }
}

// Inside a group an optional attribute is the anchor or there `with` it: else the printer could not leave it out.
static bool checkMembers(const Check *check, int group) {
  const TileOpSpec *spec = check->spec;
  const TileElement *elements = spec->elements, *anchor = &elements[elements[group].anchor];
  for (int i = group + 1; i <= group + elements[group].count; ++i) {
    if (elements[i].kind == TileElement_Group) {
      i += elements[i].count;
      continue;
    }
    if (elements[i].kind != TileElement_Attribute || &elements[i] == anchor)
      continue;
    const TileAttributeSpec *attribute = &spec->attributes[elements[i].index];
    bool withAnchor = anchor->kind == TileElement_Attribute || anchor->kind == TileElement_Operand;
    withAnchor &= attribute->presence.place.kind != TilePlace_None && !attribute->presence.isUnless &&
                  attribute->presence.place.index == anchor->index;
    if (attribute->isOptional && !withAnchor)
      return tileSpecError(check->error, spec, "format",
                           "the optional attribute '%s' is in a group but neither its anchor nor there 'with' it",
                           attribute->name);
  }
  return true;
}

static bool checkGroup(const Check *check, int group) {
  const TileElement *elements = check->spec->elements;
  int first = group + 1;
  while (elements[first].kind == TileElement_Space)
    ++first;
  if (!mayDecide(check, &elements[first]))
    return tileSpecError(check->error, check->spec, "format",
                         "an optional group starts with something not optional to parse (at \"%.24s\")",
                         elements[first].source);
  if (!mayAnchor(check, &elements[elements[group].anchor]))
    return tileSpecError(check->error, check->spec, "format", "the anchor of a group is always there (at \"%.24s\")",
                         elements[elements[group].anchor].source);
  return checkMembers(check, group) &&
         expectNo(check, &elements[first], group + 1 + elements[group].count, beginAlike, "an optional group");
}

static bool checkElement(const Check *check, int at, bool inGroup) {
  const TileElement *element = &check->spec->elements[at];
  bool loose = arityOf(check, element) != TileArity_One;
  if (element->kind == TileElement_Group)
    return checkGroup(check, at);
  if (element->kind == TileElement_AttrDict && !element->withKeyword)
    return expectNo(check, element, at + 1, opensBrace, "attr-dict");
  if (element->kind == TileElement_Operand && loose)
    return expectNo(check, element, at + 1, goesOnWithComma, tileArityText(arityOf(check, element)));
  if (isType(element) && loose)
    return expectNo(check, element, at + 1, goesOnWithComma, "a list of types");
  if (element->kind != TileElement_Attribute)
    return true;
  if (!inGroup && check->spec->attributes[element->index].isOptional)
    return tileSpecError(check->error, check->spec, "format", "the optional attribute '%s' stands outside of a group",
                         check->spec->attributes[element->index].name);
  return !isGeneric(check, element) ||
         expectNo(check, element, at + 1, takesColon, "an attribute that may end with `: type`");
}

bool tileSpecCheckFormat(const TileOpSpec *spec, const TileSpecError *error) {
  Check check = {spec, error};
  int groupEnd = 0; // end of the outermost group around the element
  for (int i = 0; i < spec->numElements; ++i) {
    if (!checkElement(&check, i, i < groupEnd))
      return false;
    int end = i + 1 + spec->elements[i].count;
    if (spec->elements[i].kind == TileElement_Group && end > groupEnd)
      groupEnd = end;
  }
  return true;
}
