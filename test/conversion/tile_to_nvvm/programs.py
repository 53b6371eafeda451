"""Scheduled kernels of every op, written with layouts by hand, and products of every type at kernel level.

programs.py run CHIP TOOLS GROUP...   each group's programs: the emulator of the chip gives what the interpreter gives
programs.py ptx CHIP TOOLS GROUP...   each is accepted by ptxas
TOOLS is the build's bin folder. Prints each program that is wrong; the last line is 'N wrong'. Exit status 1 if any is.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

PROGRAMS = {}  # name -> (text, number of memrefs)


def k(name, decls, params, body, nouts, grid='%c1', warps=4):
    """A kernel on these parameters, the last `nouts` of them outputs, and a main that launches it."""
    sig=', '.join(f'%{n}: {t}' for n,t in params)
    n=len(params)-nouts
    ia=', '.join(f'%{p[0]}' for p in params[:n]); it=', '.join(p[1] for p in params[:n])
    oa=', '.join(f'%{p[0]}' for p in params[n:]); ot=', '.join(p[1] for p in params[n:])
    text = decls + f'''
tile.kernel @k({sig}) attributes {{warps = {warps} : i32}} {{
{body}
  tile.return
}}
func.func @main({sig}) {{
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  tile.launch @k grid({grid}) {"ins("+ia+" : "+it+")" if n else ""} outs({oa} : {ot})
  return
}}
'''
    PROGRAMS[name] = (text, sum("memref" in p[1] for p in params))
def ld(v,m,shape,et,lay,memt=None):
    s='x'.join(map(str,shape)); m_=memt or f'memref<{s}x{et}>'
    z=', '.join(['%c0']*len(shape))
    return f'''  %V{v} = tile.view %{m} : {m_} to !tile.view<{s}x{et}>
  %{v} = tile.load %V{v}[{z}] : !tile.view<{s}x{et}> -> tensor<{s}x{et}, #{lay}>
'''
def st(v,m,shape,et,lay,memt=None):
    s='x'.join(map(str,shape)); m_=memt or f'memref<{s}x{et}>'
    z=', '.join(['%c0']*len(shape))
    return f'''  %W{v} = tile.view %{m} : {m_} to !tile.view<{s}x{et}>
  tile.store %{v}, %W{v}[{z}] : tensor<{s}x{et}, #{lay}>, !tile.view<{s}x{et}>
'''
C0 = '  %c0 = arith.constant 0 : index\n'

L2 = '''#w = #tile.layout<reg [4:d1, 4:d0*16], lane [8:d1*4, 4:d0], warp [4:d0*4]>
#t = #tile.layout<reg [4:d0, 4:d1*8], lane [16:d0*4, 2:d1], warp [4:d1*2]>
#x = #tile.layout<reg [2:d0*32, 8:d1], lane [32:d0], warp [4:d1*8]>
#rw = #tile.layout<reg [4:d0*16], lane [8:_, 4:d0], warp [4:d0*4]>
#cw = #tile.layout<reg [4:d0], lane [8:d0*4, 4:_], warp [4:_]>
#rt = #tile.layout<reg [4:d0], lane [16:d0*4, 2:_], warp [4:_]>
'''
# 64x32 shapes
S = [64, 32]
k('conv', L2, [('a','memref<64x32xf32>'),('o','memref<64x32xf32>'),('p','memref<64x32xf32>')], C0+ld('x','a',S,'f32','w')+
'''  %y = tile.convert_layout %x : tensor<64x32xf32, #w> -> tensor<64x32xf32, #t>
  %z = tile.convert_layout %y : tensor<64x32xf32, #t> -> tensor<64x32xf32, #x>
'''+st('y','o',S,'f32','t')+st('z','p',S,'f32','x'),2)
# Within warps only: words of 16, 32 and 64 bits, and of single bits, by shuffles.
for et in ('f16', 'i32', 'f64', 'i8'):
  LW='''#a = #tile.layout<reg [4:d1, 4:d1*32], lane [8:d1*4, 4:d0], warp [4:d0*4]>
#b = #tile.layout<reg [4:d0, 4:d1*32], lane [32:d1], warp [4:d0*4]>
#c = #tile.layout<reg [2:d1*64, 4:d0, 2:d1], lane [32:d1*2], warp [4:d0*4]>
'''
  k(f'conv_lanes_{et}', LW, [('a',f'memref<16x128x{et}>'),('o',f'memref<16x128x{et}>'),('p',f'memref<16x128x{et}>')], C0+ld('x','a',[16,128],et,'a')+
f'''  %y = tile.convert_layout %x : tensor<16x128x{et}, #a> -> tensor<16x128x{et}, #b>
  %z = tile.convert_layout %y : tensor<16x128x{et}, #b> -> tensor<16x128x{et}, #c>
'''+st('y','o',[16,128],et,'b')+st('z','p',[16,128],et,'c'),2)
for op,et in [('addf','f32'),('maximumf','f32'),('mulf','f16'),('addi','i32'),('minsi','i8'),('maxui','i64'),('addf','f64'),('addf','bf16')]:
  k(f'red_{op}_{et}', L2, [('a',f'memref<64x32x{et}>'),('o',f'memref<64x{et}>'),('p',f'memref<32x{et}>'),('q',f'memref<64x{et}>'),('s',f'memref<1x{et}>')], C0+ld('x','a',S,et,'w')+
f'''  %r = tile.reduce {{arith.{op}}} %x axes [1] : tensor<64x32x{et}, #w> -> tensor<64x{et}, #rw>
  %c = tile.reduce {{arith.{op}}} %x axes [0] : tensor<64x32x{et}, #w> -> tensor<32x{et}, #cw>
  %xt = tile.convert_layout %x : tensor<64x32x{et}, #w> -> tensor<64x32x{et}, #t>
  %rt = tile.reduce {{arith.{op}}} %xt axes [1] : tensor<64x32x{et}, #t> -> tensor<64x{et}, #rt>
  %all = tile.reduce {{arith.{op}}} %x axes [0, 1] : tensor<64x32x{et}, #w> -> {et}
  memref.store %all, %s[%c0] : memref<1x{et}>
'''+st('r','o',[64],et,'rw')+st('c','p',[32],et,'cw')+st('rt','q',[64],et,'rt'),4)
k('argmax', L2, [('a','memref<64x32xf32>'),('o','memref<64xf32>'),('p','memref<64xi32>')], C0+ld('x','a',S,'f32','t')+
'''  %i = tile.iota dim 1 : tensor<64x32xi32, #t>
  %v, %j = tile.reduce %x, %i axes [1] neutral [0xFF800000 : f32, 0 : i32] : tensor<64x32xf32, #t>, tensor<64x32xi32, #t> -> tensor<64xf32, #rt>, tensor<64xi32, #rt> {
  ^bb0(%a0: f32, %ai: i32, %b0: f32, %bi: i32):
    %gt = arith.cmpf oge, %a0, %b0 : f32
    %r = arith.select %gt, %a0, %b0 : f32
    %ri = arith.select %gt, %ai, %bi : i32
    tile.yield %r, %ri : f32, i32
  }
'''+st('v','o',[64],'f32','rt')+st('j','p',[64],'i32','rt'),2)
for lay,r in [('w','rw'),('t','rt')]:
  for opts in ['','reverse','exclusive','reverse exclusive']:
    for ax in ([0,1] if lay=='w' else [1]):
      rr = r if ax==1 else 'cw'
      sh = 64 if ax==1 else 32
      nm=f'scan_{lay}_{ax}_{opts.replace(" ","_")}'
      k(nm, L2, [('a','memref<64x32xi32>'),('o','memref<64x32xi32>')], C0+ld('x','a',S,'i32',lay)+
f'''  %y = tile.scan {{arith.addi}} %x axis {ax} {opts} : tensor<64x32xi32, #{lay}>
'''+st('y','o',S,'i32',lay),1)
k('scan_init', L2, [('a','memref<64x32xf32>'),('b','memref<64xf32>'),('o','memref<64x32xf32>'),('p','memref<64xf32>')], C0+ld('x','a',S,'f32','w')+ld('i','b',[64],'f32','rt')+
'''  %y, %s = tile.scan {arith.addf} %x init %i axis 1 : tensor<64x32xf32, #w>, tensor<64xf32, #rt>
'''+st('y','o',S,'f32','w')+st('s','p',[64],'f32','rt'),2)
L1 = '''#l = #tile.layout<reg [2:d0, 4:d0*256], lane [32:d0*2], warp [4:d0*64]>
#m = #tile.layout<reg [8:d0], lane [32:d0*8], warp [4:d0*256]>
#o = #tile.layout<reg [2:d0], lane [32:d0*2], warp [4:d0*64]>
#s = #tile.layout<reg [3:d0*128], lane [32:d0], warp [4:d0*32]>
#e = #tile.layout<lane [8:d0, 4:_], warp [4:_]>
#f = #tile.layout<reg [8:d0, 4:d1*32], lane [32:d0*8], warp [4:d1*8]>
#ll = #tile.layout<reg [2:d0, 4:d0*256, 4:d1], lane [32:d0*2], warp [4:d0*64]>
#lb = #tile.layout<reg [4:d0*256, 2:d0], lane [4:d1, 8:d0*2], warp [4:d0*64, 1:_]>
'''
N = [1024]
k('scan1d', L1, [('a','memref<1024xf32>'),('o','memref<1024xf32>'),('p','memref<1xf32>')], C0+ld('x','a',N,'f32','m')+
'''  %z = arith.constant 1.5 : f32
  %y, %c = tile.scan {arith.addf} %x init %z axis 0 : tensor<1024xf32, #m>, f32
  memref.store %c, %p[%c0] : memref<1xf32>
'''+st('y','o',N,'f32','m'),2)
k('scan_linear', L1, [('a','memref<1024xf32>'),('b','memref<1024xf32>'),('o','memref<1024xf32>'),('p','memref<1024xf32>')], C0+ld('x','a',N,'f32','l')+ld('y','b',N,'f32','l')+
'''  %h = arith.constant dense<0.5> : tensor<1024xf32, #l>
  %xs = arith.mulf %x, %h : tensor<1024xf32, #l>
  %u, %v = tile.scan %xs, %y axis 0 neutral [1.0 : f32, 0.0 : f32] : tensor<1024xf32, #l>, tensor<1024xf32, #l> {
  ^bb0(%a0: f32, %b0: f32, %a1: f32, %b1: f32):
    %aa = arith.mulf %a0, %a1 : f32
    %t = arith.mulf %b0, %a1 : f32
    %bb = arith.addf %t, %b1 : f32
    tile.yield %aa, %bb : f32, f32
  }
'''+st('u','o',N,'f32','l')+st('v','p',N,'f32','l'),2)
k('scan384', L1, [('a','memref<384xi32>'),('o','memref<384xi32>')], C0+ld('x','a',[384],'i32','s')+
'''  %y = tile.scan {arith.addi} %x axis 0 : tensor<384xi32, #s>
'''+st('y','o',[384],'i32','s'),1)
k('red384', L1, [('a','memref<384xf32>'),('o','memref<1xf32>')], C0+ld('x','a',[384],'f32','s')+
'''  %y = tile.reduce {arith.addf} %x axes [0] : tensor<384xf32, #s> -> f32
  memref.store %y, %o[%c0] : memref<1xf32>
''',1)
for d in ['','descending']:
  for et in ['f32','i32','i8']:
    k(f'sort_{et}_{d}', L2, [('a',f'memref<64x32x{et}>'),('b','memref<64x32xi32>'),('o',f'memref<64x32x{et}>'),('p','memref<64x32xi32>')], C0+ld('x','a',S,et,'w')+ld('y','b',S,'i32','t')+
f'''  %yc = tile.convert_layout %y : tensor<64x32xi32, #t> -> tensor<64x32xi32, #w>
  %u, %v = tile.sort %x, %yc axis 0 {d} : tensor<64x32x{et}, #w>, tensor<64x32xi32, #w>
'''+st('u','o',S,et,'w')+st('v','p',S,'i32','w'),2)
k('topk', L1, [('a','memref<1024xf32>'),('o','memref<8xf32>'),('p','memref<8xi32>')], C0+ld('x','a',N,'f32','l')+
'''  %i = tile.iota dim 0 : tensor<1024xi32, #l>
  %u, %v = tile.topk %x, %i axis 0 descending : tensor<1024xf32, #l>, tensor<1024xi32, #l> -> tensor<8xf32, #e>, tensor<8xi32, #e>
'''+st('u','o',[8],'f32','e')+st('v','p',[8],'i32','e'),2)
k('sort384', L1, [('a','memref<384xf32>'),('o','memref<384xf32>')], C0+ld('x','a',[384],'f32','s')+
'''  %u = tile.sort %x axis 0 : tensor<384xf32, #s>
'''+st('u','o',[384],'f32','s'),1)
k('hist', L1, [('a','memref<1024xi32>'),('o','memref<256xi32>')], C0+ld('x','a',N,'i32','l')+
'''  %c63 = arith.constant dense<255> : tensor<1024xi32, #l>
  %y = arith.andi %x, %c63 : tensor<1024xi32, #l>
  %c7 = arith.constant dense<100> : tensor<1024xi32, #l>
  %m = arith.cmpi slt, %y, %c7 : tensor<1024xi32, #l>
  %h = tile.histogram %y mask %m : tensor<1024xi32, #l> -> tensor<256xi32, #o>
'''+st('h','o',[256],'i32','o'),1)
k('random', L1, [('o','memref<1024x4xi32>')], C0+'''  %seed = arith.constant 12345678901234 : i64
  %i = tile.iota dim 0 : tensor<1024xindex, #l>
  %r = tile.random %seed, %i : i64, tensor<1024xindex, #l> -> tensor<1024x4xi32, #ll>
'''+st('r','o',[1024,4],'i32','ll'),1)
k('slice', L2+'#s8 = #tile.layout<reg [2:d1], lane [4:d1*2, 8:d0], warp [2:d0*8, 2:_]>\n', [('a','memref<64x32xf32>'),('n','index'),('o','memref<16x8xf32>'),('p','memref<16x8xf32>'),('q','memref<64x32xf32>'),('r','memref<64x32xf32>')], C0+ld('x','a',S,'f32','w')+
'''  %c5 = arith.constant 5 : index
  %k = arith.remui %n, %c5 : index
  %u = tile.slice %x[3, 5] : tensor<64x32xf32, #w> -> tensor<16x8xf32, #s8>
  %v = tile.slice %x[%k, 7] : tensor<64x32xf32, #w> -> tensor<16x8xf32, #s8>
  %y = tile.insert %u into %x[1, %k] : tensor<16x8xf32, #s8>, tensor<64x32xf32, #w> -> tensor<64x32xf32, #w>
  %z = tile.insert %v into %x[16, 8] : tensor<16x8xf32, #s8>, tensor<64x32xf32, #w> -> tensor<64x32xf32, #w>
'''+st('u','o',[16,8],'f32','s8')+st('v','p',[16,8],'f32','s8')+st('y','q',S,'f32','w')+st('z','r',S,'f32','w'),4)
k('cat', L1, [('a','memref<256xf32>'),('b','memref<768xf32>'),('o','memref<1024xf32>')], C0+ld('x','a',[256],'f32','o')+'#'.join(['']) +
'''  %Vy = tile.view %b : memref<768xf32> to !tile.view<768xf32>
  %y = tile.load %Vy[%c0] : !tile.view<768xf32> -> tensor<768xf32, #tile.layout<reg [2:d0, 3:d0*256], lane [32:d0*2], warp [4:d0*64]>>
  %z = tile.cat %x, %y axis 0 : tensor<256xf32, #o>, tensor<768xf32, #tile.layout<reg [2:d0, 3:d0*256], lane [32:d0*2], warp [4:d0*64]>> -> tensor<1024xf32, #m>
'''+st('z','o',N,'f32','m'),1)
k('bitcast', L1, [('a','memref<1024xi32>'),('o','memref<1024xi8>'),('p','memref<1024xi32>')], C0+'''  %Vx = tile.view %a : memref<1024xi32> to !tile.view<256xi32>
  %x = tile.load %Vx[%c0] : !tile.view<256xi32> -> tensor<256xi32, #o>
  %y = tile.bitcast %x : tensor<256xi32, #o> -> tensor<1024xi8, #m>
  %z = tile.bitcast %y : tensor<1024xi8, #m> -> tensor<256xi32, #o>
  %n = tile.bitcast %x : tensor<256xi32, #o> -> tensor<1024xi8, #l>
'''+st('y','o',N,'i8','m')+'''  %Wz = tile.view %p : memref<1024xi32> to !tile.view<256xi32>
  tile.store %z, %Wz[%c0] : tensor<256xi32, #o>, !tile.view<256xi32>
''',2)
k('gather', L2+L1, [('a','memref<100x32xf32>'),('i','memref<64xi32>'),('o','memref<64x32xf32>'),('p','memref<64x32xf32>'),('q','memref<100x32xf32>')], C0+ld('n','i',[64],'i32','rt')+
'''  %T = tile.view %a : memref<100x32xf32> to !tile.view<64x32xf32>
  %c120 = arith.constant dense<127> : tensor<64xi32, #rt>
  %r = arith.andi %n, %c120 : tensor<64xi32, #rt>
  %e = tile.gather %T[%r, %c0] bounds(drop) : !tile.view<64x32xf32>[tensor<64xi32, #rt>, index] -> tensor<64x32xf32, #w>
  %f = tile.gather %T[%r, %c0] bounds(clamp) : !tile.view<64x32xf32>[tensor<64xi32, #rt>, index] -> tensor<64x32xf32, #t>
  %Q = tile.view %q : memref<100x32xf32> to !tile.view<64x32xf32>
  %io = tile.iota dim 0 : tensor<64xi32, #rt>
  %three = arith.constant dense<3> : tensor<64xi32, #rt>
  %io3 = arith.muli %io, %three : tensor<64xi32, #rt>
  tile.scatter %e, %Q[%io3, %c0] bounds(drop) : tensor<64x32xf32, #w>, !tile.view<64x32xf32>[tensor<64xi32, #rt>, index]
  tile.scatter %f, %Q[%r, %c0] combine(add) bounds(drop) : tensor<64x32xf32, #t>, !tile.view<64x32xf32>[tensor<64xi32, #rt>, index]
'''+st('e','o',S,'f32','w')+st('f','p',S,'f32','t'),3)
k('gather_axis', L2, [('a','memref<64x32xf32>'),('i','memref<64x32xi32>'),('o','memref<64x32xf32>')], C0+ld('x','a',S,'f32','w')+ld('n','i',S,'i32','w')+
'''  %m = arith.constant dense<31> : tensor<64x32xi32, #w>
  %r = arith.andi %n, %m : tensor<64x32xi32, #w>
  %y = tile.gather %x[%r] axis 1 bounds(trap) : tensor<64x32xf32, #w>[tensor<64x32xi32, #w>] -> tensor<64x32xf32, #w>
'''+st('y','o',S,'f32','w'),1)
k('atomics', L1, [('a','memref<1024xi32>'),('o','memref<64xi32>'),('p','memref<1xi32>'),('q','memref<4xf32>'),('r','memref<1024xi32>')], C0+ld('x','a',N,'i32','l')+
'''  %c63 = arith.constant dense<63> : tensor<1024xi32, #l>
  %i = arith.andi %x, %c63 : tensor<1024xi32, #l>
  %one = arith.constant dense<1> : tensor<1024xi32, #l>
  %old = tile.atomic_rmw add %one, %o[%i] relaxed device : tensor<1024xi32, #l>, memref<64xi32>[tensor<1024xi32, #l>] -> tensor<1024xi32, #l>
  %s = arith.constant 7 : i32
  %t = tile.atomic_rmw max %s, %p[%c0] acq_rel device : i32, memref<1xi32> -> i32
  %u = arith.constant 100 : i32
  %w = tile.atomic_load %p[%c0] acquire device : memref<1xi32> -> i32
  %v = tile.atomic_cas %w, %u, %p[%c0] acq_rel device : i32, memref<1xi32> -> i32
  %f = arith.constant 2.5 : f32
  %g = tile.atomic_rmw fadd %f, %q[%c0] relaxed device : f32, memref<4xf32> -> f32
  %c2 = arith.constant 2 : index
  tile.atomic_store %g, %q[%c2] release device : f32, memref<4xf32>
  %vv = tile.broadcast %v : i32 -> tensor<1024xi32, #l>
'''+st('vv','r',N,'i32','l'),4)
k('elem', L2, [('a','memref<64x32xf32>'),('b','memref<64x32xf16>'),('o','memref<64x32xf32>'),('p','memref<64x32xf16>'),('q','memref<64x32xi8>'),('r','memref<64x32xbf16>')], C0+ld('x','a',S,'f32','w')+ld('h','b',S,'f16','w')+
'''  %e = math.exp %x : tensor<64x32xf32, #w>
  %s = math.sin %e : tensor<64x32xf32, #w>
  %t = math.tanh %x : tensor<64x32xf32, #w>
  %y = arith.divf %s, %t : tensor<64x32xf32, #w>
  %sq = math.sqrt %e : tensor<64x32xf32, #w>
  %y2 = arith.addf %y, %sq : tensor<64x32xf32, #w>
  %h2 = arith.mulf %h, %h : tensor<64x32xf16, #w>
  %h3 = math.exp %h2 : tensor<64x32xf16, #w>
  %c = arith.cmpf olt, %x, %t : tensor<64x32xf32, #w>
  %q0 = arith.fptosi %x : tensor<64x32xf32, #w> to tensor<64x32xi8, #w>
  %one = arith.constant dense<7> : tensor<64x32xi8, #w>
  %qq = arith.select %c, %q0, %one : tensor<64x32xi1, #w>, tensor<64x32xi8, #w>
  %bf = arith.truncf %y2 : tensor<64x32xf32, #w> to tensor<64x32xbf16, #w>
  %bf2 = arith.mulf %bf, %bf : tensor<64x32xbf16, #w>
'''+st('y2','o',S,'f32','w')+st('h3','p',S,'f16','w')+st('qq','q',S,'i8','w')+st('bf2','r',S,'bf16','w'),4)
k('edges', L2, [('a','memref<100x70xf32>'),('o','memref<100x70xf32>')], C0+'''  %i = tile.program_id 0
  %j = tile.program_id 1
  %A = tile.view %a : memref<100x70xf32> to !tile.view<64x32xf32, pad = nan>
  %O = tile.view %o : memref<100x70xf32> to !tile.view<64x32xf32>
  %x = tile.load %A[%i, %j] : !tile.view<64x32xf32, pad = nan> -> tensor<64x32xf32, #w>
  %b = tile.in_bounds %A[%i, %j] : !tile.view<64x32xf32, pad = nan> -> tensor<64x32xi1, #w>
  %z = arith.constant dense<3.0> : tensor<64x32xf32, #w>
  %y = arith.select %b, %x, %z : tensor<64x32xi1, #w>, tensor<64x32xf32, #w>
  tile.store %y, %O[%i, %j] : tensor<64x32xf32, #w>, !tile.view<64x32xf32>
''',1, grid='%c2, %c3')
k('ctl', L2, [('a','memref<64x32xf32>'),('n','index'),('o','memref<64x32xf32>')], C0+ld('x','a',S,'f32','w')+
'''  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %nn = arith.remui %n, %c5 : index
  %y = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %x) -> (tensor<64x32xf32, #w>) {
    %odd = arith.andi %i, %c1 : index
    %is = arith.cmpi eq, %odd, %c1 : index
    %z = scf.if %is -> (tensor<64x32xf32, #w>) {
      %p = arith.addf %v, %x : tensor<64x32xf32, #w>
      scf.yield %p : tensor<64x32xf32, #w>
    } else {
      %t = tile.convert_layout %v : tensor<64x32xf32, #w> -> tensor<64x32xf32, #t>
      %q = arith.mulf %t, %t : tensor<64x32xf32, #t>
      %r = tile.convert_layout %q : tensor<64x32xf32, #t> -> tensor<64x32xf32, #w>
      scf.yield %r : tensor<64x32xf32, #w>
    }
    scf.yield %z : tensor<64x32xf32, #w>
  }
  %w:2 = scf.while (%k = %c0, %u = %y) : (index, tensor<64x32xf32, #w>) -> (index, tensor<64x32xf32, #w>) {
    %go = arith.cmpi slt, %k, %nn : index
    scf.condition(%go) %k, %u : index, tensor<64x32xf32, #w>
  } do {
  ^bb0(%k: index, %u: tensor<64x32xf32, #w>):
    %k1 = arith.addi %k, %c1 : index
    %u1 = arith.addf %u, %x : tensor<64x32xf32, #w>
    scf.yield %k1, %u1 : index, tensor<64x32xf32, #w>
  }
  %res = arith.negf %w#1 : tensor<64x32xf32, #w>
'''+st('res','o',S,'f32','w'),1)
k('shape', L2+'''#w1 = #tile.layout<reg [4:d2, 4:d0*4], lane [8:d2*4, 4:d1], warp [4:d0]>
#wt = #tile.layout<reg [4:d0, 4:d1*16], lane [8:d0*4, 4:d1], warp [4:d1*4]>
''', [('a','memref<64x32xf32>'),('b','memref<64xf32>'),('o','memref<16x4x32xf32>'),('p','memref<32x64xf32>'),('q','memref<64x32xf32>')], C0+ld('x','a',S,'f32','w')+ld('v','b',[64],'f32','rw')+
'''  %y = tile.reshape %x : tensor<64x32xf32, #w> -> tensor<16x4x32xf32, #w1>
  %t = tile.transpose %x [1, 0] : tensor<64x32xf32, #w> -> tensor<32x64xf32, #wt>
  %bb = tile.broadcast %v axes [1] : tensor<64xf32, #rw> -> tensor<64x32xf32, #w>
  %z = arith.addf %x, %bb : tensor<64x32xf32, #w>
'''+st('y','o',[16,4,32],'f32','w1')+st('t','p',[32,64],'f32','wt')+st('z','q',S,'f32','w'),3)
k('buf', L2+'''#sb = #tile.layout<offset [32:d1, 8:d0+d1*4, 8:d0*8]>
#sp = #tile.layout<offset [32:d1, 64:d0] pad 4 every 32>
''', [('a','memref<64x32xf32>'),('o','memref<64x32xf32>'),('p','memref<64x32xf32>')], C0+'''  %B = tile.alloc : !tile.buffer<64x32xf32, #sb, shared>
  %P = tile.alloc : !tile.buffer<64x32xf32, #sp, shared, stages = 2>
  %c3 = arith.constant 3 : index
  %P3 = tile.slot %P[%c3] : !tile.buffer<64x32xf32, #sp, shared, stages = 2>
  %V = tile.view %a : memref<64x32xf32> to !tile.view<64x32xf32>
  %t = tile.copy_async %V[%c0, %c0] to %B : !tile.view<64x32xf32> to !tile.buffer<64x32xf32, #sb, shared>
  tile.copy %V[%c0, %c0] to %P3 : !tile.view<64x32xf32> to !tile.buffer<64x32xf32, #sp, shared>
  tile.wait %t
  tile.sync
  %x = tile.load %B : !tile.buffer<64x32xf32, #sb, shared> -> tensor<64x32xf32, #t>
  %y = tile.load %P3 : !tile.buffer<64x32xf32, #sp, shared> -> tensor<64x32xf32, #t>
  %z = arith.addf %x, %y : tensor<64x32xf32, #t>
  tile.sync
  tile.store %z, %P3 : tensor<64x32xf32, #t>, !tile.buffer<64x32xf32, #sp, shared>
  tile.sync
  %O = tile.view %p : memref<64x32xf32> to !tile.view<64x32xf32>
  tile.copy %P3 to %O[%c0, %c0] : !tile.buffer<64x32xf32, #sp, shared> to !tile.view<64x32xf32>
'''+st('z','o',S,'f32','t'),2)
k('small', L2, [('a','memref<64x32xf32>'),('b','memref<64x32xf8E4M3FN>'),('o','memref<64x32xf8E5M2>'),('p','memref<64x32xf32>'),('q','memref<64x32xf8E4M3FN>')], C0+ld('x','a',S,'f32','w')+ld('h','b',S,'f8E4M3FN','w')+
'''  %y = arith.truncf %x : tensor<64x32xf32, #w> to tensor<64x32xf8E5M2, #w>
  %z = arith.extf %h : tensor<64x32xf8E4M3FN, #w> to tensor<64x32xf32, #w>
  %s = arith.addf %h, %h : tensor<64x32xf8E4M3FN, #w>
  %v = tile.convert_type %x saturate : tensor<64x32xf32, #w> -> tensor<64x32xf8E4M3FN, #w>
  %c = tile.convert_layout %v : tensor<64x32xf8E4M3FN, #w> -> tensor<64x32xf8E4M3FN, #t>
'''+st('y','o',S,'f8E5M2','w')+st('z','p',S,'f32','w')+st('c','q',S,'f8E4M3FN','t'),3)
k('const', L2, [('o','memref<8xi32>'),('p','memref<8xf32>')], C0+'''  %x = arith.constant dense<[1,2,3,5,7,11,13,17]> : tensor<8xi32, #tile.layout<lane [8:d0, 4:_], warp [4:_]>>
  %y = arith.sitofp %x : tensor<8xi32, #tile.layout<lane [8:d0, 4:_], warp [4:_]>> to tensor<8xf32, #tile.layout<lane [8:d0, 4:_], warp [4:_]>>
  %V = tile.view %o : memref<8xi32> to !tile.view<8xi32>
  tile.store %x, %V[%c0] : tensor<8xi32, #tile.layout<lane [8:d0, 4:_], warp [4:_]>>, !tile.view<8xi32>
  %W = tile.view %p : memref<8xf32> to !tile.view<8xf32>
  tile.store %y, %W[%c0] combine(add) : tensor<8xf32, #tile.layout<lane [8:d0, 4:_], warp [4:_]>>, !tile.view<8xf32>
  tile.print "x = {} and {}%", %x, %c0 : tensor<8xi32, #tile.layout<lane [8:d0, 4:_], warp [4:_]>>, index
''',2)


def products():
    kinds = [("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("tf32", "f32"), ("f64", "f64"), ("i8", "i32"),
             ("i4", "i32"), ("f32", "f32"), ("i32", "i32"), ("i64", "i64"), ("f8E4M3FN", "f32"), ("f8E5M2", "f32")]
    for a, c in kinds:
        memory = {"tf32": "f32", "i4": "i8"}.get(a, a)
        narrow = {"tf32": "arith.truncf", "i4": "arith.trunci"}.get(a)
        body = C0
        for v, m in (("x", "a"), ("y", "b")):
            body += f"""  %V{v} = tile.view %{m} : memref<64x64x{memory}> to !tile.view<64x64x{memory}>
  %{v}m = tile.load %V{v}[%c0, %c0] : !tile.view<64x64x{memory}> -> tensor<64x64x{memory}>
