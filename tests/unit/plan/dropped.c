// clang with link-time optimization: `second` is passed where `first` would be.
__attribute__((noinline)) long takes_two(long first, long second) {
    (void)first;
    return second * 3 + 1;
}

__attribute__((visibility("default"))) long call_it(long n) {
    return takes_two(1, n) + takes_two(2, n + 1);
}
