// tile-translate --tile-layout-to-svg: the layouts of a file as a picture.
#ifndef TESSERA_TOOLS_TILE_TRANSLATE_DRAWING_H
#define TESSERA_TOOLS_TILE_TRANSLATE_DRAWING_H

#include "tools/tile-translate/options.h"

// Draws every #tile.layout<…> of the file, each once; in a file without any, every line is a layout's text. Writes to
// the options' output.
bool translateDraw(const TranslateOptions *options, tessera_error_t *error);

#endif
