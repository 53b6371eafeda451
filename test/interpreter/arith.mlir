// What arith means, by values written down by hand: the program itself asserts them (docs/numerics.md §1, §3, §5).
// RUN: %tile_run --target=interpret %s --entry=integers
// RUN: %tile_run --target=interpret %s --entry=division
// RUN: %tile_run --target=interpret %s --entry=shifts
// RUN: %tile_run --target=interpret %s --entry=extended
// RUN: %tile_run --target=interpret %s --entry=floats
// RUN: %tile_run --target=interpret %s --entry=zeros_and_nans
// RUN: %tile_run --target=interpret %s --entry=comparisons
// RUN: %tile_run --target=interpret %s --entry=narrow_floats
// RUN: %tile_run --target=interpret %s --entry=conversions
// RUN: %tile_run --target=interpret %s --entry=functions

func.func private @same(%seen: i64, %expected: i64) {
  %same = arith.cmpi eq, %seen, %expected : i64
  cf.assert %same, "an integer differs"
  return
}
func.func private @same_f32(%seen: f32, %expected: i32) {
  %bits = arith.bitcast %seen : f32 to i32
  %same = arith.cmpi eq, %bits, %expected : i32
  cf.assert %same, "the bits of an f32 differ"
  return
}

func.func @integers() {
  %a = arith.constant 200 : i8
  %b = arith.constant 100 : i8
  %sum = arith.addi %a, %b : i8
  %sum64 = arith.extsi %sum : i8 to i64
  %e0 = arith.constant 44 : i64
  call @same(%sum64, %e0) : (i64, i64) -> ()
  %difference = arith.subi %b, %a : i8
  %difference64 = arith.extsi %difference : i8 to i64
  %e1 = arith.constant -100 : i64
  call @same(%difference64, %e1) : (i64, i64) -> ()
  %product = arith.muli %a, %b : i8
  %product64 = arith.extui %product : i8 to i64
  %e2 = arith.constant 32 : i64
  call @same(%product64, %e2) : (i64, i64) -> ()
  %min = arith.minsi %a, %b : i8
  %min64 = arith.extsi %min : i8 to i64
  %e3 = arith.constant -56 : i64
  call @same(%min64, %e3) : (i64, i64) -> ()
  %max = arith.maxui %a, %b : i8
  %max64 = arith.extui %max : i8 to i64
  %e4 = arith.constant 200 : i64
  call @same(%max64, %e4) : (i64, i64) -> ()
  %x = arith.xori %a, %b : i8
  %x64 = arith.extui %x : i8 to i64
  %e5 = arith.constant 172 : i64
  call @same(%x64, %e5) : (i64, i64) -> ()
  return
}

func.func @division() {
  %m7 = arith.constant -7 : i64
  %two = arith.constant 2 : i64
  %m3 = arith.constant -3 : i64
  %m4 = arith.constant -4 : i64
  %m1 = arith.constant -1 : i64
  %q = arith.divsi %m7, %two : i64
  call @same(%q, %m3) : (i64, i64) -> ()
  %r = arith.remsi %m7, %two : i64
  call @same(%r, %m1) : (i64, i64) -> ()
  %f = arith.floordivsi %m7, %two : i64
  call @same(%f, %m4) : (i64, i64) -> ()
  %c = arith.ceildivsi %m7, %two : i64
  call @same(%c, %m3) : (i64, i64) -> ()
  %u = arith.divui %m7, %two : i64
  %eu = arith.constant 0x7ffffffffffffffc : i64
  call @same(%u, %eu) : (i64, i64) -> ()
  %seven = arith.constant 7 : i64
  %cu = arith.ceildivui %seven, %two : i64
  %four = arith.constant 4 : i64
  call @same(%cu, %four) : (i64, i64) -> ()
  return
}

func.func @shifts() {
  %a = arith.constant -8 : i64
  %one = arith.constant 1 : i64
  %l = arith.shli %a, %one : i64
  %m16 = arith.constant -16 : i64
  call @same(%l, %m16) : (i64, i64) -> ()
  %s = arith.shrsi %a, %one : i64
  %m4 = arith.constant -4 : i64
  call @same(%s, %m4) : (i64, i64) -> ()
  %u = arith.shrui %a, %one : i64
  %eu = arith.constant 0x7ffffffffffffffc : i64
  call @same(%u, %eu) : (i64, i64) -> ()
  %z = math.ctlz %one : i64
  %e63 = arith.constant 63 : i64
  call @same(%z, %e63) : (i64, i64) -> ()
  %t = math.cttz %a : i64
  %three = arith.constant 3 : i64
  call @same(%t, %three) : (i64, i64) -> ()
  %p = math.ctpop %three : i64
  %two = arith.constant 2 : i64
  call @same(%p, %two) : (i64, i64) -> ()
  return
}

