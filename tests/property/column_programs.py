"""Ways to calculate with a dataset: the last line of each is what noise is added to.

Many are sums over the records, many only look so. ``PROGRAMS`` lists them.
"""

from __future__ import annotations

_EXPRESSIONS = """
data.sum(where=np.array([True,False,True,True]))
np.add.reduce(data)
np.sum(data, initial=5)
data.cumsum()[-1]
data.dot(data)
np.dot(data, data)
data @ np.arange(4)
data * np.arange(4)
(data * np.arange(4)).sum()
(data + np.array([0,0,0,100])*data).sum()
(data[:,None]*np.arange(4)).sum(axis=0)
(data[:,None]*np.arange(4)).sum(axis=1)
(data[:,None]==np.arange(4)).sum(axis=0)
(data[None,:]==np.arange(4)[:,None]).sum(axis=1)
(data==np.arange(4)).sum()
np.einsum('i,i->', data, np.ones(4))
np.einsum('i->', data)
np.linalg.norm(data)
np.linalg.norm(data, 1)
np.outer(data, np.ones(2)).sum(axis=0)
data.reshape(2,-1).sum(axis=0)
data.reshape(-1,1).sum(axis=0)
data.reshape(4).sum()
data.T.sum()
data.ravel().sum()
data.flatten().sum()
np.ravel(data * 2).sum()
(data == 1).ravel().sum()
data[data == 1].ravel().sum()
data.reshape(-1).sum()
data.reshape(-1)[0]
np.squeeze(data).sum()
np.roll(data, 4).sum()
np.ravel(data, "F")[1:].sum()
data.tolist().count(1)
data.tolist().count(2.0)
data.tolist().count(7)
data.tolist().count(data[0])
data[data > 0].tolist().count(3)
(data * 0.5).tolist().count(0.5)
(data > 1).tolist().count(True)
(data > 1).tolist().count(1)
np.array_split(data,2)[0].sum()
data[::2].sum()
data[::-1].sum()
data[:3].sum()
np.concatenate([data,data]).sum()
np.append(data, 5).sum()
np.repeat(data, 2).sum()
np.tile(data, 2).sum()
(np.roll(data,1)*data).sum()
np.diff(data).sum()
np.abs(np.diff(data)).sum()
np.sort(data).sum()
np.sort(data)[0]
data.view(np.float64).sum()
np.frombuffer(data, dtype=np.int64).sum()
(data ** 2).sum()
(2.0 ** data).sum()
(data ** data).sum()
(data ** data.sum()).sum()
np.bincount(data, minlength=4)
np.bincount(data, minlength=2)
np.bincount(data, minlength=4, weights=np.arange(4))
np.bincount(data, minlength=4, weights=data)
np.histogram(data, bins=[0,1,2,3])[0]
np.histogram(data, bins=[0,1,2,3], density=True)[0]
np.histogram(data, bins=3, range=(0,3))[0]
np.histogram(data, bins=3, range=(1,3))[0]
np.histogram(data, bins=[0,1,2,3], weights=np.arange(4))[0]
np.digitize(data, [1,2]).sum()
np.searchsorted([1,2], data).sum()
np.flatnonzero(data).sum()
len(np.flatnonzero(data))
np.argwhere(data).size
np.nonzero(data)[0].size
data.take([0]).sum()
np.extract(data>1, data).sum()
np.compress(data>1, data).sum()
data[data>1].sum()
data[data>1].size
data[(data>1)&(data<3)].sum()
data[~(data>1)].sum()
data[data>1][data[data>1]<3].sum()
data[data>1][0:1].sum()
data[np.array([0,1])].sum()
F[data].sum()
F[data].sum(axis=0)
F[data].sum(axis=1).sum()
F[data].sum(axis=-1).sum()
F[data].mean(axis=0)
F[data].mean()
F[data][:,0].sum()
F[data][0,:]
F[data][..., 1].sum()
F[data].T.sum(axis=1)
F[data].T @ np.ones(4)
np.ones(4) @ F[data]
F[data] @ np.ones(2)
(F[data] @ np.ones(2)).sum()
F[data].T @ F[data]
F.T[:,data].sum(axis=1)
F[:,0][data].sum()
F[data,0].sum()
F[data, data//2].sum()
np.take(F, data, axis=0).sum(axis=0)
np.linalg.norm(F[data])
np.linalg.norm(F[data], axis=1).sum()
np.linalg.norm(F[data], axis=0)
(F[data]/np.maximum(1,np.linalg.norm(F[data],axis=1,keepdims=True))).sum(axis=0)
(F[data]/np.maximum(1,np.linalg.norm(F[data],axis=1))[:,None]).sum(axis=0)
(F[data]/np.maximum(1,np.linalg.norm(F[data],axis=0,keepdims=True))).sum(axis=0)
(F[data]/np.linalg.norm(F[data])).sum(axis=0)
np.max(F[data],axis=1).sum()
np.max(F[data],axis=0)
np.clip(F[data],-1,1).sum(axis=0)
np.clip(data, 1, 2).mean()
np.clip(data, None, 2).sum()
np.clip(data, np.array([0,1,2,3]), 3).sum()
np.minimum(data, [0,1,2,3]).sum()
np.where(data>1, data, -data).sum()
np.where(data>1, np.arange(4), 0).sum()
np.where([True,False,True,False], data, 0).sum()
np.select([data>2, data>1],[1,10],100).sum()
np.piecewise(data.astype(float),[data>1],[5,7]).sum()
np.average(data)
np.average(data, weights=np.arange(1,5))
np.average(data, weights=np.ones(4))
data.mean()
data.mean(dtype=np.float32)
data.sum(dtype=np.float32)
data.sum(dtype=np.int8)
data.astype(np.float32).sum()
data.astype(np.float16).sum()
(data*100).astype(np.int8).sum()
data.astype(bool).sum()
data.astype('int32').sum()
data.astype(complex).sum().real
data.var()
data.std()
data.prod()
data.max()
data.min()
np.ptp(data)
np.median(data)
np.percentile(data, 50)
data.argmax()
data.any()
data.all()
(data>1).any()
(data>1).sum()
(data>1).mean()
np.count_nonzero(data>1)
np.count_nonzero(data==2)
np.unique(data, return_counts=True)[1].sum()
np.unique(data).size
len(np.unique(data, return_counts=True)[1])
np.unique(data, return_counts=True)[1][:1]
np.unique(data, return_counts=True)[0] + np.zeros(1)
dict(zip(*np.unique(data, return_counts=True))).get(1, 0)
dict(zip(*np.unique(data, return_counts=True))).get(9, 0)
dict(zip(*np.unique(data, return_counts=True))).get(1, 1)
dict(zip(*np.unique(data, return_counts=True))).get(1)
dict(zip(*np.unique(data, return_counts=True)))[1]
dict(zip(*np.unique(data[data > 1] * 2, return_counts=True))).get(6, 0)
sum(dict(zip(*np.unique(data, return_counts=True))).values())
data[0] + data[3]
data[-1] * 2 + data.sum()
data[1:][2]
data[4]
(data > 1)[0] * 1
(data * 0.5)[2]
F[data][1]
F[data][1, 0]
F[data][1][0]
data[data > 1][0]
data.reshape(2, 2)[1, 0]
data.reshape(2, 2)[1][0]
data[True]
data[np.int64(2)]
[data[i] for i in range(4)]
[data[i] * i for i in range(len(data))]
data.tolist()[1]
np.cumsum(data)
np.exp(data).sum()
np.log1p(data).sum()
np.sqrt(data).sum()
(1/(1+data)).sum()
(1.0/(data-0.5)).sum()
(data%2).sum()
(data//2).sum()
divmod(data,2)[0].sum()
(data<<1).sum()
(data&1).sum()
(-data).sum()
(~data).sum()
abs(data-2).sum()
data.round().sum()
np.rint(data/2).sum()
np.floor(data/2).sum()
np.isin(data,[1,3]).sum()
np.vectorize(lambda v: v*v)(data).sum()
np.array([int(v) for v in data]).sum()
np.array(data.tolist()).sum()
np.fromiter((v for v in data), dtype=float).sum()
sum(data)
sum(data, 5)
sum(v*v for v in data)
sum(v for v in data if v>1)
sum(1 for v in data if v in (1,3))
sum(v*i for i,v in enumerate(data))
sum(a*b for a,b in zip(data, data[1:]))
sum(a*b for a,b in zip(data, range(4)))
sum(data[i] for i in range(len(data)))
sum(data[i]*i for i in range(len(data)))
sum(data[i] for i in range(3))
sum(data[i]*data[i-1] for i in range(len(data)))
sum(F[v][0] for v in data)
sum(max(v,1) for v in data)
sum(1 if v>1 else -1 for v in data)
sum(x for v in data for x in (v, 2*v))
sum(v for v in sorted(data))
sum(v for v in reversed(data))
sum(v for v in set(data.tolist()))
max(data)
len(set(data.tolist()))
len([v for v in data if v>1])
len(data)
len(data[data>1])
len(list(data))
list(data).count(2)
data.tolist().index(max(data.tolist()))
sum([v for v in data])
sum([int(v) for v in data if v != 2])
sum(map(int, data))
sum(map(lambda v: v*v, data))
len(list(filter(lambda v: v>1, data)))
__import__('collections').Counter(data.tolist())[2]
__import__('collections').Counter(data)[2]
len(__import__('collections').Counter(data.tolist()))
__import__('statistics').mean(data.tolist())
__import__('math').fsum(data)
__import__('functools').reduce(lambda a,b: a+b, data)
data.sum() + data.max()
data.sum()*2 - data.sum()
data.sum() - data.mean()*4
[data.sum(), data.sum()]
np.array([data.sum(), (data>1).sum()])
np.stack([data, data]).sum(axis=1)
np.vstack([data, 2*data]).sum()
np.column_stack([data, data**2]).sum(axis=0)
np.c_[data, data**2].sum(axis=0)
np.bincount(data//2, minlength=2)
np.bincount(np.minimum(data,2), minlength=3)
np.bincount(3-data, minlength=4)
np.bincount(data*4+data, minlength=16)
np.bincount(data[data>0], minlength=4)
np.eye(4)[data].sum(axis=0)
np.eye(4)[data].sum()
np.eye(4)[data][:, :2].sum(axis=0)
np.eye(4)[:, data].sum(axis=1)
np.eye(4)[data].T.sum(axis=1)
np.eye(4)[data].sum(axis=1)
np.eye(4)[data].cumsum(axis=0)[-1]
np.eye(4)[data].cumsum(axis=1).sum(axis=0)
np.tensordot(np.ones(4), np.eye(4)[data], 1)
np.apply_along_axis(np.sum, 1, F[data]).sum()
np.nansum(data)
np.nanmean(data)
np.convolve(data,[1,1]).sum()
np.cov(data)
np.trim_zeros(data).size
np.triu(np.outer(data,data)).sum()
np.squeeze(data).sum()
np.expand_dims(data,0).sum()
np.moveaxis(F[data],0,1).sum(axis=1)
np.swapaxes(F[data],0,1).sum(axis=1)
np.flip(data).sum()
np.array([data, data]).sum()
np.asarray(data, dtype=float).sum()
np.ascontiguousarray(data).sum()
np.array(data, copy=True).sum()
np.copy(data).sum()
np.zeros_like(data).sum() + data.sum()
np.ones_like(data).sum()
np.full_like(data, 3).sum()
np.heaviside(data-1, 0.5).sum()
np.sign(data-1).sum()
np.hypot(data, 1).sum()
np.add(data, 1).sum()
np.add(data, data).sum()
np.multiply(data, data).sum()
np.subtract(data, data.mean()).sum()
(data - data.mean()).sum()
((data - data.mean())**2).sum()
(data / max(1, data.sum())).sum()
(data > data.mean()).sum()
np.clip(data, 0, data.max()).sum()
np.nan_to_num(data/ (data-1.0)).sum()
np.maximum.accumulate(data)[-1]
np.logaddexp(data, 0).sum()
np.ma.masked_array(data, data>1).sum()
data.real.sum()
data.size
data.shape[0]
data.nbytes
data.item(0)
data.flat[0]
next(iter(data))
data.byteswap().sum()
"""