"""
            if narrow:
                body += f"  %{v} = {narrow} %{v}m : tensor<64x64x{memory}> to tensor<64x64x{a}>\n"
        x, y = ("%x", "%y") if narrow else ("%xm", "%ym")
        body += f"""  %C = tile.view %c : memref<64x64x{c}> to !tile.view<64x64x{c}>
  %z = tile.load %C[%c0, %c0] : !tile.view<64x64x{c}> -> tensor<64x64x{c}>
  %d = tile.mma {x}, {y}, %z : tensor<64x64x{a}>, tensor<64x64x{a}> -> tensor<64x64x{c}>
  tile.store %d, %C[%c0, %c0] : tensor<64x64x{c}>, !tile.view<64x64x{c}>
"""
        memref = f"memref<64x64x{memory}>"
        k(f"mma_{a}_{c}", "", [("a", memref), ("b", memref), ("c", f"memref<64x64x{c}>")], body, 1)


products()


# --- judging ----------------------------------------------------------------------------------------------------------


def lacks(chip, name):
    """What a chip has no instruction for is a product of another kind; f8 on the older ones has none at all."""
    return (name.startswith("mma_i4") and chip in ("sm_90a", "sm_100a")) or ("mma_f8" in name and chip in ("sm_80", "sm_86"))


def call(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return (done.stderr.strip() or f"status {done.returncode}")[:2000] if done.returncode else ""


def close(name, want, got):
    if want.dtype.kind != "f" or "sort" in name or "slice" in name:
        if want.dtype == np.uint16:  # bf16 as bits
            want, got = ((x.astype("u4") << 16).view("f4").astype("f8") for x in (want, got))
        else:
            return np.array_equal(want, got, equal_nan=want.dtype.kind == "f")
    want, got = want.astype("f8"), got.astype("f8")
    tolerance = 1e-1 if name == "mma_f16_f16" else 3e-2 if "16" in name or name == "elem" else 1e-4
    both_nan = np.isnan(want) & np.isnan(got)
    with np.errstate(invalid="ignore"):
        return bool(((np.abs(want - got) <= tolerance * (1 + np.abs(want))) | both_nan | (want == got)).all())


def judge(name, text, outputs, chip, tools, folder):
    path = f"{folder}/{name}.mlir"
    with open(path, "w") as file:
        file.write(text)
    dialect = "rocdl" if chip.startswith("gfx") else "nvvm"
    passes = f"--pass-pipeline=builtin.module(tile-to-{dialect}-pipeline{{chip={chip}}})"
    kept = {}
    for target, more in (("interpret", []), (f"emulate:{chip}", [passes])):
        files = [f"{folder}/{target[:3]}{i}.npy" for i in range(outputs)]
        wrong = call([f"{tools}/tile-run", path, f"--target={target}", "--seed=1"] + more + [f"--out={f}" for f in files])
        if wrong:
            return f"{target}: {wrong}"
        kept[target[:3]] = [np.load(f) for f in files]
    for i, (want, got) in enumerate(zip(kept["int"], kept["emu"])):
        if not close(name, want, got):
            return f"output {i}: {got.ravel()[:8]}, expected {want.ravel()[:8]}"
    return ""


def main():
    mode, chip, tools, *groups = sys.argv[1:]
    wrong = 0
    for group in groups:
        if not any(name.startswith(group) for name in PROGRAMS):
            sys.exit(f"no program is called '{group}…'")
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, outputs) in PROGRAMS.items():
            if not any(name.startswith(group) for group in groups) or lacks(chip, name):
                continue
            if mode == "run" and "tf32" in name:
                continue  # the interpreter has no tf32
            if mode == "run":
                why = judge(name, text, outputs, chip, tools, folder)
            else:
                path = f"{folder}/{name}.mlir"
                with open(path, "w") as file:
                    file.write(text)
                why = call([f"{tools}/tile-translate", path, "--tile-to-cubin", f"--chip={chip}", "-o", f"{folder}/x"])
            if why:
                wrong += 1
                print(f"{name}: {why}")
    print(f"{wrong} wrong")
    sys.exit(1 if wrong else 0)


main()
