// Pictures of layouts: who holds which element, which bank it lies in, and where an access meets itself in a bank.
// Expects: layouts over one shape or several. Leaves: one self-contained SVG text, owned by the caller (free).
//
//   char *svg = tileLayoutDraw(layouts, names, 2, 2 /* bytes */);
//   fputs(svg, file); free(svg);
#pragma once

#include "lib/layout/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

// A panel per layout: elements of a layout of values bear lane and register, those of memory their bank. Then one per
// memory and layout of values over the same shape: what the lanes touch of 32 banks of 4 bytes in the first phase of
// the first access, with the conflicts counted. Leading axes beyond two are rows one below the other; what is larger
// than 64 x 64 is cut, and says so. NULL when memory runs out.
char *tileLayoutDraw(const TileLayout *layouts, const char *const *names, uint32_t count, uint32_t elementBytes);

#ifdef __cplusplus
}
#endif
