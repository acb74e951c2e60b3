// The words of the manual pages that no definition of an option contains.
#include <string>

#include "tools/rdam/command_line/generate.h"
#include "tools/rdam/screen/pages/keys.h"

namespace rdam {

namespace {

constexpr Prose::Item kDone{"0", "Done."};
constexpr Prose::Item kBadInput{"1",
                                "The input is wrong (a file that cannot be read, a broken trace, an unknown "
                                "function). One line on standard error says what and what to do."};
constexpr Prose::Item kUsage{"2", "The command line is wrong."};

Prose rdam_prose() {
    return {
        .description =
            {"Threads that share a machine slow each other down: through locks, false sharing, a saturated "
             "memory controller, a disk. rdam measures the effect, whatever the cause: the same code runs "
             "fast when nothing disturbs it, and slower when something does. The score of a function, its "
             "relative distance to the minimum (RDAM), is the share of a thread's life that was lost "
             "compared with the function's own fastest execution, a number from 0 to 1. Look at functions "
             "that score 0.20 or more.",
             "A session has three steps: find the functions in which the program spends its time or waits "
             "(perf and rdam hot), record every call to them (rdam record, or LD_PRELOAD=librdam.so), and "
             "score them (rdam analyze, also installed as rdam-analyze)."},
        .environment = {},
        .exit_status = {kDone, kBadInput, kUsage},
        .examples = {{"perf record -g ./app\nrdam hot perf.data > hot.txt\nrdam record -f hot.txt -- "
                      "./app\nrdam analyze trace.bin",
                      "From a program to its scores:"}},
    };
}

Prose record_prose() {
    return {
        .description =
            {"Runs PROGRAM and records each call to the selected functions with its entry and exit times, "
             "processor, caller, parameters and return value. rdam patches the entry points of the functions "
             "in memory while the program starts. The program on disk does not change and need not be "
             "recompiled, and its functions may be static.",
             "Before the program starts, rdam reports what became of each entry on the list: wrapped, not "
             "found (with the nearest names that exist), or not patchable and why. If no function can be "
             "wrapped, the program is not run.",
             "The first argument that is not an option is PROGRAM; all arguments after it are passed to the "
             "program. Without a list, rdam records the functions in which programs wait: locks, condition "
             "variables, semaphores, blocking I/O.",
             "A list has one function per line: name, module:name (module is the file name of an executable "
             "or library) or file.c:name. C++ functions may be written with or without their parameters. "
             "Names and modules may contain the wildcards * and ?. A # begins a comment. A wildcard name "
             "without "
             "a module matches functions of the executable; module:name matches those of a library. "
             "region:name is a region that the program marks in its source. rdam-list(5) has the whole "
             "grammar.",
             "-f work refers to a list only if a text file of that name exists. ./work always refers to the "
             "file, and work, (with the comma) to the function.",
             "A ~ in front of an entry (~mix, ~libfoo.so:mix) samples the function's calls in time windows "
             "spread over the run instead of recording every call. rdam hot marks small functions this way "
             "if recording a call would take as long as the call. If the list also names a function without "
             "the mark, every call is recorded. Quote the mark on a command line: the shell may expand it to "
             "a home directory."},
        .environment =
            {{"RDAM_FUNCTIONS", "The functions to record: the path of a list, or comma-separated names."},
             {"RDAM_OUTPUT",
              "The trace to write. %p stands for the process ID, %h for the host, %r for the MPI or Slurm "
              "rank. Default: trace.bin."},
             {"RDAM_BUFFER",
              "Maximum memory for events not yet written, e.g. 256M or 4G, at least 1M. Default: 1/8 of "
              "memory, or of what its control groups allow."},
             {"RDAM_STACK_PERIOD",
              "Sample a call stack at the first and every so many calls to a function from one call site; 0: "
              "never. Default: 10000."},
             {"RDAM_ARGS", "1: record parameters and return values; 0: do not. Default: 1."},
             {"RDAM_ALL_CALLS",
              "1: record every call, whatever that costs: there is no budget, and marks ~ in the list do not "
              "count. Default: 0."},
             {"RDAM_CLOCK",
              "rdtscp, unfenced, rdtsc or monotonic. Default: rdtscp, or monotonic if the kernel does not "
              "trust the time-stamp counter."},
             {"RDAM_WHEN_FULL",
              "When the buffers are full: wait for space (the wait is marked and never scored), or drop "
              "events and count them. Default: wait."},
             {"RDAM_CHILDREN",
              "1: every process that calls a listed function writes its own trace; 0: record one process "
              "only, the first program in which a listed function is found, not counting shells and other "
              "launchers. Default: 1."},
             {"RDAM_MAX_OVERHEAD",
              "The most that recording may cost a thread, as a share of the thread's own time, e.g. 10%. "
              "Functions whose calls cost more are recorded in time windows spread over the run from then "
              "on, the most called ones first; the others are recorded completely. Calls are still counted, "
              "and "
              "lost time is an estimate with a standard error. Default: 5%."},
             {"RDAM_SWITCHES",
              "Whether to record when threads are off-CPU (blocked or preempted), from the kernel's "
              "context-switch records. auto: if the machine allows it, and only until a processor has more "
              "than 50,000 switches a second; on: no matter how many there are; off: do not record them. "
              "Default: auto."},
             {"RDAM_AGENT_CPUS",
              "The processors on which rdam-agent runs, the process that writes the trace, e.g. 3 or 0,2-3. "
              "Default: if the program is bound to some of the processors, the others, if the machine allows "
              "that; otherwise all of the program's, at low priority while the program has work for them."},
             {"RDAM_COUNTERS",
              "instructions: count the instructions that each call executes outside the kernel with a "
              "per-thread hardware counter. This distinguishes more work from slower work, and costs about "
              "20 ns more per call. If the machine has no such counter (most virtual machines), rdam says so "
              "and records everything else. off: do not count. Default: off."},
             {"RDAM_CACHE",
              "The directory that keeps plans (where and how to patch), and for an hour what interrupts "
              "take, "
              "from one run to the next; 0: keep nothing. Default: $XDG_CACHE_HOME/rdam, or ~/.cache/rdam."},
             {"RDAM_VERBOSE", "1: report what became of each function on the list."}},
        .exit_status =
            {{"PROGRAM's",
              "PROGRAM was run: its exit status, or 128 + the signal number if a signal ended it."},
             {"1",
              "PROGRAM was not run (it does not exist, it cannot be recorded, or no listed function could "
              "be wrapped); it is a launcher (env, timeout, a shell) or an interpreter, and no program of "
              "the run had a listed function; or it ended with 0 but the traces are incomplete (a full disk, "
              "a killed agent). Standard error says why."},
             kUsage},
        .examples = {{"rdam record -f hot.txt -- ./app --threads 4",
                      "Record the functions that rdam hot found:"},
                     {"rdam record -f pthread_mutex_lock,write -- ./app", "Record two functions by name:"},
                     {"RDAM_FUNCTIONS=hot.txt LD_PRELOAD=librdam.so ./app",
                      "Record without rdam record, for a program that a script starts (the library's "
                      "directory depends on the installation):"}},
    };
}

// The formatter breaks long strings.
// NOLINTBEGIN(bugprone-suspicious-missing-comma)
Prose hot_prose() {
    return {
        .description =
            {"Turns a perf profile into a list for rdam record: the functions with more than 1 % of the "
             "samples. It reads a perf.data file or a folder of perf record --threads (by running perf "
             "script), "
             "or the output of perf report --stdio or perf script, from a file or from standard input.",
             "An entry has the linkage name of the sampled function, which tells it from its overloads and "
             "from "
             "the compiler's copies of it, and the name that can be read as a comment. The text of a report "
             "has "
             "only readable names: rdam record then wraps all functions that a name means (rdam-list(5)).",
             "A recording of the whole machine (perf record -a) has the samples of many processes: --process "
             "counts those of one, by its name or number.",
             "If call chains were recorded (perf record -g), time in the kernel is credited to the innermost "
             "function of the program or its libraries; the text of a report does not tell which that is. "
             "Sleeping threads are not sampled, so rdam hot adds the functions in which the program can wait "
             "and marks them as such.",
             "A ~ marks a small function that waits for nothing, if recording a call would take longer than "
             "the call itself; rdam record then samples its calls. If the function calls others, it is "
             "marked only if recording it would take a tenth of the processor time. The comment gives its "
             "size. What decides is the function's code and, if it has loops, how many of its samples lie "
             "outside them. Functions that may wait (a system call, a lock, a loop that polls memory) are "
             "never marked.",
             "Anything left out is listed on standard error with the reason: kernel symbols, addresses "
             "without a symbol, functions that exist only inlined, and functions that rdam record would "
             "skip.",
             "With --eztrace, the same functions become a plug-in for EZTrace, with the types of their "
             "parameters from debug information or from what rdam knows of well-known functions; build it "
             "with "
             "eztrace_create_plugin. EZTrace wraps only what shared libraries export. What it cannot wrap, "
             "or "
             "what its own modules record, is listed on standard error, and so is the list of modules for "
             "eztrace -t."},
        .environment = {},
        .exit_status = {kDone, kBadInput, kUsage},
        .examples =
            {{"perf record -g ./app\nrdam hot perf.data > hot.txt", "List the hot functions of a program:"},
             {"perf report --stdio | rdam hot - > hot.txt", "The same from the text of a report:"},
             {"perf record -a -g sleep 10\nrdam hot --process mysqld perf.data > hot.txt",
              "The hot functions of a server that is running:"},
             {"rdam hot --eztrace perf.data > plugin.tpl\neztrace_create_plugin -o plugin plugin.tpl && "
              "make -C plugin\neztrace -l plugin -t rdam_plugin ./app\nrdam analyze "
              "app_trace/eztrace_log.otf2",
              "Record with EZTrace instead:"}},
    };
}

Prose analyze_prose() {
    static const std::string keys_on_screen = screen::keys_in_words();
    return {
        .description =
            {"Reads a trace and prints its functions, ranked by what they have lost for sure: the lower end "
             "of the score's 95 % interval. Functions that wait by design come last. Each call is compared "
             "with the fastest call to the same function that made the same calls inside; the difference is "
             "lost time. Look at functions that score 0.20 or more.",
             "rdam: the largest share of its life that a thread lost in the function. rdam_all: the lost "
             "time of all threads divided by the sum of their lives. rdam_self: the same without what was "
             "lost in recorded callees. rdam_flat: all calls compared with each other, regardless of "
             "callees; an upper bound where rdam is a lower one.",
             "lower bound: more than 10 % of the function's time is in sequences seen fewer than 30 times, "
             "whose minimum may itself contain interference. If so, record a function of an inner loop.",
             "95 %: where the scores of 95 of 100 other stretches of the run, equally long, would lie. It "
             "does not cover differences between runs, which come for example from the placement of threads "
             "and from other load on the machine. It reaches further up than down where the two fastest "
             "calls lie far apart, because the fastest possible call may not have been seen. ! marks a score "
             "that rests on a few calls far below the rest.",
             "Functions may have been sampled, because recording all their calls would have cost more than "
             "rdam record's --max-overhead, or because they are marked ~ in the list. ~ marks estimated "
             "counts; --verbose and the JSON give their standard errors. The score is the estimate minus two "
             "standard errors. - replaces the score if too few calls were seen.",
             "Given several traces (processes or MPI ranks of one run), rdam analyze shows the functions "
             "over all of them, with the score in each process. --threads, --sequences and --patterns add "
             "each process's own report. If a trace cannot be read, rdam reports it, analyzes the others, "
             "and exits with status 1.",
             "--since and --until count from the start of the run. Calls that do not lie entirely between "
             "them are not scored. --function selects what is shown, with its possible causes whatever it "
             "scores; calls to other functions still distinguish sequences. --ignore does the opposite: it "
             "treats a function as if it had not been "
             "recorded.",
             "A rules file, rdam.toml next to the trace or in the current directory, holds what is known "
             "about functions: the lists keys, no-keys, split-by-context and ignore, and the settings "
             "deep-keys, fold-loops, baseline and threshold, all with the meaning of the options of the same "
             "name. Options on the command line add to the lists and override the settings. rdam prints the "
             "name of the file in use on standard error, and only a note if a rule names a function that the "
             "trace does not have. Errors give the line.",
             "--split-by-context compares calls with the same return address, which is recorded for every "
             "call. It does not look at callers further up.",
             "--patterns lists groups of consecutive calls that repeat, the most lost time first, with "
             "repetitions folded: (lock unlock)×64. A pattern lasts from the start of its first call to the "
             "end of its last. Patterns contain one another, so their losses do not add up. Functions that "
             "were sampled are in no pattern.",
             "--diff compares two traces. A function got better or worse if the 95 % intervals of its two "
             "scores do not overlap.",
             "--alone reads a second trace of the same program, recorded with one thread or with fewer "
             "threads, and shows what varies by itself: functions that lose about as much there do not need "
             "other threads to do so.",
             "--causes sets the scores beside the output of other tools for the same program: perf report "
             "--stdio of any event, perf c2c report --stdio, perf lock, Coz's profile.coz, callgrind.out, "
             "messages or XML of DRD and Helgrind. A score of 0.20 or more is an effect; 5 % or more of what "
             "a tool counted is a cause. The verdict says whether the two agree. Events that count time or "
             "instructions do not influence it.",
             "--interactive shows the ranking on a full screen. Changes to keys, ignored functions, loops or "
             "the baseline take effect at once, can be undone, and can be saved in the rules file. The "
             "terminal must have at least 40×10 characters. Keys:",
             keys_on_screen,
             "If a crash cut off a trace, rdam analyzes what is there and reports what is missing. If a "
             "trace is still being written, rdam waits for it.",
             "TRACE may also be what another tool has recorded, recognized by its content: an OTF2 archive "
             "(its anchor file or its directory; EZTrace and Score-P write them), uftrace's data directory, "
             "a Pajé trace, Chrome's trace events (JSON), or what perf script or trace-cmd report print of "
             "pairs of uprobes; text may be compressed by gzip or zstd. Nobody has measured what such a "
             "tool cost the program, so nothing is subtracted from its calls."},
        .environment = {{"TMPDIR",
                         "Where the copies of other tools' traces are kept while they are read. "
                         "Default: /tmp."}},
        .exit_status = {kDone, kBadInput, kUsage},
        .examples = {{"rdam analyze trace.bin", "Print the table of scores:"},
                     {"rdam analyze --interactive trace.bin", "Explore the scores on a full screen:"},
                     {"rdam analyze --json trace.bin | jq '.functions[] | {name, rdam}'",
                      "Print the scores for a script:"},
                     {"rdam analyze trace*.bin", "Compare the processes of a run:"},
                     {"rdam analyze --since 1.5s --until 2s --thread 'worker-*' trace.bin",
                      "Analyze half a second of some threads:"},
                     {"valgrind --tool=drd -s --exclusive-threshold=1 ./app 2> drd.txt\nrdam analyze "
                      "--causes drd.txt trace.bin",
                      "Find which of the functions that lose time hold locks for long:"},
                     {"rdam analyze --diff before.bin after.bin", "See what a change to the program did:"},
                     {"OMP_NUM_THREADS=1 rdam record -o one.bin -- ./app\nrdam record -o many.bin -- "
                      "./app\nrdam analyze --alone one.bin many.bin",
                      "Find what varies even without other threads:"}},
    };
}

Prose report_prose() {
    return {
        .description =
            {"Analyzes a trace as rdam analyze does, and writes one page for a browser: the ranking, and for "
             "each function of weight how long its calls take, how that changes over the run, by thread, "
             "processor and parameter, what may explain it, and from where it is called; where the time went "
             "as a flame graph of lost time; when it was lost, by thread; and what all threads did around "
             "the largest losses. Of two traces it also shows the difference.",
             "The page is one file of at most 2 MB, whatever the trace's size. It loads nothing from any "
             "network, and can be sent to others. What has no room is counted on the page. Without "
             "JavaScript it still shows the ranking and the hints as text. docs/views.md says what to look "
             "for in each picture.",
             "FILE is replaced only with --overwrite, and only once the page is complete. Nothing is opened "
             "unless --open is given.",
             "Keys, rules, the baseline and the selection of threads, functions and time have the same "
             "meaning as for rdam analyze."},
        .environment = {},
        .exit_status = {kDone, kBadInput, kUsage},
        .examples = {{"rdam report trace.bin", "Write report.html:"},
                     {"rdam report before.bin after.bin -o difference.html --open",
                      "Compare two recordings, and look at once:"}},
    };
}

Prose export_prose() {
    return {
        .description =
            {"Writes the calls in a trace for other programs: as columns to compute with (--columns), or in "
             "a format that another viewer opens (--format).",
             "--columns writes one row per call: thread, function, start, duration, processor at entry and "
             "exit, caller, sequence, and the parameters and return values of each function. docs/columns.md "
             "describes each column.",
             "DIR becomes a directory with one file per column in numpy's format, which numpy can map into "
             "memory without reading it, and columns.json, which names them. DIR must not exist or must be "
             "empty, unless --overwrite is given, which replaces a directory that holds nothing but columns. "
             "A name that ends in .parquet becomes one Parquet file, for pandas, Polars, DuckDB and others. "
             "Writing it requires a Python that has pyarrow.",
             "The Python module rdam, installed with this program, opens a trace or such a directory and "
             "returns the columns as arrays: rdam.open('trace.bin').calls['duration'].",
             "Memory use does not grow with the number of calls. A directory takes about 80 bytes per call "
             "plus parameters and return values. While a Parquet file is being written, it needs that much "
             "free space next to it.",
             "--format writes one file, and for otf2 a directory. Formats with a timeline (perfetto, json, "
             "firefox, otf2, paje) show each call in its thread; csv has a line for each call; folded and "
             "speedscope have call paths with sums. In all but paje, folded and speedscope each call has its "
             "parameters, return value and what it lost. docs/views.md says what each format is good for, "
             "and what it leaves out.",
             "--budget keeps a perfetto, json or firefox file small enough for its viewer: the calls that "
             "lost most "
             "are written one by one, with the calls around them, and all others are merged by thread and "
             "time, with their number and what they lost. The lost time per thread and time stays exact. "
             "Standard error says how many calls were merged.",
             "--arrows draws arrows in perfetto and json, from calls that lost most to the call of the "
             "function that a hint names, in the thread that ran meanwhile. The trace is analyzed for it, "
             "which takes about as long again.",
             "--weight says how wide the paths of folded, speedscope and firefox are drawn. With lost, the "
             "default, a "
             "function that takes long but always equally long has no width.",
             "Like rdam analyze, --columns and --format observe keys, rules, --since, --until, --thread and "
             "--function. --format takes up to 256 MB of memory for the calls' sequences, a byte or two "
             "each, "
             "and as much again for what is written before its thread's turn. paje needs as much room for "
             "temporary files as it writes."},
        .environment = {{"RDAM_PYTHON", "The Python that writes Parquet files. Default: python3."},
                        {"TMPDIR", "Where temporary files of paje are kept. Default: /tmp."}},
        .exit_status = {kDone, kBadInput, kUsage},
        .examples = {{"rdam export --columns columns trace.bin", "Write a directory for numpy:"},
                     {"rdam export --columns calls.parquet trace.bin\nduckdb -c \"SELECT function, "
                      "sum(duration) FROM 'calls.parquet' GROUP BY 1\"",
                      "Write a file for DuckDB:"},
                     {"rdam export --format perfetto -o trace.perfetto trace.bin",
                      "Look at calls and lost time in ui.perfetto.dev:"},
                     {"rdam export --format firefox -o profile.json trace.bin",
                      "Look at a call tree of lost time in profiler.firefox.com:"},
                     {"rdam export --format folded trace.bin | flamegraph.pl --countname ns > lost.svg",
                      "Draw a flame graph of lost time:"},
                     {"rdam export --format csv --since 1.5s --until 1.6s -o calls.csv trace.bin",
                      "Write the calls of a tenth of a second for a spreadsheet:"}},
    };
}

Prose study_prose() {
    return {
        .description =
            {"Runs a program many times in each of several settings, and says which setting is faster, and "
             "which is more stable. The settings are the factors' levels, crossed: --threads 1,2 --pin "
             "none,compact makes four. Settings that are the same on this machine are run once.",
             "Every round has each setting once, in a drawn order, so that neither a machine that drifts nor "
             "a burst of other work favours one. A difference is declared only if a test shows it, and the "
             "probability that any is declared that is not there is at most --risk, for all comparisons "
             "together. Each setting is compared with the first one, or as --beside says, and with --program "
             "within each program. docs/study.md explains the table, docs/study-statistics.md the tests.",
             "Every run is in FILE when it ends. After an interruption, --resume goes on; nothing that "
             "was run is lost. --show prints the table again, also while the study runs. Nothing that a run "
             "or a co-runner has started outlives it.",
             "A run that ends with another exit code than 0, or takes longer than --time-limit, ends the "
             "study. So does one that does not print the number of a --metric, or whose --check cannot be "
             "run; "
             "it is kept without that. The output of a run that differs from the first one's is counted, and "
             "told.",
             "--pin binds threads one by one, in the order in which they are started: those of OpenMP by "
             "its variables, others by a library that is preloaded. In warm-up runs it is read back from "
             "each thread whether that holds. Of a static program only the whole process is bound.",
             "--metric takes the values that the program prints. If a run prints several, the variation "
             "between runs and that inside a run are shown side by side, and tests count runs.",
             "--frequencies, --osnoise and --prefetcher need what not every machine has (docs/study.md says "
             "what), and are refused without it. Prefetchers and the kernel's tracer are as they were when "
             "the run ends, however it ends.",
             "--regions counts OpenMP's parallel regions (of libgomp and libomp), and those in which a "
             "thread began on another processor than its last one: a candidate for where the spread between "
             "runs comes from."},
        .environment =
            {{"RDAM_PYTHON",
              "The Python that is used, 3.11 or later with scipy. Default: python3, or /usr/bin/python3 if "
              "that one lacks something."},
             {"HWLOC_XMLFILE, HWLOC_SYNTHETIC",
              "Another machine's topology, as hwloc reads them: for placements that are to be "
              "looked at, not run."}},
        .exit_status = {kDone,
                        {"1", "A run failed, or the study could not go on; the message says why."},
                        kUsage},
        .examples =
            {{"rdam study --threads 1,2 --pin none,compact ./app", "Do more threads help, and does pinning?"},
             {"rdam study --setting old=./app-1.0 --setting new=./app-1.1", "Is the new version faster?"},
             {"rdam study --values 'level=1,6,9' -- xz -k -c -{level} data", "Compare a program's options:"},
             {"rdam study --program ft=./ft --program cg=./cg --pin none,compact,scatter",
              "Does pinning help several programs?"},
             {"rdam study --show study.jsonl --beside 'pin none'",
              "Compare with what differs in pinning only:"},
             {"rdam study --co-runners 0,1xbusy,1xsleep:10us ./app", "How much do others disturb it?"},
             {"rdam study --regions --pin none,compact ./app", "Do OpenMP's threads move?"},
             {"rdam study --resume study.jsonl", "Go on after an interruption:"}},
    };
}

Prose doctor_prose() {
    return {
        .description =
            {"Records a short program and reports, line by line, what works: recording, the clock, context "
             "switches, hardware counters, debug information of libc, sampling with perf. If something does "
             "not work, the next line says what the reports will lack or what to type.",
             "ok: it works. no: rdam works without it but reports less. FAILS: nothing can be recorded.",
             "Given a PROGRAM, it also reports whether that program can be recorded, without running it, and "
             "which of its code is left alone because of the runtime it belongs to (OCaml, Haskell, Go, "
             "...)."},
        .environment = {{"TMPDIR", "Where the short trace is kept in the meantime. Default: /tmp."}},
        .exit_status = {{"0", "Recording works (and PROGRAM can be recorded)."},
                        {"1", "It does not; the line marked FAILS says why."},
                        kUsage},
        .examples = {{"rdam doctor ./app", "Before the first recording:"}},
    };
}
// NOLINTEND(bugprone-suspicious-missing-comma)

}  // namespace

Prose prose_for(std::string_view command) {
    if (command == "record") return record_prose();
    if (command == "hot") return hot_prose();
    if (command == "analyze") return analyze_prose();
    if (command == "report") return report_prose();
    if (command == "export") return export_prose();
    if (command == "study") return study_prose();
    if (command == "doctor") return doctor_prose();
    return rdam_prose();
}

}  // namespace rdam
