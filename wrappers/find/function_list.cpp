#include "wrappers/find/function_list.h"

#include <sys/stat.h>

#include <algorithm>
#include <unordered_map>

#include "tools/base/files.h"
#include "tools/base/name_text.h"

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
    return std::ranges::any_of(text, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\t') || byte == 0x7f;
    });
}

Result<ListEntry> parse_entry(std::string_view text, std::string origin) {
    if (has_control_characters(text))
        return fail("{}: holds control characters; a list is a text file with one function per line", origin);
    ListEntry entry;
    entry.text = text;
    entry.sampled = text.front() == kSampledMark;
    if (entry.sampled) text = trim_blanks(text.substr(1));
    if (text.empty())
        return fail("{}: '{}' lacks the name after the mark; write ~name or ~module:name", origin,
                    entry.text);
    const auto colon = find_scope_colon(text);
    if (colon == std::string_view::npos) {
        entry.name = text;
    } else {
        entry.scope = trim_blanks(text.substr(0, colon));
        entry.name = trim_blanks(text.substr(colon + 1));
        if (entry.scope.empty() || entry.name.empty())
            return fail("{}: '{}' lacks the {} the colon; write name, module:name or file.c:name", origin,
                        entry.text, entry.scope.empty() ? "module before" : "name after");
    }
    if (entry.name.front() == kSampledMark)
        return fail("{}: '{}' has the mark ~ in front of the name; write it before everything else: ~{}{}{}",
                    origin, entry.text, entry.scope, entry.scope.empty() ? "" : ":",
                    trim_blanks(std::string_view(entry.name).substr(1)));
    entry.origin = std::move(origin);
    return entry;
}

/// A name that occurs twice is one entry; a name of the user's own is not a mere wait. The planner decides
/// whether a mark or its absence counts, because a glob and a name may also match the same function.
class ListMaker {
  public:
    void add(ListEntry entry) {
        // No scope holds a line's end.
        const std::string wish = fmt::format("{}{}\n{}", entry.sampled ? "~" : "", entry.scope, entry.name);
        const auto [known, is_new] = known_.emplace(wish, list_.entries.size());
        if (is_new) {
            list_.entries.push_back(std::move(entry));
        } else {
            bool& wait = list_.entries[known->second].added_wait;
            wait = wait && entry.added_wait;
        }
    }
    FunctionList take() { return std::move(list_); }

  private:
    FunctionList list_;
    std::unordered_map<std::string, std::size_t> known_;
};

Result<FunctionList> unless_empty(FunctionList list, std::string_view origin, std::string_view remedy) {
    if (list.entries.empty()) return fail("{}: names no function; {}", origin, remedy);
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

/// Nothing of an object file or of other data could be meant by "one function a line".
bool begins_like_text(const std::string& path) {
    const auto bytes = read_beginning(path, 4096);
    if (!bytes) return true;  // it is for the reader to say why not
    constexpr std::string_view kElf =
        "\x7f"
        "ELF";
    return !bytes->starts_with(kElf) && bytes->find('\0') == std::string::npos;
}

constexpr std::string_view kTextFile = "a text file";

/// Null: it does not exist.
const char* kind_of_file(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return nullptr;
    if (S_ISDIR(status.st_mode)) return "a directory";
    if (S_ISFIFO(status.st_mode)) return "a pipe";
    if (!S_ISREG(status.st_mode)) return "a device or a socket";
    return begins_like_text(path) ? kTextFile.data() : "a program, a library or other data";
}

bool is_text_file(const char* kind) {
    return kind != nullptr && kind == kTextFile;
}

Result<FunctionList> load_names(const std::string& value, const char* kind, std::string_view origin) {
    auto list = parse_function_names(value, origin);
    if (list && kind != nullptr)
        list->entries.front().unless_found =
            fmt::format("the file {0} is {1}, not a list (./{0} would mean the file)", value, kind);
    return list;
}

}  // namespace

bool is_list_file(const std::string& value) {
    return value != "-" && (can_only_be_a_path(value) || is_text_file(kind_of_file(value)));
}

Result<FunctionList> parse_function_list(std::string_view text, std::string_view origin) {
    ListMaker list;
    std::string coverage;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = text.find('\n');
        const auto line = without_byte_order_mark(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        const auto comment = find_comment(line);
        const auto name = trim_blanks(line.substr(0, comment));
        const auto remark =
            comment == std::string_view::npos ? std::string_view{} : trim_blanks(line.substr(comment + 1));
        if (name.empty()) {
            if (remark.starts_with(kCoverageMark)) coverage = remark.substr(kCoverageMark.size());
            continue;
        }
        auto entry = parse_entry(name, fmt::format("{}:{}", origin, number));
        if (!entry) return tl::unexpected(entry.error());
        entry->added_wait = remark == kWaitMark;
        list.add(std::move(*entry));
    }
    auto made = unless_empty(list.take(), origin, "write one per line, as name or module:name");
    if (made) made->coverage = std::move(coverage);
    return made;
}

Result<FunctionList> parse_function_names(std::string_view text, std::string_view origin) {
    ListMaker list;
    for (const auto piece : split_outside_brackets(text, ',')) {
        const auto name = trim_blanks(piece);
        if (name.empty()) continue;
        auto entry = parse_entry(name, std::string(origin));
        if (!entry) return tl::unexpected(entry.error());
        list.add(std::move(*entry));
    }
    return unless_empty(list.take(), origin, "give names separated by commas, or a list file");
}

Result<FunctionList> load_function_list(const std::string& value, std::string_view origin) {
    const char* kind = kind_of_file(value);
    const bool may_be_name = value != "-" && !can_only_be_a_path(value);
    if (may_be_name && !is_text_file(kind)) return load_names(value, kind, origin);
    if (value != "-" && kind != nullptr && !is_text_file(kind))
        return fail(
            "{}: is {}, not a list of functions, which is a text file; - reads one from standard input",
            value, kind);
    auto text = read_whole_file(value, kMaxListBytes);
    if (!text) return tl::unexpected(text.error());
    auto list = parse_function_list(*text, display_path(value));
    if (!may_be_name) return list;
    if (!list)
        return fail("{}; '{},' means the function of that name, not the file", list.error().message, value);
    for (ListEntry& entry : list->entries)
        entry.unless_found =
            fmt::format("it is in the file {0}; '{0},' means the function of that name", value);
    return list;
}

}  // namespace rdam
