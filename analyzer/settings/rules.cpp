#include "analyzer/settings/rules.h"

#include <sys/stat.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <vector>

#include "analyzer/sequences/keys.h"
#include "tools/base/files.h"
#include "tools/base/printable.h"
#include "tools/base/similar_names.h"

namespace rdam::rules {
namespace {

// What reading and changing a rules file have in common.

/// The keys that are not lists of names (those: score::kRuleLists).
inline constexpr const char* kDeepKeys = "deep-keys";
inline constexpr const char* kFoldLoops = "fold-loops";
inline constexpr const char* kBaseline = "baseline";
inline constexpr const char* kThreshold = "threshold";
inline constexpr std::array kOtherKeys = {kDeepKeys, kFoldLoops, kBaseline, kThreshold};

inline constexpr std::size_t kMaxBytes = std::size_t{1} << 20;  ///< of a file

/// The table, and the errors of the library as ours.
Result<toml::table> parse_table(std::string_view text, std::string_view origin) {
    try {
        return toml::parse(text, origin);
    } catch (const toml::parse_error& error) {
        return fail("{}:{}: {}; write it as in keys = [\"write:count\"]", origin, error.source().begin.line,
                    error.description());
    }
}

/// `text` as a string of TOML, quotes included. Error: it is no UTF-8.
Result<std::string> quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte == 0x7f) {
            out += fmt::format("\\u{:04x}", byte);
        } else {
            out += c;
        }
    }
    out += '"';
    try {
        const auto parsed = toml::parse("a = " + out);
        if (parsed["a"].value_or(std::string{}) == text) return out;
    } catch (const toml::parse_error&) {
        // Said below, in words that fit.
    }
    return fail("{}: cannot stand in a rules file, which holds UTF-8; use the name that the linker knows",
                printable(text));
}

/// Where lines begin, to find the places that the library reports.
class Lines {
  public:
    explicit Lines(std::string_view text);
    /// The byte offset of a place that the library gives in lines and UTF-8 characters.
    std::size_t offset(const toml::source_position& place) const;

  private:
    std::string_view text_;
    std::vector<std::size_t> begins_;
};

std::size_t skip(std::string_view text, std::size_t at, std::string_view what) {
    return std::min(text.find_first_not_of(what, at), text.size());
}

/// Behind blanks, line ends and comments.
std::size_t skip_gap(std::string_view text, std::size_t at) {
    for (at = skip(text, at, " \t\r\n"); at < text.size() && text[at] == '#'; at = skip(text, at, " \t\r\n"))
        at = std::min(text.find('\n', at), text.size());
    return at;
}

std::size_t line_begin(std::string_view text, std::size_t at) {
    const std::size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    return before == std::string_view::npos ? 0 : before + 1;
}

/// Behind its line feed.
std::size_t line_end(std::string_view text, std::size_t at) {
    const std::size_t feed = text.find('\n', at);
    return feed == std::string_view::npos ? text.size() : feed + 1;
}

/// Nothing but a comment follows on the line.
bool ends_line(std::string_view text, std::size_t at) {
    at = skip(text, at, " \t\r");
    return at == text.size() || text[at] == '\n' || text[at] == '#';
}

bool begins_line(std::string_view text, std::size_t at) {
    return skip(text, line_begin(text, at), " \t") == at;
}

/// Changes a text step by step, one rule at a time; after each it is read again.
class Rewriter {
  public:
    Rewriter(std::string text, std::string_view origin) : text_(std::move(text)), origin_(origin) {}

    Result<std::string> rewrite(const Rules& wanted) {
        for (const score::RuleList& list : score::kRuleLists) {
            if (auto done = change_list(list.title, wanted.named.*list.names); !done)
                return tl::unexpected{done.error()};
        }
        for (const auto& [name, value] : values(wanted)) {
            if (auto done = change_value(name, value); !done) return tl::unexpected{done.error()};
        }
        const auto now = parse_rules(text_, origin_);
        if (!now) return tl::unexpected{now.error()};
        if (!says_the_same(*now, wanted))
            return fail("{}: cannot be changed without losing its layout; write one rule per line", origin_);
        return std::move(text_);
    }

  private:
    using Value = std::pair<const char*, std::optional<std::string>>;

    struct Span {
        std::size_t begin = 0, end = 0;
    };

