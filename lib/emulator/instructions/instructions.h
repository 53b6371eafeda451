// What compiled kernels call for instructions that machine.h does not offer itself: matrix instructions, exchanges
// within a warp, wide and masked memory operations, output. Each stands for one PTX or AMD instruction and says which.
//
// The last two parameters of a collective are where its operands and results lie (in the thread's own frame) and its
// site. Constants of the instruction come as pointers or numbers that compiled code has burnt in.
#pragma once

#include "lib/emulator/lanes/exchange.h"
#include "lib/emulator/lanes/matrix.h"
#include "lib/emulator/machine/emulated_gpu.h"

//===--- matrices (matrix.c) ---------------------------------------------===//

// What these mean; compiled code calls tessera_emu_collective with them itself (every function between a wait and the
// kernel costs a mispredicted return). mma.sync, mfma, wmma, smfmac: parameter a tessera_matrix_t, contribution a
// fragment as matrix.h lays it out; all lanes of the warp must be there.
void tessera_emu_multiply(const tessera_emu_group_t *group, const void *parameter);
// ldmatrix and stmatrix of `count` (1, 2, 4) 8 x 8 matrices of 16 bits.
typedef struct tessera_moved_t {
  const void *row; // address of this lane's row
  uint32_t *words; // its registers, one for each matrix
} tessera_moved_t;
void tessera_emu_move_matrices(const tessera_emu_group_t *group, const void *parameter);
const void *tessera_emu_move(uint32_t count, bool transposed, bool stores); // its parameter
// wmma.load and wmma.store. The lines of `fragment` lie in memory `stride` elements apart; all lanes name one address.
typedef struct tessera_warp_move_t {
  tessera_warp_fragment_t fragment;
  int count;            // elements in one lane
  uint32_t bytes, what; // of an element; TESSERA_EMU_LOAD or _STORE, with the space of the address
  bool lines_are_columns;
} tessera_warp_move_t;
typedef struct tessera_warp_moved_t {
  const char *address;
  int64_t stride;
  char *elements; // of this lane
} tessera_warp_moved_t;
void tessera_emu_move_fragment(const tessera_emu_group_t *group, const void *parameter);

//===--- products of warpgroups (wgmma.c) --------------------------------===//

// What these mean, of each warp of a group by itself: wgmma.mma_async (parameter a tessera_wgmma_t), fence,
// commit_group, wait_group. A lane's contribution; its sums become marks while they are under way.
typedef struct tessera_emu_product_t {
  uint64_t descriptor[2];
  uint32_t *sums;       // of a wait: those that go through it
  const uint32_t *held; // a left factor in registers: four words
  uint32_t count, pending;
} tessera_emu_product_t;
void tessera_emu_multiply_async(const tessera_emu_group_t *group, const void *parameter);
void tessera_emu_products_fence(const tessera_emu_group_t *group, const void *parameter);
void tessera_emu_products_commit(const tessera_emu_group_t *group, const void *parameter);
void tessera_emu_products_wait(const tessera_emu_group_t *group, const void *parameter);
// Before a use of what may be a sum under way: the sum, or nan after a finding.
uint32_t tessera_emu_sum(tessera_emu_thread_t *self, uint32_t word, uint32_t site);
void tessera_emu_sums(tessera_emu_thread_t *self, uint32_t *words, uint32_t count, uint32_t site);

//===--- tensor memory (tcgen05.c) ---------------------------------------===//

// tcgen05.mma: kind a tessera_tcgen05_kind_t, |word| the instruction descriptor.
// |in_tensor|: the left factor is an address in tensor memory.
void tessera_emu_tensor_multiply(tessera_emu_thread_t *self, uint32_t sums, uint64_t left, uint64_t right,
                                 uint32_t word, uint32_t adds, uint32_t kind, uint32_t in_tensor, uint32_t site);
// What these mean, of a warp. A lane's contribution; `place`: where an allocation's address goes in shared memory.
typedef struct tessera_emu_tensor_t {
  uint32_t address, columns;
  void *place;
  uint32_t *words; // of the columns, loaded or stored
} tessera_emu_tensor_t;
void tessera_emu_tensor_allocate(const tessera_emu_group_t *group, const void *parameter);
void tessera_emu_tensor_give_back(const tessera_emu_group_t *group, const void *parameter);
void tessera_emu_tensor_relinquish(const tessera_emu_group_t *group, const void *parameter);
void tessera_emu_tensor_load(const tessera_emu_group_t *group, const void *parameter);
void tessera_emu_tensor_store(const tessera_emu_group_t *group, const void *parameter);
void tessera_emu_tensor_wait_loads(const tessera_emu_group_t *group, const void *parameter);
void tessera_emu_tensor_wait_stores(const tessera_emu_group_t *group, const void *parameter);

