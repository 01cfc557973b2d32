# f-strings, with quotes and fields in fields.
a = f"{x}" f'{x!r}' "{x}"
b = f"{x:>{w}}{y!s:^{w}.{p}}"
c = f"{{literal}} {x = } {y=!s} {z=:>4}"
d = f"{d["key"]}{f"{f"{deep}"}"}"
e = f"""{
    x + 1  # a comment
}
"""
f = rf"\d{x}\{y}" fr'{z}\n'
g = f"{x!r}{(lambda q: q)(1)}{a if b else c}{ {1, 2} }{x:{'>'}10}"
h = f"{x != y}{x:!r}{x:%H:%M}"
# >>> ast
# (= a (fstring (format x) (format x "!r") "{x}"))
# (= b (fstring (format x ":" (fstring ">" (format w))) (format y "!s:" (fstring "^" (format w) "." (format p)))))
# (= c (fstring "{literal} x = " (format x "!r") " y=" (format y "!s") " z=" (format z ":>4")))
# (= d (fstring (format (index d "key")) (format (fstring (format (fstring (format deep)))))))
# (= e (fstring (format (+ x 1)) "\n"))
# (= f (fstring "\\d" (format x) "\\" (format y) (format z) "\\n"))
# (= g (fstring (format x "!r") (format (call (lambda (q) q) 1)) (format (if-else a b c)) (format (set 1 2)) (format x ":" (fstring (format ">") "10"))))
# (= h (fstring (format (compare x != y)) (format x ":!r") (format x ":%H:%M")))
# <<<
