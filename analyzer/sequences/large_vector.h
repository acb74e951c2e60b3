// Vectors that grow to hundreds of megabytes. Huge pages (MADV_HUGEPAGE) were tried: where memory is
// fragmented the kernel spends more on making them than small ones cost.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace rdam::mining {

template <class T>
class Unwritten : public std::allocator<T> {
  public:
    Unwritten() = default;
    template <class U>
    explicit Unwritten(const Unwritten<U>&) {}

    /// Elements that need no constructor are not initialized: a caller that requests many writes all of them.
    template <class U>
    void construct(U* place) {
        ::new (static_cast<void*>(place)) U;
    }
    template <class U, class... Values>
    void construct(U* place, Values&&... values) {
        ::new (static_cast<void*>(place)) U(std::forward<Values>(values)...);
    }
};

template <class T>
using LargeVector = std::vector<T, Unwritten<T>>;

}  // namespace rdam::mining