//===--- NVIDIA's exchanges (exchange.c) ---------------------------------===//

// shfl.sync; `in_range` (may be null): PTX's predicate.
uint32_t tessera_emu_shuffle(tessera_emu_thread_t *self, uint32_t mask, uint32_t value, uint32_t offset, uint32_t clamp,
                             uint32_t kind, uint32_t *in_range, uint32_t site);
enum { TESSERA_VOTE_ANY, TESSERA_VOTE_ALL, TESSERA_VOTE_BALLOT, TESSERA_VOTE_UNIFORM };
uint32_t tessera_emu_vote(tessera_emu_thread_t *self, uint32_t mask, uint32_t predicate, uint32_t kind, uint32_t site);
// match.sync: any (`all` null): the lanes with an equal value; all: the mask or 0, and whether all are equal.
uint32_t tessera_emu_match(tessera_emu_thread_t *self, uint32_t mask, uint64_t value, uint32_t *all, uint32_t site);
enum { TESSERA_REDUX_ABSOLUTE = 1, TESSERA_REDUX_NAN = 2 };
uint32_t tessera_emu_redux(tessera_emu_thread_t *self, uint32_t mask, uint32_t value, uint32_t kind, uint32_t flags,
                           uint32_t site);
uint32_t tessera_emu_elect(tessera_emu_thread_t *self, uint32_t mask, uint32_t site);

//===--- AMD's exchanges (exchange ---------------------------------------===//
// c). All lanes of the wave that have not ended take part.

uint64_t tessera_emu_ballot(tessera_emu_thread_t *self, uint32_t predicate, uint32_t site);
// v_readlane, v_readfirstlane (lane TESSERA_FIRST_LANE): `value` of `bytes` (at most 8) becomes that lane's.
enum { TESSERA_FIRST_LANE = 0xffffffff };
void tessera_emu_readlane(tessera_emu_thread_t *self, void *value, uint32_t bytes, uint32_t lane, uint32_t site);
uint32_t tessera_emu_bpermute(tessera_emu_thread_t *self, uint32_t index, uint32_t value, uint32_t site);
uint32_t tessera_emu_swizzle(tessera_emu_thread_t *self, uint32_t value, uint32_t offset, uint32_t site);
// DPP: lanes without a source keep `old`, or get 0 with `bound_zero`; rows and banks outside the masks keep old.
typedef struct tessera_dpp_t {
  uint32_t control, row_mask, bank_mask, bound_zero;
} tessera_dpp_t;
uint64_t tessera_emu_dpp(tessera_emu_thread_t *self, const tessera_dpp_t *dpp, uint64_t old, uint64_t value,
                         uint32_t site);
uint32_t tessera_emu_permlanex16(tessera_emu_thread_t *self, uint32_t value, uint32_t low, uint32_t high,
                                 uint32_t site);
// permlane16.swap (rows 16) and permlane32.swap (32): odd groups of `pair[0]` change places with even ones of
// `pair[1]`.
void tessera_emu_permlane_swap(tessera_emu_thread_t *self, uint32_t *pair, uint32_t rows, uint32_t site);
// v_mbcnt_lo, v_mbcnt_hi (`high`): base + set bits of `mask` below this lane.
uint32_t tessera_emu_mbcnt(tessera_emu_thread_t *self, uint32_t mask, uint32_t base, uint32_t high);

//===--- memory (memory.c) -----------------------------------------------===//

// As tessera_emu_access for accesses of more than 16 bytes, which a GPU makes 16 at a time. At most 64.
void *tessera_emu_access_wide(tessera_emu_thread_t *self, const void *address, uint32_t bytes, uint32_t what,
                              uint32_t site);
// `count` elements of `bytes` each; bit i of `mask`: element i is touched. Loads leave the others of `values`.
void tessera_emu_masked_load(tessera_emu_thread_t *self, const void *address, uint64_t mask, uint32_t bytes,
                             uint32_t count, void *values, uint32_t site);
void tessera_emu_masked_store(tessera_emu_thread_t *self, void *address, uint64_t mask, uint32_t bytes, uint32_t count,
                              const void *values, uint32_t site);