func.func @extended() {
  %a = arith.constant -1 : i64
  %two = arith.constant 2 : i64
  %one = arith.constant 1 : i64
  %low, %high = arith.mului_extended %a, %two : i64
  %m2 = arith.constant -2 : i64
  call @same(%low, %m2) : (i64, i64) -> ()
  call @same(%high, %one) : (i64, i64) -> ()
  %slow, %shigh = arith.mulsi_extended %a, %two : i64
  call @same(%shigh, %a) : (i64, i64) -> ()
  %sum, %carry = arith.addui_extended %a, %two : i64, i1
  call @same(%sum, %one) : (i64, i64) -> ()
  cf.assert %carry, "no carry"
  return
}

func.func @floats() {
  %a = arith.constant 0x3F800001 : f32
  %b = arith.constant 3.0 : f32
  %sum = arith.addf %a, %b : f32 // 4.00000012: half way, ties to even
  %e0 = arith.constant 0x40800000 : i32
  call @same_f32(%sum, %e0) : (f32, i32) -> ()
  %product = arith.mulf %a, %a : f32 // 1 + 2^-22 + 2^-46
  %e1 = arith.constant 0x3F800002 : i32
  call @same_f32(%product, %e1) : (f32, i32) -> ()
  %one = arith.constant 1.0 : f32
  %third = arith.divf %one, %b : f32
  %e2 = arith.constant 0x3EAAAAAB : i32
  call @same_f32(%third, %e2) : (f32, i32) -> ()
  %m2 = arith.constant 0xBF800002 : f32
  %fused = math.fma %a, %a, %m2 : f32 // 2^-46, which two roundings lose
  %e3 = arith.constant 0x28800000 : i32
  call @same_f32(%fused, %e3) : (f32, i32) -> ()
  %m7 = arith.constant -7.5 : f32
  %two = arith.constant 2.0 : f32
  %rest = arith.remf %m7, %two : f32
  %e4 = arith.constant 0xBFC00000 : i32
  call @same_f32(%rest, %e4) : (f32, i32) -> ()
  %tiny = arith.constant 0x00000003 : f32
  %half = arith.divf %tiny, %two : f32 // a subnormal, ties to even
  %e5 = arith.constant 2 : i32
  call @same_f32(%half, %e5) : (f32, i32) -> ()
  return
}

func.func @zeros_and_nans() {
  %nan = arith.constant 0x7FC00000 : f32
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %minus = arith.constant -0.0 : f32
  %a = arith.maximumf %nan, %one : f32
  %is = arith.cmpf uno, %a, %a : f32
  cf.assert %is, "maximumf of nan"
  %b = arith.maxnumf %nan, %one : f32
  %e0 = arith.constant 0x3F800000 : i32
  call @same_f32(%b, %e0) : (f32, i32) -> ()
  %c = arith.minimumf %zero, %minus : f32
  %e1 = arith.constant 0x80000000 : i32
  call @same_f32(%c, %e1) : (f32, i32) -> ()
  %d = arith.maximumf %minus, %zero : f32
  %e2 = arith.constant 0 : i32
  call @same_f32(%d, %e2) : (f32, i32) -> ()
  %n = arith.negf %zero : f32
  call @same_f32(%n, %e1) : (f32, i32) -> ()
  return
}

func.func @comparisons() {
  %nan = arith.constant 0x7FC00000 : f32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %true = arith.constant true
  %a = arith.cmpf olt, %one, %two : f32
  %b = arith.cmpf olt, %one, %nan : f32
  %c = arith.cmpf ult, %one, %nan : f32
  %d = arith.cmpf ueq, %one, %two : f32
  %e = arith.cmpf une, %one, %two : f32
  %f = arith.cmpf ord, %one, %nan : f32
  %nb = arith.xori %b, %true : i1
  %nd = arith.xori %d, %true : i1
  %nf = arith.xori %f, %true : i1
  %all0 = arith.andi %a, %nb : i1
  %all1 = arith.andi %c, %nd : i1
  %all2 = arith.andi %e, %nf : i1
  cf.assert %all0, "ordered comparisons"
  cf.assert %all1, "unordered comparisons"
  cf.assert %all2, "une and ord"
  %m1 = arith.constant -1 : i32
  %i1 = arith.constant 1 : i32
  %s = arith.cmpi slt, %m1, %i1 : i32
  %u = arith.cmpi ugt, %m1, %i1 : i32
  cf.assert %s, "signed"
  cf.assert %u, "unsigned"
  return
}

