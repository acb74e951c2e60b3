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
            {"Threads that share a machine slow each other down, through locks, false sharing, a saturated "
             "memory controller, a disk. rdam measures the effect, whatever the cause: the same piece of "
             "code runs fast when it is left alone and slowly when it is disturbed. The score RDAM of a "
             "function is the share of a thread's life that was lost against the function's own fastest "
             "execution, a number from 0 to 1. A score of 0.20 or more is worth a look.",
             "A session has three steps: find the functions in which the program spends its time or waits "
             "(perf and rdam hot), record every call of them (rdam record, or LD_PRELOAD=librdam.so), and "
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
            {"Runs PROGRAM and records each call of the chosen functions with its entry and exit time, "
             "processor, caller, parameters and return value. The functions' entries are patched in memory "
             "while the program starts; the program itself is not changed, needs not be recompiled, and its "
             "functions may be static.",
             "Before the program starts, rdam reports what became of each entry on the list: wrapped, not "
             "found (with the nearest names that exist), or not patchable and why. If no function can be "
             "wrapped, the program is not run.",
             "The first argument that is not an option is PROGRAM; all arguments after it are passed to the "
             "program. Without a list, rdam records the functions that programs use to wait: locks, "
             "condition "
             "variables, semaphores, blocking I/O.",
             "A list has one function per line: name, module:name (module is the file name of an executable "
             "or library) or file.c:name. Names of C++ functions may be given with or without their "
             "parameters, a name may contain the wildcards * and ?, and # begins a comment. A name with "
             "wildcards and no module means functions of the executable; module:name means a library's. "
             "-f work is a list only if there is a text file of that name: ./work means the file in any "
             "case, "
             "and work, (with the comma) the function. A region that the program marks itself is "
             "region:name.",
             "A ~ in front of an entry (~mix, ~libfoo.so:mix) samples the function's calls in windows of "
             "time "
             "that are spread over the run, instead of recording every one. rdam hot marks small functions "
             "so, "
             "which take no longer than their recording. Where a function is on the list by its name without "
             "a "
             "mark as well, every call is recorded. On a command line the mark needs quotes: the shell may "
             "take "
             "it for a home directory."},
        .environment =
            {{"RDAM_FUNCTIONS",
              "The functions to record: the path of a list, or the names themselves, separated by commas."},
             {"RDAM_OUTPUT",
              "The trace to write; %p stands for the process id, %h for the host, %r for the MPI or Slurm "
              "rank. Default: trace.bin."},
             {"RDAM_BUFFER",
              "Upper bound of the memory that holds events not yet written, in bytes, 1M at least. Default: "
              "1/8 of memory, or of what its control groups allow."},
             {"RDAM_STACK_PERIOD",
              "A call stack is taken at the first and then at every so many calls of a function from one "
              "caller; 0: never. Default: 10000."},
             {"RDAM_ARGS", "1: record parameters and return values; 0: do not. Default: 1."},
             {"RDAM_ALL_CALLS",
              "1: record every call of functions that the list marks ~, too; 0: sample their calls. Default: "
              "0."},
             {"RDAM_CLOCK",
              "rdtscp, unfenced, rdtsc or monotonic. Default: rdtscp; monotonic where the kernel does not "
              "trust the "
              "counter."},
             {"RDAM_WHEN_FULL",
              "When the buffers are full: wait for room (the wait is marked and never scored), or drop "
              "events and count them. Default: wait."},
             {"RDAM_CHILDREN",
              "1: every process that calls a function of the list has a trace of its own; 0: the program "
              "alone is recorded, the first in which a function of the list is found, shells and other "
              "launchers aside. Default: 1."},
             {"RDAM_MAX_OVERHEAD",
              "What the recorder may cost a thread, as a share of the thread's own time, like 10%. Where "
              "recording every call would cost more, whole outermost call trees are sampled at random, and "
              "functions that are called too often even for that are recorded in windows of time, spread "
              "over "
              "the run. Counts and lost time are then estimates, with a standard error. Default: everything "
              "is "
              "recorded."},
             {"RDAM_SWITCHES",
              "Whether to record when threads are off the processors (blocked or preempted), from the "
              "kernel's context-switch records. auto: where the machine allows it, and only as long as no "
              "processor has more than 50,000 of them a second; on: however many there are; off: not. "
              "Default: auto."},
             {"RDAM_AGENT_CPUS",
              "The processors on which the recorder's own process runs, like 3 or 0,2-3. Default: where the "
              "program is bound to some processors, those that are left, if the machine allows that; else "
              "all of the program's, at low priority while the program has work for them."},
             {"RDAM_COUNTERS",
              "instructions: count the instructions that every call executes outside the kernel, by a "
              "hardware counter of each thread, which tells more work from slower work. Costs some twenty "
              "nanoseconds a call more. Where the machine has no such counter (most virtual machines), rdam "
              "says so and records everything else. off: do not count. Default: off."},
             {"RDAM_CACHE",
              "The folder in which plans are kept from one run to the next; 0: none. Default: "
              "$XDG_CACHE_HOME/rdam, else ~/.cache/rdam."},
             {"RDAM_VERBOSE", "1: say more on standard error."}},
        .exit_status =
            {{"PROGRAM's",
              "PROGRAM was run: its exit status. If a signal ended it: 128 + the number of the signal."},
             {"1",
              "PROGRAM was not run (it does not exist, it cannot be recorded, no function of the list could "
              "be wrapped), or it ended with 0 and not all that was recorded is in the traces (a full disk, "
              "a killed recorder, a launcher under which nothing could be wrapped). One line on standard "
              "error says why."},
             kUsage},
        .examples = {{"rdam record -f hot.txt -- ./app --threads 4",
                      "Record the functions that rdam hot has found:"},
                     {"rdam record -f pthread_mutex_lock,write -- ./app", "Record two functions by name:"},
                     {"RDAM_FUNCTIONS=hot.txt LD_PRELOAD=librdam.so ./app",
                      "The same without rdam record, for a program that a script starts (the library's "
                      "directory depends on the installation):"}},
    };
}

