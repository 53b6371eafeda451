// Templates (template.h): parameters are printed into the text, the text is parsed, hooks replace their calls.
#include "lib/ir/template.h"

#include "lib/ir/support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

//===--- text -----------------------------------------------------------------===//

static void appendValue(tessera_text_t *text, const TileParameter *parameter, TileParameterValue value) {
  switch (parameter->kind) {
  case TileParameter_Type:
    mlirTypePrint(value.type, tileTextAppend, text);
    break;
  case TileParameter_Attribute:
    mlirAttributePrint(value.attribute, tileTextAppend, text);
    break;
  case TileParameter_Integer:
    tessera_text_format(text, "%" PRId64, value.integer);
    break;
  case TileParameter_Op:
    tessera_text_format(text, "%s", tileUpstreamName(value.op));
    break;
  case TileParameter_Hook:
    break;
  }
}

// The parameter whose name follows a '$'. The generator has checked that there is one: $COLUMNSx$E is $COLUMNS, then x.
static int parameterAt(const TileTemplate *from, const char *at, const char *end, size_t *length) {
  int found = 0;
  for (*length = 0; at + *length < end && at[*length] >= 'A' && at[*length] <= 'Z';)
    ++*length;
  while (strlen(from->parameters[found].name) != *length || strncmp(from->parameters[found].name, at, *length) != 0)
    ++found;
  return found;
}

// `values` null: the samples. Null: out of memory.
static char *expand(const TileTemplate *from, const TileParameterValue *values) {
  const char *at = (const char *)from->text, *end = at + from->length;
  tessera_text_t text = {NULL};
  while (at < end) {
    const char *dollar = memchr(at, '$', (size_t)(end - at)), *line = memchr(at, '\n', (size_t)(end - at));
    bool isComment = at[0] == '/' && at[1] == '/'; // of a whole line
    const char *stop = isComment ? line + 1 : dollar ? dollar : end;
    if (!isComment && line && line < stop)
      stop = line + 1;
    tessera_text_append(&text, at, (size_t)(stop - at));
    at = stop;
    if (isComment || stop != dollar)
      continue;
    size_t length;
    int index = parameterAt(from, dollar + 1, end, &length);
    const TileParameter *parameter = &from->parameters[index];
    if (values)
      appendValue(&text, parameter, values[index]);
    else
      tessera_text_format(&text, "%s", parameter->sample);
    at = dollar + 1 + length;
  }
  return tessera_text_take(&text);
}

char *tileTemplatePrint(MlirOperation op) {
  tessera_text_t text = {NULL};
  mlirOperationPrint(op, tileTextAppend, &text);
  return tessera_text_take(&text);
}

char *tileTemplateSample(const TileTemplate *from) { return expand(from, NULL); }

//===--- parameters and hooks ---------------------------------------------------===//

static bool isGiven(const TileParameter *parameter, TileParameterValue value) {
  switch (parameter->kind) {
  case TileParameter_Type:
    return !mlirTypeIsNull(value.type);
  case TileParameter_Attribute:
    return !mlirAttributeIsNull(value.attribute);
  case TileParameter_Op:
    return value.op > 0;
  case TileParameter_Hook:
    return value.hook.build != NULL;
  default:
    return true;
  }
}

typedef struct Walk {
  MlirLocation location;
  const TileTemplateUse *use;
  TileOps calls;
} Walk;

// The hook that the operation calls; null: none.
static const TileHook *hookOf(const TileTemplateUse *use, MlirOperation call) {
  MlirAttribute symbol = tileOpAttribute(call, "callee");
  if (mlirAttributeIsNull(symbol) || !mlirAttributeIsAFlatSymbolRef(symbol))
    return NULL;
  MlirStringRef callee = mlirFlatSymbolRefAttrGetValue(symbol);
  for (int i = 0; i < use->from->numParameters; ++i)
    if (use->from->parameters[i].kind == TileParameter_Hook && tileStringEquals(callee, use->from->parameters[i].name))
      return &use->values[i].hook;
  return NULL;
}

static MlirWalkResult visit(MlirOperation op, void *data) {
  Walk *walk = data;
  mlirOperationSetLocation(op, walk->location);
  if (hookOf(walk->use, op))
    tileOpsAppend(&walk->calls, op);
  return MlirWalkResultAdvance;
}

