#include "analyzer/inputs/uftrace/switches.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string_view>

#include "tools/base/text_lines.h"

namespace rdam::inputs::uftrace {
namespace {

constexpr std::uint64_t kMaxFile = std::uint64_t{16} << 30U;
constexpr std::size_t kBuffer = std::size_t{1} << 20U;

constexpr std::uint32_t kLost = 2;
constexpr std::uint32_t kComm = 3;
constexpr std::uint32_t kExit = 4;
constexpr std::uint32_t kFork = 7;
constexpr std::uint32_t kSwitch = 14;
constexpr std::uint16_t kSwitchOut = 1U << 13U;
constexpr std::uint16_t kSwitchPreempted = 1U << 14U;

/// As they stand in the file.
struct RecordHeader {
    std::uint32_t type;
    std::uint16_t misc;
    std::uint16_t size;
};
struct SampleId {
    std::uint32_t pid;
    std::uint32_t tid;
    std::uint64_t time;
};
struct TaskChange {
    std::uint32_t pid;
    std::uint32_t parent_pid;
    std::uint32_t tid;
    std::uint32_t parent_tid;
    std::uint64_t time;
};

template <class Plain>
std::optional<Plain> load(std::string_view bytes, std::size_t at = 0) {
    if (bytes.size() < at + sizeof(Plain)) return std::nullopt;
    Plain value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

constexpr std::string_view kBefore = "perf-cpu";
constexpr std::string_view kAfter = ".dat";

std::optional<std::uint16_t> processor_in(std::string_view name) {
    if (!name.starts_with(kBefore) || !name.ends_with(kAfter)) return std::nullopt;
    name.remove_prefix(kBefore.size());
    if (name.size() <= kAfter.size()) return std::nullopt;
    name.remove_suffix(kAfter.size());
    return number_in<std::uint16_t>(name);
}

/// Takes the records of one processor.
class Taker {
  public:
    Taker(Schedules& into, std::uint16_t processor) : into_(into), processor_(processor) {}

    void take(const RecordHeader& header, std::string_view body) {
        if (header.type == kSwitch) take_switch(header.misc, body);
        if (header.type == kComm) take_name(body);
        if (header.type == kLost) into_.lost += load<std::uint64_t>(body, 8).value_or(0);
        const auto change = load<TaskChange>(body);
        if (!change) return;
        if (header.type == kFork) into_.by_tid[change->tid].began = change->time;
        if (header.type == kExit) into_.by_tid[change->tid].ended = change->time;
    }

  private:
    void take_switch(std::uint16_t misc, std::string_view body) {
        const auto id = load<SampleId>(body);
        if (!id) return;
        into_.by_tid[id->tid].switches.push_back({.time = id->time,
                                                  .processor = processor_,
                                                  .out = (misc & kSwitchOut) != 0,
                                                  .preempted = (misc & kSwitchPreempted) != 0});
    }

    /// pid, tid, a text that ends with 0 and fills whole words, the sample's identity.
    void take_name(std::string_view body) {
        const auto tid = load<std::uint32_t>(body, 4);
        if (!tid || body.size() < 8 + sizeof(SampleId)) return;
        const auto id = load<SampleId>(body, body.size() - sizeof(SampleId));
        std::uint64_t& time = named_[*tid];
        if (id->time < time) return;
        time = id->time;
        const std::string_view text = body.substr(8, body.size() - 8 - sizeof(SampleId));
        into_.by_tid[*tid].name = text.substr(0, text.find('\0'));
    }

    Schedules& into_;
    std::uint16_t processor_;
    std::map<std::uint32_t, std::uint64_t> named_;
};

Result<void> read_file(const Folder& folder, const std::string& name, Taker& taker) {
    auto stream = folder.open(name);
    if (!stream) return tl::unexpected{stream.error()};
    std::string buffer(kBuffer, '\0');
    std::size_t have = 0;
    std::uint64_t before = 0;  // bytes of the file before the buffer
    while (true) {
        const auto got = (*stream)->read(std::span{buffer}.subspan(have));
        if (!got) return tl::unexpected{got.error()};
        have += *got;
        std::size_t at = 0;
        while (const auto header = load<RecordHeader>(std::string_view{buffer}.substr(0, have), at)) {
            if (header->size < sizeof *header)
                return fail("{} has no record of perf at byte {}: it is damaged, record again",
                            folder.path_of(name), before + at);
            if (at + header->size > have) break;
            taker.take(*header,
                       std::string_view{buffer}.substr(at + sizeof *header, header->size - sizeof *header));
            at += header->size;
        }
        std::copy(buffer.begin() + static_cast<std::ptrdiff_t>(at),
                  buffer.begin() + static_cast<std::ptrdiff_t>(have), buffer.begin());
        have -= at;
        before += at;
        if (*got == 0) break;
    }
    if (have != 0)
        return fail("{} ends within the record at byte {}: copy the directory again, or record again",
                    folder.path_of(name), before);
    return {};
}

}  // namespace

Result<Schedules> read_schedules(const Folder& folder) {
    Schedules all;
    for (const auto& each : folder.files()) {
        const auto processor = processor_in(each.first);
        if (!processor || each.second > kMaxFile) continue;
        Taker taker{all, *processor};
        if (const auto done = read_file(folder, each.first, taker); !done)
            return tl::unexpected{done.error()};
    }
    for (auto& each : all.by_tid) {
        std::vector<Switch>& switches = each.second.switches;
        std::ranges::stable_sort(switches, {}, &Switch::time);
        for (std::size_t i = 1; i < switches.size(); ++i)
            if (switches[i].out == switches[i - 1].out) ++all.unpaired;
    }
    return all;
}

std::string switches_file(std::uint32_t processor) {
    return fmt::format("{}{}{}", kBefore, processor, kAfter);
}

std::vector<trace::OffCpu> absences(const std::vector<Switch>& switches) {
    std::vector<trace::OffCpu> all;
    const Switch* out = nullptr;
    for (const Switch& each : switches) {
        if (!each.out && out != nullptr && out->time < each.time)
            all.push_back(
                {.out = out->time, .in = each.time, .cpu = each.processor, .preempted = out->preempted});
        out = each.out ? &each : nullptr;
    }
    return all;
}

}  // namespace rdam::inputs::uftrace
