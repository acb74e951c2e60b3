#include "wrappers/perf/perf_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "tools/base/name_text.h"
#include "tools/base/text_lines.h"
#include "tools/base/units.h"
#include "wrappers/perf/sample_header.h"

namespace rdam {

namespace {

constexpr std::string_view kUnknown = "[unknown]";

/// Longer than any name that a compiler makes.
constexpr std::size_t kMaxLine = 1U << 20U;

struct Frame {
    std::string_view address;  // without 0x
    std::string_view symbol;   // empty: unknown
    std::uint64_t offset = 0;
    bool has_offset = false;
    std::string_view module;
    bool kernel = false;
};

/// Kernel modules are bracketed like the kernel itself, and so are mappings that are no files of the program.
bool is_kernel_code(std::string_view address, std::string_view module) {
    std::uint64_t value = 0;
    std::from_chars(address.data(), address.data() + address.size(), value, 16);
    constexpr std::uint64_t kUpperHalf = 0xffff800000000000;
    constexpr std::uint64_t kVsyscall = 0xffffffffff600000;
    if (value >= kUpperHalf) return value < kVsyscall || value >= kVsyscall + 0x1000;
    return module.starts_with("[kernel") || module.starts_with("[guest.kernel") || module.ends_with(".ko") ||
           module.find(".ko.") != std::string_view::npos;
}

/// "f(int)+0x53", "f(int)": offsets are an option of perf script. False: the offset is none.
bool set_symbol(std::string_view text, Frame& frame) {
    constexpr std::string_view kOffset = "+0x";
    frame.symbol = text;
    const auto offset = text.rfind(kOffset);
    if (offset == std::string_view::npos || offset == 0) return offset != 0;
    const char* const end = text.data() + text.size();
    const auto digits = std::from_chars(text.data() + offset + kOffset.size(), end, frame.offset, 16);
    frame.has_offset = digits.ec == std::errc{} && digits.ptr == end;
    frame.symbol = text.substr(0, offset);
    return frame.has_offset;
}

/// Where the module in brackets begins, behind a blank: "(/tmp/my app (1)/app (deleted))". What is in front
/// of it may have brackets, too: "operator() (app)".
std::size_t module_begin(std::string_view text) {
    int depth = 0;
    for (std::size_t at = text.size(); at-- > 1;) {
        if (text[at] == ')') ++depth;
        if (text[at] == '(' && --depth == 0)
            return text[at - 1] == ' ' || text[at - 1] == '\t' ? at : std::string_view::npos;
    }
    return std::string_view::npos;
}

/// "99c3 f(int)+0x53 (/usr/lib/libf.so)", "7ff32727a758 [unknown] ([unknown])"
std::optional<Frame> frame_in(std::string_view text) {
    text = trim_blanks(text);
    Frame frame;
    const auto blank = text.find(' ');
    if (blank == std::string_view::npos || text.back() != ')') return std::nullopt;
    frame.address = text.substr(0, blank);
    if (frame.address.find_first_not_of("0123456789abcdef") != std::string_view::npos) return std::nullopt;
    text = trim_blanks(text.substr(blank));
    // What lies behind an offset is a module, whatever brackets it has.
    constexpr std::string_view kOffset = "+0x";
    auto begin = module_begin(text);
    if (text.starts_with(kUnknown) && text.substr(kUnknown.size()).starts_with(" (")) {
        begin = kUnknown.size() + 1;
    } else if (const auto offset = text.rfind(kOffset); offset != std::string_view::npos) {
        const auto digits = text.find_first_not_of("0123456789abcdef", offset + kOffset.size());
        if (digits != std::string_view::npos && text.substr(digits).starts_with(" (")) begin = digits + 1;
    }
    if (begin == std::string_view::npos || begin == 0) return std::nullopt;
    const auto symbol = trim_blanks(text.substr(0, begin));
    if (symbol.empty() || (symbol != kUnknown && !set_symbol(symbol, frame))) return std::nullopt;
    frame.module = text.substr(begin + 1);
    frame.module.remove_suffix(1);
    frame.kernel = is_kernel_code(frame.address, frame.module);
    return frame;
}

/// "[0x7ff327437000(0x26000) @ 0x1000 fe:00 325835 0"
Processes::Mapping mapping_in(std::string_view text) {
    const auto number = [&](std::string_view mark) {
        const auto at = text.find(mark);
        if (at == std::string_view::npos) return std::uint64_t{0};
        const auto digits = text.substr(at + mark.size());
        return number_in<std::uint64_t>(digits.substr(0, digits.find_first_not_of("0123456789abcdef")), 16)
            .value_or(0);
    };
    return {.begin = number("[0x"), .size = number("(0x"), .offset = number("@ 0x"), .object = 0};
}

/// Level, module and name in one: none of them holds the separator.
constexpr char kBetween = '\0';

/// `place`: of a frame without a name, in its file.
std::string name_key(const Frame& frame, std::uint64_t place) {
    std::string key;
    key.reserve(frame.module.size() + frame.symbol.size() + 24);
    key.append(1, frame.kernel ? 'k' : '.').append(frame.module).append(1, kBetween);
    if (frame.symbol.empty())
        key.append(fmt::format("0x{:x}", place));
    else
        key.append(frame.symbol);
    return key;
}

}  // namespace

void SamplePlaces::add(std::string_view module, std::string_view function, std::uint64_t offset) {
    ++by_function_[std::string(function)][file_name_of(module)][offset];
}

SamplePlaces::Offsets SamplePlaces::of(const std::string& module, const std::string& function) const {
    Offsets all;
    const auto found = by_function_.find(function);
    if (found == by_function_.end()) return all;
    for (const auto& [name, offsets] : found->second) {
        if (!module.empty() && name != module) continue;
        for (const auto& [offset, samples] : offsets)
            all[offset] += samples;
    }
    return all;
}

void PerfSamples::add(std::string_view text) {
    for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
        if (unfinished_.empty()) {
            if (!too_long_) add_line(text.substr(0, end));
        } else {
            unfinished_.append(text.substr(0, end));
            add_line(unfinished_);
            unfinished_.clear();
        }
        too_long_ = false;
        text.remove_prefix(end + 1);
    }
    if (too_long_) return;
    unfinished_.append(text);
    too_long_ = unfinished_.size() > kMaxLine;
    if (too_long_) unfinished_.clear();
}

