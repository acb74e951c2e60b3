// Where data lies that threads share, or must not share.
#pragma once

#include <cstddef>
#include <memory>

namespace rdam::microbench {

/// Two cache lines: processors fetch them in pairs.
inline constexpr std::size_t kApart = 128;

/// `count` objects of their own for threads that have nothing to do with each other, or one for all.
template <class T>
class Places {
  public:
    Places(std::size_t count, bool own) : own_(own), places_(std::make_unique<Place[]>(own ? count : 1)) {}
    T& of(std::size_t thread) { return places_[own_ ? thread : 0].value; }

  private:
    struct alignas(kApart) Place {
        T value;
    };
    bool own_;
    std::unique_ptr<Place[]> places_;
};

}  // namespace rdam::microbench
