#include "tools/trace/foreign.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>

#include "tools/base/text_lines.h"

namespace rdam::trace {
namespace {

using namespace std::string_view_literals;

constexpr bool is_digit(char character) {
    return character >= '0' && character <= '9';
}

constexpr bool is_word(char character) {
    return is_digit(character) || (character >= 'a' && character <= 'z') ||
           (character >= 'A' && character <= 'Z') || character == '_';
}

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

/// A key of JSON, in so many brackets; 0: in any number.
struct Key {
    std::string_view name;
    std::size_t depth = 0;
};

/// `"name":` stands in the text, which may be cut.
bool has_key(std::string_view text, Key key) {
    std::size_t depth = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '{' || text[at] == '[') ++depth;
        if ((text[at] == '}' || text[at] == ']') && depth > 0) --depth;
        if (text[at] != '"') continue;
        const std::size_t begin = at + 1;
        for (++at; at < text.size() && text[at] != '"'; ++at)
            if (text[at] == '\\') ++at;
        const std::size_t behind = text.find_first_not_of(" \t\r\n", at + 1);
        if (behind == std::string_view::npos) return false;
        if (text[behind] == ':' && text.substr(begin, at - begin) == key.name &&
            (key.depth == 0 || key.depth == depth))
            return true;
    }
    return false;
}

/// A text in JSON that has all of these keys, and no trace event so far: those may have anything in their
/// arguments.
template <class... Keys>
bool is_json_with(std::string_view text, Keys... keys) {
    text = without_byte_order_mark(text);
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    return (text.starts_with('{') || text.starts_with('[')) && (has_key(text, keys) && ...) &&
           !has_key(text, {"traceEvents"}) && !(has_key(text, {"ph"}) && has_key(text, {"ts"}));
}

/// How many of the first lines there is a word to be said of are what `is` says, and how many are not.
struct LinesSeen {
    std::size_t fit = 0, others = 0;
};

template <class Is>
LinesSeen look_at_lines(std::string_view text, Is is) {
    constexpr std::size_t kLines = 50;
    // The last line may be cut.
    if (text.size() >= kForeignBytes) text = text.substr(0, text.rfind('\n'));
    TextLines lines{text};
    LinesSeen seen;
    for (std::string_view line; lines.number() < kLines && lines.next(line);)
        if (line.find_first_not_of(" \t") != std::string_view::npos) ++(is(line) ? seen.fit : seen.others);
    return seen;
}

template <class Is>
bool most_lines(std::string_view text, Is is) {
    const LinesSeen seen = look_at_lines(text, is);
    return seen.fit > seen.others;
}

// Protocol buffers have no magic, but a structure.

/// Whether the bytes are fields of a message; if they are `cut`, of its beginning.
bool is_message(std::string_view bytes, bool cut) {
    constexpr protozero::pbf_tag_type kHighestField = 2000;  // of what is known today, and then some
    try {
        for (protozero::pbf_reader message{bytes.data(), bytes.size()}; message.next(); message.skip())
            if (message.tag() > kHighestField) return false;
        return true;
    } catch (const protozero::end_of_buffer_exception&) {
        return cut;
    } catch (const protozero::exception&) {
        return false;
    }
}

/// Packets one after the other, each the first field of the file's message. The first field of a profile of
/// pprof is the same, but begins with a number, as no packet does.
bool is_perfetto(std::string_view bytes) {
    constexpr std::size_t kEnough = 8;
    const bool cut = bytes.size() >= kForeignBytes;
    std::size_t filled = 0;
    try {
        protozero::pbf_reader file{bytes.data(), bytes.size()};
        for (std::size_t packets = 0; packets < kEnough && file.next(); ++packets) {
            if (file.tag_and_type() != protozero::tag_and_type(1, protozero::pbf_wire_type::length_delimited))
                return false;
            const auto packet = file.get_view();
            const std::string_view fields{packet.data(), packet.size()};
            if (fields.starts_with('\x08') || !is_message(fields, false)) return false;
            filled += fields.empty() ? 0 : 1;
        }
        return filled > 0;
    } catch (const protozero::end_of_buffer_exception&) {
        return filled > 0 && cut;
    } catch (const protozero::exception&) {
        return false;
    }
}

