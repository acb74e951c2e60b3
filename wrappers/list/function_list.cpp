#include "wrappers/list/function_list.h"

#include <sys/stat.h>

#include <algorithm>

#include "wrappers/list/name_text.h"
#include "wrappers/list/read_file.h"

namespace rdam {
namespace {

constexpr std::size_t kMaxListBytes = 64U << 20U;

/// Where the comment begins, npos: there is none. A `#` inside a name (`{closure#0}`) follows no blank.
std::size_t find_comment(std::string_view line) {
    for (auto at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1))
        if (at == 0 || trim_blanks(line.substr(at - 1, 1)).empty()) return at;
    return std::string_view::npos;
}

/// Files that were put together from several have one in front of several lines.
std::string_view without_byte_order_mark(std::string_view line) {
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    while (line.substr(0, kMark.size()) == kMark)
        line.remove_prefix(kMark.size());
    return line;
}

bool has_control_characters(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\t') || byte == 0x7f;
    });
}

Result<ListEntry> parse_entry(std::string_view text, std::string origin) {
    if (has_control_characters(text))
        return fail("{}: holds control characters; a list is a text file with one function a line", origin);
    ListEntry entry;
    entry.text = text;
    entry.sampled = text.starts_with('~');
    if (entry.sampled) text = trim_blanks(text.substr(1));
    if (text.empty()) return fail("{}: '~' marks a function, and none is named behind it", origin);
    const auto colon = find_scope_colon(text);
    if (colon == std::string_view::npos) {
        entry.name = text;
    } else {
        entry.scope = trim_blanks(text.substr(0, colon));
        entry.name = trim_blanks(text.substr(colon + 1));
        if (entry.scope.empty() || entry.name.empty())
            return fail("{}: '{}' lacks the {} the colon; write name, module:name or file.c:name", origin,
                        text, entry.scope.empty() ? "module before" : "name behind");
    }
    entry.origin = std::move(origin);
    return entry;
}

/// A name that stands there twice is one wish; one of the user's own is not a mere wait.
void add_entry(FunctionList& list, ListEntry entry) {
    const auto same = std::find_if(list.entries.begin(), list.entries.end(), [&](const ListEntry& known) {
        return known.scope == entry.scope && known.name == entry.name;
    });
    if (same == list.entries.end())
        list.entries.push_back(std::move(entry));
    else {
        same->added_wait = same->added_wait && entry.added_wait;
        same->sampled = same->sampled && entry.sampled;
    }
}

Result<FunctionList> unless_empty(FunctionList list, std::string_view origin) {
    if (list.entries.empty())
        return fail("{}: names no function; write one a line, as name or module:name", origin);
    return list;
}

/// A path that does not exist is not taken for the name of a function, which would be "not found" only later.
bool can_only_be_a_path(std::string_view value) {
    constexpr std::string_view kOperator = "operator/";
    constexpr std::string_view kText = ".txt";
    if (value.size() > kText.size() && value.substr(value.size() - kText.size()) == kText) return true;
    for (auto slash = value.find('/'); slash != std::string_view::npos; slash = value.find('/', slash + 1)) {
        const auto before = value.substr(0, slash + 1);
        if (before.size() < kOperator.size() || before.substr(before.size() - kOperator.size()) != kOperator)
            return true;
    }
    return false;
}

}  // namespace

Result<FunctionList> parse_function_list(std::string_view text, std::string_view origin) {
    FunctionList list;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = text.find('\n');
        const auto line = without_byte_order_mark(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        const auto comment = find_comment(line);
        const auto name = trim_blanks(line.substr(0, comment));
        if (name.empty()) continue;
        auto entry = parse_entry(name, fmt::format("{}:{}", origin, number));
        if (!entry) return tl::unexpected(entry.error());
        entry->added_wait =
            comment != std::string_view::npos && trim_blanks(line.substr(comment + 1)) == kWaitMark;
        add_entry(list, std::move(*entry));
    }
    return unless_empty(std::move(list), origin);
}

Result<FunctionList> parse_function_names(std::string_view text, std::string_view origin) {
    FunctionList list;
    for (const auto piece : split_outside_brackets(text, ',')) {
        const auto name = trim_blanks(piece);
        if (name.empty()) continue;
        auto entry = parse_entry(name, std::string(origin));
        if (!entry) return tl::unexpected(entry.error());
        add_entry(list, std::move(*entry));
    }
    return unless_empty(std::move(list), origin);
}

Result<FunctionList> load_function_list(const std::string& value) {
    struct stat status {};
    const bool exists =
        value == "-" || (::stat(value.c_str(), &status) == 0 && (status.st_mode & S_IFMT) != S_IFDIR);
    if (!exists && !can_only_be_a_path(value)) return parse_function_names(value, "RDAM_FUNCTIONS");
    auto text = read_whole_file(value, kMaxListBytes);
    if (!text) return tl::unexpected(text.error());
    return parse_function_list(*text, display_path(value));
}

}  // namespace rdam
