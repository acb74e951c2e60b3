#include "analyzer/inputs/uftrace/tasks.h"

#include <algorithm>
#include <limits>
#include <optional>

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

}  // namespace rdam::inputs::uftrace
