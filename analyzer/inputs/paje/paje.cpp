#include "analyzer/inputs/paje/paje.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analyzer/inputs/build/byte_source.h"
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

}  // namespace rdam::inputs::paje