    static std::vector<Value> values(const Rules& wanted) {
        const auto truth = [](const std::optional<bool>& value) {
            return value ? std::optional<std::string>{*value ? "true" : "false"} : std::nullopt;
        };
        std::optional<std::string> baseline, threshold;
        if (wanted.baseline) baseline = "\"" + *wanted.baseline + "\"";
        if (wanted.threshold) threshold = fmt::format("{}", *wanted.threshold);
        return {{kDeepKeys, truth(wanted.deep_keys)},
                {kFoldLoops, truth(wanted.fold_loops)},
                {kBaseline, baseline},
                {kThreshold, threshold}};
    }

    static bool says_the_same(Rules a, Rules b) {
        for (Rules* rules : {&a, &b}) {
            for (const score::RuleList& list : score::kRuleLists) {
                auto& names = rules->named.*list.names;
                std::ranges::sort(names);
                names.erase(std::unique(names.begin(), names.end()), names.end());
            }
        }
        return a == b;
    }

    Span span_of(const toml::source_region& region) const {
        const Lines lines{text_};
        return {lines.offset(region.begin), lines.offset(region.end)};
    }

    Result<void> change_list(const char* name, const std::vector<std::string>& wanted) {
        for (bool removed = true; removed;) {
            const auto table = parse_table(text_, origin_);
            if (!table) return tl::unexpected{table.error()};
            removed = remove_one((*table)[name].as_array(), wanted);
        }
        for (const std::string& entry : wanted) {
            const auto table = parse_table(text_, origin_);
            if (!table) return tl::unexpected{table.error()};
            const toml::array* list = (*table)[name].as_array();
            if (list != nullptr && index_of(*list, entry) < list->size()) continue;
            const auto quotes = quoted(entry);
            if (!quotes) return tl::unexpected{quotes.error()};
            if (list == nullptr) {
                append_line(fmt::format("{} = [\n  {},\n]\n", name, *quotes));
            } else {
                add(*list, *quotes);
            }
        }
        return {};
    }

    static std::size_t index_of(const toml::array& list, const std::string& entry) {
        std::size_t i = 0;
        while (i < list.size() && list[i].value_or(std::string{}) != entry)
            ++i;
        return i;
    }

    /// The first entry of the list that is not wanted.
    bool remove_one(const toml::array* list, const std::vector<std::string>& wanted) {
        if (list == nullptr) return false;
        for (std::size_t i = 0; i < list->size(); ++i) {
            const auto entry = (*list)[i].value_or(std::string{});
            if (std::ranges::find(wanted, entry) != wanted.end()) continue;
            const Span span = span_of((*list)[i].source());
            const std::size_t comma = skip_gap(text_, span.end);
            if (text_[comma] == ',') {
                remove_with_comma(span, comma);
            } else {
                remove_last(i == 0 ? span_of(list->source()).begin + 1 : span_of((*list)[i - 1].source()).end,
                            i == 0, span);
            }
            return true;
        }
        return false;
    }

    void remove_with_comma(Span entry, std::size_t comma) {
        const bool own_line = begins_line(text_, entry.begin) && ends_line(text_, comma + 1) &&
                              text_.find('\n', entry.end) > comma;
        if (own_line) return erase(line_begin(text_, entry.begin), line_end(text_, comma));
        text_.erase(comma, 1);
        erase(entry.begin, skip(text_, std::min(entry.end, comma), " \t"));
    }

    /// An entry without a comma behind it; `before`: behind the one before it, or behind the bracket.
    void remove_last(std::size_t before, bool only, Span entry) {
        const bool own_line = begins_line(text_, entry.begin) && ends_line(text_, entry.end);
        if (own_line) {
            erase(line_begin(text_, entry.begin), line_end(text_, entry.end));
        } else if (only) {
            erase(entry.begin, entry.end);
        } else {
            // Comments may stand between the two; only the comma goes with the entry.
            const std::size_t comma = skip_gap(text_, before);
            const bool joined = skip(text_, comma + 1, " \t") == entry.begin;
            erase(joined ? comma : entry.begin, entry.end);
        }
    }

    void erase(std::size_t begin, std::size_t end) { text_.erase(begin, end - begin); }

