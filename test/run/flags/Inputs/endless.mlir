func.func @main(%start: f32) -> f32 {
  %r = scf.while (%i = %start) : (f32) -> f32 {
    %goes_on = arith.cmpf oge, %i, %i : f32
    scf.condition(%goes_on) %i : f32
  } do {
  ^bb0(%j: f32):
    %half = arith.constant 0.5 : f32
    %k = arith.mulf %j, %half : f32
    scf.yield %k : f32
  }
  return %r : f32
}
func.func @ends(%x: f32) -> f32 {
  return %x : f32
}
