val calls = ref 0;
fun fib n = (calls := !calls + 1; if n < 2 then n else fib (n - 1) + fib (n - 2));
val _ = print (Int.toString (fib 18) ^ " " ^ Int.toString (!calls) ^ "\n");
val _ = OS.Process.exit OS.Process.success;
