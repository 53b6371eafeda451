// A lane of a program with loops and branches. Segments are launches without a decision between them. %plan has records
// of 16 words, then the further awaits of items:
//   for each segment and lane: the segment, its number of items, this lane's record of the segment behind it if the
//     decision is yes, and if it is no (-1: the end), whether this lane decides (-1: nobody, the end follows), where in
//     %operands the address of the condition lies; for the segment behind a yes, for the one behind a no and for this
//     one: the first item's record, the record behind it, the first item's task
//   for each item a record as in program.mlir, and a record of zeros
// All lanes go through the same segments. Where a segment ends, one lane awaits all of it, reads the condition and
// publishes the decision: number k in word k % 16 of a log, 2 × (1 + k / 16) + decision. The other lanes await it.
// Words of the log are used again, so each lane tells that it has read half of them, in one of two counts, and the lane
// that decides awaits that of all lanes. Counts of a segment's items grow each time that it runs: %counts holds how
// often each segment has run. %counters has the counts of items, the two counts, the log. What the two segments behind a
// decision begin with is loaded while the items run.
//   integer $WORDS = 48, $TABLE = 2, $ROW = 2, $COUNTERS = 19, $LANES = 1, $PASSED = 1, $LOG = 3, $SEGMENTS = 16
tile.func private @spread(tensor<16xi32>) -> tensor<16xi32>
tile.func private @prepare(tensor<$ROWxi64>, index, index, index)
tile.func private @execute(index)
tile.kernel @flow(%plan: memref<$WORDSxi32>, %operands: memref<$TABLExi64>, %counters: memref<$COUNTERSxi32>)
    attributes {cooperative} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %zero = arith.constant 0 : i32
  %half = arith.constant 8 : i32
  %all = arith.constant 16 : i32
  %lanes.i32 = arith.constant $LANES : i32
  %passed = arith.constant $PASSED : index
  %log = arith.constant $LOG : index
  %lane = tile.program_id 0
  %records = tile.view %plan : memref<$WORDSxi32> to !tile.view<16xi32>
  %table = tile.view %operands : memref<$TABLExi64> to !tile.view<$ROWxi64>
  %start.tile = tile.load %records[%lane] : !tile.view<16xi32> -> tensor<16xi32>
  %start = tile.call @spread(%start.tile) : (tensor<16xi32>) -> tensor<16xi32>
  %start_item.tile = tile.slice %start[12] : tensor<16xi32> -> tensor<1xi32>
  %start_item.i32 = tile.reduce {arith.addi} %start_item.tile axes [0] : tensor<1xi32> -> i32
  %start_item = arith.index_cast %start_item.i32 : i32 to index
  %start_second.tile = tile.slice %start[13] : tensor<16xi32> -> tensor<1xi32>
  %start_second.i32 = tile.reduce {arith.addi} %start_second.tile axes [0] : tensor<1xi32> -> i32
  %start_second = arith.index_cast %start_second.i32 : i32 to index
  %start_task.tile = tile.slice %start[14] : tensor<16xi32> -> tensor<1xi32>
  %start_task.i32 = tile.reduce {arith.addi} %start_task.tile axes [0] : tensor<1xi32> -> i32
  %start_task = arith.index_cast %start_task.i32 : i32 to index
  %start_record = tile.load %records[%start_item] : !tile.view<16xi32> -> tensor<16xi32>
  %start_behind = tile.load %records[%start_second] : !tile.view<16xi32> -> tensor<16xi32>
  %start_row = tile.load %table[%start_task] : !tile.view<$ROWxi64> -> tensor<$ROWxi64>
  %no_counts = tile.broadcast %zero : i32 -> tensor<$SEGMENTSxi32>
  %numbers = tile.iota dim 0 : tensor<$SEGMENTSxi32>
  %end:7 = scf.while (%at = %zero, %segment_words = %start, %first_record = %start_record,
                      %second_record = %start_behind, %first_row = %start_row, %k = %zero, %counts = %no_counts)
      : (i32, tensor<16xi32>, tensor<16xi32>, tensor<16xi32>, tensor<$ROWxi64>, i32, tensor<$SEGMENTSxi32>)
      -> (i32, tensor<16xi32>, tensor<16xi32>, tensor<16xi32>, tensor<$ROWxi64>, i32, tensor<$SEGMENTSxi32>) {
    %goes_on = arith.cmpi sge, %at, %zero : i32
    scf.condition(%goes_on) %at, %segment_words, %first_record, %second_record, %first_row, %k, %counts
        : i32, tensor<16xi32>, tensor<16xi32>, tensor<16xi32>, tensor<$ROWxi64>, i32, tensor<$SEGMENTSxi32>
  } do {
  ^bb0(%at: i32, %segment_words: tensor<16xi32>, %first_record: tensor<16xi32>, %second_record: tensor<16xi32>,
       %first_row: tensor<$ROWxi64>, %k: i32, %counts: tensor<$SEGMENTSxi32>):
    %segment.tile = tile.slice %segment_words[0] : tensor<16xi32> -> tensor<1xi32>
    %segment = tile.reduce {arith.addi} %segment.tile axes [0] : tensor<1xi32> -> i32
    %items.tile = tile.slice %segment_words[1] : tensor<16xi32> -> tensor<1xi32>
    %items.i32 = tile.reduce {arith.addi} %items.tile axes [0] : tensor<1xi32> -> i32
    %items = arith.index_cast %items.i32 : i32 to index
    %then_at.tile = tile.slice %segment_words[2] : tensor<16xi32> -> tensor<1xi32>
    %then_at = tile.reduce {arith.addi} %then_at.tile axes [0] : tensor<1xi32> -> i32
    %else_at.tile = tile.slice %segment_words[3] : tensor<16xi32> -> tensor<1xi32>
    %else_at = tile.reduce {arith.addi} %else_at.tile axes [0] : tensor<1xi32> -> i32
    %decides.tile = tile.slice %segment_words[4] : tensor<16xi32> -> tensor<1xi32>
    %decides = tile.reduce {arith.addi} %decides.tile axes [0] : tensor<1xi32> -> i32
    %at_address.tile = tile.slice %segment_words[5] : tensor<16xi32> -> tensor<1xi32>
    %at_address.i32 = tile.reduce {arith.addi} %at_address.tile axes [0] : tensor<1xi32> -> i32
    %at_address = arith.index_cast %at_address.i32 : i32 to index
    %then_item.tile = tile.slice %segment_words[6] : tensor<16xi32> -> tensor<1xi32>
    %then_item.i32 = tile.reduce {arith.addi} %then_item.tile axes [0] : tensor<1xi32> -> i32
    %then_item = arith.index_cast %then_item.i32 : i32 to index
    %then_second.tile = tile.slice %segment_words[7] : tensor<16xi32> -> tensor<1xi32>
    %then_second.i32 = tile.reduce {arith.addi} %then_second.tile axes [0] : tensor<1xi32> -> i32
    %then_second = arith.index_cast %then_second.i32 : i32 to index
    %then_task.tile = tile.slice %segment_words[8] : tensor<16xi32> -> tensor<1xi32>
    %then_task.i32 = tile.reduce {arith.addi} %then_task.tile axes [0] : tensor<1xi32> -> i32
    %then_task = arith.index_cast %then_task.i32 : i32 to index
    %else_item.tile = tile.slice %segment_words[9] : tensor<16xi32> -> tensor<1xi32>
    %else_item.i32 = tile.reduce {arith.addi} %else_item.tile axes [0] : tensor<1xi32> -> i32
    %else_item = arith.index_cast %else_item.i32 : i32 to index
    %else_second.tile = tile.slice %segment_words[10] : tensor<16xi32> -> tensor<1xi32>
    %else_second.i32 = tile.reduce {arith.addi} %else_second.tile axes [0] : tensor<1xi32> -> i32
    %else_second = arith.index_cast %else_second.i32 : i32 to index
    %else_task.tile = tile.slice %segment_words[11] : tensor<16xi32> -> tensor<1xi32>
    %else_task.i32 = tile.reduce {arith.addi} %else_task.tile axes [0] : tensor<1xi32> -> i32
    %else_task = arith.index_cast %else_task.i32 : i32 to index
    %first_item.tile = tile.slice %segment_words[12] : tensor<16xi32> -> tensor<1xi32>
    %first_item.i32 = tile.reduce {arith.addi} %first_item.tile axes [0] : tensor<1xi32> -> i32
    %first_item = arith.index_cast %first_item.i32 : i32 to index
    %second.tile = tile.slice %segment_words[13] : tensor<16xi32> -> tensor<1xi32>
    %second.i32 = tile.reduce {arith.addi} %second.tile axes [0] : tensor<1xi32> -> i32
    %second = arith.index_cast %second.i32 : i32 to index
    %then_there = arith.maxsi %then_at, %zero : i32
    %else_there = arith.maxsi %else_at, %zero : i32
    %then_index = arith.index_cast %then_there : i32 to index
    %else_index = arith.index_cast %else_there : i32 to index
    %address = memref.load %operands[%at_address] : memref<$TABLExi64>
    %then_words = tile.load %records[%then_index] : !tile.view<16xi32> -> tensor<16xi32>
    %then_record = tile.load %records[%then_item] : !tile.view<16xi32> -> tensor<16xi32>
    %then_behind = tile.load %records[%then_second] : !tile.view<16xi32> -> tensor<16xi32>
    %then_row = tile.load %table[%then_task] : !tile.view<$ROWxi64> -> tensor<$ROWxi64>
    %else_words = tile.load %records[%else_index] : !tile.view<16xi32> -> tensor<16xi32>
    %else_record = tile.load %records[%else_item] : !tile.view<16xi32> -> tensor<16xi32>
    %else_behind = tile.load %records[%else_second] : !tile.view<16xi32> -> tensor<16xi32>
    %else_row = tile.load %table[%else_task] : !tile.view<$ROWxi64> -> tensor<$ROWxi64>
    %own_number = tile.broadcast %segment : i32 -> tensor<$SEGMENTSxi32>
    %is_own = arith.cmpi eq, %numbers, %own_number : tensor<$SEGMENTSxi32>
    %own_count = arith.select %is_own, %counts, %no_counts : tensor<$SEGMENTSxi1>, tensor<$SEGMENTSxi32>
    %runs = tile.reduce {arith.addi} %own_count axes [0] : tensor<$SEGMENTSxi32> -> i32
    %end_of_items = arith.addi %first_item, %items : index
    %first_words = tile.call @spread(%first_record) : (tensor<16xi32>) -> tensor<16xi32>
    %done:4 = scf.for %n = %c0 to %items step %c1
        iter_args(%now = %first_words, %row = %first_row, %coming = %second_record, %next = %second)
        -> (tensor<16xi32>, tensor<$ROWxi64>, tensor<16xi32>, index) {
      %behind_next = arith.addi %next, %c1 : index
      %is_last = arith.cmpi sge, %next, %end_of_items : index
      %later = arith.select %is_last, %next, %behind_next : index
      %then = tile.call @spread(%coming) : (tensor<16xi32>) -> tensor<16xi32>
      %coming_task.tile = tile.slice %then[0] : tensor<16xi32> -> tensor<1xi32>
      %coming_task.i32 = tile.reduce {arith.addi} %coming_task.tile axes [0] : tensor<1xi32> -> i32
      %coming_task = arith.index_cast %coming_task.i32 : i32 to index
      %task.tile = tile.slice %now[0] : tensor<16xi32> -> tensor<1xi32>
      %task.i32 = tile.reduce {arith.addi} %task.tile axes [0] : tensor<1xi32> -> i32
      %task = arith.index_cast %task.i32 : i32 to index
      %kind.tile = tile.slice %now[1] : tensor<16xi32> -> tensor<1xi32>
      %kind.i32 = tile.reduce {arith.addi} %kind.tile axes [0] : tensor<1xi32> -> i32
      %kind = arith.index_cast %kind.i32 : i32 to index
      %first.tile = tile.slice %now[2] : tensor<16xi32> -> tensor<1xi32>
      %first.i32 = tile.reduce {arith.addi} %first.tile axes [0] : tensor<1xi32> -> i32
      %first = arith.index_cast %first.i32 : i32 to index
      %programs.tile = tile.slice %now[3] : tensor<16xi32> -> tensor<1xi32>
      %programs.i32 = tile.reduce {arith.addi} %programs.tile axes [0] : tensor<1xi32> -> i32
      %programs = arith.index_cast %programs.i32 : i32 to index
      %step.tile = tile.slice %now[4] : tensor<16xi32> -> tensor<1xi32>
      %step.i32 = tile.reduce {arith.addi} %step.tile axes [0] : tensor<1xi32> -> i32
      %step = arith.index_cast %step.i32 : i32 to index
      %counter.tile = tile.slice %now[5] : tensor<16xi32> -> tensor<1xi32>
      %counter.i32 = tile.reduce {arith.addi} %counter.tile axes [0] : tensor<1xi32> -> i32
      %counter = arith.index_cast %counter.i32 : i32 to index
      %own.tile = tile.slice %now[6] : tensor<16xi32> -> tensor<1xi32>
      %own.i32 = tile.reduce {arith.addi} %own.tile axes [0] : tensor<1xi32> -> i32
      %own = arith.index_cast %own.i32 : i32 to index
      %more.tile = tile.slice %now[7] : tensor<16xi32> -> tensor<1xi32>
      %more.i32 = tile.reduce {arith.addi} %more.tile axes [0] : tensor<1xi32> -> i32
      %more = arith.index_cast %more.i32 : i32 to index
      %no_more.tile = tile.slice %now[8] : tensor<16xi32> -> tensor<1xi32>
      %no_more.i32 = tile.reduce {arith.addi} %no_more.tile axes [0] : tensor<1xi32> -> i32
      %no_more = arith.index_cast %no_more.i32 : i32 to index
      %await1.tile = tile.slice %now[9] : tensor<16xi32> -> tensor<1xi32>
      %await1.i32 = tile.reduce {arith.addi} %await1.tile axes [0] : tensor<1xi32> -> i32
      %await1 = arith.index_cast %await1.i32 : i32 to index
      %least1.tile = tile.slice %now[10] : tensor<16xi32> -> tensor<1xi32>
      %least1 = tile.reduce {arith.addi} %least1.tile axes [0] : tensor<1xi32> -> i32
      %await2.tile = tile.slice %now[11] : tensor<16xi32> -> tensor<1xi32>
      %await2.i32 = tile.reduce {arith.addi} %await2.tile axes [0] : tensor<1xi32> -> i32
      %await2 = arith.index_cast %await2.i32 : i32 to index
      %least2.tile = tile.slice %now[12] : tensor<16xi32> -> tensor<1xi32>
      %least2 = tile.reduce {arith.addi} %least2.tile axes [0] : tensor<1xi32> -> i32
      %await3.tile = tile.slice %now[13] : tensor<16xi32> -> tensor<1xi32>
      %await3.i32 = tile.reduce {arith.addi} %await3.tile axes [0] : tensor<1xi32> -> i32
      %await3 = arith.index_cast %await3.i32 : i32 to index
      %least3.tile = tile.slice %now[14] : tensor<16xi32> -> tensor<1xi32>
      %least3 = tile.reduce {arith.addi} %least3.tile axes [0] : tensor<1xi32> -> i32
      tile.call @prepare(%row, %task, %kind, %c0) : (tensor<$ROWxi64>, index, index, index) -> ()
      // Behind the uses of what was loaded for the item before: a machine may wait for both.
      %later_record = tile.load %records[%later] : !tile.view<16xi32> -> tensor<16xi32>
      %coming_row = tile.load %table[%coming_task] : !tile.view<$ROWxi64> -> tensor<$ROWxi64>
      %length = arith.muli %programs, %step : index
      %behind = arith.addi %first, %length : index
      scf.for %program = %first to %behind step %step {
        // Each kind of body takes these awaits behind the loads that need none.
        %is_first = arith.cmpi eq, %program, %first : index
        scf.if %is_first {
          %waits1 = arith.cmpi sge, %await1.i32, %zero : i32
          scf.if %waits1 {
            %before = arith.muli %least1, %runs : i32
            %wanted = arith.addi %before, %least1 : i32
            tile.atomic_wait %counters[%await1] least %wanted acquire device : memref<$COUNTERSxi32>, i32
          }
          %waits2 = arith.cmpi sge, %await2.i32, %zero : i32
          scf.if %waits2 {
            %before = arith.muli %least2, %runs : i32
            %wanted = arith.addi %before, %least2 : i32
            tile.atomic_wait %counters[%await2] least %wanted acquire device : memref<$COUNTERSxi32>, i32
          }
          %waits3 = arith.cmpi sge, %await3.i32, %zero : i32
          scf.if %waits3 {
            %before = arith.muli %least3, %runs : i32
            %wanted = arith.addi %before, %least3 : i32
            tile.atomic_wait %counters[%await3] least %wanted acquire device : memref<$COUNTERSxi32>, i32
          }
          scf.for %await = %more to %no_more step %c2 {
            %beside = arith.addi %await, %c1 : index
            %other.i32 = memref.load %plan[%await] : memref<$WORDSxi32>
            %least = memref.load %plan[%beside] : memref<$WORDSxi32>
            %other = arith.index_cast %other.i32 : i32 to index
            %before = arith.muli %least, %runs : i32
            %wanted = arith.addi %before, %least : i32
            tile.atomic_wait %counters[%other] least %wanted acquire device : memref<$COUNTERSxi32>, i32
          }
        }
        tile.call @execute(%program) : (index) -> ()
      }
      %is_awaited = arith.cmpi sge, %counter.i32, %zero : i32
      scf.if %is_awaited {
        %old = tile.atomic_rmw add %one, %counters[%counter] release device : i32, memref<$COUNTERSxi32> -> i32
      }
      %is_awaited_alone = arith.cmpi sge, %own.i32, %zero : i32
      scf.if %is_awaited_alone {
        %old = tile.atomic_rmw add %one, %counters[%own] release device : i32, memref<$COUNTERSxi32> -> i32
      }
      scf.yield %then, %coming_row, %later_record, %later
          : tensor<16xi32>, tensor<$ROWxi64>, tensor<16xi32>, index
    }
    %has_decision = arith.cmpi sge, %decides, %zero : i32
    %turn = arith.divui %k, %all : i32
    %in_log.i32 = arith.remui %k, %all : i32
    %in_log = arith.index_cast %in_log.i32 : i32 to index
    %word = arith.addi %log, %in_log : index
    %this_turn = arith.addi %turn, %one : i32
    %published = arith.muli %this_turn, %two : i32
    %half_number = arith.divui %k, %half : i32
    %in_half = arith.remui %k, %half : i32
    %parity.i32 = arith.remui %half_number, %two : i32
    %parity = arith.index_cast %parity.i32 : i32 to index
    %of_half = arith.addi %passed, %parity : index
    %yes = scf.if %has_decision -> (i32) {
      %is_decider = arith.cmpi eq, %decides, %one : i32
      %decision = scf.if %is_decider -> (i32) {
        %begins_half = arith.cmpi eq, %in_half, %zero : i32
        scf.if %begins_half {
          %halves = arith.divui %half_number, %two : i32
          %lanes_passed = arith.muli %halves, %lanes.i32 : i32
          tile.atomic_wait %counters[%of_half] least %lanes_passed acquire device : memref<$COUNTERSxi32>, i32
        }
        %slot = tile.memref_at %address sizes [1] : i64 to memref<1xi32>
        %condition = memref.load %slot[%c0] : memref<1xi32>
        %is_yes = arith.cmpi ne, %condition, %zero : i32
        %bit = arith.extui %is_yes : i1 to i32
        %number = arith.addi %published, %bit : i32
        tile.atomic_store %number, %counters[%word] release device : i32, memref<$COUNTERSxi32>
        scf.yield %bit : i32
      } else {
        tile.atomic_wait %counters[%word] least %published acquire device : memref<$COUNTERSxi32>, i32
        %seen = tile.atomic_load %counters[%word] relaxed device : memref<$COUNTERSxi32> -> i32
        %bit = arith.subi %seen, %published : i32
        scf.yield %bit : i32
      }
      %next_in_half = arith.addi %in_half, %one : i32
      %ends_half = arith.cmpi eq, %next_in_half, %half : i32
      scf.if %ends_half {
        %old = tile.atomic_rmw add %one, %counters[%of_half] release device : i32, memref<$COUNTERSxi32> -> i32
      }
      scf.yield %decision : i32
    } else {
      scf.yield %one : i32
    }
    %goes_to_then = arith.cmpi ne, %yes, %zero : i32
    %next_at = arith.select %goes_to_then, %then_at, %else_at : i32
    %chosen_words, %next_record, %next_behind, %next_row = scf.if %goes_to_then
        -> (tensor<16xi32>, tensor<16xi32>, tensor<16xi32>, tensor<$ROWxi64>) {
      scf.yield %then_words, %then_record, %then_behind, %then_row
          : tensor<16xi32>, tensor<16xi32>, tensor<16xi32>, tensor<$ROWxi64>
    } else {
      scf.yield %else_words, %else_record, %else_behind, %else_row
          : tensor<16xi32>, tensor<16xi32>, tensor<16xi32>, tensor<$ROWxi64>
    }
    %next_words = tile.call @spread(%chosen_words) : (tensor<16xi32>) -> tensor<16xi32>
    %next_k = arith.addi %k, %one : i32
    %more_runs = arith.extui %is_own : tensor<$SEGMENTSxi1> to tensor<$SEGMENTSxi32>
    %next_counts = arith.addi %counts, %more_runs : tensor<$SEGMENTSxi32>
    scf.yield %next_at, %next_words, %next_record, %next_behind, %next_row, %next_k, %next_counts
        : i32, tensor<16xi32>, tensor<16xi32>, tensor<16xi32>, tensor<$ROWxi64>, i32, tensor<$SEGMENTSxi32>
  }
  tile.return
}
