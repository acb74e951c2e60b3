(defvar *calls* 0)
(defun fib (n) (incf *calls*) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(format t "~a ~a ~a~%" (fib 20) *calls* (length (loop repeat 100000 collect (list 1 2))))
