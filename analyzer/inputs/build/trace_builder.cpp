#include "analyzer/inputs/build/trace_builder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "analyzer/inputs/build/builder_state.h"
#include "tools/base/files.h"
#include "tools/trace/format.h"

namespace rdam::inputs {
namespace {

constexpr std::size_t kMaxChunk = std::size_t{1} << 16U;
constexpr std::size_t kMinChunk = std::size_t{1} << 10U;
/// Events in the encoders of all threads.
constexpr std::size_t kMaxHeld = std::size_t{1} << 22U;
constexpr std::size_t kMaxTexts = 1'000'000;
constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kMaxKept = std::size_t{1} << 20;  ///< bytes of texts that a trace has

void number_words(trace::FunctionInfo& function) {
    if (function.parameters.size() > trace::format::kMaxEventWords)
        function.parameters.resize(trace::format::kMaxEventWords);
    if (function.result.size() > 1) function.result.resize(1);
    std::uint16_t word = 0;
    for (trace::ParameterInfo& each : function.parameters)
        each.word = word++;
    function.enter_words = word;
    for (trace::ParameterInfo& each : function.result)
        each.word = 0;
    function.leave_words = static_cast<std::uint16_t>(function.result.size());
}

std::vector<std::string> first_texts(const std::unordered_map<std::string, std::uint64_t>& numbers) {
    std::vector<const std::string*> all(numbers.size());
    for (const auto& [text, number] : numbers)
        all[number - 1] = &text;
    std::vector<std::string> first;
    std::size_t bytes = 0;
    for (const std::string* text : all) {
        bytes += text->size() + sizeof(std::string);
        if (bytes > kMaxKept) break;
        first.push_back(*text);
    }
    return first;
}

void trim_end(std::string& text) {
    text.resize(text.find_last_not_of(' ') + 1);
}

class Cutter {
  public:
    void cut(std::string& name) {
        if (name.size() <= kMost || is_cut(name)) return;
        ++count_;
        std::size_t end = kMost;
        while (end > 0 && is_inside_character(name[end]))
            --end;
        // Thousands of them may have had megabytes.
        name = name.substr(0, end).append(kMark);
    }
    void cut(std::vector<trace::ParameterInfo>& parameters) {
        for (trace::ParameterInfo& each : parameters) {
            cut(each.name);
            cut(each.type);
        }
    }
    void cut_words(std::vector<std::string>& command) {
        constexpr std::size_t kMaxInAll = std::size_t{1} << 20U;
        std::size_t bytes = 0, words = 0;
        for (; words < command.size() && bytes < kMaxInAll; ++words) {
            cut(command[words]);
            bytes += command[words].size() + sizeof(std::string);
        }
        if (words < command.size()) ++count_;
        command.resize(words);
    }
    std::uint64_t count() const { return count_; }

  private:
    static bool is_cut(const std::string& name) {
        return name.size() <= kMost + kMark.size() && name.ends_with(kMark);
    }
    /// Of UTF-8: none begins with this byte.
    static bool is_inside_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U; }

    static constexpr std::size_t kMost = 4096;
    static constexpr std::string_view kMark = "…";
    std::uint64_t count_ = 0;
};

/// Names of any length, which a trace cannot hold: cuts names and paths to 4 KiB each, and the command to a
/// megabyte. How many it has cut.
std::uint64_t cut_names(trace::TraceInfo& info) {
    Cutter cutter;
    for (trace::FunctionInfo& function : info.functions) {
        const bool one_name = function.linkage_name == function.name;
        cutter.cut(function.name);
        if (one_name) function.linkage_name = function.name;
        for (std::string* each : {&function.linkage_name, &function.module, &function.source})
            cutter.cut(*each);
        cutter.cut(function.parameters);
        cutter.cut(function.result);
    }
    for (trace::ThreadInfo& thread : info.threads)
        cutter.cut(thread.name);
    for (trace::ObjectInfo& object : info.objects)
        cutter.cut(object.path);
    trace::ProcessInfo& process = info.process;
    for (std::string* each : {&process.title, &process.executable, &process.host, &process.machine,
                              &process.rdam_version, &process.recorder, &info.clock.source})
        cutter.cut(*each);
    cutter.cut_words(process.command);
    return cutter.count();
}

/// Adds that a function of this linkage name waits, and which of its parameters are keys by default: those
/// named as in the catalogue.
void mark_well_known(trace::FunctionInfo& function) {
    if (function.any_name) return;
    const CatalogueFunction* known = Catalogue::builtin().find(function.linkage_name);
    if (known == nullptr) return;
    function.waits = function.waits || known->waits;
    function.busy_waits = function.busy_waits || known->busy_waits;
    const auto among = [](const std::vector<std::string>& names, const std::string& name) {
        return std::ranges::find(names, name) != names.end();
    };
    for (trace::ParameterInfo& parameter : function.parameters) {
        const bool key = among(known->keys, parameter.name);
        parameter.by_size =
            parameter.by_size || (key && !parameter.key && among(known->sizes, parameter.name));
        parameter.key = parameter.key || key;
    }
    if (known->result_is_size)
        for (trace::ParameterInfo& result : function.result)
            result.key = result.by_size = !result.is_text;
}

}  // namespace

