#include "wrappers/hot/hot_report.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "tools/base/child_process.h"
#include "tools/base/demangle.h"
#include "tools/base/files.h"
#include "tools/base/printable.h"
#include "tools/base/text_lines.h"
#include "tools/base/units.h"
#include "wrappers/find/function_list.h"
#include "wrappers/hot/hot_functions.h"
#include "wrappers/object/object_file.h"
#include "wrappers/perf/perf_data.h"
#include "wrappers/perf/report_text.h"

namespace rdam {

namespace {

constexpr std::size_t kMaxInput = 1U << 30U;

struct Source {
    std::unique_ptr<const std::string> text;  ///< of a report, whose views point into it; null: samples
    PerfReport report;
    bool has_chains = false;  ///< the samples have
    std::vector<std::string> objects;
    SamplePlaces places;
    std::map<std::string, std::uint64_t> inodes;
};

/// perf report -v prints whole paths.
std::vector<std::string> paths_in(const PerfReport& report) {
    std::set<std::string> paths;
    for (const auto& row : report.rows)
        if (row.level == '.' && row.module.substr(0, 1) == "/" && !is_no_file(row.module))
            paths.insert(std::string(row.module));
    return {paths.begin(), paths.end()};
}

Source source_of_samples(const PerfSamples& samples) {
    return {.text = {},
            .report = samples.report(),
            .has_chains = samples.has_chains(),
            .objects = samples.objects(),
            .places = samples.places(),
            .inodes = samples.inodes()};
}

Result<Source> source_of_data(const std::string& path, const HotRequest& request) {
    const auto samples = read_perf_data(path, request.process, request.progress);
    if (!samples) return tl::unexpected(samples.error());
    return source_of_samples(*samples);
}

/// perf needs a file in which it can seek.
Result<Source> source_of_copy(const std::string& bytes, const HotRequest& request) {
    const auto fd = open_temporary_file("perf");
    if (!fd) return tl::unexpected(fd.error());
    const Descriptor file(*fd);
    if (const auto written = write_all(file.get(), bytes); !written)
        return fail(
            "{}: cannot be copied to the directory for temporary files: {}; give another one with TMPDIR",
            display_path(request.input), written.error().message);
    return source_of_data(fmt::format("/proc/{}/fd/{}", ::getpid(), file.get()), request);
}

Result<Source> source_of_script(const std::string& text, const HotRequest& request) {
    PerfSamples samples(request.process);
    samples.add(text);
    samples.add("\n");
    if (samples.samples() == 0)
        return fail("{}", no_such_process(display_path(request.input), samples, request.process));
    return source_of_samples(samples);
}

Result<Source> source_of(const HotRequest& request) {
    // A recording may be larger than what is sensible to hold in memory; only its text form is read here.
    if (request.input != "-" && is_perf_recording(request.input))
        return source_of_data(request.input, request);
    auto bytes = read_whole_file(request.input, kMaxInput);
    if (!bytes) return tl::unexpected(bytes.error());
    if (is_perf_data(*bytes)) return source_of_copy(*bytes, request);
    if (is_perf_script_text(*bytes)) return source_of_script(*bytes, request);
    if (!request.process.empty())
        return fail(
            "{}: is a report, whose rows have no process: give rdam hot the perf.data file, or print the "
            "report "
            "of that process alone (perf report --stdio --comm {})",
            display_path(request.input), request.process);
    Source source;
    source.text = std::make_unique<const std::string>(without_colours(*bytes));
    auto report = parse_perf_text(*source.text, display_path(request.input));
    if (!report) return tl::unexpected(report.error());
    source.report = std::move(*report);
    source.objects = paths_in(source.report);
    return source;
}

/// What functions of files are called, by places in the files: perf does not read .gnu_debugdata, nor files
/// without section headers.
class Names {
  public:
    /// Empty: none is known.
    std::string_view at(std::string_view path, std::uint64_t offset) {
        const ObjectFile* file = opened(path);
        const auto address = file == nullptr ? std::nullopt : address_of(*file, offset);
        const Symbol* symbol = address ? file->covering(*address) : nullptr;
        return symbol != nullptr && symbol->kind == SymbolKind::function ? symbol->name : std::string_view{};
    }

