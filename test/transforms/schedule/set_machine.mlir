// tile-set-machine says once, on the module, which machine the program is for; passes after it inherit it.
// RUN: %tile_opt %s -split-input-file --tile-set-machine=chip=sm_90a | FileCheck %s --check-prefix=CHIP
// RUN: %tile_opt %s -split-input-file --tile-set-machine=otherwise=gfx942 | FileCheck %s --check-prefix=OTHERWISE
// RUN: %tile_opt %s -split-input-file --tile-set-machine | FileCheck %s --check-prefix=NOTHING
// RUN: not %tile_opt %s -split-input-file --tile-set-machine=chip=foo 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not %tile_opt %s -split-input-file --tile-set-machine=otherwise=foo 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: %tile_opt %s -split-input-file --tile-set-machine=forget=true | FileCheck %s --check-prefix=FORGET
// UNKNOWN: error: {{.*}}unknown machine 'foo'; known: gfx1100,

// CHIP-LABEL: module attributes {tile.machine = #tile.machine<"sm_90a">}
// OTHERWISE-LABEL: module attributes {tile.machine = #tile.machine<"gfx942">}
// NOTHING-LABEL: {{^}}module {
// FORGET: {{^}}module {
module {
  func.func @nothing_said() {
    return
  }
}

// -----

// A module that describes the chip itself keeps its figures; another chip takes their place.
// CHIP-LABEL: module attributes {tile.machine = #tile.machine<"sm_90a", "cores" = 4>}
// OTHERWISE-LABEL: module attributes {tile.machine = #tile.machine<"sm_90a", "cores" = 4>}
// NOTHING-LABEL: module attributes {tile.machine = #tile.machine<"sm_90a", "cores" = 4>}
// FORGET: module attributes {tile.machine = #tile.machine<"sm_90a", "cores" = 4>}
module attributes {tile.machine = #tile.machine<"sm_90a", "cores" = 4>} {
  func.func @described() {
    return
  }
}

// -----

// CHIP-LABEL: module attributes {tile.machine = #tile.machine<"sm_90a">}
// OTHERWISE-LABEL: module attributes {tile.machine = #tile.machine<"sm_80">}
// NOTHING-LABEL: module attributes {tile.machine = #tile.machine<"sm_80">}
// FORGET: {{^}}module {
module attributes {tile.machine = #tile.machine<"sm_80">} {
  func.func @another() {
    return
  }
}
