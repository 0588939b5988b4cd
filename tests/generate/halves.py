"""Writes tests/ir/run/halves.evx. Needs numpy and ml_dtypes."""

import os

import ml_dtypes
import numpy as np

np.seterr(all='ignore')
D={'f16':np.float16,'bf16':ml_dtypes.bfloat16,'f32':np.float32}
def el(v,d):
    b=np.asarray(v,D[d]) 
    f=float(b)
    if np.isfinite(f): return repr(f)
    if d=='f32': return '0x%08X'%int(b.view(np.uint32))
    u=int(b.view(np.uint16))
    if np.isnan(f): u={'f16':0x7E00,'bf16':0x7FC0}[d]
    return '0x%04X'%u
def lit(a,d):
    def go(x): return el(x,d) if x.ndim==0 else '['+', '.join(go(y) for y in x)+']'
    a=np.asarray(a,D[d]); s=''.join(f'{n}x' for n in a.shape)
    return f'dense<{go(a)}> : tensor<{s}{d}>'
out=["// Halves as programs: each op rounds once to its dtype, sums and products of matrices are sums of f32 rounded once. Expected\n// values are those of NumPy's float16 and of ml_dtypes' bfloat16. Written by tests/generate/halves.py."]
rng=np.random.default_rng(7)
first=True
def case(src,d,ins,outs,func):
    global first
    head=f'\n\n// -----\n\n' if not first else '\n\n'
    first=False
    s=head+f'// source: {src}\n// tol: exact\n'
    for a,dd in ins: s+='// input: '+lit(a,dd)+'\n'
    for a,dd in outs: s+='// expect: '+lit(a,dd)+'\n'
    out.append(s+func)
