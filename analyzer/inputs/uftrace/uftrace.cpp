#include "analyzer/inputs/uftrace/uftrace.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "analyzer/inputs/uftrace/functions.h"
#include "analyzer/inputs/uftrace/task_reader.h"
#include "analyzer/inputs/uftrace/tasks.h"
#include "tools/base/files.h"
#include "tools/base/text_lines.h"
#include "tools/base/units.h"

namespace rdam::inputs {
namespace uftrace {
namespace {

constexpr std::uint64_t kMaxTasks = std::uint64_t{256} << 20U;

/// The program's part of uftrace's own command line; only the program if that does not show it.
std::vector<std::string> command_of(const Info& info) {
    const auto words = words_of(info.command);
    bool is_option_value = false;
    for (std::size_t i = 1; i < words.size(); ++i) {
        if (!is_option_value && file_name(words[i]) == file_name(info.executable))
            return {words.begin() + static_cast<std::ptrdiff_t>(i), words.end()};
        is_option_value = words[i] == "-d" || words[i] == "--data";
    }
    return {info.executable};
}

/// Whether calls that took less than a given time were left out.
bool leaves_out_short(const Info& info) {
    const auto words = words_of(info.command);
    const std::size_t options = words.size() - std::min(words.size(), command_of(info).size());
    return std::any_of(
        words.begin(), words.begin() + static_cast<std::ptrdiff_t>(options), [](std::string_view word) {
            return word.starts_with("--time-filter") || (word.starts_with("-t") && !word.starts_with("--"));
        });
}

std::string machine_of(const Info& info) {
    std::string machine = info.processor;
    if (info.processors > 0) machine += fmt::format(", {} processors", info.processors);
    if (!info.kernel_version.empty()) machine += ", " + info.kernel_version;
    return machine;
}

void describe_process(const Info& info, const Tasks& tasks, TraceBuilder& trace) {
    trace::ProcessInfo& process = trace.info().process;
    process.recorder = info.version.empty() ? "uftrace" : "uftrace " + info.version;
    process.pid = tasks.sessions().front().pid;
    process.executable = info.executable.empty() ? tasks.sessions().front().executable : info.executable;
    process.command = command_of(info);
    process.host = info.host;
    process.machine = machine_of(info);
    process.processors = info.processors;
    process.shortest_missing = leaves_out_short(info);
    if (process.shortest_missing)
        trace.info().remarks.emplace_back(
            "uftrace has left out calls that were shorter than a limit (-t): the fastest ones are missing.");
    trace.set_clock("uftrace", 1e9, 1);
}

/// Reads the tasks of a directory one after the other.
class FolderReader {
  public:
    FolderReader(const Folder& folder, const Info& info, const Tasks& tasks, TraceBuilder& trace,
                 const Progress& progress)
        : folder_(folder),
          info_(info),
          tasks_(tasks),
          trace_(trace),
          functions_(folder, tasks, info, trace),
          progress_(progress) {}

    Result<void> read() {
        auto schedules = read_schedules(folder_);
        if (!schedules) return tl::unexpected{schedules.error()};
        trace_.info().switches.lost = schedules->lost;
        for (const Task& task : tasks_.tasks())
            if (const auto size = size_of(task))
                total_ += *size;
            else
                missing_.push_back(file_of(task));
        for (const Task& task : tasks_.tasks())
            if (size_of(task) == std::uint64_t{0}) empty_.push_back(file_of(task));
        if (missing_.size() == tasks_.tasks().size() && !missing_.empty())
            return fail("{} is missing: copy the directory again, or record again",
                        folder_.path_of(missing_.front()));
        for (const Task& task : tasks_.tasks())
            if (size_of(task))
                if (auto done = read_task(task, schedules->by_tid[task.tid]); !done) return done;
        add_remarks();
        remark_switches(*schedules);
        return {};
    }

  private:
    static std::string file_of(const Task& task) { return fmt::format("{}.dat", task.tid); }

