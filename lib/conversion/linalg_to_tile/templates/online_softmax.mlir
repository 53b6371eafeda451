// Attention: online softmax (Milakov and Gimelshein 2018; FlashAttention, Dao et al. 2022).
//
// A program walks the blocks of keys from %first to %end for its queries: sums o, maximum m, total l. $ACROSS is the
// axis of the keys in a tile of scores, $OVER that of the channels in the sums. Where the mask hides keys by a number that is not -inf, a query that sees
// nothing weighs all hidden keys alike: rounds of their own then visit the blocks before %first ($BEFORE: 1), and in
// round $AFTER those from %end to %blocks ($BEHIND: 1). m is to start at the lowest number and not at -inf: a block
// that is hidden by -inf then leaves o and l as they are. Where blocks are listed, the numbers are places in the list,
// @block reads it, and @visits may leave a block of it out. A kernel may have several such walks, one behind the other;
// each begins with what the one before left.
//   type $SCORES = tensor<32x64xf32>, $ROW = tensor<64xf32>, $SUMS = tensor<16x64xf32>
//   type $WEIGHTS = tensor<32x64xf32>, $VALUES = tensor<16x32xf32>
//   integer $ACROSS = 0, $OVER = 0, $ROUNDS = 3, $AFTER = 2, $BEFORE = 1, $BEHIND = 1
//   attribute $ENOUGH = -1.0e+29 : f32
// @offset and @difference: what stands for a maximum, and a score less it. A program that scales its scores may have
// them compared as they come, and scaled with the difference.
func.func private @block(index) -> index
func.func private @visits(index) -> i1
func.func private @scores(index) -> $SCORES
func.func private @offset($ROW) -> $ROW
func.func private @difference($SCORES, $SCORES) -> $SCORES
func.func private @exponentials($SCORES) -> $SCORES
func.func private @decay($ROW) -> $ROW
func.func private @weights($SCORES) -> $WEIGHTS
func.func private @values(index) -> $VALUES
func.func private @product($WEIGHTS, $VALUES, $SUMS) -> $SUMS
func.func @attention(%first: index, %end: index, %blocks: index, %o0: $SUMS, %m0: $ROW, %l0: $ROW) -> ($SUMS, $ROW, $ROW) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rounds = arith.constant $ROUNDS : index
  %after = arith.constant $AFTER : index
  %hasBefore = arith.constant $BEFORE : i1
  %hasAfter = arith.constant $BEHIND : i1
  %enough = arith.constant $ENOUGH
  %r:3 = scf.for %round = %c0 to %rounds step %c1 iter_args(%or = %o0, %mr = %m0, %lr = %l0) -> ($SUMS, $ROW, $ROW) {
    // Did a query see nothing, or only what weighs as little as what is hidden?
    %least = tile.reduce {arith.minimumf} %mr axes [0] : $ROW -> f32
    %more = arith.cmpf ult, %least, %enough : f32
    %second = arith.cmpi eq, %round, %c1 : index
    %isBefore = arith.andi %second, %hasBefore : i1
    %third = arith.cmpi eq, %round, %after : index
    %isAfter = arith.andi %third, %hasAfter : i1
    %behind = arith.select %isAfter, %end, %first : index
    %from = arith.select %isBefore, %c0, %behind : index
    %most = arith.select %more, %blocks, %end : index
    %upto = arith.select %isAfter, %most, %end : index
    %fewest = arith.select %more, %first, %c0 : index
    %to = arith.select %isBefore, %fewest, %upto : index
    %s:3 = scf.for %n = %from to %to step %c1 iter_args(%o = %or, %m = %mr, %l = %lr) -> ($SUMS, $ROW, $ROW) {
      %j = func.call @block(%n) : (index) -> index
      %visits = func.call @visits(%j) : (index) -> i1
      %new:3 = scf.if %visits -> ($SUMS, $ROW, $ROW) {
        %x = func.call @scores(%j) : (index) -> $SCORES
        %mx = tile.reduce {arith.maximumf} %x axes [$ACROSS] : $SCORES -> $ROW
        %m1 = arith.maximumf %m, %mx : $ROW
        %off = func.call @offset(%m1) : ($ROW) -> $ROW
        %mb = tile.broadcast %off axes [$ACROSS] : $ROW -> $SCORES
        %d = func.call @difference(%x, %mb) : ($SCORES, $SCORES) -> $SCORES
        %p = func.call @exponentials(%d) : ($SCORES) -> $SCORES
        %old = func.call @offset(%m) : ($ROW) -> $ROW
        %md = arith.subf %old, %off : $ROW
        %a = func.call @decay(%md) : ($ROW) -> $ROW
        %la = arith.mulf %l, %a : $ROW
        %ps = tile.reduce {arith.addf} %p axes [$ACROSS] : $SCORES -> $ROW
        %l1 = arith.addf %la, %ps : $ROW
        %w = func.call @weights(%p) : ($SCORES) -> $WEIGHTS
        %v = func.call @values(%j) : (index) -> $VALUES
        %ab = tile.broadcast %a axes [$OVER] : $ROW -> $SUMS
        %oa = arith.mulf %o, %ab : $SUMS
        %o1 = func.call @product(%w, %v, %oa) : ($WEIGHTS, $VALUES, $SUMS) -> $SUMS
        scf.yield %o1, %m1, %l1 : $SUMS, $ROW, $ROW
      } else {
        scf.yield %o, %m, %l : $SUMS, $ROW, $ROW
      }
      scf.yield %new#0, %new#1, %new#2 : $SUMS, $ROW, $ROW
    }
    scf.yield %s#0, %s#1, %s#2 : $SUMS, $ROW, $ROW
  }
  return %r#0, %r#1, %r#2 : $SUMS, $ROW, $ROW
}