_STATEMENTS = """
t=0
for v in data: t += v
t

t=0
for v in data:
    if v>1: t += v
    else: t -= 1
t

t=0
for i,v in enumerate(data): t += v
t

t=0
for i,v in enumerate(data): t += i*v
t

t=0
for i in range(len(data)): t += data[i]
t

t=0
for i in range(1,len(data)): t += data[i]-data[i-1]
t

t=0
for i in range(4): t += data[i]
t

i=0; t=0
while i < len(data):
    t += data[i]
    i += 1
t

i=0; t=0
while i < len(data):
    t += data[i]
    i += 2
t

i=0; t=0
while i < len(data):
    t += data[i]*i
    i += 1
t

t=np.zeros(4)
for v in data: t[v] += 1
t

t=[0]*4
for v in data: t[v] += v
t

t=[0]*4
for v in data: t[3-v] += 1
t

t={}
for v in data: t[int(v)] = t.get(int(v),0)+1
t.get(2,0)

t={k:0 for k in range(4)}
for v in data: t[int(v)] += 1
[t[k] for k in range(4)]

t=0;u=0
for v in data:
    w = v*v
    t += w; u += 1
[t,u]

t=0;u=0
for v in data:
    t += v; u += t
[t,u]

t=0
for v in data:
    t = t + v
t

t=0
for v in data:
    t = v + t
t

t=0
for v in data:
    t = max(t, v)
t

t=0
for v in data:
    t -= v
t

t=0
for v in data:
    for w in (1,2): t += v*w
t

t=0
for v in data:
    for w in data: t += v*w
t

t=0
for v in data[1:]: t += v
t

t=0
for v in data[data>1]: t += v
t

t=0
for v in data.tolist(): t += v
t

t=0
for v in data:
    if v==2: continue
    t += v
t

t=0
for v in data:
    if v==2: break
    t += v
t

t=0
for v in data:
    t += v
else:
    t += 1
t

t=0; seen=set()
for v in data:
    if int(v) in seen: t += 1
    seen.add(int(v))
t

t=0; c=0
for v in data:
    c = 1 - c
    t += v*c
t

t=0
def f(v): return v*v
for v in data: t += f(v)
t

t=0; st=[0]
def f(v):
    st[0] += 1
    return v*st[0]
for v in data: t += f(v)
t

t=data.sum()
t += data.sum()
t

u=data.copy(); u[u>2]=0
u.sum()

u=data.copy(); u[0]=0
u.sum()

u=data.copy(); u += 1
u.sum()

u=data.copy(); u *= u
u.sum()

u=data.astype(float); u[u<2] = u[u<2]*2
u.sum()

u=data.copy(); u[data>1] = 7
u.sum()

u=data.copy(); v=u; v[v>1]=0
u.sum()

u=data.copy(); u.sort()
u[0]

u=np.zeros(4); np.add.at(u, data, 1)
u

u=np.zeros(4); u[data] += 1
u

u=np.zeros(4); u[data] = 1
u.sum()

v, c = np.unique(data, return_counts=True); u=np.zeros(4); u[v] = c
u

v, c = np.unique(data, return_counts=True); u=np.zeros(5, dtype=int); u[v] = c
u * 2

v, c = np.unique(data, return_counts=True); u=np.ones(4); u[v] = c
u

v, c = np.unique(data, return_counts=True); u=np.zeros(4); u[v] = v
u

v, c = np.unique(data, return_counts=True); u=np.zeros(4); u[c] = c
u.sum()

v, c = np.unique(data, return_counts=True); w, d = np.unique(data > 1, return_counts=True)
u=np.zeros(4); u[v] = d
u

x=data.copy(); v, c = np.unique(x, return_counts=True); x[x > 1] = 0; u=np.zeros(4); u[v] = c
u

v, c = np.unique(data, return_counts=True); d = dict(zip(v.tolist(), c.tolist()))
[d.get(k, 0) for k in range(4)]

v, c = np.unique(data, return_counts=True); d = dict(zip(c, v))
[d.get(k, 0) for k in range(4)]

t, n = 0, 0
for v in data: t, n = t + v, n + 1
[t, n]

t, n = 0, 0
for v in data: t, n = t + v, n + t
[t, n]

t = n = 0
for v in data:
    a, b = v, 1
    a, b = b, a
    t, n = t + a * v, n + b
t + n

t, n = 0, 0
for v in data:
    n, t = n + 1, t + v
    if v > 1: t, n = t + 1, n - 1
t / n

n = 0
for v in data: n += 1
data.sum() / n

n = 0
for v in data[data > 1]: n += 1
n

n = 0
for v in data[1:]: n += 1
data.sum() / n

u=np.empty(4); u[:]=data
u.sum()

u=np.empty(4); u[:]=data
(u*np.arange(4)).sum()

u=list(data); u.pop()
sum(u)

u=iter(data); next(u)
sum(u)

it=(v for v in data); a=next(it)
sum(it)

s=slice(0,2)
data[s].sum()

x=data.sum()
y=x
[x+y, x-y]

x, *rest = data
x

x=[v for v in data]
sum(x[1:])

x=[v for v in data]; x.append(5)
sum(x)

x=[v*2 for v in data]
sum(x)+len(x)

import math
t=math.fsum(v for v in data)
t

t=sum(1 for v in data if v > np.mean(data))
t

m=data.mean()
t=sum(v-m for v in data)
t

m=len(data)
t=sum(v/m for v in data)
t
"""

PROGRAMS: list[str] = [*_EXPRESSIONS.split("\n")[1:-1], *_STATEMENTS.strip("\n").split("\n\n")]
