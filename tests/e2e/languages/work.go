package main

// long in_c(long x);
import "C"

//export GoWork
func GoWork(n C.long) C.long {
	seen := map[int]string{}
	for i := 0; i < int(n); i++ {
		seen[i%100] = string(rune('a' + i%26))
	}
	return C.long(len(seen)) + C.in_c(n)
}

func main() {}
