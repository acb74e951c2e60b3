#include "tests/unit/hot/expected_list.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace {

std::string without_module(const std::string& entry) {
    const auto list = rdam::parse_function_list(entry, "");
    return list ? list->entries.at(0).name : entry;
}

std::map<std::string, double> by_name(const ExpectedList& list) {
    std::map<std::string, double> result;
    for (const auto& [entry, percent] : list.percent)
        result[without_module(entry)] += percent;
    return result;
}

/// Entries of `a` that `b` has under another module.
std::string other_modules(const ExpectedList& a, const ExpectedList& b) {
    std::string text;
    for (const auto& [entry, percent] : b.percent)
        if (entry != without_module(entry) && a.percent.count(entry) == 0 &&
            a.percent.count(without_module(entry)) == 0 && by_name(a).count(without_module(entry)) != 0)
            text += fmt::format("{} is in another module; ", entry);
    return text;
}

}  // namespace

ExpectedList parse_expected(const std::string& text) {
    ExpectedList list;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const auto comment = line.rfind("  # ");
        if (comment == std::string::npos) continue;
        list.percent[line.substr(0, comment)] = std::stod(line.substr(comment + 4));
    }
    return list;
}

std::string read_text(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

ExpectedList hot_list_of(const std::filesystem::path& input, double min_percent) {
    rdam::HotRequest request;
    request.input = input.string();
    request.options.min_percent = min_percent;
    request.waits = false;
    const auto report = rdam::make_hot_report(request, rdam::Catalogue::builtin());
    if (!report) throw std::runtime_error(report.error().message);
    return parse_expected(rdam::hot_list_text(*report));
}

std::string difference(const ExpectedList& expected, const ExpectedList& actual, double tolerance) {
    auto wanted = by_name(expected);
    auto found = by_name(actual);
    auto all = wanted;
    all.insert(found.begin(), found.end());
    std::string text;
    for (const auto& [name, ignored] : all) {
        constexpr double kLimit = 1;
        const auto want = wanted.count(name) != 0 ? wanted[name] : kLimit;
        const auto have = found.count(name) != 0 ? found[name] : kLimit;
        if (std::abs(want - have) > tolerance)
            text += fmt::format("{}: {} % expected, {} % found; ", name,
                                wanted.count(name) != 0 ? wanted[name] : 0.0,
                                found.count(name) != 0 ? found[name] : 0.0);
    }
    return text + other_modules(expected, actual);
}