// A second file description, because the writer locks and closes its own.
Result<TemporaryTrace> TemporaryTrace::create(const std::string& name) {
    const auto fd = open_temporary_file("input");
    if (!fd) return tl::unexpected{fd.error()};
    const int second = open(fmt::format("/proc/self/fd/{}", *fd).c_str(), O_RDONLY | O_CLOEXEC);
    const int error = errno;
    if (second >= 0) return TemporaryTrace{.to_write = *fd, .to_read = second};
    close(*fd);
    return fail(
        "the temporary copy of {} cannot be read: {}; set TMPDIR to a directory on another file system", name,
        std::strerror(error));
}

TraceBuilder::State::~State() {
    if (fd >= 0) close(fd);
}

void TraceBuilder::State::append(std::uint32_t thread, trace::ChunkEncoder& encoder) {
    if (encoder.events() == 0) return;
    const std::lock_guard guard(lock);
    keep(writer.append(thread, encoder));
}

void TraceBuilder::State::append_off_cpu(std::uint32_t tid, trace::OffCpuEncoder& encoder) {
    const std::lock_guard guard(lock);
    keep(writer.append_off_cpu(tid, encoder));
}

TraceBuilder::TraceBuilder() = default;
TraceBuilder::~TraceBuilder() = default;
TraceBuilder::TraceBuilder(TraceBuilder&&) noexcept = default;
TraceBuilder& TraceBuilder::operator=(TraceBuilder&&) noexcept = default;

Result<TraceBuilder> TraceBuilder::create(std::string name, Order order) {
    const auto file = TemporaryTrace::create(name);
    if (!file) return tl::unexpected{file.error()};
    return on(*file, std::move(name), order);
}

Result<TraceBuilder> TraceBuilder::on(TemporaryTrace file, std::string name, Order order) {
    auto writer = trace::TraceWriter::create(file.to_write, "the temporary copy of " + name, 0,
                                             trace::Purpose::temporary_copy);
    if (!writer) {
        close(file.to_read);
        return tl::unexpected{writer.error()};
    }
    TraceBuilder builder;
    builder.state_ = std::make_unique<State>(std::move(name), order, file.to_read, std::move(*writer));
    trace::TraceInfo& info = builder.info();
    info.process.clean_end = true;
    info.switches = {.state = trace::SwitchInfo::State::unavailable, .reason = {}};
    builder.set_clock("", 1e9, 0);
    return builder;
}

const std::string& TraceBuilder::name() const {
    return state_->name;
}

Order TraceBuilder::order() const {
    return state_->order;
}

trace::TraceInfo& TraceBuilder::info() {
    return state_->info;
}

void TraceBuilder::set_clock(std::string_view source, double ticks_per_second, std::uint64_t step) {
    trace::ClockInfo& clock = state_->info.clock;
    clock.source = source;
    clock.ticks_per_second = ticks_per_second;
    clock.step_ticks = step;
    clock.start_tsc = kOrigin;
}

std::uint32_t TraceBuilder::object(std::string_view path) {
    auto& objects = state_->info.objects;
    const auto [at, is_new] =
        state_->objects.try_emplace(std::string{path}, static_cast<std::uint32_t>(objects.size()));
    if (is_new) objects.push_back({.path = std::string{path}, .build_id = {}});
    return at->second;
}

std::uint32_t TraceBuilder::add_function(trace::FunctionInfo function) {
    if (state_->info.objects.empty()) object("");
    number_words(function);
    mark_well_known(function);
    state_->words.push_back({.enter = function.enter_words, .leave = function.leave_words});
    auto& functions = state_->info.functions;
    functions.push_back(std::move(function));
    return static_cast<std::uint32_t>(functions.size() - 1);
}

