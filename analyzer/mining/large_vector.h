// Vectors that grow to hundreds of megabytes: on large pages where the system has them, or a quarter of the
// time goes into putting small ones in place.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

namespace rdam::mining {

template <class T>
class LargePages {
  public:
    using value_type = T;

    LargePages() = default;
    template <class U>
    explicit LargePages(const LargePages<U>&) {}

    T* allocate(std::size_t count) {
        const std::size_t bytes = count * sizeof(T);
        if (bytes < kLeast) return static_cast<T*>(::operator new(bytes));
        void* memory = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
        if (memory == nullptr) throw std::bad_alloc{};
        ::madvise(memory, bytes, MADV_HUGEPAGE);
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t count) {
        if (count * sizeof(T) < kLeast)
            ::operator delete(memory);
        else
            std::free(memory);
    }
    /// Elements that need no constructor get no value, either: whoever asks for many writes them all.
    template <class U>
    void construct(U* place) {
        ::new (static_cast<void*>(place)) U;
    }
    template <class U, class... Values>
    void construct(U* place, Values&&... values) {
        ::new (static_cast<void*>(place)) U(std::forward<Values>(values)...);
    }
    friend bool operator==(const LargePages&, const LargePages&) { return true; }

  private:
    static constexpr std::size_t kPage = std::size_t{2} << 20;
    static constexpr std::size_t kLeast = 4 * kPage;
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace rdam::mining