// The formatter breaks long strings.
// NOLINTBEGIN(bugprone-suspicious-missing-comma)
Prose hot_prose() {
    return {
        .description =
            {"Turns what perf has sampled into a list for rdam record: the functions that took more than 1 % "
             "of the samples. It reads a perf.data file (by running perf report) or the text that perf "
             "report --stdio prints, from a file or from standard input.",
             "Time in the kernel is credited to the innermost function of the program or its libraries where "
             "call chains were recorded (perf record -g). A thread that sleeps is not sampled; so the "
             "functions with which the program can wait are added to the list, marked as such.",
             "A small function that calls nothing and waits for nobody is marked with a ~, which tells rdam "
             "record to sample its calls: recording each would take longer than the call. The comment says "
             "how "
             "large it is. Its code decides, and where it has loops how many of its samples lie outside of "
             "them; functions with locked instructions or system calls are never marked.",
             "What is left out is listed on standard error with the reason: symbols of the kernel, addresses "
             "without a symbol, functions that exist inlined only."},
        .environment = {},
        .exit_status = {kDone, kBadInput, kUsage},
        .examples = {{"perf record -g ./app\nrdam hot perf.data > hot.txt",
                      "List the hot functions of a program:"},
                     {"perf report --stdio | rdam hot - > hot.txt", "The same from the text of a report:"}},
    };
}

