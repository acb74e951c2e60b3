// Regions in C++: they end with their scope, exceptions included; a template has one region by its name.
#include <rdam/rdam.h>

#include <cstdio>
#include <stdexcept>

namespace {

template <class Number>
Number step(Number number, const void* place) {
    RDAM_SCOPE("step", static_cast<long>(number), place, sizeof(Number));
    if (static_cast<long>(number) % 10 == 0) throw std::runtime_error("ten");
    return number + 1;
}

}  // namespace

int main() {
    int caught = 0;
    double sum = 0;
    for (int i = 0; i < 200; ++i) {
        try {
            sum += step(i, &sum);
            sum += step(static_cast<double>(i), &sum);
        } catch (const std::exception&) {
            ++caught;
        }
    }
    RDAM_BEGIN("end");
    std::printf("%d %g\n", caught, sum);
    RDAM_END("end");
}