    /// The name of the function that begins where this mark is; empty: none does.
    std::string_view behind_mark(std::string_view path, std::string_view mark) {
        const ObjectFile* const file = opened(path);
        if (file == nullptr) return {};
        for (const std::uint32_t index : file->named(mark))
            for (const Symbol& symbol : file->at(file->symbols()[index].address))
                if (symbol.size > 0 && symbol.kind == SymbolKind::function) return symbol.name;
        return {};
    }

  private:
    const ObjectFile* opened(std::string_view path) {
        const auto [known, is_new] = files_.try_emplace(std::string(path));
        if (is_new) {
            if (auto file = ObjectFile::open(known->first)) known->second = std::move(*file);
        }
        return known->second ? &*known->second : nullptr;
    }

    /// The link-time address of what is so far into the file.
    static std::optional<std::uint64_t> address_of(const ObjectFile& file, std::uint64_t offset) {
        for (const GElf_Phdr& segment : read_segments(file.image()))
            if (segment.p_type == PT_LOAD && offset >= segment.p_offset &&
                offset - segment.p_offset < segment.p_filesz)
                return segment.p_vaddr + (offset - segment.p_offset);
        return std::nullopt;
    }

    std::map<std::string, std::optional<ObjectFile>, std::less<>> files_;
};

constexpr std::string_view kPrefix = "0x";

bool is_nameless_place(const PerfRow& row) {
    return row.level == '.' && row.module.starts_with('/') && !is_no_file(row.module) &&
           row.symbol.starts_with(kPrefix);
}

/// OCaml marks where the code of a unit begins, which is where its first function does. perf gives one of the
/// names, by version.
bool is_mark(const PerfRow& row) {
    return row.level == '.' && row.module.starts_with('/') && row.symbol.starts_with("caml") &&
           row.symbol.ends_with("code_begin");
}

/// Replaces addresses, and marks at the begin of functions, by the linkage names of the functions there, as
/// rdam record knows them. The addresses are places in the files, as PerfSamples gives them. What has no name
/// stays as it is, and so does what is in a file that is not the one that was sampled (changed_files()):
/// another function may be there now.
void resolve_addresses(PerfReport& report, const std::map<std::string, std::string>& changed) {
    Names names;
    for (PerfRow& row : report.rows) {
        const bool is_nameless = is_nameless_place(row);
        if ((!is_nameless && !is_mark(row)) || changed.contains(std::string{row.module})) continue;
        std::string_view name;
        if (!is_nameless)
            name = names.behind_mark(row.module, row.symbol);
        else if (const auto offset = number_in<std::uint64_t>(row.symbol.substr(kPrefix.size()), 16))
            name = names.at(row.module, *offset);
        if (!name.empty()) row.symbol = report.restored.emplace_back(name);
    }
}

std::vector<std::string> default_waits(const Catalogue& catalogue) {
    std::vector<std::string> names;
    for (const auto& function : catalogue.functions())
        if (function.waits && function.in_default_list) names.push_back(function.name);
    return names;
}

void add_waits(const HotRequest& request, const Catalogue& catalogue, HotReport& result) {
    auto waiting = waiting_functions(request.programs.empty() ? result.objects : request.programs, catalogue);
    for (const auto& reason : waiting.unreadable)
        result.notes.push_back(fmt::format("{}: the waiting functions it calls are unknown", reason));
    if (waiting.objects == 0) {
        waiting.names = default_waits(catalogue);
        result.notes.emplace_back(
            "the files of the program are unknown, so all waiting functions of the catalogue are added; give "
            "the program with --program, or leave them out with --no-waits");
    }
    std::set<std::string> known;
    for (const auto& function : result.hot.functions)
        known.insert(well_known_name(function.name, catalogue));
    std::ranges::copy_if(waiting.names, std::back_inserter(result.waits), [&](const std::string& name) {
        return known.count(well_known_name(name, catalogue)) == 0;
    });
}

void add_notes(const Source& source, HotReport& result) {
    const PerfReport& report = source.report;
    if (!report.other_events.empty())
        result.notes.push_back(
            fmt::format("only the event {} is read, of {}", report.event, report.other_events.size() + 1));
    const double open = result.hot.kernel_percent - result.hot.kernel_credited_percent;
    constexpr double kWorthSaying = 0.5;
    if (open < kWorthSaying) return;
    const auto* why = source.text != nullptr
                          ? "a report in text form does not say which functions called the kernel; give rdam "
                            "hot the perf.data file, recorded with perf record -g"
                      : source.has_chains ? "no user-space caller was recorded for it"
                                          : "the samples have no call chains; record with perf record -g";
    result.notes.push_back(
        fmt::format("{:.1f} % of the time is in the kernel and credited to no function: {}", open, why));
}

std::string percent_text(double percent) {
    constexpr double kOneDecimal = 0.1;
    return percent >= kOneDecimal ? fmt::format("{:.1f} %", percent) : fmt::format("{:.2f} %", percent);
}

std::string reason_text(const LeftOutLine& line) {
    switch (line.why) {
        case LeftOut::kernel:
            return "kernel symbol";
        case LeftOut::unresolved:
            return "install debug symbols if this is code of the program";
        case LeftOut::inlined:
            return "inlined: exists only inside other functions, which can be wrapped";
        case LeftOut::no_file:
            return "in no file: generated code or the kernel's vdso";
        case LeftOut::linker:
            return "belongs to the dynamic linker, which the recorder itself depends on";
        case LeftOut::guest:
            return "runs in a virtual machine";
        case LeftOut::module:
            return "not in a requested module";
        case LeftOut::unwritable:
            return "its name cannot be written in a list";
        case LeftOut::refused:
            return "rdam record would skip it: " + line.reason;
    }
    return {};
}

std::string left_out_name(const LeftOutLine& line) {
    if (!line.name.empty()) return line.module.empty() ? line.name : line.module + ":" + line.name;
    const bool unknown = line.module.empty() || line.module == "[unknown]";
    return fmt::format("{} address{} without a name in {}", line.rows, line.rows == 1 ? "" : "es",
                       unknown ? "an unknown module" : line.module);
}

std::string left_out_line(const LeftOutLine& line, const std::map<std::string, std::string>& changed) {
    const auto what = left_out_name(line);
    const auto found = line.why == LeftOut::unresolved ? changed.find(line.path) : changed.end();
    const auto why = found == changed.end() ? reason_text(line) : found->second;
    auto share = percent_text(line.percent);
    if (line.with_callees > line.percent && line.rows == 1)
        share += fmt::format(", {} with callees", percent_text(line.with_callees));
    return fmt::format("left out: {} ({}): {}", what, share, why);
}

/// Of symbols whose time is not lost. Empty: there are none.
std::string kernel_line(const std::vector<LeftOutLine>& left_out) {
    std::size_t count = 0;
    double percent = 0;
    for (const auto& line : left_out) {
        if (line.why != LeftOut::kernel) continue;
        ++count;
        percent += line.percent;
    }
    if (count == 0) return {};
    return fmt::format("left out: {} kernel symbol{} ({}): the time counts for the functions that called {}",
                       count, plural_ending(count), percent_text(percent), count == 1 ? "it" : "them");
}

}  // namespace

Result<HotReport> make_hot_report(const HotRequest& request, const Catalogue& catalogue) {
    auto source = source_of(request);
    if (!source) return tl::unexpected(source.error());
    HotReport result;
    std::error_code error;
    const bool is_file = std::filesystem::is_regular_file(request.input, error) && request.input != "-";
    if (source->text == nullptr && is_file && std::ranges::any_of(source->report.rows, is_nameless_place))
        result.changed = changed_files(request.input, source->inodes);
    resolve_addresses(source->report, result.changed);
    result.hot = hot_functions(source->report, request.options);
    result.objects = std::move(source->objects);
    result.places = std::move(source->places);
    if (request.waits) add_waits(request, catalogue, result);
    result.objects.insert(result.objects.end(), request.programs.begin(), request.programs.end());
    add_notes(*source, result);
    return result;
}

std::string hot_list_text(const HotReport& report) {
    std::string text;
    if (!report.coverage.empty()) text = fmt::format("# {}{}\n", kCoverageMark, printable(report.coverage));
    for (const auto& function : report.hot.functions) {
        text += fmt::format("{}{}  # {}", function.leaf.empty() ? "" : "~",
                            list_entry_text(function.module, function.name), percent_text(function.percent));
        if (const auto readable = display_name(function.name, true); readable != function.name)
            text += ", " + printable(readable);
        if (!function.leaf.empty()) text += ", " + function.leaf;
        text += '\n';
    }
    for (const auto& name : report.waits)
        text += fmt::format("{}  # wait\n", name);
    return text;
}

std::vector<std::string> left_out_lines(const HotReport& report, const HotOptions& options) {
    std::vector<std::string> lines;
    const bool credited = report.hot.kernel_credited_percent > 0;
    if (auto kernel = kernel_line(report.hot.left_out); credited && !kernel.empty())
        lines.push_back(std::move(kernel));
    for (const auto& line : report.hot.left_out)
        if (!credited || line.why != LeftOut::kernel) lines.push_back(left_out_line(line, report.changed));
    const bool one = report.hot.below_limit == 1;
    if (report.hot.below_limit > 0)
        lines.push_back(fmt::format("left out: {} function{} of at most {} %{}, {}{}", report.hot.below_limit,
                                    one ? "" : "s", options.min_percent, one ? "" : " each",
                                    percent_text(report.hot.below_limit_percent), one ? "" : " together"));
    lines.insert(lines.end(), report.notes.begin(), report.notes.end());
    return lines;
}

namespace {

/// Enough to tell two files apart.
std::string beginning(const std::string& build_id) {
    constexpr std::size_t kShown = 8;
    return build_id.substr(0, kShown);
}

std::string gone(const std::string& path) {
    return fmt::format("{} is gone: put the file that was sampled back, or sample again", path);
}

bool is_later(timespec one, timespec other) {
    return std::pair(one.tv_sec, one.tv_nsec) > std::pair(other.tv_sec, other.tv_nsec);
}

/// Empty: nothing is known to be wrong. An inode alone proves nothing: what layers of file systems show may
/// be another one than the kernel has told perf.
std::string how_changed(const std::string& path, std::uint64_t inode, timespec recorded) {
    struct stat now {};
    if (::stat(path.c_str(), &now) != 0) return errno == ENOENT ? gone(path) : std::string{};
    const bool written = is_later(now.st_mtim, recorded);
    const bool replaced = now.st_ino != inode && is_later(now.st_ctim, recorded);
    if (!written && !replaced) return {};
    return fmt::format("{} has {} since it was sampled: put the file that was sampled back, or sample again",
                       path, replaced ? "been replaced" : "changed");
}

/// Empty: nothing is known to be wrong.
std::string how_changed(const std::string& path, const std::string& sampled) {
    if (::access(path.c_str(), F_OK) != 0) return gone(path);
    const auto object = ObjectFile::open(path);
    if (!object || object->build_id() == sampled) return {};
    return fmt::format(
        "{} is not the file that was sampled (build ID {}, sampled {}): put that file back, or sample again",
        path, object->build_id().empty() ? "missing" : beginning(object->build_id()), beginning(sampled));
}

}  // namespace

std::map<std::string, std::string> changed_files_in(const std::string& build_ids,
                                                    const std::map<std::string, std::uint64_t>& inodes,
                                                    timespec recorded) {
    std::map<std::string, std::string> changed;
    std::set<std::string> known;
    std::istringstream lines(build_ids);
    for (std::string build_id, path; lines >> build_id && std::getline(lines >> std::ws, path);) {
        if (!path.starts_with('/')) continue;
        known.insert(path);
        if (const std::string how = how_changed(path, build_id); !how.empty()) changed.emplace(path, how);
    }
    for (const auto& [path, inode] : inodes)
        if (!known.contains(path))
            if (const std::string how = how_changed(path, inode, recorded); !how.empty())
                changed.emplace(path, how);
    return changed;
}

std::map<std::string, std::string> changed_files(const std::string& perf_data,
                                                 const std::map<std::string, std::uint64_t>& inodes) {
    struct stat recording {};
    if (::stat(perf_data.c_str(), &recording) != 0) return {};
    constexpr std::size_t kMost = std::size_t{1} << 24U;
    const auto listed =
        run_child({"perf", "buildid-list", "-i", perf_data},
                  {"PERF_CONFIG=/dev/null", "LC_ALL=C", "DEBUGINFOD_URLS=", "LD_PRELOAD"}, kMost);
    return listed && listed->exit_code == 0 ? changed_files_in(listed->out, inodes, recording.st_mtim)
                                            : std::map<std::string, std::string>{};
}

}  // namespace rdam
