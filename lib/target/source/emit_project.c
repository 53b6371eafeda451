// Emits a folder: a program as C, its weights as one file, a header, a program that runs it on .npy files, and a
// Makefile. Nothing of ours is needed. What the program plans (tile-plan-memory) is memory of the program.
#include "lib/target/source/source.h"

#include "lib/ir/support.h"

#include <stdlib.h>
#include <string.h>

//===--- what elements are ----------------------------------------------------------------------------------===//

static const char *typeInFiles(tessera_element_t element) {
  static const char *const types[] = {
#define X(name, enumerator, bytes, npy) [enumerator] = npy,
      TESSERA_ELEMENT_TYPES(X)
#undef X
  };
  return types[element];
}

// The C type of a number: that of a float, or an integer of as many bytes.
static const char *typeInC(tessera_element_t element) {
  bool isFloat = typeInFiles(element)[1] == 'f';
  switch (tessera_element_bytes(element)) {
  case 1:
    return typeInFiles(element)[1] == 'b' ? "bool" : "uint8_t";
  case 2:
    return "uint16_t";
  case 4:
    return isFloat ? "float" : "uint32_t";
  default:
    return isFloat ? "double" : "uint64_t";
  }
}

static bool isOpen(const tessera_value_t *value) {
  bool open = false;
  for (int i = 0; i < value->rank; ++i)
    open |= value->shape[i] < 0;
  return open;
}

static bool returnsNumber(const tessera_signature_t *signature) {
  return signature->num_results == 1 && !signature->results[0].in_memory;
}

//===--- main.c ---------------------------------------------------------------------------------------------===//

static void writeShape(FILE *out, const tessera_value_t *value) {
  fprintf(out, "(const uint64_t[]){");
  for (int i = 0; i < value->rank; ++i) {
    fputs(i ? ", " : "", out);
    if (value->shape[i] < 0)
      fputs("UINT64_MAX", out);
    else
      fprintf(out, "%lld", (long long)value->shape[i]);
  }
  fprintf(out, "%s}", value->rank ? "" : "0");
}

static void writeArgument(FILE *out, const tessera_value_t *value, int i) {
  fprintf(out, "  array a%d = read_array(argv[%d], \"%s\", %d, %d, ", i, i + 1, typeInFiles(value->element),
          tessera_element_bytes(value->element), value->rank);
  writeShape(out, value);
  fprintf(out, ");\n");
}

static void declareResult(FILE *out, const tessera_value_t *value, int i) {
  uint64_t count = 1;
  for (int k = 0; k < value->rank; ++k)
    count *= value->shape[k] < 0 ? 1 : (uint64_t)value->shape[k];
  if (isOpen(value))
    fprintf(out, "  %s *r%d;\n", typeInC(value->element), i);
  else
    fprintf(out, "  static _Alignas(64) %s r%d[%llu];\n", typeInC(value->element), i,
            (unsigned long long)(count ? count : 1));
  fprintf(out, "  uint64_t r%d_sizes[] = {", i);
  for (int k = 0; k < value->rank; ++k)
    fprintf(out, "%s%lld", k ? ", " : "", (long long)(value->shape[k] < 0 ? 0 : value->shape[k]));
  fprintf(out, "%s};\n", value->rank ? "" : "0");
}

static void writeCall(FILE *out, const tessera_signature_t *signature, const char *name) {
  const char *comma = "";
  fprintf(out, returnsNumber(signature) ? "  r0[0] = %s(" : "  %s(", name);
  for (int i = 0; i < signature->num_arguments; ++i, comma = ", ") {
    const tessera_value_t *value = &signature->arguments[i];
    if (value->in_memory)
      fprintf(out, "%sa%d.data", comma, i);
    else
      fprintf(out, "%s*(%s *)a%d.data", comma, typeInC(value->element), i);
    for (int k = 0; k < value->rank; ++k)
      if (value->shape[k] < 0)
        fprintf(out, ", a%d.sizes[%d]", i, k);
  }
  for (int i = 0; i < signature->num_results && !returnsNumber(signature); ++i, comma = ", ") {
    const tessera_value_t *value = &signature->results[i];
    fprintf(out, isOpen(value) ? "%s&r%d" : "%sr%d", comma, i);
    for (int k = 0; k < value->rank; ++k)
      if (value->shape[k] < 0)
        fprintf(out, ", &r%d_sizes[%d]", i, k);
  }
  fprintf(out, ");\n");
}

