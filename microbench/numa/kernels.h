// What is done to vectors, each once over all elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rdam::microbench {

/// Something of all elements (but the last, if their number is odd), so that nothing is left out. As fast as one thread
/// can read. Here and in write_all() the first element is aligned to 16 bytes.
std::uint64_t read_all(std::span<const double> from);

void write_all(std::span<double> to, double value);

/// to = one + factor * other (STREAM's triad).
void triad(std::span<double> to, std::span<const double> one, std::span<const double> other, double factor);

/// Makes a ring of all cache lines in random order, which follow() goes along: each step waits for the one before.
void make_ring(std::span<double> memory);
/// Where `steps` steps from the beginning of a ring lead.
std::uint64_t follow(std::span<const double> ring, std::size_t steps);

enum class Action { read, write, both };          ///< both: copy from one vector to another
enum class Order { regular, irregular, random };  ///< figure 15 of RR-7330

/// The index of the j-th access to so many elements: ascending; descending; or each on another page than the one before,
/// pages in an order drawn once.
class Accesses {
  public:
    Accesses(std::size_t elements, Order order);

    /// Accesses first … last - 1.
    double run(Action action, std::span<double> one, std::span<const double> other, std::size_t first,
               std::size_t last) const;

  private:
    template <class Index>
    static double run(Action action, std::span<double> one, std::span<const double> other, std::size_t first,
                      std::size_t last, const Index& index);

    std::size_t elements_;
    Order order_;
    std::vector<std::uint32_t> pages_;  ///< of random
};

}  // namespace rdam::microbench
