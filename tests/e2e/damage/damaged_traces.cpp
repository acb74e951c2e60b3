// Damages a trace in many ways at random and looks at what the analyzer makes of each:
//
//     damaged_traces TRACE COUNT SEED
//
// A third of the traces are cut, the others have flipped bits, some both. Each is analyzed in a process of
// its own, which may take twice the file's size and 256 MB of memory, and must end in a message of one line,
// where nothing can be read, or in a report of exactly the chunks that were not hit. What was lost must be
// said.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "analyzer/output/json.h"
#include "analyzer/output/text.h"
#include "analyzer/report/score_trace.h"
#include "tests/e2e/damage/expectation.h"

namespace damage {
namespace {

using namespace rdam;

constexpr long kMoreMemory = 256L << 20;
constexpr rlim_t kMaxSeconds = 60;

enum class Outcome : int { report = 0, refused = 1, wrong = 2 };

Outcome wrong(const std::string& what) {
    std::fprintf(stderr, "  %s\n", what.c_str());
    return Outcome::wrong;
}

bool any(const trace::Damage& damage) {
    return damage.bad_header || damage.no_index || damage.bad_chunks != 0 || damage.missing_chunks != 0 ||
           damage.skipped_bytes != 0;
}

Outcome judge_report(const score::Report& report, const Expectation& expected) {
    Calls calls;
    for (const score::FunctionRow& row : report.functions)
        calls[row.name] += row.recorded;
    if (const std::string fault = compare(calls, expected); !fault.empty()) return wrong(fault);
    if (expected.loses_calls && !any(report.damage)) return wrong("a loss is not said");
    const bool one_bad = report.damage.bad_chunks == 1 && report.damage.missing_chunks == 0;
    if (expected.one_payload && !(one_bad && !report.damage.no_index))
        return wrong("a wrong checksum did not cost exactly one chunk");
    return Outcome::report;
}

Outcome analyze(const std::string& path, const Expectation& expected, const score::Settings& settings) {
    const auto reader = trace::TraceReader::open(path);
    const auto report = reader ? score::score_trace(*reader, settings, {})
                               : Result<score::Report>{tl::unexpected{reader.error()}};
    if (!report) {
        const std::string& message = report.error().message;
        if (message.empty() || message.find('\n') != std::string::npos)
            return wrong("not a message of one line: " + message);
        return expected.readable ? wrong("refused: " + message) : Outcome::refused;
    }
    const Outcome outcome = judge_report(*report, expected);
    output::TraceSymbols symbols{reader->info()};
    const std::string text = output::to_text({*report}, symbols, {.threads = true, .sequences = true});
    if (any(report->damage) && text.find("\nnote: ") == std::string::npos)
        return wrong("no note of the damage");
    if (output::to_json({*report}, symbols, {}).empty()) return wrong("no JSON");
    return outcome;
}

[[noreturn]] void run_child(const Bytes& file, const Expectation& expected, const score::Settings& settings) {
    const rlimit seconds{kMaxSeconds, kMaxSeconds};
    setrlimit(RLIMIT_CPU, &seconds);
    const rlimit core{0, 0};
    setrlimit(RLIMIT_CORE, &core);
    const int fd = memfd_create("damaged", MFD_CLOEXEC);
    Outcome outcome = Outcome::wrong;
    if (fd >= 0 && write(fd, file.data(), file.size()) == static_cast<ssize_t>(file.size()))
        outcome = analyze("/proc/self/fd/" + std::to_string(fd), expected, settings);
    _exit(static_cast<int>(outcome));
}

struct Tally {
    std::uint64_t reports = 0, refused = 0, wrong = 0;
    long max_memory = 0;  ///< bytes
};

void run_one(const Original& original, std::uint64_t seed, Tally& tally) {
    const Damaged damaged = damage_at_random(original, seed);
    const pid_t child = fork();
    if (child == 0) {
        run_child(damaged.file, damaged.expected,
                  {.patterns = seed % 3 == 0, .jobs = seed % 8 == 0 ? 2U : 1U});
    }
    int status = 0;
    rusage usage{};
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        std::perror("damaged_traces");
        std::exit(1);
    }
    const long memory = usage.ru_maxrss * 1024;
    tally.max_memory = std::max(tally.max_memory, memory);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    tally.reports += code == static_cast<int>(Outcome::report);
    tally.refused += code == static_cast<int>(Outcome::refused);
    const bool too_much = memory > 2 * static_cast<long>(damaged.file.size()) + kMoreMemory;
    if ((code == 0 || code == 1) && !too_much) return;
    ++tally.wrong;
    std::fprintf(stderr, "seed %llu: %s: %s\n", static_cast<unsigned long long>(seed), damaged.what.c_str(),
                 too_much              ? "too much memory"
                 : WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
                                       : "wrong, as said above");
}

bool parse(const char* text, std::uint64_t& value) {
    const char* end = text + std::char_traits<char>::length(text);
    const auto parsed = std::from_chars(text, end, value);
    return parsed.ec == std::errc{} && parsed.ptr == end;
}

int run(const char* path, std::uint64_t count, std::uint64_t seed) {
    std::ifstream stream{path, std::ios::binary};
    const Bytes file{std::istreambuf_iterator<char>{stream}, {}};
    const auto original = read_original(path, file);
    if (!original) {
        std::fprintf(stderr, "damaged_traces: %s\n", original.error().message.c_str());
        return 1;
    }
    Tally tally;
    for (std::uint64_t i = 0; i < count; ++i)
        run_one(*original, seed + i, tally);
    std::printf("%llu reports, %llu refused, %llu wrong; %ld MB of memory at most\n",
                static_cast<unsigned long long>(tally.reports),
                static_cast<unsigned long long>(tally.refused), static_cast<unsigned long long>(tally.wrong),
                tally.max_memory >> 20);
    return tally.wrong == 0 && tally.reports > 0 && tally.refused > 0 ? 0 : 1;
}

}  // namespace
}  // namespace damage

int main(int argc, char** argv) {
    std::uint64_t count = 0, seed = 0;
    if (argc != 4 || !damage::parse(argv[2], count) || !damage::parse(argv[3], seed)) {
        std::fputs("usage: damaged_traces TRACE COUNT SEED\n", stderr);
        return 2;
    }
    return damage::run(argv[1], count, seed);
}