void tessera_emu_copy(tessera_emu_thread_t *self, void *to, const void *from, uint64_t bytes, uint32_t site);
void tessera_emu_set(tessera_emu_thread_t *self, void *to, uint32_t byte, uint64_t bytes, uint32_t site);

// AMD's raw buffers: loads outside give 0, stores outside do nothing, dword by dword. `scalar` is not bounds-checked.
typedef struct tessera_buffer_resource_t {
  char *base;
  uint64_t bytes;
} tessera_buffer_resource_t;
void tessera_emu_buffer_make(tessera_buffer_resource_t *resource, void *base, uint64_t bytes);
void tessera_emu_buffer_load(tessera_emu_thread_t *self, const tessera_buffer_resource_t *resource, uint32_t offset,
                             uint32_t scalar, void *values, uint32_t bytes, uint32_t site);
void tessera_emu_buffer_store(tessera_emu_thread_t *self, const tessera_buffer_resource_t *resource, uint32_t offset,
                              uint32_t scalar, const void *values, uint32_t bytes, uint32_t site);

// global_load_lds: `bytes` from this lane's `from` to `to` + lane * bytes, both moved on by `offset`. The copy lands
// where the wave waits for it (tessera_emu_copy_wait_counted).
void tessera_emu_load_to_lds(tessera_emu_thread_t *self, const void *from, void *to, uint32_t bytes, uint32_t offset,
                             uint32_t site);

//===--- the rest (output ------------------------------------------------===//
// c, convert.c)

// CUDA's vprintf: arguments lie in `values` as in a C struct.
int tessera_emu_vprintf(tessera_emu_thread_t *self, const char *format, const void *values);
_Noreturn void tessera_emu_assert(tessera_emu_thread_t *self, const char *message, const char *file, uint32_t line,
                                  const char *function, uint64_t character_bytes, uint32_t site);
uint64_t tessera_emu_clock(tessera_emu_thread_t *self);
// prmt.b32; mode in the order of PTX's: default, f4e, b4e, rc8, ecl, ecr, rc16.
uint32_t tessera_emu_prmt(uint32_t low, uint32_t high, uint32_t selector, uint32_t mode);
// cvt.rna.tf32 (ties away) and cvt.rn.tf32 (ties to even).
uint32_t tessera_emu_tf32(uint32_t bits, uint32_t ties_away);
// %lanemask_eq, le, lt, ge, gt by `kind` 0 to 4.
uint32_t tessera_emu_lanemask(tessera_emu_thread_t *self, uint32_t kind);
// dp4a, dp2a: `how` bit 0: a is signed, bit 1: b is, bit 2: dp2a takes b's upper bytes.
uint32_t tessera_emu_dp4a(uint32_t a, uint32_t b, uint32_t c, uint32_t how);
uint32_t tessera_emu_dp2a(uint32_t a, uint32_t b, uint32_t c, uint32_t how);
// What the vendors' math libraries have and C's has not.
double tessera_emu_powi(double x, int32_t n);
float tessera_emu_powif(float x, int32_t n);
int32_t tessera_emu_isnan(double x);
int32_t tessera_emu_isnanf(float x);
int32_t tessera_emu_isinf(double x);
int32_t tessera_emu_isinff(float x);
int32_t tessera_emu_isfinite(double x);
int32_t tessera_emu_isfinitef(float x);
float tessera_emu_rsqrtf(float x);
double tessera_emu_rsqrt(double x);
float tessera_emu_rcbrtf(float x);
double tessera_emu_rcbrt(double x);
float tessera_emu_cbrtf(float x);
double tessera_emu_cbrt(double x);
float tessera_emu_erfcf(float x);
double tessera_emu_erfc(double x);
float tessera_emu_sinpif(float x);
double tessera_emu_sinpi(double x);
float tessera_emu_cospif(float x);
double tessera_emu_cospi(double x);
// 8-bit floats of AMD's conversions; `type` a tessera_lane_type_t. Two floats to two bytes: nearest even, saturating.
float tessera_emu_from_small(uint32_t word, uint32_t byte, uint32_t type);
uint32_t tessera_emu_to_small(float low, float high, uint32_t type);
// v_cvt_pkrtz_f16_f32: both toward zero.
uint32_t tessera_emu_pkrtz(float low, float high);
float tessera_emu_median(float a, float b, float c);
