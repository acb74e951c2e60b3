long in_c(long x) {
    return x * 3 + 1;
}
