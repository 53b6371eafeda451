// tile-translate --tile-layout-to-svg: the layouts of a file as a picture.
#pragma once

#include "tools/tile-translate/options.h"

// Draws every #tile.layout<…> of the file, each once; in a file without any, every line is a layout's text. Writes to
// the options' output.
bool translateDraw(const TranslateOptions *options, tessera_error_t *error);
