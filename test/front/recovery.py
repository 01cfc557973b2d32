# One message for each faulty statement, and none for the good ones between.
x = 1 +  # error: syntax
y = 2
def f(a, b:  # error: syntax
    return a

def g(a):
    if a = 1:  # error: syntax
        return 2
    else:
        return 3
    z = 'open  # error: unterminated-string
    return z

for i in range(3)  # error: syntax
    f(i)
while True:
pass  # error: indent
  w = 1  # error: indent
f() = 3  # error: syntax
k = 99999999999999999999  # error: int-too-big
m = 3j
n = 012  # error: bad-number
s = "\xg1"  # error: bad-escape
p = a $ b  # error: bad-character
ok = [1, 2, 3]
