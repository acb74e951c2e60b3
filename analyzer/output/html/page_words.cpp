#include "analyzer/output/html/page_words.h"

#include <algorithm>
#include <array>

#include "analyzer/output/json/json_parts.h"
#include "analyzer/output/units.h"
#include "analyzer/output/wording/notes.h"

namespace rdam::output {
namespace {

struct Mark {
    const char* mark;
    const char* text;
};
constexpr std::array<Mark, 4> kMarks{
    {{"?", "the recorder may have caused this loss"},
     {"≥", "the true score may be higher"},
     {"!",
      "one call, or a few, were far faster than all others, and most of the score is the distance to them"},
     {"°", "a function that always does the same work would score as much"}}};

}  // namespace

const char* standing_name(score::Standing standing) {
    switch (standing) {
        case score::Standing::told:
            return "told";
        case score::Standing::by_design:
            return "by_design";
        case score::Standing::at_floor:
            break;
    }
    return "at_floor";
}

std::string standing_text(score::Standing standing, bool constant, bool nothing, bool unsure) {
    if (standing == score::Standing::told) return {};
    if (standing == score::Standing::by_design)
        return "These wait for what is to come, by design: the score says how long, and nothing is wrong "
               "with that.";
    if (unsure)
        return "Of these it is not known that they lost anything, or constant work would score as much.";
    if (!constant) return "Nothing was lost in these.";
    return nothing ? "Of these, nothing was lost, or no more than constant work would score."
                   : "Constant work would score as much as these.";
}

Json marks_json() {
    Json out = Json::array();
    for (const Mark& each : kMarks)
        out.push_back({each.mark, each.text});
    return out;
}

std::string marks_text(const score::Report& report) {
    const auto any = [&](const auto& wants) { return std::ranges::any_of(report.functions, wants); };
    std::string out;
    const auto say = [&](const std::string& text) { out += (out.empty() ? "" : "; ") + text; };
    for (const Mark& each : kMarks)
        if (any([&](const score::FunctionRow& row) { return score_mark(row) == each.mark; }))
            say(std::string{each.mark} + ": " + each.text);
    if (any([](const score::FunctionRow& row) { return row.estimates_occurrences(); })) say("~: an estimate");
    if (any([](const score::FunctionRow& row) { return row.unknown(); }))
        say("-: too little was seen for a score");
    return out.empty() ? out : out + ".";
}

}  // namespace rdam::output