func.func @narrow_floats() {
  %a = arith.constant 2049.0 : f32
  %h = arith.truncf %a : f32 to f16 // half way between 2048 and 2050
  %b = arith.extf %h : f16 to f32
  %e0 = arith.constant 0x45000000 : i32
  call @same_f32(%b, %e0) : (f32, i32) -> ()
  %big = arith.constant 65520.0 : f32
  %i = arith.truncf %big : f32 to f16
  %c = arith.extf %i : f16 to f32
  %e1 = arith.constant 0x7F800000 : i32
  call @same_f32(%c, %e1) : (f32, i32) -> ()
  %p = arith.constant 0x3F818000 : f32
  %bf = arith.truncf %p : f32 to bf16
  %bits = arith.bitcast %bf : bf16 to i16
  %bits64 = arith.extui %bits : i16 to i64
  %e2 = arith.constant 0x3F82 : i64
  call @same(%bits64, %e2) : (i64, i64) -> ()
  %f8 = arith.truncf %a : f32 to f8E4M3FN // past 448: nan
  %n = arith.extf %f8 : f8E4M3FN to f32
  %is = arith.cmpf uno, %n, %n : f32
  cf.assert %is, "f8E4M3FN has no infinity"
  %q = arith.constant 17.0 : f32
  %q8 = arith.truncf %q : f32 to f8E4M3FN
  %q8bits = arith.bitcast %q8 : f8E4M3FN to i8
  %q864 = arith.extui %q8bits : i8 to i64
  %e3 = arith.constant 0x58 : i64 // 16: ties to even
  call @same(%q864, %e3) : (i64, i64) -> ()
  %s8 = arith.truncf %q : f32 to f8E5M2
  %s8bits = arith.bitcast %s8 : f8E5M2 to i8
  %s864 = arith.extui %s8bits : i8 to i64
  %e4 = arith.constant 0x4C : i64
  call @same(%s864, %e4) : (i64, i64) -> ()
  return
}

func.func @conversions() {
  %a = arith.constant -2.9 : f32
  %i = arith.fptosi %a : f32 to i8
  %i64 = arith.extsi %i : i8 to i64
  %m2 = arith.constant -2 : i64
  call @same(%i64, %m2) : (i64, i64) -> ()
  %b = arith.constant 16777217 : i32
  %f = arith.sitofp %b : i32 to f32
  %e0 = arith.constant 0x4B800000 : i32
  call @same_f32(%f, %e0) : (f32, i32) -> ()
  %m1 = arith.constant -1 : i8
  %u = arith.uitofp %m1 : i8 to f32
  %e1 = arith.constant 0x437F0000 : i32
  call @same_f32(%u, %e1) : (f32, i32) -> ()
  %t = arith.trunci %b : i32 to i8
  %t64 = arith.extui %t : i8 to i64
  %one = arith.constant 1 : i64
  call @same(%t64, %one) : (i64, i64) -> ()
  %x = arith.index_castui %m1 : i8 to index
  %x64 = arith.index_cast %x : index to i64
  %e2 = arith.constant 255 : i64
  call @same(%x64, %e2) : (i64, i64) -> ()
  return
}

func.func @functions() {
  %four = arith.constant 4.0 : f32
  %s = math.sqrt %four : f32
  %e0 = arith.constant 0x40000000 : i32
  call @same_f32(%s, %e0) : (f32, i32) -> ()
  %r = math.rsqrt %four : f32
  %e1 = arith.constant 0x3F000000 : i32
  call @same_f32(%r, %e1) : (f32, i32) -> ()
  %x = math.exp2 %four : f32
  %e2 = arith.constant 0x41800000 : i32
  call @same_f32(%x, %e2) : (f32, i32) -> ()
  %h = arith.constant 2.5 : f32
  %n = math.roundeven %h : f32
  call @same_f32(%n, %e0) : (f32, i32) -> ()
  %o = math.round %h : f32
  %e3 = arith.constant 0x40400000 : i32
  call @same_f32(%o, %e3) : (f32, i32) -> ()
  %p = math.powf %four, %h : f32
  %e4 = arith.constant 0x42000000 : i32
  call @same_f32(%p, %e4) : (f32, i32) -> ()
  %e = math.exp %h : f32
  %e5 = arith.constant 0x4142EB7F : i32
  call @same_f32(%e, %e5) : (f32, i32) -> ()
  return
}
