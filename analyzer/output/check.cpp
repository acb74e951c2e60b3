#include "analyzer/output/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "tools/base/printable.h"
#include "tools/base/units.h"

namespace rdam::output {
namespace {

using score::CheckResult;
using score::CheckRow;
using score::Measure;

std::string_view measure_name(Measure measure) {
    switch (measure) {
        case Measure::run_time:
            return "time of the run";
        case Measure::loss_per_call:
            return "loss per call";
        case Measure::calls:
            return "calls";
    }
    return {};
}

/// A slug of Bencher's.
const char* measure_slug(Measure measure) {
    switch (measure) {
        case Measure::run_time:
            return "latency";
        case Measure::loss_per_call:
            return "loss-per-call";
        case Measure::calls:
            return "calls";
    }
    return {};
}

std::string amount(Measure measure, double value) {
    return measure == Measure::calls ? human_count(value) : human_time(value);
}

std::string signed_percent(double share) {
    return fmt::format("{:+.1f} %", rounded(100 * share, 1) + 0.0);  // no sign of its own for 0
}

std::string interval(const CheckRow& row) {
    if (!row.change) return "no ratio, as a run had none";
    if (!row.low || !row.high) return signed_percent(*row.change) + ", too few runs for a 95 % interval";
    return fmt::format("{}, 95 % interval {} to {}", signed_percent(*row.change), signed_percent(*row.low),
                       signed_percent(*row.high));
}

/// `loss per call 1.20 µs → 1.40 µs (+16.7 %, 95 % interval +12.1 % to +20.3 %)`.
std::string change_text(const CheckRow& row) {
    return fmt::format("{} {} → {} ({})", measure_name(row.measure), amount(row.measure, row.before.mean),
                       amount(row.measure, row.after.mean), interval(row));
}

std::string runs_text(const CheckResult& check) {
    return fmt::format("{} before, {} after", counted(check.runs_before, "run", "runs"), check.runs_after);
}

std::string program(const CheckResult& check) {
    return check.program.empty() ? "program" : printable(check.program);
}

std::string full_name(const CheckResult& check, const CheckRow& row) {
    const std::string whose = row.function.empty() ? program(check) : printable(row.function);
    return fmt::format("{}: {}", whose, measure_name(row.measure));
}

double figure(Measure measure, double value) {
    return measure == Measure::calls ? value : rounded_nanoseconds(value);
}

}  // namespace

std::vector<std::string> worse_lines(const CheckResult& check) {
    std::vector<std::pair<std::string, std::string>> lines;  // by function, in the order of the rows
    for (const CheckRow& row : check.rows) {
        if (!row.worse) continue;
        const auto same = std::ranges::find(lines, row.function, &std::pair<std::string, std::string>::first);
        if (same == lines.end())
            lines.emplace_back(row.function, change_text(row));
        else
            same->second += "; " + change_text(row);
    }
    std::vector<std::string> result;
    for (const auto& line : lines)
        result.push_back(fmt::format("worse: {}{}; {}",
                                     line.first.empty() ? "" : printable(line.first) + ": ", line.second,
                                     runs_text(check)));
    return result;
}

std::string not_worse_line(const CheckResult& check) {
    std::set<std::string_view> functions;
    for (const CheckRow& row : check.rows)
        if (!row.function.empty()) functions.insert(row.function);
    const CheckRow& time = check.rows.front();
    return fmt::format("nothing got worse: {}{}; {}",
                       time.measure == Measure::run_time ? change_text(time) + "; " : "",
                       counted(functions.size(), "function", "functions"), runs_text(check));
}

std::string check_junit(const CheckResult& check) {
    pugi::xml_document document;
    pugi::xml_node declaration = document.append_child(pugi::node_declaration);
    declaration.append_attribute("version") = "1.0";
    declaration.append_attribute("encoding") = "UTF-8";
    const auto failures = static_cast<unsigned>(std::ranges::count_if(check.rows, &CheckRow::worse));
    const auto tests = static_cast<unsigned>(check.rows.size() + check.uncompared.size());
    pugi::xml_node suite = document.append_child("testsuites").append_child("testsuite");
    suite.append_attribute("name") = "rdam check";
    suite.append_attribute("tests") = tests;
    suite.append_attribute("failures") = failures;
    suite.append_attribute("errors") = 0;
    suite.append_attribute("skipped") = static_cast<unsigned>(check.uncompared.size());
    const auto add_case = [&](const std::string& name) {
        pugi::xml_node test = suite.append_child("testcase");
        test.append_attribute("classname") = program(check).c_str();
        test.append_attribute("name") = name.c_str();
        return test;
    };
    for (const CheckRow& row : check.rows) {
        pugi::xml_node test = add_case(full_name(check, row));
        const std::string text = fmt::format("{}; {}", change_text(row), runs_text(check));
        if (row.worse) {
            pugi::xml_node failure = test.append_child("failure");
            failure.append_attribute("message") = text.c_str();
            failure.append_attribute("type") = "worse";
        } else {
            test.append_child("system-out").append_child(pugi::node_pcdata).set_value(text.c_str());
        }
    }
    for (const score::Uncompared& function : check.uncompared)
        add_case(printable(function.function)).append_child("skipped").append_attribute("message") =
            function.why.c_str();
    std::ostringstream text;
    document.save(text, "  ");
    return text.str();
}

std::string check_bencher(const CheckResult& check) {
    nlohmann::ordered_json benchmarks = nlohmann::ordered_json::object();
    for (const CheckRow& row : check.rows) {
        const std::string whose = row.function.empty() ? program(check) : printable(row.function);
        benchmarks[whose][measure_slug(row.measure)] = {
            {"value", figure(row.measure, row.after.mean)},
            {"lower_value", figure(row.measure, row.after.least)},
            {"upper_value", figure(row.measure, row.after.greatest)}};
    }
    return benchmarks.dump(2) + "\n";
}

std::string check_github(const CheckResult& check) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const CheckRow& row : check.rows)
        all.push_back({{"name", full_name(check, row)},
                       {"unit", row.measure == Measure::calls ? "calls" : "ns"},
                       {"value", figure(row.measure, row.after.mean)},
                       {"range", fmt::format("{} to {}", amount(row.measure, row.after.least),
                                             amount(row.measure, row.after.greatest))},
                       {"extra", fmt::format("{}; {}", change_text(row), runs_text(check))}});
    return all.dump(2) + "\n";
}

}  // namespace rdam::output