Prose analyze_prose() {
    static const std::string keys_on_screen = screen::keys_in_words();
    return {
        .description =
            {"Reads a trace and prints its functions, the highest score first. Calls of a function with the "
             "same children are compared with the fastest of them; the difference is lost time. A score of "
             "0.20 or more is worth a look.",
             "rdam: the highest share that one thread lost in the function. rdam_all: lost time of all "
             "threads over the sum of their lives. rdam_self: the same without what was lost in recorded "
             "functions that it called. rdam_flat: all calls in one group, children ignored; an upper bound "
             "where rdam is a lower one.",
             "lower bound: more than 10 % of the function's time is in sequences that were seen fewer than "
             "30 times, so that their minimum may hide interference. Record a function of an inner loop "
             "then.",
             "95 %: where the score of 95 of 100 other stretches of the run would lie, as long as it. What "
             "is "
             "different from run to run, such as where threads are placed and what else the machine does, is "
             "not in it. It reaches up further than down where the two fastest calls lie "
             "apart, because the fastest possible one may not have been seen. ! marks a score that rests on "
             "a few calls far below the rest.",
             "Functions may have been sampled: with rdam record --max-overhead, or marked with ~ in the "
             "list. "
             "~ marks counts that are estimates; --verbose and the JSON have their standard errors. Of "
             "sampled "
             "call trees the score is the estimate less two of them. - stands for a score where too little "
             "was "
             "seen.",
             "Of several traces (of the processes or MPI ranks of a run) the functions are shown over all, "
             "with the score in each process; with --threads, --sequences or --patterns each process's own "
             "report follows. A trace that cannot be read is said, the others are analyzed, and the exit "
             "status is 1.",
             "--since and --until count from the start of the run. Calls that do not lie wholly between them "
             "are not scored. --function chooses what is shown; the other functions are still recorded calls "
             "by which sequences are told apart (--ignore is the opposite: as if they had not been "
             "recorded).",
             "A rules file, rdam.toml beside the trace or in the current folder, holds what is known about "
             "functions: lists of names under keys, no-keys, split-by-context and ignore, and deep-keys, "
             "fold-loops, baseline and threshold, all as the options of the same names. The options add to "
             "it and win. Which file is in force is said on standard error; a rule about a function that the "
             "trace lacks is only noted. Errors name the line.",
             "--split-by-context compares calls that return to the same address: that is what is recorded of "
             "every call. Callers of callers do not count.",
             "--patterns lists groups of neighbouring calls that occur again, the most lost time first, "
             "repetitions folded: (lock unlock)×64. A pattern lasts from the begin of its first call to the "
             "end of its last one. Patterns contain one another: their losses do not add up. A sample of the "
             "calls (rdam record --max-overhead) has none.",
             "With --diff two traces are compared: a function got better or worse if the 95 % intervals of "
             "its two scores do not overlap.",
             "With --alone a second trace of the same program, recorded with one thread, tells what varies "
             "by itself: functions that lose about as much there do so without the others.",
             "With --causes the scores are put beside what other tools printed about the same program: perf "
             "report --stdio of any event, perf c2c report --stdio, perf lock, Coz's profile.coz, "
             "callgrind.out, messages or XML of DRD and Helgrind. A function with a score of 0.20 or more "
             "has an effect, one with 5 % or more of what a tool counted a cause; the verdict says whether "
             "they agree. Events that count time or instructions have no part in it.",
             "With --interactive the ranking is a screen in the terminal, on which every change of keys, "
             "ignored functions, loops or baseline shows its scores at once, can be taken back, and be kept "
             "in the rules file. It needs a terminal of 40×10 or more. Its keys:",
             keys_on_screen,
             "A trace that a crash has cut off is read as far as it goes; the report says what is missing. A "
             "trace that is still being written is waited for."},
        .environment = {},
        .exit_status = {kDone, kBadInput, kUsage},
        .examples =
            {{"rdam analyze trace.bin", "The table of scores:"},
             {"rdam analyze --interactive trace.bin", "The same on a screen, to change and look again:"},
             {"rdam analyze --json trace.bin | jq '.functions[] | {name, rdam}'", "The same for a script:"},
             {"rdam analyze trace*.bin", "The processes of a run, over all and side by side:"},
             {"rdam analyze --since 1.5s --until 2s --thread 'worker-*' trace.bin",
              "Half a second of some threads:"},
             {"valgrind --tool=drd -s --exclusive-threshold=1 ./app 2> drd.txt\nrdam analyze --causes "
              "drd.txt trace.bin",
              "Which of the functions that lose time hold locks for long:"},
             {"rdam analyze --diff before.bin after.bin", "What a change of the program has changed:"},
             {"OMP_NUM_THREADS=1 rdam record -o one.bin -- ./app\nrdam record -o many.bin -- ./app\n"
              "rdam analyze --alone one.bin many.bin",
              "What varies without other threads, too:"}},
    };
}

Prose export_prose() {
    return {
        .description =
            {"Writes the calls of a trace as columns, one row for each call: thread, function, start, "
             "duration, processor at enter and at leave, caller, sequence, and the parameters and return "
             "values of each function. docs/columns.md of rdam says what each column means.",
             "DIR becomes a folder with a file in numpy's format for each column, which numpy maps into "
             "memory without reading it, and columns.json, which names them. It must not exist, or be empty, "
             "unless --overwrite is given, which replaces a folder that holds columns and nothing else. "
             "A name that ends in .parquet becomes one Parquet file, for pandas, Polars, DuckDB and others; "
             "pyarrow writes it, which the Python that is used must have.",
             "The Python module rdam, installed with this program, opens a trace or a folder and hands out "
             "the columns as arrays: rdam.open('trace.bin').calls['duration'].",
             "Memory does not grow with the number of calls. A folder takes about 70 bytes a call besides "
             "parameters and return values; for a Parquet file there must be room for it beside the file "
             "meanwhile."},
        .environment = {{"RDAM_PYTHON", "The Python that writes Parquet files. Default: python3."}},
        .exit_status = {kDone, kBadInput, kUsage},
        .examples = {{"rdam export --columns columns trace.bin", "A folder for numpy:"},
                     {"rdam export --columns calls.parquet trace.bin\nduckdb -c \"SELECT function, "
                      "sum(duration) FROM 'calls.parquet' GROUP BY 1\"",
                      "A file for DuckDB:"}},
    };
}

Prose doctor_prose() {
    return {
        .description =
            {"Records a short program, analyzes nothing, and says line by line what works: recording, the "
             "clock, context switches, hardware counters, debug information of libc, sampling with perf. "
             "Where something does not, the line below says what is missing in the reports or what to type.",
             "ok: it works. no: rdam works without it and says less. FAILS: nothing can be recorded.",
             "With a PROGRAM it also says whether that program can be recorded, without running it."},
        .environment = {{"TMPDIR", "Where the short trace is kept meanwhile. Default: /tmp."}},
        .exit_status = {{"0", "Recording works here (and PROGRAM can be recorded)."},
                        {"1", "It does not: the line that FAILS says why."},
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
    if (command == "export") return export_prose();
    if (command == "doctor") return doctor_prose();
    return rdam_prose();
}

}  // namespace rdam