/// The type and unit of what is counted comes first, or behind when and how long (Go).
bool is_pprof(std::string_view bytes) {
    constexpr std::size_t kWithin = 64;
    return has(bytes.substr(0, kWithin), "\x0a\x04\x08\x01\x10\x02"sv) &&
           is_message(bytes, bytes.size() >= kForeignBytes);
}

// What prints a line a call: strace, ltrace, perf trace.

/// `[pid 12] `, `12 `, a time: what stands before the call.
std::string_view without_thread_and_time(std::string_view line) {
    if (line.starts_with("[pid ")) line.remove_prefix(std::min(line.find(']') + 1, line.size()));
    while (!line.empty()) {
        const std::size_t end = line.find_first_not_of("0123456789.:");
        if (line.front() == ' ')
            line.remove_prefix(1);
        else if (is_digit(line.front()) && end != std::string_view::npos && line[end] == ' ')
            line.remove_prefix(end);
        else
            break;
    }
    return line;
}

/// The name in `name(…) = …` or `library->name(…) = …`; "": the line is none of these.
std::string_view called_in(std::string_view line) {
    line = without_thread_and_time(line);
    const std::size_t open = line.find('(');
    if (open == 0 || open == std::string_view::npos) return {};
    const std::string_view name = line.substr(0, open);
    const bool is_name = std::ranges::all_of(name, [](char character) {
        return is_word(character) || has("@.->:~"sv, {&character, 1});
    });
    const bool goes_on =
        has(line, ") = ") || has(line, ") ") || line.ends_with(">") || has(line, "unfinished");
    const bool has_result = has(line, " = ") || has(line, "<unfinished ...>") || has(line, "<no return ...>");
    return is_name && goes_on && has_result ? name : std::string_view{};
}

bool is_beside_calls(std::string_view line) {
    line = without_thread_and_time(line);
    return line.starts_with("+++ ") || line.starts_with("--- ") || line.starts_with("<... ") ||
           line.starts_with("strace: ");
}

bool is_system_call(std::string_view name) {
    constexpr std::array kUsual{"execve"sv,
                                "brk"sv,
                                "openat"sv,
                                "open"sv,
                                "read"sv,
                                "write"sv,
                                "close"sv,
                                "futex"sv,
                                "mmap"sv,
                                "munmap"sv,
                                "poll"sv,
                                "fstat"sv,
                                "newfstatat"sv,
                                "mprotect"sv,
                                "clone"sv,
                                "clone3"sv,
                                "ioctl"sv,
                                "lseek"sv,
                                "recvmsg"sv,
                                "recvfrom"sv,
                                "sendto"sv,
                                "sendmsg"sv,
                                "select"sv,
                                "wait4"sv,
                                "epoll_wait"sv,
                                "epoll_pwait"sv,
                                "pselect6"sv,
                                "ppoll"sv,
                                "exit_group"sv,
                                "nanosleep"sv,
                                "clock_nanosleep"sv,
                                "fsync"sv,
                                "pread64"sv,
                                "pwrite64"sv,
                                "rt_sigaction"sv,
                                "rt_sigprocmask"sv,
                                "madvise"sv,
                                "sched_yield"sv};
    return std::ranges::find(kUsual, name) != kUsual.end();
}

bool is_call_line(std::string_view line) {
    return !called_in(line).empty() || is_beside_calls(line);
}

/// strace names system calls only, and ends with `+++ exited with`; ltrace says `+++ exited (status`.
bool is_strace(std::string_view text) {
    if (!most_lines(text, is_call_line) || has(text, "+++ exited (status") || has(text, "->")) return false;
    return has(text, "+++ exited with") ||
           look_at_lines(text, [](std::string_view line) { return is_system_call(called_in(line)); }).fit > 0;
}

bool is_ltrace(std::string_view text) {
    return most_lines(text, is_call_line) && !is_strace(text);
}

/// `0.046 ( 0.011 ms): a/8849 brk()   = …`.
bool is_perf_trace(std::string_view text) {
    return most_lines(
        text, [](std::string_view line) { return has(line, " ms): ") || has(line, "(         ): "); });
}