/// perf prints line breaks in names as they are. A frame ends with the parenthesis of its module; what
/// follows a mapping and is no sample belongs to its path.
void PerfSamples::add_line(std::string_view line) {
    constexpr unsigned kMaxPieces = 64;
    const bool new_object = std::exchange(new_object_, false);
    if (!broken_.empty()) {
        broken_.append(1, '\n').append(line);
        if (!line.ends_with(')') && ++pieces_ < kMaxPieces) return;
        const std::string frame = std::exchange(broken_, {});
        if (wanted_ != Wanted::nothing) add_frame(frame);
    } else if (line.starts_with('\t')) {
        has_chains_ = true;
        take_frame(line);
    } else if (const auto record = line.find("PERF_RECORD_");
               record == 0 || (record != std::string_view::npos && line[record - 1] == ' ')) {
        add_record(line.substr(record));
    } else if (line.find(": ") != std::string_view::npos || line.ends_with(':')) {
        begin_sample(line);
    } else if (new_object) {
        objects_.back().append(1, '\n').append(line);
        new_object_ = true;
    }
}

void PerfSamples::take_frame(std::string_view text) {
    if (!trim_blanks(text).ends_with(')')) {
        broken_ = text;
        pieces_ = 1;
    } else if (wanted_ != Wanted::nothing) {
        add_frame(text);
    }
}

/// "   1001001 cpu-clock: ", without call chains followed by the one frame
void PerfSamples::begin_sample(std::string_view line) {
    wanted_ = Wanted::nothing;
    const auto header = sample_header(line);
    if (!header || !processes_.is_wanted(header->command, header->pid, header->tid)) return;
    period_ = header->period;
    pid_ = header->pid;
    auto found = std::ranges::find(events_, header->event, &Event::name);
    if (found == events_.end()) {
        constexpr std::size_t kMaxEvents = 1000;
        if (events_.size() >= kMaxEvents) return;
        events_.push_back(
            {.name = std::string(header->event), .period = 0, .rows = {}, .callers = {}, .places = {}});
        found = events_.end() - 1;
    }
    event_ = static_cast<std::size_t>(found - events_.begin());
    wanted_ = Wanted::place;
    ++samples_;
    if (!trim_blanks(header->rest).empty()) take_frame(header->rest);
}

