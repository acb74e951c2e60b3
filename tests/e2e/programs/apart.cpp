// Throws, for apart_main.cpp.
extern "C" __attribute__((noinline, noclone)) int throws_apart(int n) {
    if (n == 3) throw n;
    return n;
}

extern "C" int catches_apart(int n) {
    try {
        return throws_apart(n);
    } catch (int) {
        return 1000;
    }
}