static void writeMain(FILE *out, const tessera_signature_t *signature, const char *name) {
  static const SourceLanguage project = {.prelude = "project"};
  int numFiles = signature->num_arguments + signature->num_results;
  tileSourceWritePrelude(&project, "project", out);
  fprintf(out, "\nint main(int argc, char **argv) {\n  if (argc != %d) {\n    fprintf(stderr, \"usage: %%s",
          numFiles + 1);
  for (int i = 0; i < numFiles; ++i)
    fprintf(out, i < signature->num_arguments ? " IN%d.npy" : " OUT%d.npy",
            i < signature->num_arguments ? i : i - signature->num_arguments);
  fprintf(out, "\\n\", argv[0]);\n    return 1;\n  }\n");
  for (int i = 0; i < signature->num_arguments; ++i)
    writeArgument(out, &signature->arguments[i], i);
  for (int i = 0; i < signature->num_results; ++i)
    declareResult(out, &signature->results[i], i);
  writeCall(out, signature, name);
  for (int i = 0; i < signature->num_results; ++i)
    fprintf(out, "  write_array(argv[%d], \"%s\", %d, %d, r%d_sizes, r%d);\n", signature->num_arguments + i + 1,
            typeInFiles(signature->results[i].element), tessera_element_bytes(signature->results[i].element),
            signature->results[i].rank, i, i);
  fprintf(out, "  return 0;\n}\n");
}

//===--- the folder -----------------------------------------------------------------------------------------===//

enum { Header, Weights, Main, Makefile, Program, NumFiles };
static const char *const fileNames[NumFiles] = {"program.h", "weights.bin", "main.c", "Makefile", "program.c"};

// `main`, or the first entry.
static const TileEntry *entryOf(const TileTranslation *translation) {
  const TileEntries *entries = &translation->entries;
  for (int i = 0; i < entries->count; ++i)
    if (strcmp(entries->items[i].name, "main") == 0)
      return &entries->items[i];
  return entries->count ? &entries->items[0] : NULL;
}

static bool writeMainOf(SourceWriter *w, const TileTranslation *translation, FILE *out, tessera_error_t *error) {
  const TileEntry *entry = entryOf(translation);
  MlirOperation function = entry ? tileFindSymbol(translation->module, entry->name) : (MlirOperation){NULL};
  if (mlirOperationIsNull(function) || !entry->isPassable)
    return tessera_fail(error, "a project needs a public function that takes and gives arrays and numbers");
  writeMain(out, &entry->signature, tileSourceFunctionName(w, function, "program"));
  return true;
}

// The weights are assembled into the program, so it needs no file when it runs.
static const char includedWeights[] = "\n__asm__(\".pushsection .rodata\\n.balign 64\\n.globl program_weights\\n\"\n"
                                      "        \"program_weights:\\n.incbin \\\"weights.bin\\\"\\n.popsection\\n\");\n";

static bool writeFiles(const TileTranslation *translation, FILE *const *files, tessera_error_t *error) {
  static const SourceLanguage project = {.prelude = "project"};
  SourceWriter writer = {
      .language = NULL, .header = files[Header], .weights = files[Weights], .hasLines = translation->hasLines};
  TileArtifact program = {.data = NULL};
  fputs("#pragma once\n#include <stdbool.h>\n#include <stdint.h>\n\n"
        "typedef uint16_t f16, bf16; // their bits\n\n",
        files[Header]);
  bool ok = tileSourceWriteProgram(&writer, translation->module, &program, error) &&
            writeMainOf(&writer, translation, files[Main], error);
  if (ok) {
    tileSourceWritePrelude(&project, "makefile", files[Makefile]);
    fwrite(program.data, 1, program.size, files[Program]);
    fputs(writer.numWeightBytes > 0 ? includedWeights : "", files[Program]);
  }
  tileArtifactDestroy(&program);
  tileSourceFreeWriter(&writer);
  return ok;
}

bool tileSourceEmitProject(const TileTranslation *translation, TileArtifact *artifact, tessera_error_t *error) {
  tessera_text_t texts[NumFiles];
  FILE *files[NumFiles];
  bool isWhole = true;
  for (int i = 0; i < NumFiles; ++i)
    isWhole &= (files[i] = tessera_text_open(&texts[i])) != NULL;
  bool ok = isWhole && writeFiles(translation, files, error);
  *artifact = (TileArtifact){.numFiles = NumFiles};
  for (int i = 0; i < NumFiles; ++i) {
    isWhole &= tessera_text_close(&texts[i], files[i]);
    artifact->files[i] = (TileArtifactFile){fileNames[i], texts[i].data, texts[i].size};
  }
  return isWhole ? ok : tessera_fail(error, "out of memory");
}
