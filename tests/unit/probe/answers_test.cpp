// What is said before the program starts.
#include "tools/agent/plan/answers.h"

#include "tests/unit/catch.h"

namespace rdam::agent {
namespace {

/// A plan of so many functions of which the first ones are sampled.
Plan plan_of(std::size_t functions, std::size_t sampled) {
    Plan plan;
    for (std::size_t i = 0; i < functions; ++i) {
        FunctionPlan function;
        function.name = "f" + std::to_string(i + 1);
        function.sampled = i < sampled;
        plan.functions.push_back(function);
    }
    return plan;
}

std::string said_of(const Plan& plan, bool under_record = true) {
    ProcessDescription process;
    process.executable = "/usr/bin/app";
    process.objects.push_back({"/usr/bin/libapp.so", {}, 0, 0});
    Configuration configuration;
    configuration.run = under_record ? "run" : "";
    const std::string text = wrapped_text(plan, process, configuration);
    const std::string late = late_wrapped_text(plan, process, configuration);
    const auto line = [](const std::string& all) {
        const auto mark = all.find("marked ~");
        return mark == std::string::npos ? std::string{} : all.substr(all.rfind('\n', mark) + 1);
    };
    CHECK(line(text) == line(late));
    return line(text);
}

std::string answer_of(const Plan& plan) {
    Configuration configuration;
    configuration.run = "run";
    ProcessDescription process;
    process.executable = "/usr/bin/app";
    process.objects.push_back({"/usr/bin/libapp.so", {}, 0, 0});
    process.objects.push_back({"/usr/bin/app", {}, 0, 0});
    return answer_text(plan, process, configuration) + wrapped_text(plan, process, configuration);
}

}  // namespace

TEST_CASE("sampled functions are named, and how to have every call") {
    CHECK(said_of(plan_of(3, 0)).empty());
    CHECK(said_of(plan_of(3, 1)) ==
          "rdam: 1 function marked ~ is sampled over the whole run: f1 "
          "(--all-calls records every call)\n");
    CHECK(said_of(plan_of(2, 2)) ==
          "rdam: 2 functions marked ~ are sampled over the whole run: f1, f2 (--all-calls records every "
          "call)\n");
    CHECK(said_of(plan_of(1, 1), false) ==
          "rdam: 1 function marked ~ is sampled over the whole run: f1 (RDAM_ALL_CALLS=1 records every "
          "call)\n");
}

TEST_CASE("what is to be said of many entries is said once") {
    Plan plan = plan_of(1, 0);
    const auto add = [&](const std::string& name, ListVerdict verdict, const std::string& reason) {
        Answer answer;
        answer.entry.text = name;
        answer.verdict = verdict;
        answer.function = "libapp.so:" + name;
        answer.reason = reason;
        plan.answers.push_back(answer);
    };
    for (int i = 0; i < 182; ++i)
        add("f" + std::to_string(i), ListVerdict::refused,
            "reads its return address (at +" + std::to_string(i) + "), which would point into the recorder");
    add("short", ListVerdict::refused, "shorter than the patch (3 of 5 bytes), without padding behind it");
    for (int i = 0; i < 4; ++i)
        add("g" + std::to_string(i), ListVerdict::wrapped,
            std::to_string(i + 1) + " inlined copies will not be seen: in h" + std::to_string(i));
    CHECK(
        answer_of(plan) ==
        "rdam: 182 entries of the list are skipped: reads its return address, which would point into the "
        "recorder: f0, f1, f2, f3, f4 and 177 more (--verbose prints all)\n"
        "rdam: 'short': skipped libapp.so:short: shorter than the patch (3 of 5 bytes), without padding "
        "behind it\n"
        "rdam: 4 entries of the list are wrapped with a remark: inlined copies will not be seen: g0, g1, g2, "
        "g3 (--verbose prints all)\n"
        "rdam: 1 function wrapped in the libraries of /usr/bin/app\n");
}

TEST_CASE("a library that is not there yet has one line, however many of its functions are listed") {
    Plan plan = plan_of(1, 0);
    for (const char* name : {"open", "close"}) {
        Answer answer;
        answer.entry.scope = "libplugin.so";
        answer.entry.name = name;
        answer.awaits_module = true;
        plan.answers.push_back(answer);
    }
    CHECK(answer_of(plan) ==
          "rdam: libplugin.so is not loaded yet: 2 entries on the list are looked up when it is\n"
          "rdam: 1 function wrapped in the libraries of /usr/bin/app\n");
}

TEST_CASE("functions of libraries are not said to be wrapped in the program") {
    Plan plan = plan_of(2, 0);
    CHECK(answer_of(plan) == "rdam: 2 functions wrapped in the libraries of /usr/bin/app\n");
    plan.functions[1].object = 1;
    CHECK(answer_of(plan) == "rdam: 2 functions wrapped in /usr/bin/app and its libraries\n");
    plan.functions[0].object = 1;
    CHECK(answer_of(plan) == "rdam: 2 functions wrapped in /usr/bin/app\n");
}

TEST_CASE("a list that names nothing but regions is no mistake") {
    Plan plan;
    Answer answer;
    answer.verdict = ListVerdict::wrapped;
    answer.function = "region:row";
    plan.answers.push_back(answer);
    CHECK(answer_of(plan) == "rdam: no function wrapped in /usr/bin/app: its regions are recorded\n");
}

TEST_CASE("what is not found is no news in what a script calls, and not the end of an interpreter") {
    Plan plan;
    Answer answer;
    answer.entry.text = answer.entry.name = "wrok";
    plan.answers.push_back(answer);
    Configuration configuration;
    configuration.run = "run";
    const auto said_in = [&](const char* program, bool called) {
        ProcessDescription process;
        process.executable = program;
        configuration.called = called;
        return answer_text(plan, process, configuration);
    };
    CHECK(said_in("/usr/bin/dirname", true).empty());
    CHECK(said_in("/usr/bin/dirname", false).ends_with("/usr/bin/dirname: nothing is recorded\n"));
    CHECK(said_in("/usr/bin/sh", false).empty());
    CHECK(said_in("/usr/bin/perl", false).ends_with("/usr/bin/perl: only what it starts is recorded\n"));
}

TEST_CASE("a long list of sampled functions is cut short") {
    CHECK(said_of(plan_of(5, 5)).find(": f1, f2, f3, f4, f5 (") != std::string::npos);
    CHECK(said_of(plan_of(9, 9)).find(": f1, f2, f3, f4, f5 and 4 more (") != std::string::npos);
}

TEST_CASE("what the budget did not suffice for is said") {
    trace::TraceInfo info;
    info.process.max_overhead = 0.05;
    info.functions.resize(3);
    info.functions[0].name = "mix";
    info.functions[1].name = "take";
    info.functions[2].name = "marked";
    info.functions[2].windowed_since = 1;
    info.functions[2].sampled = true;
    Configuration configuration;
    configuration.run = "run";
    CHECK(windowed_text(info, configuration).empty());
    info.functions[0].windowed_since = 1;
    CHECK(windowed_text(info, configuration) ==
          "rdam: 1 function was sampled in windows of time, because recording all its calls would cost more "
          "than 5 % of a thread's time: mix (--all-calls records every call)\n");
    info.functions[1].windowed_since = 1;
    CHECK(windowed_text(info, configuration).starts_with("rdam: 2 functions were sampled"));
    configuration.first = false;
    CHECK(windowed_text(info, configuration).empty());
}

TEST_CASE("a process that somebody else has started is silent about its samples") {
    Configuration configuration;
    configuration.first = false;
    CHECK(wrapped_text(plan_of(2, 1), {}, configuration).empty());
    CHECK(late_wrapped_text(plan_of(2, 1), {}, configuration).empty());
}

}  // namespace rdam::agent
