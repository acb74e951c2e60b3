#include "analyzer/inputs/paje/paje.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/inputs/build/text.h"
#include "analyzer/inputs/paje/parser.h"
#include "tools/base/text_lines.h"

namespace rdam::inputs::paje {

bool recognizes(std::string_view text) {
    text = without_byte_order_mark(text);
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
        if (!line.empty() && !is_comment(line))
            return line.starts_with('%') && FieldCursor{line.substr(1)}.next().value_or("") == "EventDef";
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return false;
}

namespace {

Result<void> parse(LineReader& lines, Parser& parser, const Progress& progress) {
    constexpr std::uint64_t kBetween = 100'000;
    while (const auto line = lines.next()) {
        const std::string_view text = lines.number() == 1 ? without_byte_order_mark(*line) : *line;
        if (auto taken = parser.take(text); !taken) return lines.fail_here("{}", taken.error().message);
        if (lines.number() % kBetween == 0) progress(lines.consumed(), lines.size());
    }
    if (lines.error()) return tl::unexpected{*lines.error()};
    return {};
}

struct Pass {
    std::optional<TraceBuilder> builder;  ///< none: what was assumed is wrong
    Facts facts;
};

Result<Pass> read_once(const std::string& path, const Facts& assumed, const Progress& progress) {
    auto lines = LineReader::open(path);
    if (!lines) return tl::unexpected{lines.error()};
    auto builder = TraceBuilder::create(path);
    if (!builder) return tl::unexpected{builder.error()};
    Parser parser{*builder, assumed};
    if (auto parsed = parse(*lines, parser, progress); !parsed) return tl::unexpected{parsed.error()};
    Facts facts = parser.end();
    const bool wrong = parser.must_read_again();
    if (wrong) return Pass{.builder = {}, .facts = std::move(facts)};
    if (auto described = parser.describe(); !described)
        return lines->fail_here("{}", described.error().message);
    return Pass{.builder = std::move(*builder), .facts = std::move(facts)};
}

}  // namespace

Result<trace::TraceReader> read(const std::string& path, const Progress& progress) {
    Facts facts;
    for (int pass = 0; pass < 2; ++pass) {
        auto done = read_once(path, facts, progress);
        if (!done) return tl::unexpected{done.error()};
        if (done->builder) return std::move(*done->builder).finish();
        facts = std::move(done->facts);
    }
    return fail("{} changes while it is read; copy it first", path);
}

// The end of a file: what has been learned from it, names, clock and remarks.

namespace {

constexpr int kNanoseconds = 9;
constexpr int kMilliseconds = 3;  ///< 10^-3 of a second
constexpr int kMaxScale = 18;     ///< 10^-18 of a second

}  // namespace

/// As fine as the times are printed, and not coarser than nanoseconds, if the latest has room for that.
int Parser::wanted_scale() const {
    const int unit = producer_.milliseconds() ? kMilliseconds : 0;
    int scale = std::min(std::max(kNanoseconds - unit, decimals_), kMaxScale - unit);
    while (scale > 0 && value_of(latest_) * std::pow(10.0, scale) >= static_cast<double>(kMaxTicks))
        --scale;
    return scale;
}

Facts Parser::end() {
    stacks_.end(last_);
    found_.disordered = found_.disordered || stacks_.disordered();
    found_.scale = wanted_scale();
    must_read_again_ = found_.disordered != given_.disordered || found_.readings != given_.readings ||
                       (scale_ != Facts::kUnknown && scale_ != found_.scale);
    return found_;
}

Result<void> Parser::describe() {
    if (definitions_.is_open()) return fail("expected %EndEventDef, found the end of the file");
    if (last_ >= kMaxTicks) return fail("expected times below 4.6e18, found a later one");
    for (std::size_t i = 0; i < threads_.size(); ++i) {
        const Container& container = entities_.containers[threads_[i].container];
        ThreadBuilder& thread = builder_.thread(static_cast<std::uint32_t>(i));
        thread.began(container.created);
        thread.ended(container.destroyed.value_or(last_));
    }
    const int unit = producer_.milliseconds() ? kMilliseconds : 0;
    const double step = std::pow(10.0, std::max(0, scale_ - decimals_));
    builder_.set_clock("paje", std::pow(10.0, scale_ + unit), static_cast<std::uint64_t>(step));
    name_threads();
    name_functions();
    name_process();
    add_remarks();
    return {};
}

/// By container. Where that is not enough, with the type of states, and with the container around it.
void Parser::name_threads() {
    std::unordered_map<std::string, std::uint32_t> uses;
    std::unordered_map<std::uint32_t, std::uint32_t> stacks;
    const auto name_of = [this](const Thread& thread) {
        const Container& container = entities_.containers[thread.container];
        return container.name;
    };
    for (const Thread& each : threads_)
        if (++stacks[each.container] == 1) ++uses[name_of(each)];
    auto& infos = builder_.info().threads;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
        const Container& container = entities_.containers[threads_[i].container];
        std::string name = container.name;
        if (uses[name] > 1 && container.parent != kNoEntity && container.parent != 0)
            name.insert(0, entities_.containers[container.parent].name + "/");
        if (stacks[threads_[i].container] > 1)
            name += fmt::format(" ({})", entities_.types[threads_[i].type].name);
        infos[i].name = std::move(name);
    }
}

