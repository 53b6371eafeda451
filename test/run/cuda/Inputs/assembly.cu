// Instructions that are written by hand: accesses with hints, vectors, atomics, arithmetic.
__device__ float4 load4(const float *p) {
  float4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p));
  return v;
}

__global__ void assembly(const float *x, const unsigned *bits, float *out, unsigned *words, unsigned *counts) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, a, b, c, mixed, shifted, old, next;
  float4 v = load4(x + 4 * i);
  float sum, root, sine, wave;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(sum) : "f"(v.x), "f"(v.y), "f"(v.z));
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(v.w));
  asm("rcp.approx.f32 %0, %1;" : "=f"(sine) : "f"(v.w));
  asm("max.f32 %0, %1, %2;" : "=f"(wave) : "f"(v.x), "f"(v.y));
  asm volatile("st.global.v2.f32 [%0], {%1, %2};" ::"l"(out + 4 * i), "f"(sum), "f"(root) : "memory");
  asm volatile("st.global.cs.v2.f32 [%0+8], {%1, %2};" ::"l"(out + 4 * i), "f"(sine), "f"(wave) : "memory");
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(a) : "l"(bits + 2 * i));
  asm volatile("ld.global.ca.u32 %0, [%1+4];" : "=r"(b) : "l"(bits + 2 * i));
  asm("mad.lo.u32 %0, %1, %2, 7;" : "=r"(c) : "r"(a), "r"(b));
  asm("lop3.b32 %0, %1, %2, %3, 0x6c;" : "=r"(mixed) : "r"(a), "r"(b), "r"(c));
  asm("shl.b32 %0, %1, %2;" : "=r"(shifted) : "r"(mixed), "r"(i));
  asm("sub.u32 %0, %1, %2;" : "=r"(next) : "r"(shifted), "r"(a));
  asm("xor.b32 %0, %1, 0x55;" : "=r"(next) : "r"(next));
  unsigned turned, sum2, less, wide;
  asm("{\n\t.reg .b32 t, u;\n\tmul.lo.u32 t, %1, %2;\n\txor.b32 u, t, %1;\n\tsub.u32 %0, u, t;\n\t}" : "=r"(turned) : "r"(a), "r"(b));
  asm("add.u32 %0, %2, %3;\n\tsub.u32 %1, %0, 5;" : "=&r"(sum2), "=r"(less) : "r"(turned), "r"(b));
  asm("shl.b32 %0, %0, 1; add.u32 %0, %0, %1;" : "+r"(less) : "r"(sum2));
  asm("{ .reg .pred p; .reg .b32 t; setp.gt.u32 p, %1, %2; selp.b32 t, %1, %2, p; @!p sub.u32 t, t, 3; mov.b32 %0, t; }"
      : "=r"(wide) : "r"(a), "r"(b));
  words[256 + i] = wide;
  asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %1, 7; setp.ge.u32 q, %1, 100;\n\t"
               "@p st.global.u32 [%2], %3; @q ld.global.u32 %0, [%2]; }"
               : "+r"(wide) : "r"(i), "l"(words + 512 + i), "r"(i + 1000) : "memory");
  words[384 + i] = wide;
  words[i] = next;
  words[128 + i] = less;
  asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(counts), "r"(a & 1) : "memory");
  asm volatile("red.release.gpu.global.max.u32 [%0+4], %1;" ::"l"(counts), "r"(old) : "memory");
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
}