    void add(const toml::array& list, const std::string& quotes) {
        const Span all = span_of(list.source());
        if (list.empty()) return add_first(all, quotes);
        const Span last = span_of(list.back().source());
        const std::size_t comma = skip_gap(text_, last.end);
        const bool has_comma = comma < all.end && text_[comma] == ',';
        const bool same_line = has_comma && text_.find('\n', last.end) > comma;
        const std::size_t behind = same_line ? comma + 1 : last.end;
        if (!ends_line(text_, behind)) {
            const std::size_t place = has_comma ? comma + 1 : last.end;
            text_.insert(place, (has_comma ? " " : ", ") + quotes + (has_comma ? "," : ""));
            return;
        }
        const std::size_t begin = line_begin(text_, last.begin);
        const std::string indent =
            begins_line(text_, last.begin) ? text_.substr(begin, last.begin - begin) : "  ";
        const std::size_t place = std::max(line_end(text_, last.end), has_comma ? line_end(text_, comma) : 0);
        text_.insert(place, indent + quotes + ",\n");
        if (!has_comma) text_.insert(last.end, ",");
    }

    void add_first(Span list, const std::string& quotes) {
        const std::size_t bracket = list.end - 1;
        const bool own_line = begins_line(text_, bracket) && line_begin(text_, bracket) > list.begin;
        if (own_line) {
            text_.insert(line_begin(text_, bracket), "  " + quotes + ",\n");
        } else {
            text_.insert(bracket, quotes);
        }
    }

    Result<void> change_value(const char* name, const std::optional<std::string>& wanted) {
        const auto table = parse_table(text_, origin_);
        if (!table) return tl::unexpected{table.error()};
        const auto place = table->find(name);
        if (place == table->end()) {
            if (wanted) append_line(fmt::format("{} = {}\n", name, *wanted));
            return {};
        }
        const Span value = span_of(place->second.source());
        if (!wanted) {
            erase(line_begin(text_, span_of(place->first.source()).begin), line_end(text_, value.end));
        } else if (!is_already(place->second, *wanted)) {
            text_.replace(value.begin, value.end - value.begin, *wanted);
        }
        return {};
    }

    /// A value written as 0.20 stays as it is.
    static bool is_already(const toml::node& node, const std::string& wanted) {
        const auto parsed = toml::parse("a = " + wanted);
        const auto other = parsed["a"];
        if (node.is_boolean()) return node.value<bool>() == other.value<bool>();
        if (node.is_string()) return node.value<std::string>() == other.value<std::string>();
        return node.value<double>() == other.value<double>();
    }

    void append_line(const std::string& line) {
        if (!text_.empty() && text_.back() != '\n') text_ += '\n';
        text_ += line;
    }

    std::string text_;
    std::string_view origin_;
};

}  // namespace

Result<std::string> rewrite_rules(std::string_view text, const Rules& wanted, std::string_view origin) {
    // What is wrong already is not ours to change.
    if (const auto sound = parse_rules(text, origin); !sound) return tl::unexpected{sound.error()};
    return Rewriter{std::string{text}, origin}.rewrite(wanted);
}

namespace {

constexpr const char* kHead = "# Rules for rdam analyze (man rdam-analyze). A # starts a comment.\n";

Result<std::string> text_of(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error) && !error) return std::string{kHead};
    auto text = read_whole_file(path, kMaxBytes);
    if (!text)
        return fail("{}; rules can only be saved in a file that you may read and write",
                    text.error().message);
    return text;
}

Result<void> replace(const std::string& path, const std::string& text) {
    struct stat old = {};
    const mode_t mode = ::stat(path.c_str(), &old) == 0 ? old.st_mode & 0777U : mode_of_new_files();
    auto file = FileBeside::create(path);
    Result<void> done = file ? file->write(text) : tl::unexpected{file.error()};
    if (done) done = file->put_in_place(mode);
    if (done) return {};
    return fail("{}: cannot be written: {}; free some space there, or give another file with --rules", path,
                done.error().message);
}

}  // namespace

Result<void> write_rules(const std::string& path, const Rules& wanted) {
    // The file itself where `path` is a link to it.
    std::error_code error;
    const auto real = std::filesystem::weakly_canonical(path, error);
    const std::string file = error ? path : real.string();
    const auto before = text_of(file);
    if (!before) return tl::unexpected{before.error()};
    auto after = rewrite_rules(*before, wanted, path);
    if (!after) return tl::unexpected{after.error()};
    if (*after == *before && std::filesystem::exists(file, error)) return {};
    return replace(file, *after);
}

Lines::Lines(std::string_view text) : text_(text) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    begins_.push_back(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\n') begins_.push_back(i + 1);
    }
}

std::size_t Lines::offset(const toml::source_position& place) const {
    const std::size_t line = std::min<std::size_t>(std::max<std::size_t>(place.line, 1), begins_.size());
    std::size_t at = begins_[line - 1];
    for (std::size_t column = 1; column < place.column && at < text_.size(); ++column) {
        ++at;
        while (at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xc0U) == 0x80)
            ++at;
    }
    return at;
}

