#include "wrappers/catalogue/catalogue.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "wrappers/catalogue/signature.h"

namespace rdam {
namespace {

constexpr char kBetween = '\t';
constexpr char kBetweenNames = ',';

/// The first character of a line: what it is about.
constexpr char kFunction = 'f';
constexpr char kRefusedGlob = 'g';
constexpr char kTellsCaller = 't';

struct Flag {
    char letter;
    bool CatalogueFunction::*member;
};

constexpr std::array kFlags = {
    Flag{'w', &CatalogueFunction::waits},           Flag{'b', &CatalogueFunction::busy_waits},
    Flag{'t', &CatalogueFunction::for_threads},     Flag{'u', &CatalogueFunction::unlisted},
    Flag{'d', &CatalogueFunction::in_default_list}, Flag{'m', &CatalogueFunction::barrier},
    Flag{'s', &CatalogueFunction::shared},          Flag{'a', &CatalogueFunction::wakes_all},
    Flag{'c', &CatalogueFunction::counts},          Flag{'0', &CatalogueFunction::zero_fails},
    Flag{'1', &CatalogueFunction::other_fails},     Flag{'f', &CatalogueFunction::futex},
    Flag{'r', &CatalogueFunction::receives},        Flag{'o', &CatalogueFunction::sends},
};

/// Up to the next separator or the end, which it takes away.
std::string_view take(std::string_view& text, char separator) {
    const std::size_t end = text.find(separator);
    const std::string_view first = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return first;
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names)
        text.append(text.empty() ? 0 : 1, kBetweenNames).append(name);
    return text;
}

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> names;
    while (!text.empty())
        names.emplace_back(take(text, kBetweenNames));
    return names;
}

std::string line_of(char about, const CatalogueFunction& function) {
    std::string flags;
    for (const Flag& flag : kFlags)
        if (function.*flag.member) flags += flag.letter;
    std::string line(1, about);
    for (const std::string& each :
         {function.name, signature_text(function), flags, joined(function.given_back_by),
          joined(function.woken_by), function.by_design, function.runs, function.refuse})
        line.append(1, kBetween).append(each);
    return line;
}

/// `line` begins behind what it is about.
CatalogueFunction read_function(std::string_view line) {
    const std::string_view name = take(line, kBetween);
    auto function = parse_signature(name, take(line, kBetween));
    // A unit test reads the same lines: a build that passed its tests cannot get here.
    if (!function) std::abort();
    const std::string_view flags = take(line, kBetween);
    for (const Flag& flag : kFlags)
        (*function).*flag.member = flags.find(flag.letter) != std::string_view::npos;
    function->given_back_by = split(take(line, kBetween));
    function->woken_by = split(take(line, kBetween));
    function->by_design = take(line, kBetween);
    function->runs = take(line, kBetween);
    function->refuse = line;
    return std::move(*function);
}

}  // namespace

std::string Catalogue::lines() const {
    std::string text;
    for (const CatalogueFunction& function : functions_)
        text.append(line_of(kFunction, function)).append(1, '\n');
    for (const CatalogueFunction& glob : refused_globs_)
        text.append(line_of(kRefusedGlob, glob)).append(1, '\n');
    for (const CallerTeller& teller : caller_tellers_) {
        text.append(1, kTellsCaller).append(1, kBetween).append(teller.marker);
        for (const std::string& name : teller.names)
            text.append(1, kBetween).append(name);
        text.append(1, '\n');
    }
    return text;
}

Catalogue Catalogue::from_lines(std::string_view text) {
    Catalogue catalogue;
    catalogue.functions_.reserve(static_cast<std::size_t>(std::ranges::count(text, '\n')));
    while (!text.empty()) {
        std::string_view line = take(text, '\n');
        const std::string_view about = take(line, kBetween);
        if (about[0] == kFunction) {
            catalogue.functions_.push_back(read_function(line));
        } else if (about[0] == kRefusedGlob) {
            catalogue.refused_globs_.push_back(read_function(line));
        } else {
            CallerTeller& teller = catalogue.caller_tellers_.emplace_back();
            teller.marker = take(line, kBetween);
            while (!line.empty())
                teller.names.emplace_back(take(line, kBetween));
        }
    }
    return catalogue;
}

const CatalogueFunction* Catalogue::find(std::string_view name) const {
    const auto found = std::ranges::lower_bound(functions_, name, {}, &CatalogueFunction::name);
    if (found != functions_.end() && found->name == name) return &*found;
    const std::string text(name);
    const auto glob = std::ranges::find_if(refused_globs_, [&](const auto& function) {
        return fnmatch(function.name.c_str(), text.c_str(), 0) == 0;
    });
    return glob != refused_globs_.end() ? &*glob : nullptr;
}

bool Catalogue::only_tells_caller(std::string_view name,
                                  const std::function<bool(std::string_view)>& defines) const {
    const std::string text(name);
    return std::ranges::any_of(caller_tellers_, [&](const CallerTeller& teller) {
        const bool named = std::ranges::any_of(teller.names, [&](const std::string& glob) {
            return fnmatch(glob.c_str(), text.c_str(), 0) == 0;
        });
        return named && defines(teller.marker);
    });
}

}  // namespace rdam
