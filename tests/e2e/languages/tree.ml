(* Recursion, allocation, and exceptions between functions; counts its own calls. *)
exception Odd of int
type tree = Leaf | Node of tree * int * tree
let inserts = ref 0 and throws = ref 0 and catches = ref 0
let rec insert x tree = incr inserts; match tree with
  | Leaf -> Node (Leaf, x, Leaf)
  | Node (l, y, r) -> if x < y then Node (insert x l, y, r) else if x > y then Node (l, y, insert x r) else tree
let[@inline never] throw x = incr throws; if x land 1 = 1 then raise_notrace (Odd x) else x
let[@inline never] catch x = incr catches; try throw x with Odd y -> - y
let () =
  let tree = ref Leaf and sum = ref 0 and state = ref 7919 in
  for i = 1 to int_of_string Sys.argv.(1) do
    state := (!state * 1103515245 + 12345) land 0x3fffffff;
    tree := insert (!state lsr 8) !tree;
    sum := !sum + catch i + String.length (string_of_int i)
  done;
  let rec total = function Leaf -> 0 | Node (l, x, r) -> total l + x + total r in
  Printf.printf "%d %d inserts %d throws %d catches %d\n" (total !tree) !sum !inserts !throws !catches
