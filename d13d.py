import sys; sys.path.insert(0,'/tmp/ag')
import threading, tensorlab as tl
def work():
    x=tl.ones(2,3,requires_grad=True); y=x*1
    for _ in range(50000): y=y.t()
    y.sum().backward()
threading.stack_size(1024*1024); t=threading.Thread(target=work); t.start(); t.join()
