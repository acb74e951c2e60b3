(set 'calls 0 'caught 0)
(define (fib n) (inc calls) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(for (i 1 1000) (if (not (catch (if (odd? i) (throw-error "odd") i) 'r)) (inc caught)))
(println (fib 20) " " calls " " caught) (exit)
