// The linker as a child: an HSACO is a shared object. Without lld assembly is all there is, and the error says so.
#include "lib/target/rocdl/rocdl.h"

#include "lib/target/child.h"
#include "lib/target/workshop.h"

static bool findLinker(char *path) {
  static const char *const homes[] = {"ROCM_PATH", "ROCM_HOME", NULL};
  const TileToolPlaces places = {homes, "/llvm/bin", "/opt/rocm"};
  return tileToolFind(&places, "ld.lld-22", path) || tileToolFind(&places, "ld.lld", path);
}

bool tileRocdlLink(const TileArtifact *object, TileArtifact *hsaco, tessera_error_t *error) {
  char linker[TilePathCapacity];
  if (!findLinker(linker))
    return tessera_fail(error, "no ld.lld: it is in none of ROCM_PATH, PATH and /opt/rocm (Debian package lld-22); "
                               "without it there is assembly only (--tile-to-amdgcn)");
  TileWorkshop workshop = {.isOpen = false};
  TileChildResult result = {NULL};
  const char *const arguments[] = {linker, "-shared", "--no-undefined", workshop.in, "-o", workshop.out, NULL};
  bool ok = tileWorkshopOpen(&workshop, object, error) &&
            tileChildRun(&(TileChild){.arguments = arguments}, &result, error) &&
            tileWorkshopRead(&workshop, hsaco, error);
  tileChildDestroy(&result);
  tileWorkshopClose(&workshop);
  return ok;
}
