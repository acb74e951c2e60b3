/* A static function that has the same name as one of clones.c. */
__attribute__((noinline)) static long twin(long x) {
    __asm__ volatile("");
    return x * 2;
}
long twin_of_other(long x) {
    return twin(x) + twin(x + 1);
}
