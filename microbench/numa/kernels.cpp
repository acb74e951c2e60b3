#include "microbench/numa/kernels.h"

#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>

namespace rdam::microbench {
namespace {

constexpr std::size_t kLine = 64 / sizeof(double);
constexpr std::size_t kPage = 4096 / sizeof(double);

}  // namespace

std::uint64_t read_all(std::span<const double> from) {
    // As whole numbers, whose bits are combined in one cycle: sums would wait for one another.
    const auto* const begin = reinterpret_cast<const __m128i*>(from.data());
    const std::size_t count = from.size() / 2;
    __m128i a = _mm_setzero_si128(), b = a, c = a, d = a;
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        a = _mm_or_si128(_mm_or_si128(a, _mm_load_si128(begin + i)), _mm_load_si128(begin + i + 4));
        b = _mm_or_si128(_mm_or_si128(b, _mm_load_si128(begin + i + 1)), _mm_load_si128(begin + i + 5));
        c = _mm_or_si128(_mm_or_si128(c, _mm_load_si128(begin + i + 2)), _mm_load_si128(begin + i + 6));
        d = _mm_or_si128(_mm_or_si128(d, _mm_load_si128(begin + i + 3)), _mm_load_si128(begin + i + 7));
    }
    for (; i < count; ++i)
        a = _mm_or_si128(a, _mm_load_si128(begin + i));
    a = _mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d));
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_or_si128(a, _mm_unpackhi_epi64(a, a))));
}

void write_all(std::span<double> to, double value) {
    const __m128d both = _mm_set1_pd(value);
    std::size_t i = 0;
    for (; i + 8 <= to.size(); i += 8) {
        _mm_store_pd(to.data() + i, both);
        _mm_store_pd(to.data() + i + 2, both);
        _mm_store_pd(to.data() + i + 4, both);
        _mm_store_pd(to.data() + i + 6, both);
    }
    for (; i < to.size(); ++i)
        to[i] = value;
}

void triad(std::span<double> to, std::span<const double> one, std::span<const double> other, double factor) {
    for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = one[i] + factor * other[i];
}

void make_ring(std::span<double> memory) {
    std::vector<std::uint64_t> order(memory.size() / kLine);
    std::iota(order.begin(), order.end(), 0);
    std::mt19937_64 random(1);
    std::shuffle(order.begin() + 1, order.end(), random);
    for (std::size_t i = 0; i < order.size(); ++i)
        memory[order[i] * kLine] = std::bit_cast<double>(order[(i + 1) % order.size()] * kLine);
}

std::uint64_t follow(std::span<const double> ring, std::size_t steps) {
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < steps; ++i)
        at = std::bit_cast<std::uint64_t>(ring[at]);
    return at;
}

Accesses::Accesses(std::size_t elements, Order order) : elements_(elements), order_(order) {
    if (order != Order::random) return;
    pages_.resize(elements / kPage);
    std::iota(pages_.begin(), pages_.end(), 0);
    std::mt19937_64 random(1);
    std::shuffle(pages_.begin(), pages_.end(), random);
}

template <class Index>
double Accesses::run(Action action, std::span<double> one, std::span<const double> other, std::size_t first,
                     std::size_t last, const Index& index) {
    if (action == Action::write) {
        for (std::size_t j = first; j < last; ++j)
            one[index(j)] = 1;
        return 0;
    }
    if (action == Action::both) {
        for (std::size_t j = first; j < last; ++j)
            one[index(j)] = other[index(j)];
        return 0;
    }
    // One sum alone would be slower than memory: each addition waits for the one before.
    double a = 0, b = 0, c = 0, d = 0;
    std::size_t j = first;
    for (; j + 4 <= last; j += 4) {
        a += one[index(j)];
        b += one[index(j + 1)];
        c += one[index(j + 2)];
        d += one[index(j + 3)];
    }
    for (; j < last; ++j)
        a += one[index(j)];
    return a + b + c + d;
}

double Accesses::run(Action action, std::span<double> one, std::span<const double> other, std::size_t first,
                     std::size_t last) const {
    if (order_ == Order::regular)
        return run(action, one, other, first, last, [](std::size_t j) { return j; });
    if (order_ == Order::irregular)
        return run(action, one, other, first, last, [n = elements_](std::size_t j) { return n - 1 - j; });
    const std::size_t pages = pages_.size();
    return run(action, one, other, first, last, [&](std::size_t j) {
        // What does not fill a page is left as it is.
        return j >= pages * kPage ? j : pages_[j % pages] * kPage + j / pages;
    });
}

}  // namespace rdam::microbench
