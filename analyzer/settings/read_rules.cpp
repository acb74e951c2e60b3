#include <algorithm>
#include <iterator>
#include <vector>

#include "analyzer/sequences/keys.h"
#include "analyzer/settings/rules_text.h"
#include "analyzer/settings/settings.h"
#include "tools/base/files.h"
#include "tools/base/similar_names.h"

namespace rdam::rules {
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
            if (const auto sound = mining::check_key(*text); keys && !sound)
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