// Other texts.

/// `main;work;read 12`, as flamegraph.pl reads it.
bool is_folded(std::string_view text) {
    bool is_path = false;
    const LinesSeen seen = look_at_lines(text, [&](std::string_view line) {
        const std::size_t blank = line.rfind(' ');
        if (blank == std::string_view::npos || blank == 0) return false;
        is_path = is_path || has(line.substr(0, blank), ";");
        return amount_in(line.substr(blank + 1)).has_value() && !is_digit(line.front());
    });
    return is_path && seen.others == 0;
}

/// `==123== NAME, …`, of valgrind's tools.
bool is_valgrind(std::string_view text, std::string_view tool) {
    if (!text.starts_with("==")) return false;
    std::string_view first = text.substr(0, text.find('\n'));
    const std::size_t end = first.find("== ", 2);
    if (end == std::string_view::npos) return false;
    first.remove_prefix(end + 3);
    return first.starts_with(tool);
}

/// A page, or a picture of a flame graph.
bool is_page(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    for (const std::string_view beginning :
         {"<!DOCTYPE html"sv, "<!doctype html"sv, "<html"sv, "<svg"sv, "<?xml"sv})
        if (text.starts_with(beginning)) return true;
    return false;
}

constexpr std::string_view kSums =
    "it has sums, no calls; give it to `rdam analyze --causes FILE TRACE`, beside the trace of a run";
constexpr std::string_view kSamples =
    "it has samples, no calls; give samples of perf to `rdam hot`, and record the functions that it lists";
constexpr std::string_view kUnpack = "unpack it first";
constexpr std::string_view kRecordWaits =
    "no tool makes a format of it that rdam reads; record the functions that make these calls, as in "
    "`rdam record -f read,write,poll -- PROGRAM`";

