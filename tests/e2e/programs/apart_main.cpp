// Loads a library into a namespace of its own, where it has copies of the C++ library and of the unwinder,
// and throws there and here.
#include <dlfcn.h>

#include <cstdio>

extern "C" __attribute__((noinline, noclone)) int throws_here(int n) {
    if (n == 3) throw n;
    return n;
}

int main(int /*argc*/, char** argv) {
    void* const library = dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW);
    if (library == nullptr) {
        std::puts(dlerror());
        return 1;
    }
    const auto catches = reinterpret_cast<int (*)(int)>(dlsym(library, "catches_apart"));
    int sum = 0;
    for (int i = 0; i < 40; ++i) {
        sum += catches(i % 4);
        try {
            sum += throws_here(i % 4);
        } catch (int) {
            sum += 100;
        }
    }
    std::printf("%d\n", sum);
}
