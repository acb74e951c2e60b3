// Functions whose first instructions may throw, under handlers of all kinds. Compiled in several ways, never
// run.
#include <exception>
#include <new>
#include <stdexcept>

struct First {};
struct Second : First {};
struct Third {
    ~Third();
};
template <int N>
struct Numbered {};
struct Guard {
    ~Guard();
};
int from_elsewhere(const int* p);

#define KEEP __attribute__((noinline, used))

KEEP int plain(const int* p) {
    return *p;
}
KEEP int by_type(const int* p) {
    try {
        return *p;
    } catch (const First&) {
        return -1;
    }
}
KEEP int by_types(const int* p) {
    try {
        return *p;
    } catch (const Second&) {
        return -1;
    } catch (const First&) {
        return -2;
    } catch (const std::logic_error&) {
        return -3;
    } catch (int) {
        return -4;
    }
}
KEEP int anything(const int* p) {
    try {
        return *p;
    } catch (...) {
        return -1;
    }
}
KEEP int type_or_anything(const int* p) {
    try {
        return *p;
    } catch (const Third&) {
        return -1;
    } catch (...) {
        return -2;
    }
}
KEEP int divides(int a, int b) {
    try {
        return a / b;
    } catch (const std::range_error&) {
        return -1;
    }
}
KEEP int cleans(const int* p) {
    const Guard guard;
    return *p;
}
KEEP int cleans_and_catches(const int* p) {
    try {
        const Guard guard;
        return *p;
    } catch (const First&) {
        return -1;
    }
}
KEEP int nested(const int* p) {
    try {
        try {
            return *p;
        } catch (const Second&) {
            return -1;
        }
    } catch (const std::bad_alloc&) {
        return -2;
    } catch (...) {
        return -3;
    }
}
KEEP int strict(const int* p) noexcept {
    return *p;
}
KEEP int strict_that_catches(const int* p) noexcept {
    try {
        return *p;
    } catch (const First&) {
        return -1;
    }
}
KEEP int later(const int* p, int n) {
    const int first = *p;
    try {
        return from_elsewhere(p + n) + first;
    } catch (const First&) {
        return -1;
    }
}
KEEP int passes_on(int (*const* call)()) {
    try {
        return (*call)();
    } catch (const First&) {
        return -1;
    } catch (const Numbered<9>&) {
        return -2;
    }
}
KEEP int many_types(const int* p, int which) {
    try {
        return *p + which;
    } catch (const Numbered<1>&) {
        return 1;
    } catch (const Numbered<2>&) {
        return 2;
    } catch (const Numbered<3>&) {
        return 3;
    } catch (const Numbered<4>&) {
        return 4;
    } catch (const Numbered<5>&) {
        return 5;
    } catch (const Numbered<6>&) {
        return 6;
    } catch (const Numbered<7>&) {
        return 7;
    } catch (const Numbered<8>&) {
        return 8;
    }
}
/// The first of its instructions have the last of its actions.
KEEP int actions_before(const int* p, const int* q) {
    int sum = 0;
    try {
        sum += *p;
    } catch (const Numbered<20>&) {
        sum = -1;
    }
    try {
        sum += *q;
    } catch (const Numbered<21>&) {
        sum = -2;
    } catch (const Numbered<22>&) {
        sum = -3;
    }
    return sum;
}
#if __cplusplus < 201703L
KEEP int only(const int* p) throw(First, std::logic_error) {
    return *p;
}
KEEP int only_nothing(const int* p) throw() {
    return *p;
}
KEEP int only_that_catches(const int* p) throw(First) {
    try {
        return *p;
    } catch (const Third&) {
        return -1;
    }
}
#endif
#ifdef WITH_MAIN
Third::~Third() {}
Guard::~Guard() {}
int from_elsewhere(const int* p) {
    return *p;
}
int main() {}
#endif