constexpr std::array kForeign{
    // rdam's own
    Foreign{
        .what = "what rdam keeps of a trace", .help = "analyze the trace itself", .beginning = "\xf5rdamSm"},
    Foreign{.what = "a table of calls that rdam has exported",
            .help = "analyze the trace it was made of",
            .is =
                [](std::string_view text) {
                    const std::string_view first = text.substr(0, text.find('\n'));
                    return has(first, "begin_ns,") && has(first, "thread");
                }},
    Foreign{.what = "a page or a picture", .help = "give the trace that it was made of", .is = is_page},
    // Traces that can be converted
    Foreign{.what = "a Perfetto trace",
            .help = "make trace events of it, with Perfetto's `traceconv json FILE trace.json`",
            .is = is_perfetto},
    Foreign{.what = "a Fuchsia trace (magic-trace)",
            .help = "make trace events of it, with Perfetto's `traceconv json FILE trace.json`",
            .beginning = "\x10\x00\x04\x46\x78\x54\x16\x00"sv},
    Foreign{.what = "an execution trace of Go",
            .help = "make trace events of it: `go tool trace -http=localhost:6060 FILE`, and then `curl "
                    "localhost:6060/jsontrace > trace.json`",
            .is =
                [](std::string_view text) {
                    return text.starts_with("go 1.") && has(text.substr(0, 16), " trace\0"sv);
                }},
    Foreign{
        .what = "a log of ninja",
        .help =
            "make trace events of it, with ninjatracing (github.com/nico/ninjatracing): `ninjatracing FILE > "
            "trace.json`",
        .beginning = "# ninja log v"},
    Foreign{.what = "a trace of TAU",
            .help = "make trace events of it: `tau_trace2json tau.trc tau.edf -chrome -o trace.json`",
            .is =
                [](std::string_view text) {
                    return text.starts_with("\x60\xea\x00\x00"sv) ||
                           has(text.substr(0, text.find('\n')), " dynamic_trace_events");
                }},
    Foreign{
        .what = "an SQLite database",
        .help =
            "if Nsight Systems has exported it, nsys2json (github.com/chenyu-jiang/nsys2json) makes trace "
            "events of it",
        .beginning = "SQLite format 3\0"sv},
    Foreign{.what = "a recording of trace-cmd",
            .help = "analyze the text of `trace-cmd report -t > FILE`, if it has uprobes",
            .beginning = "\x17\x08"
                         "Dtracing"},
    Foreign{.what = "a perf.data file",
            .help = "give it to `rdam hot`, or if it has uprobes, analyze the text of `perf script > FILE`",
            .beginning = "PERFILE2"},
    Foreign{.what = "a file of a CTF trace (LTTng)",
            .help = "give the directory that has its file `metadata`",
            .is =
                [](std::string_view text) {
                    return text.starts_with("\xc1\x1f\xfc\xc1") || text.starts_with("\xc1\xfc\x1f\xc1") ||
                           text.starts_with("\x57\x1d\xd1\x75") || text.starts_with("\x75\xd1\x1d\x57") ||
                           text.starts_with("/* CTF 1");
                }},
    // Traces without a converter to anything that can be read
    Foreign{.what = "a Paraver trace",
            .help = "no tool makes a format of it that rdam reads; EZTrace and Score-P record MPI, OpenMP "
                    "and threads "
                    "in OTF2, which it does",
            .beginning = "#Paraver"},
    Foreign{
        .what = "a trace of Tracy",
        .help = "no tool makes a format of it that rdam reads; `rdam record` and uftrace record functions",
        .is =
            [](std::string_view text) {
                return text.starts_with("tlZ\x04") || text.starts_with("tZst") || text.starts_with("tracy");
            }},
    Foreign{.what = "spans of OpenTelemetry, Jaeger or Zipkin",
            .help = "no tool makes a format of it that rdam reads; have the program write trace events "
                    "(docs/inputs.md), or record its functions",
            .is =
                [](std::string_view text) {
                    return is_json_with(text, Key{"resourceSpans", 1}) ||
                           is_json_with(text, Key{"traceID", 3}, Key{"spans", 3}) ||
                           is_json_with(text, Key{"traceId", 2}, Key{"id", 2}, Key{"timestamp", 2});
                }},
    Foreign{.what = "what perf trace has printed", .help = kRecordWaits, .is = is_perf_trace},
    Foreign{.what = "what strace has printed", .help = kRecordWaits, .is = is_strace},
    Foreign{.what = "what ltrace has printed",
            .help =
                "uftrace records the same calls (`uftrace record -d FOLDER PROGRAM`), and the folder can be "
                "analyzed",
            .is = is_ltrace},
    // Samples
    Foreign{.what = "a profile of V8 (.cpuprofile)",
            .help =
                "it has samples, no calls; `node --trace-event-categories v8,node PROGRAM.js` writes trace "
                "events, which can be analyzed",
            .is =
                [](std::string_view text) {
                    return is_json_with(text, Key{"nodes", 1}, Key{"callFrame", 3});
                }},
    Foreign{.what = "a raw profile of Firefox",
            .help = "open it in profiler.firefox.com, which saves what rdam reads",
            .is =
                [](std::string_view text) {
                    return is_json_with(text, Key{"meta", 1}, Key{"stackwalk", 2}, Key{"interval", 2}) &&
                           !has_key(text, {"preprocessedProfileVersion"});
                }},
    Foreign{.what = "a profile of pprof", .help = kSamples, .is = is_pprof},
    Foreign{.what = "a recording of Java's Flight Recorder", .help = kSamples, .beginning = "FLR\0"sv},
    Foreign{.what = "a database of HPCToolkit", .help = kSamples, .beginning = "HPCTOOLKIT"},
    Foreign{.what = "perf's samples as JSON",
            .help = "give the perf.data to `rdam hot`; of uprobes, analyze the text of `perf script > FILE`",
            .is =
                [](std::string_view text) {
                    return is_json_with(text, Key{"linux-perf-json-version", 1});
                }},
    Foreign{.what = "call paths for a flame graph", .help = kSamples, .is = is_folded},
    Foreign{.what = "a profile of gprof",
            .help =
                "it has samples and sums; the same program, compiled with -pg, can be recorded with `uftrace "
                "record -d FOLDER PROGRAM`, and the folder analyzed",
            .is = [](std::string_view text) { return text.starts_with("gmon\x01\0\0\0"sv); }},
    Foreign{
        .what = "a profile of Python's cProfile",
        .help =
            "it has sums, no calls; `viztracer -o trace.json PROGRAM.py` writes trace events, which can be "
            "analyzed",
        .is =
            [](std::string_view text) {
                return text.starts_with("{\xa9\x03") || text.starts_with("\xfb\x29\x03") ||
                       text.starts_with("{(\x03\0\0\0"sv);
            }},
    // Sums, of which some tell of causes
    Foreign{.what = "a profile of callgrind",
            .help = kSums,
            .is =
                [](std::string_view text) {
                    return text.starts_with("# callgrind format") ||
                           has(text.substr(0, 200), "creator: callgrind");
                }},
    Foreign{.what = "a profile of Coz", .help = kSums, .beginning = "startup\ttime="},
    Foreign{
        .what = "a report of DRD or Helgrind",
        .help = kSums,
        .is =
            [](std::string_view text) { return is_valgrind(text, "Helgrind") || is_valgrind(text, "drd"); }},
    Foreign{.what = "a report of perf report",
            .help = "it has sums, no calls; give it to `rdam hot`, or to `rdam analyze --causes FILE TRACE`",
            .beginning = "# To display the perf.data header info"},
    Foreign{.what = "a profile of cachegrind",
            .help = "it has sums of events, no calls; `valgrind --tool=callgrind` "
                    "counts calls, for `rdam analyze --causes`",
            .beginning = "desc: I1 cache"},
    Foreign{.what = "a heap profile",
            .help = "it tells of memory, not of time; record functions, as in `rdam record -f malloc,free "
                    "-- PROGRAM`",
            .is =
                [](std::string_view text) {
                    return text.starts_with("desc: ") || is_json_with(text, Key{"dhatFileVersion", 1}) ||
                           is_json_with(text, Key{"head", 1}, Key{"callFrame", 2}) ||
                           is_json_with(text, Key{"snapshot", 1}, Key{"node_fields", 3});
                }},
    Foreign{
        .what = "what strace -c has counted",
        .help = "it has sums, no calls; record the functions, as in `rdam record -f read,write -- PROGRAM`",
        .beginning = "% time     seconds"},
    // What is no trace, or one that is packed
    Foreign{.what = "a program or library",
            .help = "record it with `rdam record`, then analyze trace.bin",
            .beginning = "\x7f"
                         "ELF"},
    Foreign{
        .what = "an archive of tar",
        .help =
            "unpack it first; if it is a profile of Score-P (.cubex), it has sums, and Score-P writes traces "
            "with SCOREP_ENABLE_TRACING=true",
        .is = [](std::string_view text) { return text.size() > 262 && text.substr(257, 5) == "ustar"; }},
    Foreign{.what = "compressed by gzip", .help = kUnpack, .beginning = "\x1f\x8b"},
    Foreign{.what = "compressed by zstd", .help = kUnpack, .beginning = "\x28\xb5\x2f\xfd"},
    Foreign{.what = "compressed by xz",
            .help = kUnpack,
            .beginning = "\xfd"
                         "7zXZ"},
    Foreign{.what = "compressed by bzip2", .help = kUnpack, .beginning = "BZh"},
    Foreign{.what = "an archive of zip", .help = kUnpack, .beginning = "PK\x03\x04"},
};

}  // namespace

std::span<const Foreign> foreign_formats() {
    return kForeign;
}

const Foreign* find_foreign(std::string_view beginning) {
    beginning = beginning.substr(0, kForeignBytes);
    const auto found = std::ranges::find_if(kForeign, [&](const Foreign& each) {
        return each.is != nullptr ? each.is(beginning) : beginning.starts_with(each.beginning);
    });
    return found == kForeign.end() ? nullptr : &*found;
}

Error not_a_trace(const std::string& path, std::string_view beginning) {
    if (beginning.empty())
        return {fmt::format("{} is empty: the recorder was stopped before it wrote anything; record again",
                            path)};
    if (const Foreign* const known = find_foreign(beginning))
        return {fmt::format("{} is {}: {}", path, known->what, known->help)};
    return {
        fmt::format("{} is not an rdam trace: record a program with `rdam record`; docs/inputs.md lists the "
                    "formats of other tools that can be read",
                    path)};
}

}  // namespace rdam::trace
