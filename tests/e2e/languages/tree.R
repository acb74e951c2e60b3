calls <- 0
insert <- function(n, v) { calls <<- calls + 1; if (is.null(n)) return(list(v=v, l=NULL, r=NULL, s=as.character(v))); if (v < n$v) n$l <- insert(n$l, v) else if (v > n$v) n$r <- insert(n$r, v); n }
total <- function(n) if (is.null(n)) 0 else total(n$l) + n$v + nchar(n$s) + total(n$r)
odd <- function(i) { if (i %% 2 == 1) stop("odd"); i }
deep <- function(n) if (n == 0) 0 else 1 + deep(n - 1)
root <- NULL; state <- 12345; caught <- 0
for (i in 1:1000) { state <- (state * 16807) %% 2147483647; root <- insert(root, state %/% 1024); if (i %% 100 == 0) gc() }
for (i in 1:1000) tryCatch(odd(i), error = function(e) caught <<- caught + 1, finally = state <- state + 1)
for (i in 1:200) tryCatch(sapply(c(i, 2), odd), error = function(e) caught <<- caught + 1)
m <- matrix(as.numeric(1:10000) %% 17, 100); s <- sum(svd(m)$d)
x <- callCC(function(k) { lapply(1:10, function(i) if (i == 5) k(i)); 0 })
cat(total(root), calls, caught, deep(300), round(s, 6), x, sum(sort(runif(10) > 2)), "\n")
