#include "analyzer/export/firefox_tables.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analyzer/export/stacks.h"
#include "tools/base/printable.h"

namespace rdam::formats::firefox {
namespace {

/// What ResourceType calls a library.
constexpr int kLibrary = 1;

}  // namespace

std::string json_string(std::string_view text) {
    return nlohmann::json(printable(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string milliseconds(std::int64_t ns) {
    constexpr std::int64_t kOf = 1'000'000;
    const std::int64_t from_start = std::max<std::int64_t>(ns, 0);
    return fmt::format("{}.{:06}", from_start / kOf, from_start % kOf);
}

std::string milliseconds(double ns) {
    constexpr double kOf = 1e6;
    return std::isfinite(ns) ? fmt::format("{:.6f}", ns / kOf) : "0";
}

void Table::write(Buffer& out, std::string_view more) {
    out.append(fmt::format("{{{}\"length\":{}", more, rows_));
    for (auto& [name, text] : columns_) {
        out.append(fmt::format(",\"{}\":[", name));
        out.append(text);
        out.append("]");
        text = {};
    }
    out.append("}");
    rows_ = 0;
}

Shared::Shared(const trace::TraceInfo& info)
    : info_(info),
      frames_of_(info.functions.size(), kNone),
      functions_{"name", "isJS", "relevantForJS", "resource", "source", "lineNumber", "columnNumber"},
      frames_{"address",      "inlineDepth",   "category", "subcategory", "func",
              "nativeSymbol", "innerWindowID", "line",     "column"},
      stacks_{"frame", "prefix"},
      resources_{"lib", "name", "host", "type"},
      sources_{"id", "filename", "startLine", "startColumn", "sourceMapURL"} {}

std::uint32_t Shared::string(const std::string& text) {
    const auto [known, is_new] =
        string_numbers_.emplace(text, static_cast<std::uint32_t>(string_numbers_.size()));
    if (is_new) strings_ += (strings_.empty() ? "" : ",") + json_string(text);
    return known->second;
}

std::uint32_t Shared::name_of(std::uint32_t function) {
    return string(frame_name(info_, {.function = function}));
}

std::uint32_t Shared::resource_of(const std::string& module) {
    const auto [known, is_new] = resource_numbers_.emplace(module, resources_.rows());
    if (is_new) resources_.add("null", string(module), "null", kLibrary);
    return known->second;
}

std::pair<std::string, std::string> Shared::place_of(const std::string& source) {
    if (source.empty()) return {"null", "null"};
    const std::size_t colon = source.rfind(':');
    const std::string file = source.substr(0, colon);
    const std::string line = colon == std::string::npos ? "" : source.substr(colon + 1);
    const auto [known, is_new] = source_numbers_.emplace(file, sources_.rows());
    if (is_new) sources_.add("null", string(file), 1, 1, "null");
    constexpr std::size_t kMostDigits = 9;
    const bool is_line = !line.empty() && line.size() <= kMostDigits && line.front() != '0' &&
                         line.find_first_not_of("0123456789") == std::string::npos;
    return {fmt::format("{}", known->second), is_line ? line : "null"};
}

std::uint32_t Shared::add_frame(std::uint32_t name, std::string_view resource, const std::string& source,
                                Category category) {
    const auto [file, line] = place_of(source);
    const std::uint32_t number = functions_.add(name, "false", "false", resource, file, line, "null");
    return frames_.add(-1, 0, static_cast<std::uint32_t>(category), 0, number, "null", 0, "null", "null");
}

std::uint32_t Shared::frame_of(std::uint32_t function) {
    std::uint32_t& frame = frames_of_[function];
    if (frame != kNone) return frame;
    const trace::FunctionInfo& info = info_.functions[function];
    const std::string resource = info.module.empty() ? "-1" : fmt::format("{}", resource_of(info.module));
    frame = add_frame(name_of(function), resource, info.source, kCalls);
    return frame;
}

std::uint32_t Shared::child(std::uint32_t parent, std::uint32_t frame) {
    constexpr unsigned kHalf = 32;
    const auto [known, is_new] = children_.emplace(std::uint64_t{parent} << kHalf | frame, stacks_.rows());
    if (is_new) stacks_.add(frame, parent == kNone ? "null" : fmt::format("{}", parent));
    return known->second;
}

std::uint32_t Shared::stack(std::uint32_t parent, std::uint32_t function) {
    return child(parent, frame_of(function));
}

std::uint32_t Shared::other_calls() {
    if (other_frame_ == kNone) other_frame_ = add_frame(string(kMergedName), "-1", "", kOther);
    return child(kNone, other_frame_);
}

void Shared::write(Buffer& out) {
    const auto table = [&](std::string_view name, Table& which) {
        out.append(fmt::format("\"{}\":", name));
        which.write(out);
        out.append(",");
    };
    Table symbols{"libIndex", "address", "name", "functionSize"};
    out.append("{");
    table("stackTable", stacks_);
    table("frameTable", frames_);
    table("funcTable", functions_);
    table("resourceTable", resources_);
    table("nativeSymbols", symbols);
    table("sources", sources_);
    out.append("\"stringArray\":[");
    out.append(strings_);
    out.append("]}");
}

}  // namespace rdam::formats::firefox
