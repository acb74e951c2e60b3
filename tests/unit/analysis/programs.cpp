#include "tests/unit/analysis/programs.h"

#include "wrappers/plan/planner.h"

namespace rdam::test {
namespace {

constexpr std::uint32_t kWorker = 0, kLock = 1, kWait = 2;

class MadeUpSymbols : public output::Symbols {
  public:
    std::vector<output::StackFrame> frames(std::uint64_t address) override {
        if (address == 0x1000) {
            return {{.function = "worker", .file = "app.c", .line = 42, .module = "app", .offset = 0x1000}};
        }
        if (address == 0x2000) {
            return {{.function = "start", .file = "app.c", .line = 7, .inlined = true, .module = "app"},
                    {.function = "main", .file = "app.c", .line = 12, .module = "app"}};
        }
        return {{.module = "libc.so.6", .offset = address}};
    }
};

void contend(ThreadRecording& thread, std::uint64_t number) {
    std::uint64_t now = 1000;
    for (std::uint64_t i = 0; i < 100; ++i) {
        const std::uint64_t mutex = i % 2 == 0 ? 0x7f00 : 0x7f80;
        const std::uint64_t waited = number == 1 && i % 10 == 0 ? 20000 + i * 100 : 0;
        thread.enter(now + 100, kWorker, {0}, 0x2000)
            .enter(now + 500, kLock, {mutex}, 0x1000, i == 0 ? 1 : 0);
        now += 540;
        if (waited > 0) thread.enter(now, kWait, {mutex}, 0x4000).leave(now + waited, kWait);
        now += waited + 60 + i % 7;
        thread.leave(now, kLock);
        now += 300 + (number + 1) * i;
        thread.leave(now, kWorker);
    }
}

}  // namespace

Recording contended_program() {
    Recording recording{3, 1};
    trace::TraceInfo& info = recording.info;
    info.process.command = {"./app", "-t", "2", "two words"};
    info.process.rdam_version = "0.1.0";
    info.clock.probe_ticks = 40;
    info.clock.probe_inner_ticks = 20;
    const char* names[] = {"worker", "pthread_mutex_lock", "__lll_lock_wait"};
    for (std::size_t f = 0; f < 3; ++f)
        info.functions[f].name = names[f];
    info.functions[kLock].module = info.functions[kWait].module = "libc.so.6";
    trace::ParameterInfo& mutex = info.functions[kLock].parameters[0];
    mutex.name = "mutex";
    mutex.kind = static_cast<std::uint8_t>(ValueKind::pointer);
    mutex.key = true;
    info.stacks = {{.function = kLock, .caller = 0x1000, .frames = {0x1000, 0x2000, 0x3000}}};
    for (std::uint64_t t = 0; t < 2; ++t)
        contend(recording.thread(1000, 1001000), t);
    return recording;
}

Recording program_with_budget(std::uint8_t rate, std::uint64_t switched_off) {
    constexpr std::uint32_t kParse = 0, kToken = 1, kLog = 2;
    Recording recording{4};
    trace::TraceInfo& info = recording.info;
    info.process.max_overhead = 0.1;
    info.clock.probe_ticks = 40;
    info.clock.probe_inner_ticks = 20;
    const char* names[] = {"parse", "next_token", "log", "recover"};
    for (std::size_t f = 0; f < 4; ++f)
        info.functions[f].name = names[f];
    info.functions[kToken].switched_off = switched_off;
    for (std::uint64_t number = 0; number < 2; ++number) {
        ThreadRecording& thread = recording.thread(1000, 1001000);
        std::uint64_t now = 1000;
        for (std::uint64_t i = 0; i < 100; ++i) {
            const bool late = i >= 60;
            thread.tree(late ? rate : std::uint8_t{0}).enter(now, kParse, {}, 0x2000);
            const std::uint64_t disturbed = i % 9 == number ? 3000 : i % 5;
            if (switched_off == 0 || now < switched_off) thread.call(now + 100, kToken, 200 + disturbed);
            now += 500 + disturbed;
            thread.leave(now, kParse);
            now += late ? (std::uint64_t{500} << rate) : 500;
            if (i % 50 == 0) thread.tree(0).call(now, kLog, 400 + i);
            now += 500;
        }
    }
    return recording;
}

Recording program_with_callers() {
    constexpr std::uint64_t kPlaces[] = {0x1000, 0x2000, 0x4000, 0x5000, 0x6000, 0x7000};
    Recording recording{1};
    recording.info.functions[0].name = "step";
    recording.info.stacks = {{.function = 0, .caller = 0x1000, .frames = {0x1000, 0x2000}},
                             {.function = 0, .caller = 0x1000, .frames = {0x1000, 0x3000}, .truncated = true},
                             {.function = 0, .caller = 0x2000, .frames = {0x2000, 0x3000}}};
    ThreadRecording& thread = recording.thread(1000, 1001000);
    std::uint64_t now = 1000;
    for (std::uint64_t i = 0; i < 240; ++i) {
        const std::uint64_t place = i % 6;
        const std::uint32_t stack = i % 60 == 0 ? 1 + (i == 60) : i == 1 ? 3 : 0;
        const std::uint64_t disturbed = place == 0 ? 900 + i : place == 2 ? 100 : place == 3 ? 5 : 0;
        thread.enter(now, 0, {}, kPlaces[place], stack).leave(now + 200 + disturbed, 0);
        now += 3000;
    }
    return recording;
}

Recording troubled_program() {
    Recording recording{3};
    trace::TraceInfo& info = recording.info;
    info.process.command = {"./evil\x1b[2J", "\xff\xfe"};
    info.process.clean_end = false;
    info.dropped = 1234;
    info.functions[0].name = "a\x1b]0;title\x07";
    info.functions[1].name = "b\u202egnp.exe";
    info.functions[1].module = "lib\xff.so";
    info.answers.resize(3);
    info.answers[0].entry = "nosuch";
    info.answers[0].verdict = static_cast<std::uint8_t>(ListVerdict::not_found);
    info.answers[0].reason = "nearest: no_such\r\n";
    info.answers[1].entry = "memcpy";
    info.answers[1].verdict = static_cast<std::uint8_t>(ListVerdict::refused);
    info.answers[1].function = "libc.so.6:memcpy";
    info.answers[1].reason = "shorter than the patch";
    info.answers[2].entry = "a";
    info.answers[2].verdict = static_cast<std::uint8_t>(ListVerdict::wrapped);
    info.remarks = {"Remark \x1b[31mof the recorder."};
    ThreadRecording& thread = recording.thread(1000, 0);
    info.threads[0].name = "\x9bthread";
    info.threads[0].unwritten = 1;
    thread.leave(1000, 1).enter(1010, 0).enter(1020, 1).leave(1100, 0);
    thread.enter(1200, 0, {}, 0x1b).leave(1190, 0).enter(1300, 1).gap().enter(1400, 1);
    thread.pause(1500, 1400).tail_enter(1510, 0);
    return recording;
}

std::string text_of(const score::Report& report, const output::TextOptions& options,
                    const std::vector<hints::FunctionHints>& hints) {
    MadeUpSymbols symbols;
    return output::to_text({report, hints}, symbols, options);
}

std::string json_of(const score::Report& report, const output::JsonOptions& options) {
    MadeUpSymbols symbols;
    return output::to_json({report}, symbols, options);
}

}  // namespace rdam::test