namespace {

/// One file's worth, from its table.
class Reader {
  public:
    explicit Reader(std::string_view origin) : origin_(origin) {}

    Result<Rules> read(const toml::table& table) {
        for (const auto& [key, value] : table) {
            if (auto done = entry(key, value); !done) return tl::unexpected{done.error()};
        }
        return std::move(rules_);
    }

  private:
    template <class... Args>
    tl::unexpected<Error> wrong(const toml::source_region& where, fmt::format_string<Args...> format,
                                Args&&... args) {
        return fail("{}:{}: {}", origin_, where.begin.line, fmt::format(format, std::forward<Args>(args)...));
    }

    Result<void> entry(const toml::key& key, const toml::node& value) {
        for (const score::RuleList& list : score::kRuleLists) {
            if (key.str() == list.title) return names(list, value);
        }
        if (key.str() == kDeepKeys) return truth(kDeepKeys, value, rules_.deep_keys);
        if (key.str() == kFoldLoops) return truth(kFoldLoops, value, rules_.fold_loops);
        if (key.str() == kBaseline) return baseline(value);
        if (key.str() == kThreshold) return threshold(value);
        return wrong(key.source(), "{}: no such rule; {}", key.str(), known_keys(key.str()));
    }

    static std::string known_keys(std::string_view wanted) {
        std::vector<std::string> all;
        for (const score::RuleList& list : score::kRuleLists)
            all.emplace_back(list.title);
        all.insert(all.end(), kOtherKeys.begin(), kOtherKeys.end());
        std::string spelled{wanted};
        std::ranges::replace(spelled, '_', '-');
        const std::size_t limit = std::max<std::size_t>(2, spelled.size() / 3);
        std::vector<std::string> similar;
        std::ranges::copy_if(all, std::back_inserter(similar), [&](const std::string& name) {
            return edit_distance(spelled, name, limit) <= limit;
        });
        return similar.empty() ? fmt::format("there are {}", fmt::join(all, ", "))
                               : fmt::format("similar: {}", fmt::join(similar, ", "));
    }

    Result<void> names(const score::RuleList& list, const toml::node& value) {
        const bool keys = list.names == &score::NamedRules::keys || list.names == &score::NamedRules::no_keys;
        const char* const example = keys ? "write:count" : "write";
        const toml::array* array = value.as_array();
        if (array == nullptr)
            return wrong(value.source(), "{} is not a list; write {} = [\"{}\"]", list.title, list.title,
                         example);
        for (const toml::node& node : *array) {
            const auto text = node.value<std::string>();
            if (!node.is_string() || !text || text->empty())
                return wrong(node.source(), "{} holds something other than names; write {} = [\"{}\"]",
                             list.title, list.title, example);
            if (const auto sound = sequences::check_key(*text); keys && !sound)
                return wrong(node.source(), "{}: {}", list.title, sound.error().message);
            (rules_.named.*list.names).push_back(*text);
        }
        return {};
    }

    Result<void> truth(const char* name, const toml::node& value, std::optional<bool>& to) {
        if (!value.is_boolean())
            return wrong(value.source(), "{} is neither true nor false; write {} = true", name, name);
        to = value.value_or(false);
        return {};
    }

    Result<void> baseline(const toml::node& value) {
        const auto text = value.is_string() ? value.value<std::string>() : std::nullopt;
        if (!text || !score::parse_baseline(*text))
            return wrong(value.source(),
                         "baseline is not thread, process, minimum or a percentile from p0 to p50; write "
                         "baseline = \"process\"");
        rules_.baseline = *text;
        return {};
    }

    Result<void> threshold(const toml::node& value) {
        const double number = value.is_number() ? value.value_or(-1.0) : -1.0;
        if (!(number >= 0 && number <= 1))
            return wrong(value.source(), "threshold is not a score from 0 to 1; write threshold = 0.2");
        rules_.threshold = number;
        return {};
    }

    std::string_view origin_;
    Rules rules_;
};

}  // namespace

Result<Rules> parse_rules(std::string_view text, std::string_view origin) {
    const auto table = parse_table(text, origin);
    if (!table) return tl::unexpected{table.error()};
    return Reader{origin}.read(*table);
}

Result<Rules> read_rules(const std::string& path) {
    const auto text = read_whole_file(path, kMaxBytes);
    if (!text)
        return fail("{}; give a rules file that you may read, or use --no-rules", text.error().message);
    return parse_rules(*text, display_path(path));
}

}  // namespace rdam::rules
