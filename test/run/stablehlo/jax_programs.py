"""Programs of JAX against JAX: jax_programs.py TILE_RUN [REGEX] [--target=NAME …] [--sweep] [--folder=DIR].

Each program is lowered by jax.jit, printed as text and run by tile-run on seeded, unsymmetric arrays; its results are
compared with those of JAX. --sweep calls every function of jax.numpy and jax.lax that takes one to three arrays, and
prints a table: right, refused (with the op that is), wrong. Exits 1 when a result is wrong, and without --sweep also
when a program is refused.
"""
import argparse
import collections
import inspect
import os
import re
import subprocess
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.lax as lax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)


def F(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def I(high, *shape):
    return rng.integers(0, high, shape).astype(np.int32)


cases = []


def case(name, function, *arguments, tol=2e-5):
    cases.append((name, function, arguments, tol))


x=F(4,6)
case("softmax", jax.nn.softmax, x)
case("where", lambda x: jnp.where(x>0,x,1.0), x)
case("argmax", lambda x: jnp.argmax(x,axis=1), x)
case("sort", lambda x: jnp.sort(x,axis=0), x)
case("sort_odd", lambda x: jnp.sort(x,axis=1), F(3,13))
case("argsort", lambda x: jnp.argsort(x), F(37))
case("gather", lambda x,i: x[i], F(10,3), np.array([0,9,-1,3,3],np.int32))
case("scatter", lambda x,i,u: x.at[i].add(u), F(10,3), np.array([0,9,-1,3,3],np.int32), F(5,3))
case("scatter_out", lambda x,i,u: x.at[i].set(u), F(10,3), np.array([0,9,12,3,3],np.int32), F(5,3))
case("topk", lambda x: lax.top_k(x,2), x)
case("conv", lambda x,w: lax.conv_general_dilated(x,w,(1,2),'SAME'), F(2,3,8,8), F(4,3,3,3))
case("convgrad", jax.grad(lambda w,x: (lax.conv_general_dilated(x,w,(1,2),'SAME')**2).sum()), F(4,3,3,3), F(2,3,8,8))
case("convgradx", jax.grad(lambda x,w: (lax.conv_general_dilated(x,w,(1,2),'SAME')**2).sum()), F(2,3,8,8), F(4,3,3,3))
case("convgroup", lambda x,w: lax.conv_general_dilated(x,w,(1,1),'VALID',feature_group_count=2,rhs_dilation=(2,1)), F(2,4,8,8), F(6,2,3,3))
case("convgroupgrad", jax.grad(lambda w,x: (lax.conv_general_dilated(x,w,(1,1),'VALID',feature_group_count=2)**2).sum()), F(6,2,3,3), F(2,4,8,8))
case("convT", lambda x,w: lax.conv_transpose(x,w,(2,2),'SAME'), F(1,5,5,3), F(3,3,3,2))
case("maxpool", lambda x: lax.reduce_window(x,-jnp.inf,lax.max,(1,2,2,1),(1,2,2,1),'VALID'), F(1,5,4,2))
case("maxpoolgrad", jax.grad(lambda x: (lax.reduce_window(x,-jnp.inf,lax.max,(1,3,2,1),(1,2,2,1),'SAME')**2).sum()), F(1,5,4,2))
case("avgpool", lambda x: lax.reduce_window(x,0.,lax.add,(1,3,2,1),(1,2,1,1),'SAME'), F(1,5,4,2))
case("dot", lambda a,b: jnp.einsum('bik,bkj->bij',a,b), F(2,3,4), F(2,4,5))
case("dotT", lambda a,b: jnp.einsum('ikb,bjk->jbi',a,b), F(3,4,2), F(2,5,4))
case("vdot", lambda a,b: jnp.dot(a,b), F(7), F(7))
case("scan", lambda x: lax.scan(lambda c,y:(c+y,c*y), jnp.zeros(6), x), x)
case("cond", lambda x: lax.cond(x.sum()>0, lambda x:x+1, lambda x:x*2, x), x)
case("switch", lambda k,x: lax.switch(k,[lambda x:x+1, lambda x:x*2, lambda x:x-3],x), np.int32(1), x)
case("rng", lambda k: jax.random.normal(k,(5,)), np.array([3,7],np.uint32))
case("uniform", lambda k: jax.random.randint(k,(5,),0,100), np.array([3,7],np.uint32))
case("dropout", lambda k,x: jnp.where(jax.random.bernoulli(k,0.5,x.shape),x,0), np.array([3,7],np.uint32), x)
case("pad", lambda x: lax.pad(x,0.,((1,-1,2),(-2,3,0))), x)
case("ds", lambda x,k: lax.dynamic_slice(x,(k,0),(2,3)), x, np.int32(3))
case("dus", lambda x,k: lax.dynamic_update_slice(x,jnp.ones((2,3)),(k,9)), x, np.int32(-7))
case("cumsum", lambda x: jnp.cumsum(x,0), x)
case("special", lambda x: jax.nn.gelu(x,approximate=False)+lax.tan(x)+lax.sinh(x)+lax.erf(x), x)
case("lgamma", lambda x: lax.lgamma(x), 3*x, tol=1e-4)
case("digamma", lambda x: lax.digamma(x), 3*x, tol=1e-4)
case("erfinv", lambda x: lax.erf_inv(x), np.tanh(x))
case("int", lambda a: (a//3)%2 + (a<<2) + lax.population_count(a)+lax.clz(a), I(100,4,6)-50)
case("div0", lambda a,b: (lax.div(a,b), lax.rem(a,b)), np.array([7,-7,-2**31,5,0],np.int32), np.array([0,0,-1,-3,0],np.int32))
case("udiv0", lambda a,b: (lax.div(a,b), lax.rem(a,b)), np.array([7,2**31+5,5,0],np.uint32), np.array([0,3,2**31,0],np.uint32))
case("shifts", lambda a,b: (lax.shift_left(a,b),lax.shift_right_logical(a,b),lax.shift_right_arithmetic(a,b)), np.array([7,-7,-2**31,5,-1],np.int32), np.array([31,32,33,-1,1],np.int32))
case("f2i", lambda a: (a.astype(jnp.int32),a.astype(jnp.uint32),a.astype(jnp.int8),a.astype(bool)), np.array([1e20,-1e20,np.nan,np.inf,-np.inf,-0.5,2.9,-2.9,127.5,2147483648.,4294967296.],np.float32))
case("i2f", lambda a: (a.astype(jnp.float32),a.astype(jnp.uint8),a.astype(jnp.float16)), np.array([-1,255,256,70000,2**31-1],np.int32))
case("u2f", lambda a: (a.astype(jnp.float32),a.astype(jnp.int8),a.astype(jnp.float16)), np.array([2**32-1,255,256,70000,2**31],np.uint32))
case("cplx", lambda x: (lax.complex(x,x[::-1])*2j).imag, x)
case("round", lambda x: jnp.round(x)+jnp.sign(x)+jnp.trunc(x)+jnp.cbrt(x)+jnp.remainder(x,2)+ lax.reduce_precision(x,5,3)+jnp.isfinite(x), 3*x)
case("bitcast", lambda x: lax.bitcast_convert_type(x,jnp.int8), x)
case("bitcast2", lambda x: lax.bitcast_convert_type(x,jnp.float32), I(2**31-1,4,2).astype(np.int32).view(np.int16).reshape(4,2,2))
case("var", lambda x: jnp.var(x,axis=0), x)
case("anyred", lambda x: lax.reduce((x,x),(0.,1.),lambda a,b:(a[0]+b[0],a[1]*b[1]),(1,)), x)
case("concat", lambda x: jnp.concatenate([x,x[::-1]],1)[1:3,::2].T , x)
case("layernorm", lambda x,g,b: (x-x.mean(-1,keepdims=True))/jnp.sqrt(x.var(-1,keepdims=True)+1e-5)*g+b, F(5,16), F(16), F(16))
def attention(q,k,v):
    s=jnp.einsum('bhqd,bhkd->bhqk',q,k)/4.
    m=jnp.tril(jnp.ones((s.shape[-2],s.shape[-1]),bool))
    return jnp.einsum('bhqk,bhkd->bhqd',jax.nn.softmax(jnp.where(m,s,-1e9)),v)
case("attention", attention, F(2,2,7,16), F(2,2,7,16), F(2,2,7,16))
def mlp(x,a,b,c,d):
    return jax.nn.relu(x@a+b)@c+d
case("mlp", mlp, F(8,16), F(16,32), F(32), F(32,4), F(4))
case("mlpgrad", jax.grad(lambda x,a,b,c,d: (jax.nn.log_softmax(mlp(x,a,b,c,d))[:,0]).mean(), argnums=(1,2,3,4)), F(8,16), F(16,32), F(32), F(32,4), F(4))
def lstm(x,w,u,b):
    def step(c,xt):
        h,cc=c
        z=xt@w+h@u+b
        i,f,g,o=jnp.split(z,4,-1)
        cc=jax.nn.sigmoid(f)*cc+jax.nn.sigmoid(i)*jnp.tanh(g)
        h=jax.nn.sigmoid(o)*jnp.tanh(cc)
        return (h,cc),h
    return lax.scan(step,(jnp.zeros((2,8)),jnp.zeros((2,8))),x)
case("lstm", lstm, F(5,2,6), F(6,32), F(8,32), F(32))
case("embedding", lambda e,i: e[i].mean(1), F(20,8), I(20,3,4))
case("embgrad", jax.grad(lambda e,i: (e[i]**2).sum()), F(20,8), I(20,3,4))
def cnn(x,w1,w2,w3):
    y=jax.nn.relu(lax.conv_general_dilated(x,w1,(1,1),'SAME',dimension_numbers=('NHWC','HWIO','NHWC')))
    y=lax.reduce_window(y,-jnp.inf,lax.max,(1,2,2,1),(1,2,2,1),'VALID')
    y=jax.nn.relu(lax.conv_general_dilated(y,w2,(1,1),'SAME',dimension_numbers=('NHWC','HWIO','NHWC')))
    y=lax.reduce_window(y,-jnp.inf,lax.max,(1,2,2,1),(1,2,2,1),'VALID')
    return y.reshape(y.shape[0],-1)@w3
case("cnn", cnn, F(2,8,8,3), F(3,3,3,4), F(3,3,4,5), F(20,10))
def loss(p,x,y):
    return -(jax.nn.log_softmax(cnn(x,*p))*jax.nn.one_hot(y,10)).sum(-1).mean()
case("cnngrad", lambda w1,w2,w3,x,y: jax.grad(loss)((w1,w2,w3),x,y), F(3,3,3,4), F(3,3,4,5), F(20,10), F(2,8,8,3), I(10,2), tol=1e-4)
def adam(w1,w2,w3,x,y):
    optax = __import__("optax")
    p=(w1,w2,w3); o=optax.adam(1e-2); s=o.init(p)
    l,g=jax.value_and_grad(loss)(p,x,y)
    u,s=o.update(g,s,p)
    return optax.apply_updates(p,u),l
case("adam", adam, F(3,3,3,4), F(3,3,4,5), F(20,10), F(2,8,8,3), I(10,2), tol=1e-4)
case("fft", lambda x: jnp.abs(jnp.fft.fft(x)), F(3,12), tol=1e-4)
case("rfft", lambda x: jnp.fft.irfft(jnp.fft.rfft(x)*2), F(3,8), tol=1e-4)
case("chol", lambda a: jnp.linalg.cholesky(a@a.T+jnp.eye(4)), F(4,4), tol=1e-4)
case("solve", lambda a,b: jax.scipy.linalg.solve_triangular(a+4*jnp.eye(4),b,lower=True), F(4,4), F(4,2), tol=1e-4)
case("bf16", lambda a,b: (a.astype(jnp.bfloat16)@b.astype(jnp.bfloat16)).astype(jnp.float32), F(8,16), F(16,8), tol=1e-2)
case("argmin", lambda x: (jnp.argmin(x), jnp.max(x), jnp.any(x>2), jnp.prod(x)), x)
case("searchsorted", lambda a,v: jnp.searchsorted(a,v), np.sort(F(20)), F(7))
case("median", lambda x: jnp.median(x), F(9))
case("unique_hist", lambda x: jnp.bincount(x,length=5), I(5,20))
case("logsumexp", lambda x: jax.nn.logsumexp(x,axis=0), x)
case("nan", lambda x: (jnp.max(x),jnp.minimum(x,0),jnp.sort(x)), np.array([1,np.nan,-2,np.inf,-0.,0.],np.float32))
case("complex_ops", lambda x,y: jnp.abs(jnp.exp(lax.complex(x,y))/(lax.complex(y,x)+1)), x, x[::-1].copy())
case("zero", lambda x: (x.sum(0), x@jnp.ones((0,3)) if False else x*2), F(0,4))
case("one", lambda x: (x.sum(0), jax.nn.softmax(x)), F(1,1))
case("fori", lambda x: lax.fori_loop(0,5,lambda i,c: c*1.5+i,x), x)
case("while", lambda x: lax.while_loop(lambda c: c.sum()<100, lambda c: c*2, x), np.abs(x))
case("gather2d", lambda x,i,j: x[i,j], F(5,6), I(5,4), I(6,4))
case("takealong", lambda x,i: jnp.take_along_axis(x,i,1), F(5,6), I(6,5,3))
case("ipow", lambda x: (x**3, lax.integer_pow(x,-2)), x)
case("atan2", lambda x,y: jnp.arctan2(x,y)+jnp.hypot(x,y)+jnp.logaddexp(x,y), x, x[::-1].copy())

case("fft2", lambda x: jnp.abs(jnp.fft.fft2(x)), F(3,5), tol=1e-4)
case("ifft", lambda x: jnp.fft.ifft(jnp.fft.fft(x)).real, F(2,7), tol=1e-4)
case("irfft_odd", lambda x: jnp.fft.irfft(jnp.fft.rfft(x),7), F(2,7), tol=1e-4)
case("rfft2", lambda x: jnp.fft.irfft2(jnp.fft.rfft2(x)*2,(4,6)), F(2,4,6), tol=1e-4)
def spd(n,b=()):
    a=F(*b,n,n); return (a@np.swapaxes(a,-1,-2)+n*np.eye(n)).astype(np.float32)
case("cholb", lambda a: jnp.linalg.cholesky(a), spd(5,(3,)), tol=1e-4)
case("cholfail", lambda a: jnp.linalg.cholesky(a), -spd(3), tol=1e-4)
case("solve_u", lambda a,b: jax.scipy.linalg.solve_triangular(a,b,lower=False), spd(5), F(5,3), tol=1e-4)
case("solve_t", lambda a,b: jax.scipy.linalg.solve_triangular(a,b,lower=True,trans=1), spd(5), F(5,3), tol=1e-4)
case("solve_unit", lambda a,b: lax.linalg.triangular_solve(a,b,left_side=False,lower=True,unit_diagonal=True,transpose_a=True), spd(4)/9, F(2,4), tol=1e-4)
case("cho_solve", lambda a,b: jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(a),True),b), spd(5), F(5,2), tol=1e-3)
case("conv1d", lambda x,w: jnp.convolve(x,w), F(17), F(5))
case("einsum3", lambda a,b,c: jnp.einsum('ij,jk,kl->il',a,b,c), F(3,4), F(4,5), F(5,2), tol=1e-4)
case("segsum", lambda x,i: jax.ops.segment_sum(x,i,4), F(9,3), I(4,9))
case("percentile", lambda x: jnp.percentile(x,30.), F(11))
case("roll", lambda x: jnp.roll(x,2,1), F(3,5))
case("triu", lambda x: jnp.triu(x)+jnp.tril(x,-1), F(4,4))
case("clip", lambda x: jnp.clip(x,-.5,.5), F(9))
case("norm", lambda x: x/jnp.linalg.norm(x), F(9))
case("outer", lambda x,y: jnp.outer(x,y), F(3), F(4))
case("groupnorm", lambda x: jax.nn.standardize(x,axis=-1), F(3,8))
case("swish", lambda x: jax.nn.swish(x)+jax.nn.elu(x)+jax.nn.softplus(x)+jax.nn.gelu(x), F(3,8))
case("bmm_f16", lambda a,b: (a.astype(jnp.float16)@b.astype(jnp.float16)).astype(jnp.float32), F(2,5,7), F(2,7,3), tol=1e-2)
case("i8dot", lambda a,b: lax.dot(a.astype(jnp.int8),b.astype(jnp.int8),preferred_element_type=jnp.int32), I(100,5,7)-50, I(100,7,3)-50)
case("perm", lambda k: jax.random.permutation(k,7), np.array([3,7],np.uint32))
case("categorical", lambda k,x: jax.random.categorical(k,x), np.array([3,7],np.uint32), F(5,4))
case("sortmulti", lambda x,y: lax.sort((x,y),num_keys=2), I(3,20), F(20))
case("scattermax", lambda x,i,u: x.at[i].max(u), F(10,3), I(10,6), F(6,3))
case("scattermul2", lambda x,i,j,u: x.at[i,j].multiply(u), F(5,6), I(5,4), I(6,4), F(4))
case("cummax", lambda x: lax.cummax(x,1), F(3,9))
case("cumprod", lambda x: jnp.cumprod(x,1), F(3,9))
case("rev", lambda x: lax.rev(x,(0,2)), F(3,2,4))
case("conv3d", lambda x,w: lax.conv_general_dilated(x,w,(1,1,1),'SAME'), F(1,2,4,4,4), F(3,2,2,2,2))
case("batchgroup", lambda x,w: lax.conv_general_dilated(x,w,(1,),'VALID',batch_group_count=2,dimension_numbers=('NCH','OIH','NCH')), F(4,3,9), F(6,3,2))

# --- Running one program -----------------------------------------------------------------------------------------------


def run(tool, name, function, arguments, targets, folder, tolerance):
    """right, wrong or refused, and why, for each target."""
    lowered = jax.jit(function).lower(*arguments)
    expected = [np.asarray(value) for value in jax.tree.leaves(jax.jit(function)(*arguments))]
    file = os.path.join(folder, f"{name}.mlir")
    with open(file, "w", encoding="utf-8") as stream:
        stream.write(lowered.as_text())
    kept = lowered._lowering.compile_args.get("kept_var_idx") if hasattr(lowered, "_lowering") else None
    command = [tool, file]
    for i, value in enumerate(jax.tree.leaves(arguments)):
        if kept is not None and i not in kept:  # JAX drops arguments that nothing uses
            continue
        value, path = np.asarray(value), os.path.join(folder, f"{name}.in{i}.npy")
        np.save(path, value.view(f"i{value.itemsize}") if value.dtype.kind == "u" else value)
        command.append(f"--in={path}")
    for target in targets:
        paths = [os.path.join(folder, f"{name}.out{i}.npy") for i in range(len(expected))]
        done = subprocess.run(command + [f"--target={target}"] + [f"--out={path}" for path in paths],
                              capture_output=True, text=True)
        if done.returncode:
            yield target, "refused", (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[0]
            continue
        verdict = "right", ""
        for i, (path, wanted) in enumerate(zip(paths, expected)):
            seen = np.load(path)
            if seen.dtype != wanted.dtype and seen.itemsize == wanted.itemsize:
                seen = seen.view(wanted.dtype)
            same = seen.shape == wanted.shape and np.allclose(seen.astype(np.float64), wanted.astype(np.float64),
                                                              rtol=tolerance, atol=tolerance, equal_nan=True)
            if not same:
                verdict = "wrong", f"result {i}: {seen.ravel()[:6]}, JAX says {wanted.ravel()[:6]}"
        yield target, *verdict


# --- All functions of jax.numpy and jax.lax -------------------------------------------------------------------------------


def samples():
    """Name, function, arguments: the first of a few kinds of arguments that the function takes."""
    a, b, square, flags = np.abs(F(3, 5)) / 4 + 0.1, F(3, 5), F(4, 4), F(3, 5) > 0
    kinds = [(a,), (a, b), (a, b, np.abs(b)), (square,), (I(9, 3, 5),), (I(9, 3, 5) + 1, I(5, 3, 5) + 1), (flags,),
             (flags, ~flags), (flags, a, b), (F(6),), (F(6), F(6)), (F(0, 3),), (F(1, 1),)]
    for module, prefix in ((jnp, "jnp"), (lax, "lax")):
        for name in sorted(vars(module)):
            function = getattr(module, name)
            if name.startswith("_") or inspect.isclass(function) or not callable(function):
                continue
            call = lambda *values, function=function: function(*values)
            for arguments in kinds:
                try:
                    leaves = jax.tree.leaves(jax.jit(call)(*arguments))
                    if leaves and not any(np.asarray(leaf).dtype.kind == "c" for leaf in leaves):
                        yield f"{prefix}.{name}", call, arguments
                        break
                except Exception:  # JAX refuses these arguments
                    continue


def sweep(tool, targets, only, folder):
    seen, why = collections.Counter(), collections.defaultdict(list)
    for name, function, arguments in samples():
        if only and not re.search(only, name):
            continue
        for target, verdict, reason in run(tool, name, function, arguments, targets, folder, 2e-3):
            seen[verdict] += 1
            if verdict == "wrong":
                print(f"{name} on {target}: {reason}")
            if verdict == "refused":
                op = re.search(r"'((?:stablehlo|chlo)\.\w+)' op (?:calls '(\w+)')?", reason)
                why[(op.group(2) or op.group(1)) if op else reason[-60:]].append(name)
    print("\n| refused | functions |\n| --- | --- |")
    for op in sorted(why):
        print(f"| {op} | {', '.join(sorted(set(why[op])))} |")
    print(f"\n{seen['right']} right, {seen['refused']} refused, {seen['wrong']} wrong")
    return seen["wrong"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("only", nargs="?")
    parser.add_argument("--target", action="append")
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--folder")
    options = parser.parse_args()
    targets = options.target or ["cpu"]
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or temporary
        os.makedirs(folder, exist_ok=True)
        if options.sweep:
            return 1 if sweep(options.tool, targets, options.only, folder) else 0
        seen = collections.Counter()
        for name, function, arguments, tolerance in cases:
            if options.only and not re.search(options.only, name):
                continue
            for target, verdict, reason in run(options.tool, name, function, arguments, targets, folder, tolerance):
                seen[verdict] += 1
                if verdict != "right":
                    print(f"{name} on {target}: {verdict}: {reason}")
        print(f"{seen['right']} right, {seen['refused']} refused, {seen['wrong']} wrong")
        return 1 if seen["wrong"] or seen["refused"] else 0


if __name__ == "__main__":
    sys.exit(main())