lib={'f16':'numpy','bf16':'ml_dtypes'}
for d in ['f16','bf16']:
    T=D[d]
    tiny=float(np.finfo(T).smallest_subnormal) if d=='f16' else float(ml_dtypes.finfo(T).smallest_subnormal)
    big=float(np.finfo(T).max) if d=='f16' else float(ml_dtypes.finfo(T).max)
    norm=float(np.finfo(T).tiny) if d=='f16' else float(ml_dtypes.finfo(T).smallest_normal)
    sp=[0.0,-0.0,tiny,-tiny,norm,-norm,big,-big,np.inf,-np.inf,np.nan,1.0,1/3,-2.5,norm/2]
    n=33
    x=np.array((sp+list(rng.normal(size=n)*3))[:n]).astype(T); y=np.array((list(rng.normal(size=n)*2)[:18]+sp)[:n]).astype(T)
    p=(x*y).astype(T); q=(p+x).astype(T); r=(q/y).astype(T); s=np.sqrt(np.abs(r)).astype(T); t=(s-y).astype(T)
    case(f'{lib[d]}: sqrt(abs((x * y + x) / y)) - y, each op in the dtype; subnormals, infinities, NaN',d,[(x,d),(y,d)],[(t,d)],
f'''func @chain_{d}(%x: tensor<33x{d}>, %y: tensor<33x{d}>) -> tensor<33x{d}> {{
  %0 = evoxc.mul(%x, %y) : tensor<33x{d}>
  %1 = evoxc.add(%0, %x) : tensor<33x{d}>
  %2 = evoxc.div(%1, %y) : tensor<33x{d}>
  %3 = evoxc.abs(%2) : tensor<33x{d}>
  %4 = evoxc.sqrt(%3) : tensor<33x{d}>
  %5 = evoxc.sub(%4, %y) : tensor<33x{d}>
  return %5
}}''')
    # order of compare with NaN, and select
    m=np.where(x<y,x,y).astype(T)
    f=x.astype(np.float32); back=(f*np.float32(1+2**-9)).astype(T)
    case(f'{lib[d]}: np.where(x < y, x, y); (x.astype(float32) * (1 + 2**-9)).astype(dtype)',d,[(x,d),(y,d)],[(m,d),(back,d)],
f'''func @least_and_back_{d}(%x: tensor<Nx{d}>, %y: tensor<Nx{d}>) -> (tensor<Nx{d}>, tensor<Nx{d}>) {{
  %0 = evoxc.compare(%x, %y) {{direction = lt, order = ieee}} : tensor<Nxbool>
  %1 = evoxc.select(%0, %x, %y) : tensor<Nx{d}>
  %2 = evoxc.convert(%x) {{dtype = f32}} : tensor<Nxf32>
  %3 = evoxc.constant() {{value = splat<{1+2**-9}> : tensor<Nxf32>}} : tensor<Nxf32>
  %4 = evoxc.mul(%2, %3) : tensor<Nxf32>
  %5 = evoxc.convert(%4) {{dtype = {d}}} : tensor<Nx{d}>
  return %1, %5
}}''')
    # a sum that halves cannot hold on the way
    i=np.arange(3*301).reshape(3,301); a=((i*37%61)/4).astype(T); ss=a.astype(np.float32).sum(1).astype(T)
    assert (a.astype(np.float64).sum(1)==a.astype(np.float32).sum(1)).all()
    case(f'{lib[d]}: x = (arange(903).reshape(3, 301) * 37 % 61 / 4).astype(dtype); x.astype(float32).sum(1).astype(dtype), whose sums are exact in float32',d,[],[(ss,d)],
f'''func @sum_{d}() -> tensor<3x{d}> {{
  %0 = evoxc.iota() {{dtype = i32, shape = [903], axis = 0}} : tensor<903xi32>
  %1 = evoxc.constant() {{value = splat<37> : tensor<903xi32>}} : tensor<903xi32>
  %2 = evoxc.mul(%0, %1) : tensor<903xi32>
  %3 = evoxc.constant() {{value = splat<61> : tensor<903xi32>}} : tensor<903xi32>
  %4 = evoxc.rem(%2, %3) : tensor<903xi32>
  %5 = evoxc.convert(%4) {{dtype = {d}}} : tensor<903x{d}>
  %6 = evoxc.constant() {{value = splat<0.25> : tensor<903x{d}>}} : tensor<903x{d}>
  %7 = evoxc.mul(%5, %6) : tensor<903x{d}>
  %8 = evoxc.reshape(%7) {{shape = [3, 301]}} : tensor<3x301x{d}>
  %9 = evoxc.reduce_sum(%8) {{axes = [1]}} : tensor<3x{d}>
  return %9
}}''')
    # a product of matrices beyond what a kernel does
    A=((np.arange(45*67).reshape(45,67)*29%53-20)/4).astype(T); B=((np.arange(67*39).reshape(67,39)*31%47-15)/8).astype(T)
    C64=A.astype(np.float64)@B.astype(np.float64); C=C64.astype(np.float32); assert (C==C64).all() and (np.abs(A.astype(np.float64))@np.abs(B.astype(np.float64))*32<2**24).all()
    H=C.astype(T)
    case(f'{lib[d]}: a = ((arange(3015).reshape(45, 67) * 29 % 53 - 20) / 4).astype(dtype), b = ((arange(2613).reshape(67, 39) * 31 % 47 - 15) / 8).astype(dtype); the rows 0, 21 and 42 of a.astype(float32) @ b.astype(float32), exact in float32, and the same rounded to the dtype',d,[],[(C[[0,21,42]],'f32'),(H[[0,21,42]],d)],
f'''func @matmul_{d}() -> (tensor<3x39xf32>, tensor<3x39x{d}>) {{
  %0 = evoxc.iota() {{dtype = i32, shape = [3015], axis = 0}} : tensor<3015xi32>
  %1 = evoxc.constant() {{value = splat<29> : tensor<3015xi32>}} : tensor<3015xi32>
  %2 = evoxc.mul(%0, %1) : tensor<3015xi32>
  %3 = evoxc.constant() {{value = splat<53> : tensor<3015xi32>}} : tensor<3015xi32>
  %4 = evoxc.rem(%2, %3) : tensor<3015xi32>
  %5 = evoxc.constant() {{value = splat<20> : tensor<3015xi32>}} : tensor<3015xi32>
  %6 = evoxc.sub(%4, %5) : tensor<3015xi32>
  %7 = evoxc.convert(%6) {{dtype = {d}}} : tensor<3015x{d}>
  %8 = evoxc.constant() {{value = splat<0.25> : tensor<3015x{d}>}} : tensor<3015x{d}>
  %9 = evoxc.mul(%7, %8) : tensor<3015x{d}>
  %a = evoxc.reshape(%9) {{shape = [45, 67]}} : tensor<45x67x{d}>
  %10 = evoxc.iota() {{dtype = i32, shape = [2613], axis = 0}} : tensor<2613xi32>
  %11 = evoxc.constant() {{value = splat<31> : tensor<2613xi32>}} : tensor<2613xi32>
  %12 = evoxc.mul(%10, %11) : tensor<2613xi32>
  %13 = evoxc.constant() {{value = splat<47> : tensor<2613xi32>}} : tensor<2613xi32>
  %14 = evoxc.rem(%12, %13) : tensor<2613xi32>
  %15 = evoxc.constant() {{value = splat<15> : tensor<2613xi32>}} : tensor<2613xi32>
  %16 = evoxc.sub(%14, %15) : tensor<2613xi32>
  %17 = evoxc.convert(%16) {{dtype = {d}}} : tensor<2613x{d}>
  %18 = evoxc.constant() {{value = splat<0.125> : tensor<2613x{d}>}} : tensor<2613x{d}>
  %19 = evoxc.mul(%17, %18) : tensor<2613x{d}>
  %b = evoxc.reshape(%19) {{shape = [67, 39]}} : tensor<67x39x{d}>
  %20 = evoxc.dot(%a, %b) {{batch = [], contract = [[1], [0]], accumulate = f32}} : tensor<45x39xf32>
  %21 = evoxc.slice(%20) {{start = [0, 0], limit = [45, 39], stride = [21, 1]}} : tensor<3x39xf32>
  %22 = evoxc.dot(%a, %b) {{batch = [], contract = [[1], [0]]}} : tensor<45x39x{d}>
  %23 = evoxc.slice(%22) {{start = [0, 0], limit = [45, 39], stride = [21, 1]}} : tensor<3x39x{d}>
  return %21, %23
}}''')
open(os.path.join(os.path.dirname(__file__), "../ir/run/halves.evx"), "w").write(''.join(out)+'\n')
