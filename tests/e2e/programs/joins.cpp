// A constructor that waits for a thread, which throws, while the dynamic linker waits for the constructor.
#include <pthread.h>

#include <cstdio>

namespace {

void* throw_and_catch(void* /*unused*/) {
    try {
        throw 7;
    } catch (int number) {
        std::printf("%d caught\n", number);
        std::fflush(stdout);
    }
    return nullptr;
}

__attribute__((constructor)) void join() {
    pthread_t thread;
    pthread_create(&thread, nullptr, throw_and_catch, nullptr);
    pthread_join(thread, nullptr);
}

}  // namespace
