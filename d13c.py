import sys; sys.path.insert(0,'/tmp/ag')
import faulthandler; faulthandler.enable()
import threading, tensorlab as tl
from tensorlab.engine.run import BackwardRun
def work():
    x=tl.ones(2,3,requires_grad=True); y=x*1
    for _ in range(50000): y=y.t()
    r=BackwardRun((y.sum(),)); print("made",flush=True); r.run(); print("ran",flush=True); del r; print("dropped",flush=True)
    del y
    print("ok")
threading.stack_size(1024*1024); t=threading.Thread(target=work); t.start(); t.join()
