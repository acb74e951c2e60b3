(define calls 0)
(define (fib n) (set! calls (+ calls 1)) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(display (fib 20)) (display " ") (display calls) (newline)
