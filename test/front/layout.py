# Lines: joined, split, blank, commented, and blocks of one line.
x = 1; y = 2;
if x: pass
total = x + \
    y
call(
    1,  # one

    2,
)
if (x and
        y):
        # a comment further in
  # and one further out
        z = """text
  of lines"""

        w = 3
else: w = 4
def f(): return 1
class A: a = 1; b = 2
# >>> ast
# (= x 1)
# (= y 2)
# (if x)
#   (pass)
# (= total (+ x y))
# (expr (call call 1 2))
# (if (and x y))
#   (= z "text\n  of lines")
#   (= w 3)
# (else)
#   (= w 4)
# (def f ())
#   (return 1)
# (class A)
#   (= a 1)
#   (= b 2)
# <<<
