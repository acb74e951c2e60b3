set calls 0
proc fib {n} { global calls; incr calls; if {$n < 2} {return $n}; expr {[fib [expr {$n-1}]] + [fib [expr {$n-2}]]} }
proc odd {i} { if {$i % 2} {error odd}; return $i }
proc deep {n} { if {$n == 0} {return 0}; expr {1 + [deep [expr {$n-1}]]} }
set caught 0; for {set i 0} {$i < 1000} {incr i} { if {[catch {odd $i}]} {incr caught} }
proc gen {} { yield; for {set i 0} {$i < 100} {incr i} {yield $i}; return -1 }
coroutine g gen; set s 0; for {set i 0} {$i < 100} {incr i} {incr s [g]}
puts "[fib 18] $calls $caught [deep 500] $s"
