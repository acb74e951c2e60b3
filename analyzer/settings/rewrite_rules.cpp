#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "analyzer/settings/rules_text.h"
#include "tools/base/files.h"

namespace rdam::rules {

namespace {

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

}  // namespace rdam::rules
