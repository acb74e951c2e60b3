// A heat map of the page: lost time by row (a thread, a process) and time in the run.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>

namespace rdam::output {

/// Places of functions that have none of their own: the page shows two sums of them (page/heat.js).
inline constexpr std::int64_t kOtherFunctions = -1, kOthersByDesign = -2;

/// `{begin, bin, bins, rows: [name, …], others, cells: [[row, bin, place, lost_ns], …], approximate}`.
class HeatMap {
  public:
    /// Of bins of Report::course, or as many.
    HeatMap(double begin_ns, double bin_ns) : begin_ns_(begin_ns), bin_ns_(bin_ns) {}

    /// Rows are numbered from 0 in the order in which they come.
    void add_row(std::string name) { rows_.push_back(std::move(name)); }
    /// The last row: `others` things together.
    void add_others(std::string name, std::size_t others) {
        add_row(std::move(name));
        others_ = others;
    }
    /// What was not lost is left out.
    void add(std::size_t row, std::uint32_t bin, std::int64_t place, double lost_ns) {
        if (lost_ns > 0) cells_[{row, bin, place}] += lost_ns;
    }
    nlohmann::ordered_json json(std::uint64_t approximate) const;

  private:
    double begin_ns_, bin_ns_;
    nlohmann::ordered_json rows_ = nlohmann::ordered_json::array();
    std::size_t others_ = 0;
    std::map<std::tuple<std::size_t, std::uint32_t, std::int64_t>, double> cells_;
};

}  // namespace rdam::output
