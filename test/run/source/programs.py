"""Programs that the tests of this folder write as source text."""

MATMUL = """
func.func @main(%a: tensor<{m}x{k}x{t}>, %b: tensor<{k}x{n}x{t}>) -> tensor<{m}x{n}x{s}> {{
  %z = arith.constant {zero} : {s}
  %e = tensor.empty() : tensor<{m}x{n}x{s}>
  %f = linalg.fill ins(%z : {s}) outs(%e : tensor<{m}x{n}x{s}>) -> tensor<{m}x{n}x{s}>
  %c = linalg.matmul ins(%a, %b : tensor<{m}x{k}x{t}>, tensor<{k}x{n}x{t}>)
    outs(%f : tensor<{m}x{n}x{s}>) -> tensor<{m}x{n}x{s}>
  return %c : tensor<{m}x{n}x{s}>
}}
"""
FUNCTIONS = """
func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %e = math.exp %x : tensor<1000xf32>
  %t = math.tanh %e : tensor<1000xf32>
  %y = arith.mulf %t, %x : tensor<1000xf32>
  %r = arith.addf %y, %e : tensor<1000xf32>
  return %r : tensor<1000xf32>
}
"""
ROWS = """
func.func @main(%x: tensor<7x300xf32>) -> tensor<7xf32> {
  %z = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<7xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<7xf32>) -> tensor<7xf32>
  %r = linalg.reduce ins(%x : tensor<7x300xf32>) outs(%f : tensor<7xf32>) dimensions = [1]
    (%a: f32, %b: f32) { %m = arith.maximumf %a, %b : f32 linalg.yield %m : f32 }
  return %r : tensor<7xf32>
}
"""
SOFTMAX = """
func.func @main(%x: tensor<5x201xf32>) -> tensor<5x201xf32> {
  %e = tensor.empty() : tensor<5x201xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<5x201xf32>) outs(%e : tensor<5x201xf32>) -> tensor<5x201xf32>
  return %r : tensor<5x201xf32>
}
"""
TRANSPOSE = """
func.func @main(%x: tensor<37x21xi16>) -> tensor<21x37xi16> {
  %e = tensor.empty() : tensor<21x37xi16>
  %r = linalg.transpose ins(%x : tensor<37x21xi16>) outs(%e : tensor<21x37xi16>) permutation = [1, 0]
  return %r : tensor<21x37xi16>
}
"""
INTEGERS = """
#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<333xi32>, %y: tensor<333xi32>) -> tensor<333xi32> {
  %e = tensor.empty() : tensor<333xi32>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
    ins(%x, %y : tensor<333xi32>, tensor<333xi32>) outs(%e : tensor<333xi32>) {
    ^bb0(%a: i32, %b: i32, %o: i32):
      %five = arith.constant -5 : i32
      %three = arith.constant 3 : i32
      %sum = arith.addi %a, %b : i32
      %product = arith.muli %sum, %five : i32
      %shifted = arith.shrsi %product, %three : i32
      %quotient = arith.divsi %shifted, %three : i32
      %rest = arith.remsi %a, %five : i32
      %low = arith.trunci %b : i32 to i8
      %wide = arith.extsi %low : i8 to i32
      %c = arith.cmpi ult, %a, %b : i32
      %one = arith.select %c, %quotient, %rest : i32
      %two = arith.maxsi %one, %wide : i32
      %word = arith.extui %c : i1 to i32
      %far = arith.constant 1 : i32
      %near = arith.constant 0 : i32
      %chosen = arith.select %c, %far, %near : i32
      %thirty = arith.constant 31 : i32
      %top = arith.shli %chosen, %thirty : i32
      %sum_of = arith.addi %top, %word : i32
      %mixed = arith.ori %two, %sum_of : i32
      %all = arith.xori %mixed, %product : i32
      linalg.yield %all : i32
  } -> tensor<333xi32>
  return %r : tensor<333xi32>
}
"""
NARROW = """
#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<100xf16>) -> tensor<100xbf16> {
  %e = tensor.empty() : tensor<100xbf16>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
    ins(%x : tensor<100xf16>) outs(%e : tensor<100xbf16>) {
    ^bb0(%a: f16, %o: bf16):
      %b = arith.addf %a, %a : f16
      %w = arith.extf %b : f16 to f32
      %n = arith.truncf %w : f32 to bf16
      linalg.yield %n : bf16
  } -> tensor<100xbf16>
  return %r : tensor<100xbf16>
}
"""
HALVES = """
#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<100xf16>, %y: tensor<100xf16>) -> tensor<100xf16> {
  %e = tensor.empty() : tensor<100xf16>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
    ins(%x, %y : tensor<100xf16>, tensor<100xf16>) outs(%e : tensor<100xf16>) {
    ^bb0(%a: f16, %b: f16, %o: f16):
      %p = arith.mulf %a, %b : f16
      %s = arith.addf %p, %a : f16
      linalg.yield %s : f16
  } -> tensor<100xf16>
  return %r : tensor<100xf16>
}
"""
NORM = """
#rows = affine_map<(d0, d1) -> (d0)>
#columns = affine_map<(d0, d1) -> (d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<9x133xf32>, %w: tensor<133xf32>) -> tensor<9x133xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 133.0 : f32
  %e = tensor.empty() : tensor<9xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<9xf32>) -> tensor<9xf32>
  %squares = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<9x133xf32>) outs(%f : tensor<9xf32>) {
    ^bb0(%a: f32, %s: f32):
      %q = arith.mulf %a, %a : f32
      %t = arith.addf %s, %q : f32
      linalg.yield %t : f32
  } -> tensor<9xf32>
  %o = tensor.empty() : tensor<9x133xf32>
  %r = linalg.generic {indexing_maps = [#all, #rows, #columns, #all], iterator_types = ["parallel", "parallel"]}
    ins(%x, %squares, %w : tensor<9x133xf32>, tensor<9xf32>, tensor<133xf32>) outs(%o : tensor<9x133xf32>) {
    ^bb0(%a: f32, %s: f32, %g: f32, %b: f32):
      %mean = arith.divf %s, %count : f32
      %root = math.sqrt %mean : f32
      %one = arith.divf %a, %root : f32
      %two = arith.mulf %one, %g : f32
      linalg.yield %two : f32
  } -> tensor<9x133xf32>
  return %r : tensor<9x133xf32>
}
"""
BRAINS = """
#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<133xi16>) -> tensor<133xi16> {
  %e = tensor.empty() : tensor<133xi16>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
    ins(%x : tensor<133xi16>) outs(%e : tensor<133xi16>) {
    ^bb0(%a: i16, %o: i16):
      %c = arith.constant 1.5 : bf16
      %b = arith.bitcast %a : i16 to bf16
      %p = arith.mulf %b, %c : bf16
      %s = arith.addf %p, %b : bf16
      %n = arith.bitcast %s : bf16 to i16
      linalg.yield %n : i16
  } -> tensor<133xi16>
  return %r : tensor<133xi16>
}
"""
MASKS = """
#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<77xf32>, %y: tensor<77xf32>) -> (tensor<77xi64>, tensor<77xf32>, tensor<77xi8>) {
  %e = tensor.empty() : tensor<77xi64>
  %f = tensor.empty() : tensor<77xf32>
  %g = tensor.empty() : tensor<77xi8>
  %r:3 = linalg.generic {indexing_maps = [#map, #map, #map, #map, #map], iterator_types = ["parallel"]}
    ins(%x, %y : tensor<77xf32>, tensor<77xf32>)
    outs(%e, %f, %g : tensor<77xi64>, tensor<77xf32>, tensor<77xi8>) {
    ^bb0(%a: f32, %b: f32, %o: i64, %q: f32, %h: i8):
      %zero = arith.constant 0.0 : f32
      %yes = arith.constant true
      %less = arith.cmpf olt, %a, %b : f32
      %positive = arith.cmpf ugt, %a, %zero : f32
      %both = arith.andi %less, %positive : i1
      %not = arith.xori %both, %yes : i1
      %wide = arith.extui %not : i1 to i64
      %i = arith.index_cast %wide : i64 to index
      %three = arith.constant 3 : index
      %j = arith.muli %i, %three : index
      %k = arith.index_cast %j : index to i64
      %isThree = arith.cmpi eq, %j, %three : index
      %either = arith.ori %isThree, %positive : i1
      %chosen = arith.select %either, %a, %b : f32
      %n = arith.extsi %less : i1 to i8
      %m = arith.maximumf %chosen, %b : f32
      linalg.yield %k, %m, %n : i64, f32, i8
  } -> (tensor<77xi64>, tensor<77xf32>, tensor<77xi8>)
  return %r#0, %r#1, %r#2 : tensor<77xi64>, tensor<77xf32>, tensor<77xi8>
}
"""
OPEN = """
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %c = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}
"""
SEVERAL = """
func.func private @product(%a: tensor<7x19xf32>, %b: tensor<19x5xf32>) -> tensor<7x5xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x5xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<7x5xf32>) -> tensor<7x5xf32>
  %c = linalg.matmul ins(%a, %b : tensor<7x19xf32>, tensor<19x5xf32>) outs(%f : tensor<7x5xf32>) -> tensor<7x5xf32>
  return %c : tensor<7x5xf32>
}
func.func @main(%a: tensor<7x19xf32>, %b: tensor<19x5xf32>) -> (tensor<7x5xf32>, tensor<7x5xf32>) {
  %bias = arith.constant dense<[0.5, -1.25, 2.0, 0xFF800000, 3.5]> : tensor<5xf32>
  %p = call @product(%a, %b) : (tensor<7x19xf32>, tensor<19x5xf32>) -> tensor<7x5xf32>
  %e = tensor.empty() : tensor<7x5xf32>
  %w = linalg.broadcast ins(%bias : tensor<5xf32>) outs(%e : tensor<7x5xf32>) dimensions = [0]
  %s = arith.addf %p, %w : tensor<7x5xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %s) -> tensor<7x5xf32> {
    %o = tensor.empty() : tensor<7x5xf32>
    %n = linalg.softmax dimension(1) ins(%x : tensor<7x5xf32>) outs(%o : tensor<7x5xf32>) -> tensor<7x5xf32>
    %t = arith.addf %n, %s : tensor<7x5xf32>
    scf.yield %t : tensor<7x5xf32>
  }
  return %r, %p : tensor<7x5xf32>, tensor<7x5xf32>
}
"""
BOOLEANS = """
#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<77xi1>, %y: tensor<77xf32>) -> (tensor<77xf32>, tensor<77xi1>) {
  %e = tensor.empty() : tensor<77xf32>
  %f = tensor.empty() : tensor<77xi1>
  %r:2 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]}
    ins(%x, %y : tensor<77xi1>, tensor<77xf32>) outs(%e, %f : tensor<77xf32>, tensor<77xi1>) {
    ^bb0(%a: i1, %b: f32, %o: f32, %q: i1):
      %zero = arith.constant 0.0 : f32
      %chosen = arith.select %a, %b, %zero : f32
      %less = arith.cmpf olt, %chosen, %b : f32
      %both = arith.xori %less, %a : i1
      linalg.yield %chosen, %both : f32, i1
  } -> (tensor<77xf32>, tensor<77xi1>)
  return %r#0, %r#1 : tensor<77xf32>, tensor<77xi1>
}
"""
CONVERSIONS = """
#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<133xi8>, %y: tensor<133xi64>) -> (tensor<133xi64>, tensor<133xi8>) {
  %e = tensor.empty() : tensor<133xi64>
  %f = tensor.empty() : tensor<133xi8>
  %r:2 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]}
    ins(%x, %y : tensor<133xi8>, tensor<133xi64>) outs(%e, %f : tensor<133xi64>, tensor<133xi8>) {
    ^bb0(%a: i8, %b: i64, %o: i64, %q: i8):
      %a16 = arith.extsi %a : i8 to i16
      %u16 = arith.extui %a : i8 to i16
      %p16 = arith.muli %a16, %u16 : i16
      %a32 = arith.extsi %p16 : i16 to i32
      %u32 = arith.extui %p16 : i16 to i32
      %b32 = arith.extsi %a : i8 to i32
      %c32 = arith.extui %a : i8 to i32
      %p32 = arith.muli %a32, %u32 : i32
      %q32 = arith.muli %b32, %c32 : i32
      %s32 = arith.addi %p32, %q32 : i32
      %a64 = arith.extsi %s32 : i32 to i64
      %u64 = arith.extui %s32 : i32 to i64
      %b64 = arith.extsi %p16 : i16 to i64
      %c64 = arith.extui %u16 : i16 to i64
      %d64 = arith.extsi %a : i8 to i64
      %e64 = arith.extui %a : i8 to i64
      %p64 = arith.muli %a64, %u64 : i64
      %q64 = arith.muli %b64, %c64 : i64
      %r64 = arith.muli %d64, %e64 : i64
      %s64 = arith.addi %p64, %q64 : i64
      %t64 = arith.addi %s64, %r64 : i64
      %all = arith.xori %t64, %b : i64
      %n32 = arith.trunci %all : i64 to i32
      %n16 = arith.trunci %b : i64 to i16
      %n8 = arith.trunci %t64 : i64 to i8
      %m16 = arith.trunci %n32 : i32 to i16
      %w16 = arith.xori %n16, %m16 : i16
      %m8 = arith.trunci %w16 : i16 to i8
      %k8 = arith.trunci %s32 : i32 to i8
      %x8 = arith.addi %n8, %m8 : i8
      %y8 = arith.xori %x8, %k8 : i8
      linalg.yield %all, %y8 : i64, i8
  } -> (tensor<133xi64>, tensor<133xi8>)
  return %r#0, %r#1 : tensor<133xi64>, tensor<133xi8>
}
"""
LATE = """
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>, %is: i1) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %w, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = tensor.pad %y low[1, 2] high[0, 1] {
    ^bb0(%i: index, %k: index):
      tensor.yield %z : f32
  } : tensor<?x?xf32> to tensor<?x?xf32>
  %pm = tensor.dim %p, %c0 : tensor<?x?xf32>
  %pn = tensor.dim %p, %c1 : tensor<?x?xf32>
  %o = tensor.empty(%pm, %pn) : tensor<?x?xf32>
  %s = linalg.softmax dimension(1) ins(%p : tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %s) -> tensor<?x?xf32> {
    %t = tensor.empty(%pn, %pm) : tensor<?x?xf32>
    %q = linalg.transpose ins(%a : tensor<?x?xf32>) outs(%t : tensor<?x?xf32>) permutation = [1, 0]
    %ge = tensor.empty(%pn, %pn) : tensor<?x?xf32>
    %gf = linalg.fill ins(%z : f32) outs(%ge : tensor<?x?xf32>) -> tensor<?x?xf32>
    %g = linalg.matmul ins(%q, %p : tensor<?x?xf32>, tensor<?x?xf32>) outs(%gf : tensor<?x?xf32>) -> tensor<?x?xf32>
    %he = tensor.empty(%pm, %pn) : tensor<?x?xf32>
    %hf = linalg.fill ins(%z : f32) outs(%he : tensor<?x?xf32>) -> tensor<?x?xf32>
    %h = linalg.matmul ins(%p, %g : tensor<?x?xf32>, tensor<?x?xf32>) outs(%hf : tensor<?x?xf32>) -> tensor<?x?xf32>
    %b = scf.if %is -> tensor<?x?xf32> {
      %u = linalg.softmax dimension(1) ins(%h : tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
      %v = arith.addf %u, %s : tensor<?x?xf32>
      scf.yield %v : tensor<?x?xf32>
    } else {
      %u = math.tanh %h : tensor<?x?xf32>
      %v = arith.subf %u, %a : tensor<?x?xf32>
      scf.yield %v : tensor<?x?xf32>
    }
    scf.yield %b : tensor<?x?xf32>
  }
  %last = arith.addf %r, %p : tensor<?x?xf32>
  return %last : tensor<?x?xf32>
}
"""
HALVES_OF_PRODUCTS = """
#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<133xi64>, %y: tensor<133xi64>) -> (tensor<133xi64>, tensor<133xi32>) {
  %e = tensor.empty() : tensor<133xi64>
  %f = tensor.empty() : tensor<133xi32>
  %r:2 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]}
    ins(%x, %y : tensor<133xi64>, tensor<133xi64>) outs(%e, %f : tensor<133xi64>, tensor<133xi32>) {
    ^bb0(%a: i64, %b: i64, %o: i64, %q: i32):
      %low, %high = arith.mului_extended %a, %b : i64
      %slow, %shigh = arith.mulsi_extended %a, %low : i64
      %sum, %carry = arith.addui_extended %high, %shigh : i64, i1
      %c = arith.trunci %a : i64 to i32
      %d = arith.trunci %b : i64 to i32
      %low32, %high32 = arith.mului_extended %c, %d : i32
      %slow32, %shigh32 = arith.mulsi_extended %c, %low32 : i32
      %one = arith.extui %carry : i1 to i32
      %mixed = arith.xori %high32, %shigh32 : i32
      %all = arith.addi %mixed, %one : i32
      linalg.yield %sum, %all : i64, i32
  } -> (tensor<133xi64>, tensor<133xi32>)
  return %r#0, %r#1 : tensor<133xi64>, tensor<133xi32>
}
"""
