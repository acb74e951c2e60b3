// The samples of a perf.data, as `perf script` prints them, added up while they come.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wrappers/perf/report_text.h"
#include "wrappers/perf/sample_places.h"

namespace rdam {

/// Reads what `perf script --show-mmap-events -F event,period,ip,sym,symoff,dso` prints, with or without the
/// period and with or without call chains. Keeps sums for each function, and no sample.
class PerfSamples {
  public:
    /// The next piece of the text, cut anywhere.
    void add(std::string_view text);

    std::uint64_t samples() const { return samples_; }

    /// Of several events, uses the one that counts time, otherwise the first. Rows have paths for modules;
    /// PerfReport::kernel_callers is set. Without rows if nothing was sampled.
    PerfReport report() const;

    /// Where in the functions the samples of that event lie.
    SamplePlaces places() const;

    /// Paths of the executables and libraries that were mapped, each once.
    const std::vector<std::string>& objects() const { return objects_; }

  private:
    struct Event {
        std::string name;
        double period = 0;
        std::unordered_map<std::string, double> rows;     // by name_key()
        std::unordered_map<std::string, double> callers;  // likewise: of samples in the kernel
        SamplePlaces places;
    };
    void add_line(std::string_view line);
    void begin_sample(std::string_view line);
    void take_frame(std::string_view text);
    void add_frame(std::string_view line);
    void add_mapping(std::string_view line);
    const Event* chosen() const;

    std::string unfinished_;   // the beginning of a line
    bool too_long_ = false;    // … which says nothing
    std::string broken_;       // the lines of a frame with a line break in a name
    unsigned pieces_ = 0;      // … of which there are so many
    bool new_object_ = false;  // the line before has added to objects_
    std::vector<Event> events_;
    std::size_t event_ = 0;  // of the current sample
    double period_ = 0;
    enum class Wanted : std::uint8_t { nothing, place, caller } wanted_ = Wanted::nothing;
    bool has_chains_ = false;
    std::uint64_t samples_ = 0;
    std::vector<std::string> objects_;
    std::set<std::string, std::less<>> known_objects_;
};

}  // namespace rdam