static void buildHook(MlirOperation call, const TileHook *hook) {
  enum { MaxOperands = 16 };
  TileBuilder builder = tileBuilderBefore(call);
  MlirValue operands[MaxOperands];
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(call); ++i)
    operands[i] = mlirOperationGetOperand(call, i);
  bool hasResult = mlirOperationGetNumResults(call) == 1;
  MlirType type = hasResult ? tileResultType(call, 0) : (MlirType){NULL};
  MlirValue result = hook->build(&builder, type, operands, hook->data);
  if (hasResult)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(call, 0), result);
  mlirOperationDestroy(call);
}

MlirModule tileTemplateParse(MlirLocation location, const TileTemplateUse *use) {
  const TileTemplate *from = use->from;
  for (int i = 0; i < from->numParameters; ++i)
    if (!isGiven(&from->parameters[i], use->values[i])) {
      tileErrorAt(location, "%s: the parameter '%s' is not given", from->file, from->parameters[i].name);
      return (MlirModule){NULL};
    }
  char *text = expand(from, use->values);
  if (!text) {
    tileErrorAt(location, "%s: out of memory", from->file);
    return (MlirModule){NULL};
  }
  MlirModule module = mlirModuleCreateParse(mlirLocationGetContext(location), tileString(text));
  free(text);
  if (mlirModuleIsNull(module)) {
    tileErrorAt(location, "%s: the template does not parse with these parameters", from->file);
    return module;
  }
  Walk walk = {location, use};
  mlirOperationWalk(mlirModuleGetOperation(module), visit, &walk, MlirWalkPreOrder);
  for (intptr_t i = 0; i < walk.calls.count; ++i) {
    MlirOperation call = walk.calls.items[i];
    buildHook(call, hookOf(use, call));
  }
  tileOpsFree(&walk.calls);
  return module;
}

//===--- what a template becomes ------------------------------------------------===//

// A declaration is a hook.
static bool isDeclaration(MlirOperation op) {
  return mlirRegionIsNull(mlirOperationGetFirstRegion(op)) ||
         mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetFirstRegion(op)));
}

MlirOperation tileTemplateMake(MlirLocation location, const TileTemplateUse *use) {
  MlirModule module = tileTemplateParse(location, use);
  if (mlirModuleIsNull(module))
    return (MlirOperation){NULL};
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  while (isDeclaration(op))
    op = mlirOperationGetNextInBlock(op);
  mlirOperationRemoveFromParent(op);
  mlirModuleDestroy(module);
  return op;
}

MlirAttribute tileTemplateInsert(MlirOperation module, MlirOperation op, const char *name) {
  MlirContext context = mlirOperationGetContext(module);
  mlirOperationSetAttributeByName(op, tileString("sym_name"), mlirStringAttrGet(context, tileString(name)));
  mlirOperationSetAttributeByName(op, tileString("sym_visibility"), mlirStringAttrGet(context, tileString("private")));
  MlirSymbolTable symbols = mlirSymbolTableCreate(module);
  MlirAttribute unique = mlirSymbolTableInsert(symbols, op);
  mlirSymbolTableDestroy(symbols);
  return mlirFlatSymbolRefAttrGet(context, mlirStringAttrGetValue(unique));
}

bool tileTemplateInline(TileBuilder *builder, const TileTemplateUse *use, const MlirValue *operands,
                        MlirValue *results) {
  MlirOperation function = tileTemplateMake(builder->location, use);
  if (mlirOperationIsNull(function))
    return false;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetFirstRegion(function));
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i)
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, i), operands[i]);
  MlirOperation end = mlirBlockGetTerminator(body), op = mlirBlockGetFirstOperation(body);
  while (!mlirOperationEqual(op, end)) {
    MlirOperation next = mlirOperationGetNextInBlock(op);
    mlirOperationRemoveFromParent(op);
    tileBuilderInsert(builder, op);
    op = next;
  }
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(end); ++i)
    results[i] = mlirOperationGetOperand(end, i);
  mlirOperationDestroy(function);
  return true;
}