/// By value. Where that is not enough, with the type of states, and with the event that has other fields.
void Parser::name_functions() {
    auto& infos = builder_.info().functions;
    const auto tell_apart = [&](const auto& mark_of, const auto& addition) {
        std::unordered_map<std::string, std::set<std::size_t>> marks;
        for (std::size_t i = 0; i < infos.size(); ++i)
            marks[infos[i].name].insert(mark_of(functions_[i]));
        std::vector<bool> alike(infos.size());
        std::transform(infos.begin(), infos.end(), alike.begin(),
                       [&](const trace::FunctionInfo& each) { return marks[each.name].size() > 1; });
        for (std::size_t i = 0; i < infos.size(); ++i)
            if (alike[i]) infos[i].name += fmt::format(" ({})", addition(functions_[i]));
    };
    const auto type_of = [this](const Function& function) -> std::size_t {
        return entities_.values[function.value].type;
    };
    const auto definition_of = [](const Function& function) { return function.definition; };
    tell_apart(type_of, [&](const Function& each) { return entities_.types[type_of(each)].name; });
    tell_apart(definition_of,
               [this](const Function& each) { return "event " + definitions_[each.definition].id; });
    for (trace::FunctionInfo& each : infos)
        each.linkage_name = each.name;
}

void Parser::name_process() {
    trace::ProcessInfo& process = builder_.info().process;
    process.recorder = producer_.tool().empty() ? "a tool that writes Pajé" : producer_.tool();
    process.command = producer_.command();
    process.simulated = producer_.simulates();
}

void Parser::add_remarks() {
    std::vector<std::string>& remarks = builder_.info().remarks;
    const StateOddities& odd = stacks_.oddities();
    if (producer_.is_rdam()) note_export(builder_.info());
    if (producer_.milliseconds())
        remarks.push_back(
            fmt::format("{} writes times in milliseconds, and rdam reads them as such.", producer_.tool()));
    else if (producer_.tool().empty())
        remarks.emplace_back("The times are read as seconds: Pajé has no other unit.");
    if (given_.disordered)
        remarks.emplace_back("The events were not in the order of time; they have been sorted.");
    if (scale_ < decimals_)
        remarks.push_back(fmt::format("Times are rounded to {} digits after the point.", scale_));
    add_remark(remarks, odd.never_popped,
               "pushed state is never popped: it counts until another state is set",
               "pushed states are never popped: they count until another state is set");
    add_remark(remarks, odd.empty,
               "state has no length, as another one is set at the same time, and is left out",
               "states have no length, as others are set at the same time, and are left out");
    add_remark(remarks, odd.too_late, "event of states is left out, because its container had been destroyed",
               "events of states are left out, because their containers had been destroyed");
    add_remark(remarks, created_twice_, "container is created twice: the first time counts",
               "containers are created twice: the first time counts");
    add_remark(remarks, with_surplus_, "line has more fields than the event's definition: these are left out",
               "lines have more fields than the event's definition: these are left out");
    add_remark(remarks, other_files_,
               "other file is named in the file as a part of the trace, and was not read",
               "other files are named in the file as a part of the trace, and were not read");
}

}  // namespace rdam::inputs::paje
