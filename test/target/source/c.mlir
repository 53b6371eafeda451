// Programs as C keep loops and branches; vectors are those of the compiler, memrefs pointers and sizes.
// RUN: tile-translate %s --tile-to-c-source | FileCheck %s
// RUN: tile-translate %s --tile-to-c-source --chip=znver4 | FileCheck %s

// CHECK: // Written by Tessera in C11
// A file has the helpers that it uses, and no others.
// CHECK: #define load(T, address)
// CHECK-NOT: gather
// CHECK: typedef float f32x16 __attribute__((vector_size(sizeof(float) * 16)));
// Functions are those of the CPU, with coefficients from tables.
// CHECK: static inline f32x16 tanh_f32x16(f32x16 v0) {
// CHECK: choose_of_two(
// CHECK: return v{{[0-9]+}};
// CHECK: static inline f32x16 exp_f32x16(f32x16 v0) {
// CHECK: return v{{[0-9]+}};
// The text of the kernel is a comment. What a kernel does not use is no parameter.
// CHECK: // tile.kernel private @elementwise_1(
// CHECK: //   {{.*}} = math.exp {{.*}}
// CHECK: static void elementwise_1(float *p0, float *p1, uint64_t grid0, uint64_t begin, uint64_t end) {
// CHECK: for (uint64_t [[I:i[0-9]+]] = begin; (int64_t)[[I]] < (int64_t)end; [[I]] += 1) {
// CHECK: load(f32x16, &p0[i{{[0-9]+}}])
// CHECK: exp_f32x16(
// CHECK: store(f32x16, &p1[i{{[0-9]+}}],
func.func @exponentials(%x: tensor<1001xf32>) -> tensor<1001xf32> {
  %t = math.exp %x : tensor<1001xf32>
  %e = math.tanh %t : tensor<1001xf32>
  return %e : tensor<1001xf32>
}

// CHECK: static void elementwise_0(float *p0, uint64_t p0_size0, float *p1, uint64_t p1_size0, uint64_t grid0,
// Results whose sizes are known are memory of the caller's.
// CHECK: void exponentials(float *p0, float *r0) {
// CHECK-NEXT: launch({{[0-9]+}}, elementwise_1(p0, r0, {{.*}}begin, end));
// CHECK-NEXT: }
// Other results are given with their sizes. A function of the name of a word of C has another name.
// CHECK: void double_program(float *p0, uint64_t p0_size0, float **r0, uint64_t *r0_size0) {
// CHECK: = allocate(
// CHECK: *r0 = p{{[0-9]+}};
// CHECK: *r0_size0 = p0_size0;
func.func @double(%x: tensor<?xf32>) -> tensor<?xf32> {
  %s = arith.addf %x, %x : tensor<?xf32>
  return %s : tensor<?xf32>
}
