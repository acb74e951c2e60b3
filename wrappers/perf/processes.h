// The processes of a recording, and which of them are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rdam {

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

}  // namespace rdam
