#include "analyzer/output/html/page_words.h"

#include <array>

#include "analyzer/output/notes.h"
#include "tools/base/units.h"

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
        case score::Standing::ranked:
            return "ranked";
        case score::Standing::by_design:
            return "by_design";
        case score::Standing::at_floor:
            return "at_floor";
        case score::Standing::little:
            break;
    }
    return "little";
}

std::string standing_text(score::Standing standing, bool constant, bool nothing, bool unsure) {
    if (standing == score::Standing::little)
        return constant || unsure ? "These functions lost next to nothing." : "These functions lost nothing.";
    if (standing == score::Standing::ranked) return {};
    if (standing == score::Standing::by_design)
        return "These functions wait by design (for a thread to end, a request, a signal): the score is "
               "their waiting time.";
    return unsure || nothing ? "These functions may have lost nothing, or constant work would score as much."
                             : "Constant work would score as much as these functions.";
}

Json marks_json() {
    Json out = Json::array();
    for (const Mark& each : kMarks)
        out.push_back({each.mark, each.text});
    return out;
}

std::string marks_text(const std::vector<std::string>& marks, bool estimated, bool unknown) {
    std::string out;
    const auto say = [&](const std::string& text) { out += (out.empty() ? "" : "; ") + text; };
    for (const Mark& each : kMarks)
        if (std::ranges::find(marks, each.mark) != marks.end())
            say(std::string{each.mark} + ": " + each.text);
    if (estimated) say("~: an estimate");
    if (unknown) say("-: too little was seen for a score");
    return out.empty() ? out : out + ".";
}

}  // namespace rdam::output