void PerfSamples::add_frame(std::string_view line) {
    const auto frame = frame_in(line);
    if (!frame) return;
    Event& event = events_[event_];
    if (wanted_ == Wanted::place) {
        event.period += period_;
        const auto address = number_in<std::uint64_t>(frame->address, 16).value_or(0);
        event.rows[name_key(*frame, processes_.place_in_file(pid_, address))] += period_;
        if (frame->has_offset) event.places.add(frame->module, frame->symbol, frame->offset);
        wanted_ = frame->kernel ? Wanted::caller : Wanted::nothing;
    } else if (!frame->kernel && !frame->symbol.empty()) {
        event.callers[name_key(*frame, 0)] += period_;
        wanted_ = Wanted::nothing;
    }
}

void PerfSamples::add_record(std::string_view line) {
    if (line.starts_with("PERF_RECORD_MMAP"))
        add_mapping(line);
    else
        processes_.add_record(line);
}

/// Behind the offset stand the device, the inode and its generation, or a build ID. 0: not known.
std::uint64_t inode_in(std::string_view mapping) {
    const auto words = words_of(mapping.substr(std::min(mapping.find('@'), mapping.size())));
    constexpr std::size_t kDevice = 2;
    constexpr std::size_t kInode = 3;
    if (words.size() <= kInode || words[kDevice].find(':') == std::string_view::npos) return 0;
    return number_in<std::uint64_t>(words[kInode]).value_or(0);
}

/// "PERF_RECORD_MMAP2 7/7: [0x7ff327437000(0x26000) @ 0x1000 fe:00 325835 0]: r-xp /usr/lib/libf.so"
void PerfSamples::add_mapping(std::string_view line) {
    const auto end = line.find("]: ");
    if (end == std::string_view::npos) return;
    const auto ids = line.substr(std::min(line.find(' '), line.size() - 1) + 1);
    const auto pid = number_in<std::int64_t>(ids.substr(0, ids.find('/'))).value_or(-1);
    auto mapping = mapping_in(line.substr(0, end));
    const std::uint64_t inode = inode_in(line.substr(0, end));
    line = line.substr(end + 3);
    const auto blank = line.find(' ');
    if (blank == std::string_view::npos || line.substr(0, blank).find('x') == std::string_view::npos) return;
    const auto path = trim_blanks(line.substr(blank));
    if (!path.starts_with('/') || path.starts_with("//")) return;
    const auto [known, is_new] = known_objects_.try_emplace(std::string(path), objects_.size());
    mapping.object = known->second;
    processes_.add_mapping(pid, mapping);
    if (!is_new) return;
    objects_.emplace_back(path);
    if (inode != 0) inodes_.emplace(path, inode);
    new_object_ = true;
}

std::vector<std::string> PerfSamples::objects() const {
    if (processes_.asks_for_all()) return objects_;
    std::vector<std::string> wanted;
    for (const std::size_t object : processes_.objects())
        wanted.push_back(objects_[object]);
    return wanted;
}

const PerfSamples::Event* PerfSamples::chosen() const {
    auto found = std::ranges::find_if(events_, [](const Event& each) { return counts_time(each.name); });
    if (found == events_.end()) found = events_.begin();
    return found == events_.end() ? nullptr : &*found;
}

PerfReport PerfSamples::report() const {
    PerfReport report;
    const Event* const event = chosen();
    if (event == nullptr) return report;
    report.event = event->name;
    for (const Event& other : events_)
        if (&other != event) report.other_events.push_back(other.name);
    const auto name_of = [&](const std::string& key) {
        PerfRow row;
        const std::string_view kept = report.restored.emplace_back(key);
        const auto between = kept.find(kBetween);
        row.level = kept.front();
        row.module = kept.substr(1, between - 1);
        row.symbol = kept.substr(between + 1);
        return row;
    };
    const double percent = event->period > 0 ? 100 / event->period : 0;
    for (const auto& [key, period] : event->rows) {
        report.rows.push_back(name_of(key));
        report.rows.back().self = report.rows.back().children = percent * period;
    }
    for (const auto& [key, period] : event->callers) {
        const PerfRow row = name_of(key);
        report.kernel_callers.push_back(
            {.module = row.module, .function = row.symbol, .percent = percent * period});
    }
    return report;
}

SamplePlaces PerfSamples::places() const {
    const Event* const event = chosen();
    return event != nullptr ? event->places : SamplePlaces{};
}

bool is_perf_script_text(std::string_view text) {
    constexpr std::size_t kEnough = 64U << 10U;  // records may stand in front of the first sample
    TextLines lines(text.substr(0, kEnough));
    bool in_sample = false;
    for (std::string_view line; lines.next(line);) {
        if (line.starts_with('\t')) {
            if (in_sample && frame_in(line)) return true;
            continue;
        }
        in_sample = false;
        if (line.starts_with('#') || trim_blanks(line).empty()) continue;
        const auto header = sample_header(line);
        in_sample = header && trim_blanks(header->rest).empty();
        if (header && !in_sample && frame_in(header->rest)) return true;
    }
    return false;
}

