// AMD's instruction sets by name. See matrix.h.
#include "lib/emulator/lanes/matrix.h"
#include "lib/support/grow.h"

#include <string.h>

static const char *const names[TESSERA_AMD_COUNT] = {"none", "cdna1", "cdna2", "cdna3", "cdna4", "rdna3", "rdna4"};

const char *tessera_amd_isa_name(tessera_amd_isa_t isa) { return names[isa]; }

bool tessera_amd_isa_find(const char *name, tessera_amd_isa_t *out_isa, tessera_error_t *out_error) {
  TESSERA_LIST(known);
  for (int isa = TESSERA_AMD_NONE + 1; isa < TESSERA_AMD_COUNT; ++isa) {
    if (name && !strcmp(names[isa], name)) {
      *out_isa = (tessera_amd_isa_t)isa;
      return true;
    }
    tessera_list_add(&known, "%s", names[isa]);
  }
  return tessera_fail(out_error, "unknown instruction set '%.40s'; known: %s", name ? name : "", known.text);
}

tessera_lane_type_t tessera_amd_isa_type(tessera_amd_isa_t isa, tessera_lane_type_t type) {
  if (isa != TESSERA_AMD_CDNA3)
    return type;
  return type == TESSERA_LANE_E4M3 ? TESSERA_LANE_E4M3_FNUZ : type == TESSERA_LANE_E5M2 ? TESSERA_LANE_E5M2_FNUZ : type;
}
