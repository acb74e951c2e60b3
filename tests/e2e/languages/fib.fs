variable calls 0 calls !
: fib recursive 1 calls +! dup 2 < if exit then dup 1- fib swap 2 - fib + ;
: odd dup 1 and if 5 throw then ;
variable caught : t 2000 0 do i ['] odd catch if drop 1 caught +! else drop then loop ;
t 20 fib . calls @ . caught @ . cr bye