namespace {

/// The kernel keeps no more of a name.
constexpr std::size_t kLongestName = 15;

struct Ids {
    std::int64_t pid = 0;
    std::int64_t tid = 0;
};

/// "12/34", "12:34"
std::optional<Ids> ids_in(std::string_view text, char between) {
    const auto at = text.find(between);
    if (at == std::string_view::npos) return std::nullopt;
    const auto pid = number_in<std::int64_t>(text.substr(0, at));
    const auto tid = number_in<std::int64_t>(text.substr(at + 1));
    if (!pid || !tid) return std::nullopt;
    return Ids{*pid, *tid};
}

/// The content of the first brackets, which are cut off with all before them.
std::string_view take_bracketed(std::string_view& text) {
    const auto begin = text.find('(');
    const auto end = text.find(')');
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return {};
    const auto content = text.substr(begin + 1, end - begin - 1);
    text.remove_prefix(end + 1);
    return content;
}

}  // namespace

Processes::Processes(std::string_view wanted) : wanted_(wanted) {
    wanted_pid_ = number_in<std::int64_t>(wanted).value_or(-1);
}

void Processes::add_record(std::string_view record) {
    constexpr std::string_view kCommand = "PERF_RECORD_COMM";
    constexpr std::string_view kFork = "PERF_RECORD_FORK";
    if (record.starts_with(kCommand)) {
        const bool exec = record.substr(kCommand.size()).starts_with(" exec");
        const auto begin = record.find(": ");
        const auto end = record.rfind(':');
        if (begin == std::string_view::npos || end <= begin + 1) return;
        const auto ids = ids_in(trim_blanks(record.substr(end + 1)), '/');
        // A thread may have a name of its own.
        if (!ids || ids->pid != ids->tid) return;
        Process& process = processes_[ids->pid];
        process.name = record.substr(begin + 2, end - begin - 2);
        if (exec) {
            process.mappings.clear();
            process.counted = 0;
        }
    } else if (record.starts_with(kFork)) {
        const auto child = ids_in(take_bracketed(record), ':');
        const auto parent = ids_in(take_bracketed(record), ':');
        if (!child || !parent || child->pid == parent->pid) return;
        const auto known = processes_.find(parent->pid);
        if (known == processes_.end()) return;
        const Process copy = known->second;
        processes_[child->pid] = copy;
    }
}

void Processes::add_mapping(std::int64_t pid, const Mapping& mapping) {
    processes_[pid].mappings.push_back(mapping);
}

std::uint64_t Processes::place_in_file(std::int64_t pid, std::uint64_t address) const {
    const auto process = processes_.find(pid);
    if (process == processes_.end()) return address;
    // What was mapped last is there.
    const auto& mappings = process->second.mappings;
    const auto found = std::find_if(mappings.rbegin(), mappings.rend(), [&](const Mapping& mapping) {
        return address >= mapping.begin && address - mapping.begin < mapping.size;
    });
    return found == mappings.rend() ? address : address - found->begin + found->offset;
}

bool Processes::is_wanted(std::string_view command, std::int64_t pid, std::int64_t tid) {
    if (wanted_.empty()) return true;
    Process& process = processes_[pid];
    // Recordings without that record: the first thread has the name of its process.
    if (process.name.empty() && (pid == tid || pid < 0)) process.name = command;
    const std::string& name = process.name.empty() ? std::string(command) : process.name;
    ++samples_[name];
    const std::string_view wanted = std::string_view(wanted_).substr(0, kLongestName);
    const bool is_it =
        wanted_pid_ >= 0 ? pid == wanted_pid_ || tid == wanted_pid_ : name == wanted || command == wanted;
    if (!is_it) return false;
    for (; process.counted < process.mappings.size(); ++process.counted)
        objects_.insert(process.mappings[process.counted].object);
    return true;
}

std::string Processes::seen() const {
    std::vector<std::pair<std::string, std::uint64_t>> all(samples_.begin(), samples_.end());
    std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<std::string> names;
    for (const auto& [name, samples] : all)
        names.push_back(fmt::format("{} ({})", name, counted(samples, "sample", "samples")));
    return some_names(names);
}

}  // namespace rdam
