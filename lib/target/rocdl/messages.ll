; vprintf and __assertfail of CUDA's runtime, for AMD's GPUs: a record in a buffer that the host reads when the device
; is done (lib/runtime/messages.h has the layout). Linked into modules that call them. @tessera_messages is the buffer's
; address, which the runtime writes when it loads the code; without it prints are nothing, and failed assertions trap.

@tessera_messages = protected addrspace(1) externally_initialized global ptr addrspace(1) null, align 8

; %length counts the text's final zero.
define internal void @tessera_message(i32 %kind, ptr %text, i64 %length, ptr %values, i64 %value.bytes) alwaysinline {
entry:
  %buffer = load ptr addrspace(1), ptr addrspace(1) @tessera_messages, align 8
  %is.there = icmp ne ptr addrspace(1) %buffer, null
  br i1 %is.there, label %reserve, label %done

reserve:
  %up = add i64 %length, 7
  %text.bytes = and i64 %up, -8
  %head.bytes = add i64 %text.bytes, 16
  %bytes = add i64 %head.bytes, %value.bytes
  %offset = atomicrmw add ptr addrspace(1) %buffer, i64 %bytes syncscope("agent") monotonic, align 8
  %end = add i64 %offset, %bytes
  %capacity.at = getelementptr i8, ptr addrspace(1) %buffer, i64 8
  %capacity = load i64, ptr addrspace(1) %capacity.at, align 8
  %fits = icmp ule i64 %end, %capacity
  br i1 %fits, label %write, label %done

write:
  %record = getelementptr i8, ptr addrspace(1) %buffer, i64 %offset
  store i64 %bytes, ptr addrspace(1) %record, align 8
  %kind.at = getelementptr i8, ptr addrspace(1) %record, i64 8
  store i32 %kind, ptr addrspace(1) %kind.at, align 8
  %length.at = getelementptr i8, ptr addrspace(1) %record, i64 12
  %short = trunc i64 %length to i32
  store i32 %short, ptr addrspace(1) %length.at, align 4
  %text.at = getelementptr i8, ptr addrspace(1) %record, i64 16
  call void @llvm.memcpy.p1.p0.i64(ptr addrspace(1) align 8 %text.at, ptr %text, i64 %length, i1 false)
  %values.at = getelementptr i8, ptr addrspace(1) %record, i64 %head.bytes
  call void @llvm.memcpy.p1.p0.i64(ptr addrspace(1) align 8 %values.at, ptr align 8 %values, i64 %value.bytes, i1 false)
  br label %done

done:
  ret void
}

; A value of eight bytes for each conversion: a '%' that neither follows nor precedes another.
define i32 @vprintf(ptr %format, ptr %values) alwaysinline {
entry:
  br label %scan

scan:
  %i = phi i64 [ 0, %entry ], [ %i.next, %scan ]
  %count = phi i64 [ 0, %entry ], [ %count.next, %scan ]
  %is.open = phi i1 [ false, %entry ], [ %is.open.next, %scan ]
  %at = getelementptr i8, ptr %format, i64 %i
  %c = load i8, ptr %at, align 1
  %is.percent = icmp eq i8 %c, 37
  %is.other = xor i1 %is.percent, true
  %is.conversion = and i1 %is.open, %is.other
  %more = zext i1 %is.conversion to i64
  %count.next = add i64 %count, %more
  %is.closed = xor i1 %is.open, true
  %is.open.next = and i1 %is.percent, %is.closed
  %i.next = add i64 %i, 1
  %is.end = icmp eq i8 %c, 0
  br i1 %is.end, label %send, label %scan

send:
  %bytes = shl i64 %count.next, 3
  call void @tessera_message(i32 0, ptr %format, i64 %i.next, ptr %values, i64 %bytes)
  ret i32 0
}

; Ends the wave: the host fails the launch with the message when it reads it. (A trap would end the host's process.)
define void @__assertfail(ptr %text, ptr %file, i32 %line, ptr %function, i64 %character.bytes) alwaysinline noreturn {
entry:
  %buffer = load ptr addrspace(1), ptr addrspace(1) @tessera_messages, align 8
  %is.there = icmp ne ptr addrspace(1) %buffer, null
  br i1 %is.there, label %scan, label %alone

alone:
  call void @llvm.trap()
  unreachable

scan:
  %i = phi i64 [ 0, %entry ], [ %i.next, %scan ]
  %at = getelementptr i8, ptr %text, i64 %i
  %c = load i8, ptr %at, align 1
  %i.next = add i64 %i, 1
  %is.end = icmp eq i8 %c, 0
  br i1 %is.end, label %send, label %scan

send:
  call void @tessera_message(i32 1, ptr %text, i64 %i.next, ptr %text, i64 0)
  call void @llvm.amdgcn.endpgm()
  unreachable
}

declare void @llvm.memcpy.p1.p0.i64(ptr addrspace(1), ptr, i64, i1)
declare void @llvm.trap()
declare void @llvm.amdgcn.endpgm()