ThreadBuilder& TraceBuilder::add_thread(std::string name, std::uint32_t tid) {
    State& state = *state_;
    if (tid == 0 || !state.tids.insert(tid).second) {
        while (!state.tids.insert(state.next_tid).second)
            ++state.next_tid;
        tid = state.next_tid;
    }
    trace::ThreadInfo info;
    info.tid = tid;
    info.name = std::move(name);
    state.info.threads.push_back(std::move(info));
    const auto index = static_cast<std::uint32_t>(state.threads.size());
    state.threads.push_back(std::unique_ptr<ThreadBuilder>{
        new ThreadBuilder{std::make_unique<ThreadBuilder::State>(state, index)}});
    state.events_of_chunk = std::clamp(kMaxHeld / state.threads.size(), kMinChunk, kMaxChunk);
    return *state.threads.back();
}

ThreadBuilder& TraceBuilder::thread(std::uint32_t index) {
    return *state_->threads[index];
}

std::size_t TraceBuilder::threads() const {
    return state_->threads.size();
}

std::uint64_t TraceBuilder::text(std::string_view text) {
    if (text.size() > kMaxText) return 0;
    const std::lock_guard guard(state_->lock);
    auto& texts = state_->texts;
    std::string key{text};
    if (texts.size() >= kMaxTexts && !texts.contains(key)) return 0;
    return texts.try_emplace(std::move(key), texts.size() + 1).first->second;
}

Result<trace::TraceReader> TraceBuilder::finish() && {
    if (auto written = write(); !written) return tl::unexpected{written.error()};
    return trace::TraceReader::read_descriptor(std::exchange(state_->fd, -1), state_->name);
}

Result<void> TraceBuilder::write() {
    State& state = *state_;
    trace::TraceInfo& info = state.info;
    std::uint64_t end = 0;
    Oddities odd;
    std::uint64_t calls = 0;
    for (const auto& each : state.threads) {
        ThreadBuilder::State& thread = *each->state_;
        if (state.order == Order::any) thread.encode_given();
        if (thread.disordered)
            return fail("{} has events that are earlier than the ones before: it cannot be read", state.name);
        end = std::max(end, thread.last);
        calls += thread.calls;
        odd.unmatched += thread.oddities.unmatched;
        odd.renamed += thread.oddities.renamed;
        odd.too_deep += thread.oddities.too_deep;
        if (!thread.off_cpu.empty() && info.switches.state == trace::SwitchInfo::State::unavailable)
            info.switches = {.state = trace::SwitchInfo::State::recorded,
                             .reason = info.switches.reason == trace::SwitchInfo::kOfCalls
                                           ? info.switches.reason
                                           : std::string{}};
    }
    if (calls == 0 && !state.error)
        return fail("{} has no call of any function: give a trace with calls, not of other events alone",
                    state.name);
    for (const auto& each : state.threads)
        each->state_->finish(end);
    add_remark(info.remarks, odd.unmatched, "end of a call is left out, because no such call is open there",
               "ends of calls are left out, because no such calls are open there");
    add_renamed_remark(info.remarks, odd.renamed);
    add_remark(info.remarks, odd.too_deep, "call is left out, because too many calls are open around it",
               "calls are left out, because too many calls are open around them");
    // Some tools end what they say of themselves with the end of a line.
    for (char& each : info.process.recorder)
        if (static_cast<unsigned char>(each) < ' ') each = ' ';
    trim_end(info.process.recorder);
    add_remark(info.remarks, cut_names(info), "name has more than 4 KiB, and is cut there",
               "names have more than 4 KiB, and are cut there");
    info.texts = first_texts(state.texts);
    state.keep(state.writer.finish(info));
    if (state.error) return tl::unexpected{*state.error};
    return {};
}

trace::ParameterInfo parameter(std::string name, ValueKind kind, std::string type) {
    return {.name = std::move(name),
            .kind = static_cast<std::uint8_t>(kind),
            .size = 8,
            .word = 0,
            .key = false,
            .type = std::move(type)};
}

trace::ParameterInfo text_parameter(std::string name) {
    trace::ParameterInfo made = parameter(std::move(name), ValueKind::enumeration, "text");
    made.is_text = true;
    return made;
}

}  // namespace rdam::inputs
