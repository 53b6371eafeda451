// Keeps programs of models. See keep.h.
#include "tools/tile-translate/keep.h"

#include "lib/support/file.h"
#include "lib/support/text.h"

#include <stdlib.h>
#include <string.h>

// A program of a model is compiled once. Who asks how it was compiled gets it compiled anew.
static bool mayKeep(const TranslateOptions *options, const TileForm *form) {
  return strcmp(form->name, "program") == 0 && !options->stats && !options->prepared;
}

// The folder of the file, or "-" for standard output. Null: the folder is missing, or memory.
static char *folderOf(const char *file) {
  const char *slash = strrchr(file, '/');
  if (strcmp(file, "-") == 0)
    return strdup(file);
  char *name = slash ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");
  char *folder = name ? realpath(name, NULL) : NULL;
  free(name);
  return folder;
}

// All that the bytes depend on besides the model; weights are named from the output's folder.
static char *describe(const TranslateOptions *options, const TileForm *form) {
  char *here = realpath(".", NULL), *there = folderOf(options->output);
  tessera_text_t text = {.failed = !here || !there};
  tessera_text_format(&text, "%s %s %s %s %d %s\n%s", form->name, options->target ? options->target : "",
                      options->chip ? options->chip : "", options->pipeline ? options->pipeline : "",
                      options->embedsWeights, there ? there : "", here ? here : "");
  for (int i = 0; i < options->numChips; ++i)
    tessera_text_format(&text, "\n%s", options->chips[i]);
  for (int i = 0; i < TesseraChoices; ++i)
    tessera_text_format(&text, "\n%s=%s", tessera_choice_name(i),
                        options->choices.values[i] ? options->choices.values[i] : "");
  free(here);
  free(there);
  return tessera_text_take(&text);
}

bool keepFind(TileKeptProgram *kept, const TileSession *session, const TranslateOptions *options, const TileForm *form,
              TileArtifact *artifact) {
  *kept = (TileKeptProgram){.isWanted = false};
  char *others = mayKeep(options, form) ? describe(options, form) : NULL;
  bool isFound = others && tileKeptProgramFind(kept, session, NULL, others, "tile-translate");
  free(others);
  kept->isWanted &= !isFound;
  return isFound && (artifact->data = tessera_file_read(kept->path, &artifact->size, NULL));
}

void keepStore(TileKeptProgram *kept, const TileArtifact *artifact) {
  tileKeptProgramStore(kept, artifact->data, artifact->size, "tile-translate");
}
