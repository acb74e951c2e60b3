// The samples of a perf.data, as `perf script` prints them, added up while they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wrappers/perf/report_text.h"

namespace rdam {

// The processes of a recording, and which of them are asked for.

/// Names of processes and the files mapped into them, from perf's records of what they did.
class Processes {
  public:
    /// `wanted`: the name of a process or its number; empty: all.
    explicit Processes(std::string_view wanted = {});

    /// "PERF_RECORD_COMM exec: name:12/12", "PERF_RECORD_FORK(13:13):(12:12)"
    void add_record(std::string_view record);
    /// Part of a file, by its index, at an address.
    struct Mapping {
        std::uint64_t begin = 0;
        std::uint64_t size = 0;
        std::uint64_t offset = 0;  ///< in the file
        std::size_t object = 0;
    };
    void add_mapping(std::int64_t pid, const Mapping& mapping);

    /// Where in its file the code at an address is; the address itself if nothing is known to be mapped
    /// there: perf then has already made a place in the file of it.
    std::uint64_t place_in_file(std::int64_t pid, std::uint64_t address) const;

    /// Whether a sample is of a process that is asked for. `command` is the name of the thread.
    bool is_wanted(std::string_view command, std::int64_t pid, std::int64_t tid);

    bool asks_for_all() const { return wanted_.empty(); }
    /// What was mapped into the processes with samples that were asked for.
    const std::set<std::size_t>& objects() const { return objects_; }
    /// "app (12 samples), other (3 samples)": those with most samples.
    std::string seen() const;

  private:
    struct Process {
        std::string name;
        std::vector<Mapping> mappings;
        std::size_t counted = 0;  ///< of them: among objects_
    };

    std::string wanted_;
    std::int64_t wanted_pid_ = -1;
    std::map<std::int64_t, Process> processes_;
    std::set<std::size_t> objects_;
    std::map<std::string, std::uint64_t, std::less<>> samples_;  // by name
};

/// Where in the functions the samples are.
class SamplePlaces {
  public:
    using Offsets = std::map<std::uint64_t, std::uint64_t>;  ///< bytes behind the function's entry → samples

    void add(std::string_view module, std::string_view function, std::uint64_t offset);

    /// `module`: a file name; empty: of all modules.
    Offsets of(const std::string& module, const std::string& function) const;

  private:
    std::map<std::string, std::map<std::string, Offsets>, std::less<>> by_function_;  // function, module
};

/// Reads what `perf script` prints, with or without call chains and with whatever fields: of each sample at
/// least event, ip and sym. With `--show-mmap-events` and `--show-task-events` the processes and their files
/// are known, with `-F …,symoff` the places in functions. Keeps sums for each function, and no sample.
class PerfSamples {
  public:
    /// `process`: the name or number of the process whose samples are asked for; empty: all.
    explicit PerfSamples(std::string_view process = {}) : processes_(process) {}

    /// The next piece of the text, cut anywhere.
    void add(std::string_view text);

    std::uint64_t samples() const { return samples_; }
    bool has_chains() const { return has_chains_; }
    /// The processes whose samples were asked for, and what else there is.
    const Processes& processes() const { return processes_; }

    /// Uses the event that counts time, otherwise the first. Rows have paths for modules.
    /// Without rows if nothing was sampled.
    PerfReport report() const;

    /// Where in the functions the samples of that event lie.
    SamplePlaces places() const;

    /// Paths of the executables and libraries that were mapped into those processes, each once.
    std::vector<std::string> objects() const;

    /// The inodes of those files, by path, as far as they are known.
    const std::map<std::string, std::uint64_t>& inodes() const { return inodes_; }

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
    void add_record(std::string_view line);
    void add_mapping(std::string_view line);
    const Event* chosen() const;

    std::string unfinished_;   // the beginning of a line
    bool too_long_ = false;    // it was too long: the rest is ignored
    std::string broken_;       // the lines of a frame with a line break in a name
    unsigned pieces_ = 0;      // the lines in broken_
    bool new_object_ = false;  // the line before has added to objects_
    std::vector<Event> events_;
    std::size_t event_ = 0;  // of the current sample
    double period_ = 0;
    std::int64_t pid_ = -1;  // of the current sample
    enum class Wanted : std::uint8_t { nothing, place, caller } wanted_ = Wanted::nothing;
    bool has_chains_ = false;
    std::uint64_t samples_ = 0;
    Processes processes_;
    std::vector<std::string> objects_;
    std::map<std::string, std::size_t, std::less<>> known_objects_;
    std::map<std::string, std::uint64_t> inodes_;
};

/// Whether a text is what `perf script` prints of samples.
bool is_perf_script_text(std::string_view text);

}  // namespace rdam
