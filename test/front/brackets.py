# A bracket left open ends where a statement must begin; the rest is read as usual.
def f():
    x = g(1,  # error: syntax
    return x

a = [1, 2)  # error: syntax
b = {1: 2
     3: 4}  # error: syntax
c = )  # error: syntax
if x:
    def h(): pass
    y z  # error: syntax
