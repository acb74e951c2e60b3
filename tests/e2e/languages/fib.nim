var calls = 0
proc fib(n: int): int {.noinline, exportc: "fib_nim".} =
  inc calls
  if n < 2: n else: fib(n - 1) + fib(n - 2)
proc odd(n: int): string {.noinline.} =
  if n mod 2 == 1: raise newException(ValueError, "odd")
  $n
var caught = 0
var texts: seq[string]
for i in 0 ..< 1000:
  try: texts.add(odd(i))
  except ValueError: inc caught
echo fib(18), " ", calls, " ", caught, " ", texts.len
