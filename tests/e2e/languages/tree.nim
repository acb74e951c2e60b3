import std/[os, strutils, tables]
type Node = ref object
  left, right: Node
  value: int
  data: seq[string]
var calls = 0
proc insert(n: Node, v: int): Node {.noinline, exportc: "insert_nim".} =
  inc calls
  if n == nil: return Node(value: v, data: @[$v, repeat("x", v mod 7)])
  result = n
  if v < n.value: result.left = insert(n.left, v)
  elif v > n.value: result.right = insert(n.right, v)
proc odd(n: int): string {.noinline, exportc: "odd_nim".} =
  if n mod 2 == 1: raise newException(ValueError, "odd " & $n)
  $n
proc deep(n: int, s: string): int {.noinline, exportc: "deep_nim".} =
  let t = s & "y"
  if n == 0: return t.len
  result = deep(n - 1, s) + (if t.len > 3: 1 else: 0)
iterator count(n: int): int {.closure.} =
  var i = 0
  while i < n:
    yield i
    inc i
proc total(n: Node): int {.noinline, exportc: "total_nim".} =
  if n == nil: 0 else: total(n.left) + n.value + total(n.right) + n.data.len + n.data[0].len
var results: array[4, int]
proc work(k: int) {.thread.} =
  var all: seq[string]
  for i in 0 ..< 2000: all.add(repeat("z", i mod 11) & $i)
  var s = 0
  for x in all: s += x.len
  results[k] = s
var root: Node
var state = 12345
for i in 0 ..< 20000:
  state = (state * 1103515245 + 12345) and 0x3fffffff
  root = insert(root, state shr 10)
  if i mod 500 == 0: GC_fullCollect()
var caught = 0
for i in 0 ..< 2000:
  try: discard odd(i)
  except ValueError: inc caught
  finally: inc state
var threads: array[4, Thread[int]]
for k in 0 .. 3: createThread(threads[k], work, k)
joinThreads(threads)
var s = 0
for i in count(100): s += i
echo total(root), " ", calls, " ", caught, " ", deep(5000, "abc"), " ", s, " ", results
