#include "analyzer/inputs/uftrace/tasks.h"

#include <algorithm>
#include <cstring>

#include "tools/base/text_lines.h"

namespace rdam::inputs::uftrace {

namespace {

constexpr std::uint64_t kNanoseconds = 1'000'000'000;
/// A process whose parent has a parent and so on: more means that they are each other's.
constexpr int kMaxAncestors = 4096;
/// Of a session; each address that is in none of the program's own is looked for in all of them.
constexpr std::size_t kMaxLibraries = 1000;

/// What follows ` key=`, up to the next blank.
std::optional<std::string_view> field(std::string_view line, std::string_view key) {
    for (const std::string_view word : words_of(line))
        if (word.starts_with(key) && word.substr(key.size()).starts_with('='))
            return word.substr(key.size() + 1);
    return std::nullopt;
}

template <class Number>
std::optional<Number> number_field(std::string_view line, std::string_view key) {
    const auto text = field(line, key);
    return text ? number_in<Number>(*text) : std::nullopt;
}

/// `seconds.nanoseconds`, in nanoseconds.
std::optional<std::uint64_t> time_field(std::string_view line) {
    const auto text = field(line, "timestamp");
    const auto point = text ? text->find('.') : std::string_view::npos;
    if (point == std::string_view::npos) return std::nullopt;
    const auto seconds = number_in<std::uint64_t>(text->substr(0, point));
    const auto rest = number_in<std::uint64_t>(text->substr(point + 1));
    if (!seconds || !rest || *rest >= kNanoseconds) return std::nullopt;
    if (*seconds > std::numeric_limits<std::uint64_t>::max() / kNanoseconds - 1) return std::nullopt;
    return *seconds * kNanoseconds + *rest;
}

std::optional<std::uint64_t> address_field(std::string_view line, std::string_view key) {
    const auto text = field(line, key);
    if (!text) return std::nullopt;
    return number_in<std::uint64_t>(*text, 16);
}

/// Between the quotes after ` key="`; paths may have blanks.
std::optional<std::string_view> quoted_field(std::string_view line, std::string_view key) {
    const auto at = line.find(fmt::format("{}=\"", key));
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view rest = line.substr(at + key.size() + 2);
    const auto end = rest.rfind('"');
    return rest.substr(0, end);
}

}  // namespace

/// Takes the lines one after the other.
class TaskLines {
  public:
    explicit TaskLines(Tasks& into) : into_(into) {}

    /// False: the line has not what it should.
    bool take(std::string_view line) {
        if (line.starts_with("SESS ")) return take_session(line);
        if (line.starts_with("TASK ")) return take_task(line);
        if (line.starts_with("FORK ")) return take_fork(line);
        if (line.starts_with("DLOP ")) return take_library(line);
        return true;
    }

  private:
    bool take_session(std::string_view line) {
        const auto time = time_field(line);
        auto pid = number_field<std::uint32_t>(line, "pid");
        if (!pid) pid = number_field<std::uint32_t>(line, "tid");
        const auto id = field(line, "sid");
        const auto executable = quoted_field(line, "exename");
        if (!time || !pid || !id || !executable) return false;
        into_.sessions_.push_back({.start = *time,
                                   .pid = *pid,
                                   .id = std::string{*id},
                                   .executable = std::string{*executable},
                                   .libraries = {}});
        const auto number = static_cast<std::uint32_t>(into_.sessions_.size() - 1);
        of_process_[*pid].emplace(*time, number);
        return true;
    }

    bool take_task(std::string_view line) {
        const auto time = time_field(line);
        const auto tid = number_field<std::uint32_t>(line, "tid");
        const auto pid = number_field<std::uint32_t>(line, "pid");
        if (!time || !tid || !pid) return false;
        add({.tid = *tid, .pid = *pid, .parent = 0, .start = *time, .parts = {}}, *pid);
        return true;
    }

    bool take_fork(std::string_view line) {
        const auto time = time_field(line);
        const auto pid = number_field<std::uint32_t>(line, "pid");
        const auto parent = number_field<std::uint32_t>(line, "ppid");
        if (!time || !pid || !parent) return false;
        add({.tid = *pid, .pid = *pid, .parent = *parent, .start = *time, .parts = {}}, *parent);
        return true;
    }

    bool take_library(std::string_view line) {
        const auto time = time_field(line);
        const auto id = field(line, "sid");
        const auto base = address_field(line, "base");
        const auto path = quoted_field(line, "libname");
        if (!time || !id || !base || !path) return false;
        const auto same = [&](const Session& each) { return each.id == *id; };
        const auto session = std::ranges::find_if(into_.sessions_, same);
        if (session == into_.sessions_.end()) return false;
        auto& libraries = session->libraries;
        if (libraries.size() == kMaxLibraries) return true;
        const auto at = std::ranges::upper_bound(libraries, *time, {}, &OpenedLibrary::time);
        libraries.insert(at, {.time = *time, .base = *base, .path = std::string{*path}});
        return true;
    }

    /// A tid that is known already goes on in another session: it has executed a program.
    void add(Task task, std::uint32_t process) {
        const std::uint64_t start = task.start;
        const auto [at, is_new] = into_.by_tid_.try_emplace(task.tid, into_.tasks_.size());
        if (is_new) into_.tasks_.push_back(std::move(task));
        auto session = session_of(process, start);
        if (!session && is_new) session = last_session_of(process, start);
        if (session) into_.tasks_[at->second].parts.push_back({start, *session});
    }

    std::optional<std::uint32_t> session_of(std::uint32_t pid, std::uint64_t time) const {
        const auto process = of_process_.find(pid);
        if (process == of_process_.end()) return std::nullopt;
        const auto after = process->second.upper_bound(time);
        if (after == process->second.begin()) return std::nullopt;
        return std::prev(after)->second;
    }

    std::optional<std::uint32_t> last_session_of(std::uint32_t tid, std::uint64_t time) const {
        const Task* task = into_.find(tid);
        if (task == nullptr || task->parts.empty() || task->parts.back().start >= time) return std::nullopt;
        return task->parts.back().session;
    }

    Tasks& into_;
    std::map<std::uint32_t, std::map<std::uint64_t, std::uint32_t>> of_process_;
};

Result<Tasks> Tasks::parse(std::string_view text, const std::string& path) {
    Tasks tasks;
    TaskLines taker{tasks};
    TextLines lines{text};
    std::string_view line;
    while (lines.next(line))
        if (!taker.take(line))
            return fail(
                "{} line {}: a {} line with its time and its numbers is expected here; the file is damaged, "
                "record again",
                path, lines.number(), line.substr(0, 4));
    if (tasks.sessions_.empty())
        return fail("{} names no program (no line begins with SESS): record again", path);
    return tasks;
}

const Task* Tasks::find(std::uint32_t tid) const {
    const auto at = by_tid_.find(tid);
    return at == by_tid_.end() ? nullptr : &tasks_[at->second];
}

SessionSpan Tasks::session_at(const Task& task, std::uint64_t time) const {
    SessionSpan span;
    const Task* each = &task;
    for (int steps = 0; each != nullptr && steps < kMaxAncestors; ++steps) {
        const auto after = std::ranges::upper_bound(each->parts, time, {}, &Task::Part::start);
        if (after != each->parts.end()) span.until = std::min(span.until, after->start);
        if (after != each->parts.begin()) {
            span.number = std::prev(after)->session;
            span.session = &sessions_[span.number];
            return span;
        }
        const std::uint32_t next = each->parent != 0 ? each->parent : each->pid;
        each = next == each->tid ? nullptr : find(next);
    }
    return span;
}

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
