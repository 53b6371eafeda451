// A header for tests: per op a function that takes the op apart by its generated accessors, builds it again by its
// generated Create and compares the two.
#include "tools/tessera-opgen/opgen.h"
#include <string.h>

enum { NameSize = 128 };

static const char *capital(const char *name, char *buffer) { return opgenCamel(name, true, buffer, NameSize); }

static void writeOperand(FILE *out, const char *op, const TileValueSpec *value, int index) {
  char name[NameSize];
  capital(value->name, name);
  if (value->arity != TileArity_Variadic) {
    fprintf(out, "  MlirValue operand%d = %sGet%s(op);\n", index, op, name);
    return;
  }
  fprintf(out,
          "  MlirValue operand%d[AgreeValues];\n  intptr_t numOperand%d = %sGetNum%s(op);\n"
          "  for (intptr_t i = 0; i < numOperand%d; ++i)\n    operand%d[i] = %sGet%s(op, i);\n",
          index, index, op, name, index, index, op, name);
}

static void writeResultType(FILE *out, const char *op, const TileValueSpec *value, int index) {
  char name[NameSize];
  capital(value->name, name);
  if (value->arity != TileArity_Variadic) {
    fprintf(out, "  MlirType type%d = agreeType(%sGet%s(op));\n", index, op, name);
    return;
  }
  fprintf(out,
          "  MlirType type%d[AgreeValues];\n  intptr_t numType%d = %sGetNum%s(op);\n"
          "  for (intptr_t i = 0; i < numType%d; ++i)\n    type%d[i] = agreeType(%sGet%s(op, i));\n",
          index, index, op, name, index, index, op, name);
}

static void writeRegion(FILE *out, const TileRegionSpec *region, int index) {
  if (region->arity != TileArity_Variadic) {
    fprintf(out, "  MlirRegion region%d = agreeTakeRegion(copy, %d);\n", index, index);
    return;
  }
  fprintf(out,
          "  MlirRegion region%d[AgreeValues];\n  intptr_t numRegion%d = mlirOperationGetNumRegions(op) - %d;\n"
          "  for (intptr_t i = 0; i < numRegion%d; ++i)\n    region%d[i] = agreeTakeRegion(copy, %d + i);\n",
          index, index, index, index, index, index);
}

static void writeArgument(FILE *out, TileArity arity, const char *what, int index) {
  if (arity == TileArity_Variadic)
    fprintf(out, ", num%c%s%d", what[0] & ~0x20, what + 1, index);
  fprintf(out, ", %s%d", what, index);
}

static void writeCall(FILE *out, const char *op, const TileOpSpec *spec, bool infers) {
  char name[NameSize];
  fprintf(out, "  MlirOperation again = %sCreate(b", op);
  for (int i = 0; !infers && i < spec->numResults; ++i)
    writeArgument(out, spec->results[i].arity, "type", i);
  for (int i = 0; i < spec->numOperands; ++i)
    writeArgument(out, spec->operands[i].arity, "operand", i);
  for (int i = 0; i < spec->numAttributes; ++i)
    fprintf(out, ", %sGet%s(op)", op, capital(spec->attributes[i].name, name));
  for (int i = 0; i < spec->numRegions; ++i)
    writeArgument(out, spec->regions[i].arity, "region", i);
  fprintf(out, ");\n");
}

static void writeOp(FILE *out, const Opgen *opgen, const TileOpSpec *spec) {
  char op[NameSize], name[NameSize];
  bool infers = opgenInfersResults(spec);
  snprintf(op, sizeof op, "%s%sOp", opgen->prefix, spec->row->cName);
  fprintf(out,
          "static bool %sAgrees(TileBuilder *b, MlirOperation op) {\n  MlirOperation copy = mlirOperationClone(op);\n",
          op);
  for (int i = 0; i < spec->numOperands; ++i)
    writeOperand(out, op, &spec->operands[i], i);
  for (int i = 0; !infers && i < spec->numResults; ++i)
    writeResultType(out, op, &spec->results[i], i);
  for (int i = 0; i < spec->numRegions; ++i)
    writeRegion(out, &spec->regions[i], i);
  writeCall(out, op, spec, infers);
  fprintf(out, "  bool ok = agree(op, again);\n");
  for (int i = 0; i < spec->numAttributes; ++i)
    fprintf(out, "  ok = ok && mlirAttributeEqual(%sGet%s(op), %sGet%s(again));\n", op,
            capital(spec->attributes[i].name, name), op, name);
  fprintf(out, "  mlirOperationDestroy(copy);\n  if (!mlirOperationIsNull(again))\n    mlirOperationDestroy(again);\n"
               "  return ok;\n}\n");
}

void opgenWriteAgreement(FILE *out, const Opgen *opgen) {
  fprintf(out,
          "// Generated from the rows of dialect '%s' by tessera-opgen: do not edit. For test/ir/agreement_test.c.\n",
          opgen->dialect);
  for (intptr_t i = 0; i < opgen->numSpecs; ++i)
    writeOp(out, opgen, &opgen->specs[i]);
  fprintf(out, "static bool (*const %sAgrees[])(TileBuilder *, MlirOperation) = {\n", opgen->prefix);
  for (intptr_t i = 0; i < opgen->numSpecs; ++i)
    fprintf(out, "  [%sOp_%s] = %s%sOpAgrees,\n", opgen->capital, opgen->specs[i].row->cName, opgen->prefix,
            opgen->specs[i].row->cName);
  fprintf(out, "};\nstatic const char *const %sAgreeNames[] = {\n", opgen->prefix);
  for (intptr_t i = 0; i < opgen->numSpecs; ++i)
    fprintf(out, "  \"%s\",\n", opgen->specs[i].fullName);
  fprintf(out, "};\n");
}