    std::optional<std::uint64_t> size_of(const Task& task) const {
        const auto file = folder_.files().find(file_of(task));
        return file == folder_.files().end() ? std::nullopt : std::optional{file->second};
    }

    std::string name_of(const Task& task, const Schedule& schedule) const {
        if (!schedule.name.empty()) return schedule.name;
        const SessionSpan span = tasks_.session_at(task, UINT64_MAX - 1);
        return span.session == nullptr ? std::string{} : std::string{file_name(span.session->executable)};
    }

    Result<void> read_task(const Task& task, const Schedule& schedule) {
        auto stream = folder_.open(file_of(task));
        if (!stream) return tl::unexpected{stream.error()};
        RecordBytes bytes{*std::move(stream), folder_.path_of(file_of(task))};
        ThreadBuilder& thread = trace_.add_thread(name_of(task, schedule), task.tid);
        TaskReader reader{task, tasks_, schedule.switches, functions_, trace_, thread, totals_};
        auto done = reader.read(bytes, [&](std::uint64_t position) { progress_(done_ + position, total_); });
        if (!done) return done;
        done_ += bytes.position();
        add_life(task, schedule, thread);
        thread.release();
        return {};
    }

    /// Threads are told of when they call a function first, which may be long after they began.
    static void add_life(const Task& task, const Schedule& schedule, ThreadBuilder& thread) {
        std::uint64_t began = std::min(task.start, schedule.began.value_or(task.start));
        if (!schedule.switches.empty()) began = std::min(began, schedule.switches.front().time);
        thread.began(began);
        for (const trace::OffCpu& each : absences(schedule.switches))
            if (!schedule.ended || each.in <= *schedule.ended) thread.off_cpu(each);
        if (schedule.ended) thread.ended(*schedule.ended);
    }

    template <class... Args>
    void remark(fmt::format_string<Args...> format, Args&&... args) {
        trace_.info().remarks.push_back(fmt::format(format, std::forward<Args>(args)...));
    }

    void remark_missing() {
        if (!missing_.empty())
            remark("The directory has no file of {} that task.txt names: {}.",
                   counted(missing_.size(), "thread", "threads"), some_names(missing_));
        if (!empty_.empty())
            remark("The files of {} that task.txt names are empty: {}.",
                   counted(empty_.size(), "thread", "threads"), some_names(empty_));
    }

    /// The file of a processor on which the program never was is empty, too.
    void remark_switches(const Schedules& schedules) {
        constexpr std::uint32_t kMaxProcessors = 1U << 16U;
        std::vector<std::string> missing, empty;
        const std::uint32_t processors = std::min(info_.processors, kMaxProcessors);
        for (std::uint32_t processor = 0; processor < processors; ++processor) {
            const std::string name = switches_file(processor);
            const auto file = folder_.files().find(name);
            if (file == folder_.files().end()) missing.push_back(name);
            if (file != folder_.files().end() && file->second == 0) empty.push_back(name);
        }
        const bool some = missing.size() < processors;
        if (!missing.empty() && (some || info_.switches))
            remark("The directory has no {}: times off the processors are not complete.",
                   some_names(missing));
        else if (!empty.empty() && empty.size() == processors)
            remark("{} {} empty: times off the processors are not known.", some_names(empty),
                   empty.size() == 1 ? "is" : "are");
        else if (!empty.empty() && schedules.unpaired > 0 && schedules.lost == 0)
            remark(
                "{} {} empty, although threads were on another processor {}: times off the processors are "
                "not "
                "complete.",
                some_names(empty), empty.size() == 1 ? "is" : "are",
                counted(schedules.unpaired, "time", "times"));
    }

