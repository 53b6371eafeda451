// #line: each statement stands at the line of the program that it comes from, so that compilers' messages, debuggers
// and profilers name the program's file. See source.h.
#include "lib/target/source/source.h"

#include "lib/ir/support.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>

enum { MostParts = 64 };

static bool isPlace(MlirLocation location) {
  return mlirLocationIsAFileLineColRange(location) && mlirLocationFileLineColRangeGetStartLine(location) > 0;
}

// The innermost place; the location itself if there is none.
static MlirLocation placeOf(MlirLocation location) {
  if (mlirLocationIsACallSite(location)) {
    MlirLocation callee = placeOf(mlirLocationCallSiteGetCallee(location));
    return isPlace(callee) ? callee : placeOf(mlirLocationCallSiteGetCaller(location));
  }
  if (mlirLocationIsAName(location))
    return placeOf(mlirLocationNameGetChildLoc(location));
  if (mlirLocationIsAFused(location)) {
    MlirLocation parts[MostParts];
    unsigned count = mlirLocationFusedGetNumLocations(location);
    if (count <= MostParts)
      mlirLocationFusedGetLocations(location, parts);
    for (unsigned i = 0; count <= MostParts && i < count; ++i)
      if (isPlace(placeOf(parts[i])))
        return placeOf(parts[i]);
  }
  return location;
}

void tileSourceEnterOp(SourceWriter *w, MlirOperation op) {
  MlirLocation location = placeOf(mlirOperationGetLocation(op));
  if (!w->hasLines || !isPlace(location))
    return;
  w->file = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location));
  w->line = mlirLocationFileLineColRangeGetStartLine(location);
}

// A directive counts the lines behind it: two statements of one line need two.
void tileSourcePlace(SourceWriter *w) {
  if (!w->hasLines || !w->line)
    return;
  fprintf(w->out, "#line %d \"", w->line);
  for (size_t i = 0; i < w->file.length; ++i)
    fprintf(w->out, strchr("\"\\", w->file.data[i]) ? "\\%c" : "%c", w->file.data[i]);
  fputs("\"\n", w->out);
}
