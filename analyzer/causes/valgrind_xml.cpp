#include <algorithm>
#include <map>
#include <pugixml.hpp>

#include "analyzer/causes/readers.h"
#include "analyzer/causes/thread_errors.h"
#include "tools/base/text_lines.h"

namespace rdam::causes {
namespace {

std::string_view text_of(const pugi::xml_node& node) {
    return node.child_value();
}

ErrorStack stack_of(const pugi::xml_node& node) {
    ErrorStack stack;
    for (const pugi::xml_node& frame : node.children("frame")) {
        ErrorFrame& out = stack.emplace_back();
        out.function = text_of(frame.child("fn"));
        out.object = text_of(frame.child("obj"));
        out.file = text_of(frame.child("file"));
        out.line = number_in<std::uint32_t>(text_of(frame.child("line"))).value_or(0);
    }
    return stack;
}

/// The stacks of the accesses. DRD's segments and Helgrind's thread announcements are deeper or elsewhere.
std::vector<ErrorStack> stacks_of(const pugi::xml_node& error) {
    std::vector<ErrorStack> stacks;
    for (const pugi::xml_node& stack : error.children("stack"))
        stacks.push_back(stack_of(stack));
    for (const pugi::xml_node& stack : error.child("acquired_at").children("stack"))
        stacks.push_back(stack_of(stack));
    return stacks;
}

/// How often each error occurred, by its `unique`.
std::map<std::string, double, std::less<>> counts_in(const pugi::xml_node& output) {
    std::map<std::string, double, std::less<>> counts;
    // Printed at the end, and at each request; later ones hold for the whole run.
    for (const pugi::xml_node& list : output.children("errorcounts"))
        for (const pugi::xml_node& pair : list.children("pair"))
            if (const auto count = number_in<std::uint64_t>(text_of(pair.child("count"))))
                counts[std::string{text_of(pair.child("unique"))}] = static_cast<double>(*count);
    return counts;
}

std::size_t line_at(std::string_view text, std::ptrdiff_t offset) {
    const auto end = std::min(text.size(), static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)));
    return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, end), '\n'));
}

}  // namespace

bool is_valgrind_xml(std::string_view text) {
    constexpr std::size_t kHeader = 4096;
    return text.substr(0, kHeader).find("<valgrindoutput>") != std::string_view::npos;
}

CauseReports parse_valgrind_xml(std::string_view text, std::string_view origin) {
    pugi::xml_document document;
    const auto parsed = document.load_buffer(text.data(), text.size());
    if (!parsed)
        return fail(
            "{}:{}: is not well-formed XML: {}; let the program run to its end under valgrind, and keep all "
            "of the file",
            origin, line_at(text, parsed.offset), parsed.description());
    const pugi::xml_node output = document.child("valgrindoutput");
    const std::string_view tool = text_of(output.child("tool"));
    if (tool != "drd" && tool != "helgrind")
        return fail(
            "{}: is output of valgrind's tool '{}', which does not look for interference; run valgrind "
            "--tool=drd --xml=yes",
            origin, tool);
    ThreadErrors errors{tool == "drd" ? "DRD" : "Helgrind"};
    const auto counts = counts_in(output);
    for (const pugi::xml_node& error : output.children("error")) {
        const std::string_view kind = text_of(error.child("kind"));
        const auto count = counts.find(text_of(error.child("unique")));
        const double times = count == counts.end() ? 1 : count->second;
        if (kind == "ConflictingAccess" || kind == "Race") {
            errors.add_conflict(stacks_of(error), times);
        } else if (kind == "HoldtimeErr") {
            // The time is that of the first occurrence; the others were over the threshold as well.
            const double milliseconds = held_milliseconds(text_of(error.child("what")));
            if (milliseconds >= 0) errors.add_hold(stacks_of(error), times * milliseconds);
        }
    }
    return errors.reports();
}

}  // namespace rdam::causes
