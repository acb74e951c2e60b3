val calls = ref 0
datatype tree = Leaf | Node of tree * int * string * tree
fun insert (Leaf, v) = (calls := !calls + 1; Node (Leaf, v, Int.toString v, Leaf))
  | insert (t as Node (l, y, s, r), v) = (calls := !calls + 1; if v < y then Node (insert (l, v), y, s, r) else if v > y then Node (l, y, s, insert (r, v)) else t)
fun total Leaf = 0 | total (Node (l, y, s, r)) = total l + y + String.size s + total r
exception Odd of int
fun odd n = if n mod 2 = 1 then raise Odd n else n
fun deep 0 = 0 | deep n = 1 + deep (n - 1)
fun main () = let
  val tree = ref Leaf val state = ref 12345 val caught = ref 0
  fun loop 0 = () | loop i = (state := Int.fromLarge ((IntInf.fromInt (!state) * 1103515245 + 12345) mod 1073741824); tree := insert (!tree, !state div 1024); if i mod 1000 = 0 then PolyML.fullGC () else (); loop (i - 1))
  fun throw 0 = () | throw i = ((ignore (odd i) handle Odd _ => caught := !caught + 1); throw (i - 1))
  val m = Thread.Mutex.mutex () val c = Thread.ConditionVar.conditionVar () val done = ref 0 val sum = ref 0
  fun work k () = let fun go 0 s = s | go i s = go (i - 1) (s + String.size (Int.toString (i * k))) val s = go 20000 0 in Thread.Mutex.lock m; sum := !sum + s; done := !done + 1; Thread.ConditionVar.signal c; Thread.Mutex.unlock m end
  in loop 20000; throw 2000; app (fn k => ignore (Thread.Thread.fork (work k, []))) [1,2,3];
     Thread.Mutex.lock m; while !done < 3 do Thread.ConditionVar.wait (c, m); Thread.Mutex.unlock m;
     print (String.concatWith " " (map Int.toString [total (!tree), !calls, !caught, deep 1000000, !sum]) ^ "\n") end
