// What the tests of the trace file share: files that vanish, events that can be kept and compared, small
// traces.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/unit/temporary_folder.h"
#include "tools/trace/event.h"
#include "tools/trace/reader.h"
#include "tools/trace/writer.h"

namespace rdam::trace::testing {

/// A directory of its own, removed at the end.
using TemporaryDirectory = test::TemporaryFolder;

/// An event that owns its words.
struct OwnedEvent {
    Event event;
    std::vector<std::uint64_t> words;

    static OwnedEvent copy(const Event& event);
    friend bool operator==(const OwnedEvent& a, const OwnedEvent& b);
};
std::ostream& operator<<(std::ostream& out, const OwnedEvent& event);

struct Replay {
    std::vector<OwnedEvent> events;
    std::vector<std::size_t> gaps;  ///< number of events before each gap
};
Replay replay(const TraceReader& reader, std::uint32_t thread);

/// Creates `path` anew.
TraceWriter writer_of(const std::string& path, std::uint64_t created_unix_ns = 0);
void encode(ChunkEncoder& encoder, const std::vector<OwnedEvent>& events);

std::vector<std::uint8_t> contents(const std::string& path);
void set_contents(const std::string& path, const std::vector<std::uint8_t>& bytes);

/// Every field of the description set to something else. Windows are in chunks, as events are.
TraceInfo full_info();

OwnedEvent enter(std::uint64_t tsc, std::uint32_t function, std::vector<std::uint64_t> words = {});
OwnedEvent leave(std::uint64_t tsc, std::uint32_t function, std::vector<std::uint64_t> words = {});
OwnedEvent pause(std::uint64_t begin, std::uint64_t end);
OwnedEvent stack_switch(std::uint64_t tsc, std::uint64_t number);

}  // namespace rdam::trace::testing