    void add_remarks() {
        std::set<std::uint32_t> processes;
        for (const Task& task : tasks_.tasks())
            processes.insert(task.pid);
        if (processes.size() > 1)
            remark("The directory has the threads of {} processes, which are analyzed together.",
                   grouped(processes.size()));
        remark_missing();
        if (info_.estimated_returns)
            remark(
                "uftrace has estimated when calls ended (--estimate-return), so their durations are no "
                "measurements.");
        if (info_.kernel) remark("Functions of the kernel (kernel-cpu*.dat) are passed over.");
        if (totals_.gaps > 0)
            remark("uftrace has lost {} records at {}: calls that were open there are left out.",
                   grouped(totals_.lost), counted(totals_.gaps, "place", "places"));
        std::vector<std::string>& remarks = trace_.info().remarks;
        add_remark(remarks, totals_.events, "record of an event, which is no call, is passed over",
                   "records of events, which are no calls, are passed over");
        add_remark(remarks, totals_.moved, "record earlier than the one before is taken as of the same time",
                   "records earlier than the one before are taken as of the same time");
        add_remark(remarks, totals_.unwound,
                   "call that longjmp() has left is taken to end when the next record was written",
                   "calls that longjmp() has left are taken to end when the next record was written");
        add_remark(
            remarks, totals_.undescribed,
            "call or return has values that the directory does not describe, which are passed over",
            "calls or returns have values that the directory does not describe, which are passed over");
        add_remark(remarks, functions_.nameless(),
                   "function is called by address, because no *.sym file has a name for it",
                   "functions are called by address, because no *.sym file has a name for them");
        trace_.info().dropped = totals_.lost;
    }

    const Folder& folder_;
    const Info& info_;
    const Tasks& tasks_;
    TraceBuilder& trace_;
    Functions functions_;
    const Progress& progress_;
    Totals totals_;
    std::uint64_t done_ = 0;
    std::uint64_t total_ = 0;
    std::vector<std::string> missing_;  ///< files
    std::vector<std::string> empty_;
};

}  // namespace
}  // namespace uftrace

bool is_uftrace_directory(const std::string& path) {
    const std::string info = path + "/info";
    std::error_code error;
    const auto kind = std::filesystem::status(info, error).type();
    using std::filesystem::file_type;
    if (kind == file_type::not_found || kind == file_type::none || kind == file_type::directory) return false;
    // Whatever is wrong with the other one, reading tells it.
    if (std::filesystem::exists(path + "/task.txt", error)) return true;
    if (kind != file_type::regular) return false;
    std::ifstream file{info, std::ios::binary};
    std::array<char, 16> bytes{};
    file.read(bytes.data(), bytes.size());
    return uftrace::begins_as_info({bytes.data(), static_cast<std::size_t>(file.gcount())});
}

Result<trace::TraceReader> read_uftrace(const std::string& path, const Progress& progress) {
    const auto folder = uftrace::open_folder(path);
    if (!folder) return tl::unexpected{folder.error()};
    return read_uftrace(**folder, path, progress);
}

Result<trace::TraceReader> read_uftrace(const uftrace::Folder& folder, const std::string& name,
                                        const Progress& progress) {
    const auto info = uftrace::read_info(folder);
    if (!info) return tl::unexpected{info.error()};
    if (!folder.has("task.txt"))
        return fail("{} is missing: copy the directory again, or record again with uftrace 0.13",
                    folder.path_of("task.txt"));
    const auto text = folder.text("task.txt", uftrace::kMaxTasks);
    if (!text) return tl::unexpected{text.error()};
    const auto tasks = uftrace::Tasks::parse(*text, folder.path_of("task.txt"));
    if (!tasks) return tl::unexpected{tasks.error()};
    auto trace = TraceBuilder::create(name);
    if (!trace) return tl::unexpected{trace.error()};
    uftrace::describe_process(*info, *tasks, *trace);
    uftrace::FolderReader reader{folder, *info, *tasks, *trace, progress};
    if (const auto done = reader.read(); !done) return tl::unexpected{done.error()};
    return std::move(*trace).finish();
}

}  // namespace rdam::inputs
