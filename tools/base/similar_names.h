// Existing names similar to one that does not exist.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rdam {

/// Is shown names, and keeps those most like the wanted one: the same last component ("Write" →
/// "leveldb::DB::Write"), then small differences in spelling. Not thread-safe.
class SimilarNames {
  public:
    explicit SimilarNames(std::string_view wanted);
    /// A name, demangled, and how it is shown.
    void consider(std::string_view name, const std::string& shown);
    /// Up to three as they are shown, the likeliest first.
    std::vector<std::string> names() const;

  private:
    struct Near {
        std::size_t distance = 0;
        std::string shown;

        auto operator<=>(const Near&) const = default;  // NOLINT(modernize-use-nullptr): there is none
    };

    std::size_t distance_to(std::string_view name) const;

    std::string wanted_;     // both as familiar_name()
    std::string component_;  // the last of it, without arguments
    std::size_t limit_;      // more edits are another name
    std::set<Near> best_;
};

// The edit distance of two spellings.

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`; `limit` + 1 if more
/// than `limit` are needed.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

// Environment variables that look like the recorder's but are not.

/// The variables of the manual, all of which begin with RDAM_.
std::span<const std::string_view> documented_variables();

/// A line for each variable of `environment` (name=value, ends with null) that begins with RDAM_ and that
/// nothing reads, with the nearest name that something does.
std::vector<std::string> unknown_variables(const char* const* environment);

}  // namespace rdam
