// Whose time the kernel's is, on chains written by hand: every number below can be checked by eye.
#include "wrappers/hot/kernel_credit.h"

#include <map>
#include <string>

#include "tests/unit/catch.h"

using namespace rdam;

namespace {

std::map<std::string, double> credits_in(std::string_view text) {
    const auto report = parse_perf_text(text, "report.txt");
    INFO(text);
    REQUIRE(report.has_value());
    const FrameNames names(*report, Catalogue::builtin());
    std::map<std::string, double> sums;
    for (const auto& credit : kernel_credits(*report, names, Catalogue::builtin()))
        sums[std::string(credit.function)] += credit.percent;
    return sums;
}

using Sums = std::map<std::string, double>;

const std::string kRows = "# Overhead  Symbol\n# ........  ...................\n";
const std::string kChildren = "# Children      Self  Symbol\n# ........  ........  ...................\n";

}  // namespace

TEST_CASE("innermost first: the function that entered the kernel, not its callers") {
    const auto sums =
        credits_in(kRows +
                   "    40.00%  [k] finish_task_switch.isra.0\n"
                   "            |\n"
                   "            ---finish_task_switch.isra.0\n"
                   "               |          \n"
                   "               |--30.00%--schedule\n"
                   "               |          do_syscall_64\n"
                   "               |          entry_SYSCALL_64_after_hwframe\n"
                   "               |          |          \n"
                   "               |          |--20.00%--pthread_cond_wait@@GLIBC_2.3.2\n"
                   "               |          |          main\n"
                   "               |          |          \n"
                   "               |           --8.00%--write\n"
                   "               |          \n"
                   "                --6.00%--exc_page_fault\n"
                   "                          asm_exc_page_fault\n"
                   "                          |          \n"
                   "                           --6.00%--fill\n"
                   "                                     main\n\n"
                   "     9.00%  [.] fill\n            |\n            ---fill\n               main\n");
    CHECK(sums == Sums{{"pthread_cond_wait@@GLIBC_2.3.2", 20}, {"write", 8}, {"fill", 6}});
}

TEST_CASE("outermost first gives the same") {
    const auto sums = credits_in(kRows +
                                 "    40.00%  [k] finish_task_switch.isra.0\n"
                                 "            |\n"
                                 "            ---main\n"
                                 "               |\n"
                                 "               |--30.00%--pthread_cond_wait@@GLIBC_2.3.2\n"
                                 "               |          entry_SYSCALL_64_after_hwframe\n"
                                 "               |          do_syscall_64\n"
                                 "               |          finish_task_switch.isra.0\n"
                                 "                --10.00%--fill\n"
                                 "                          asm_exc_page_fault\n"
                                 "                          exc_page_fault\n"
                                 "                          finish_task_switch.isra.0\n");
    CHECK(sums == Sums{{"pthread_cond_wait@@GLIBC_2.3.2", 30}, {"fill", 10}});
}

TEST_CASE("fractal percentages are relative to the node above") {
    const auto sums = credits_in(kRows +
                                 "    40.00%  [k] schedule\n"
                                 "            |\n"
                                 "            ---schedule\n"
                                 "               entry_SYSCALL_64_after_hwframe\n"
                                 "               |\n"
                                 "               |--75.00%--read\n"
                                 "               |          |\n"
                                 "               |          |--50.00%--f\n"
                                 "               |           --50.00%--g\n"
                                 "                --25.00%--[...]\n");
    CHECK(sums == Sums{{"read", 30}});
}

TEST_CASE("flat chains include those that go on from them") {
    const auto sums =
        credits_in(kRows +
                   "    40.00%  [k] schedule\n"
                   "            40.00%\n                schedule\n                entry_SYSCALL_64\n"
                   "                read\n\n"
                   "            15.00%\n                schedule\n                entry_SYSCALL_64\n"
                   "                read\n                0\n                main\n");
    CHECK(sums == Sums{{"read", 40}});
}

TEST_CASE("an interrupt inside the kernel belongs to the system call that was interrupted") {
    const auto sums = credits_in(kRows +
                                 "    10.00%  [k] update_process_times\n"
                                 "10.00% update_process_times;asm_sysvec_apic_timer_interrupt;copy_from_user;"
                                 "do_syscall_64;entry_SYSCALL_64_after_hwframe;write;main\n");
    CHECK(sums == Sums{{"write", 10}});
}

TEST_CASE("addresses between the kernel and a named function are passed over; kernel threads are nobody's") {
    const auto sums =
        credits_in(kRows +
                   "    10.00%  [k] schedule\n"
                   "6.00% schedule;entry_SYSCALL_64_after_hwframe;0x7f8ba94eda26;pthread_cond_wait;main\n"
                   "3.00% schedule;kthread;ret_from_fork_asm\n"
                   "1.00% schedule;entry_SYSCALL_64_after_hwframe;0x737475706e692f73\n");
    CHECK(sums == Sums{{"pthread_cond_wait", 6}});
}

TEST_CASE("a chain cut off inside the kernel is nobody's") {
    CHECK(credits_in(
              kRows +
              "    10.00%  [k] schedule\n            |\n            ---schedule\n               futex_wait\n")
              .empty());
}

TEST_CASE("the name of a kernel function may be the program's too: the place in the chain decides") {
    const auto sums =
        credits_in(kRows +
                   "    10.00%  [k] futex_wait\n"
                   "10.00% futex_wait;do_syscall_64;entry_SYSCALL_64_after_hwframe;futex_wait;main\n\n"
                   "     5.00%  [.] futex_wait\n5.00% futex_wait;main\n");
    CHECK(sums == Sums{{"futex_wait", 10}});
}

TEST_CASE("inlined frames are passed over, except where perf only has another name for a real function") {
    const auto sums = credits_in(
        kRows +
        "    30.00%  [k] schedule\n"
        "20.00% schedule;entry_SYSCALL_64_after_hwframe;futex_wait (inlined);__pthread_cond_wait_common "
        "(inlined);___pthread_cond_wait (inlined);main\n"
        "6.00% schedule;entry_SYSCALL_64_after_hwframe;flush (inlined);store\n"
        "4.00% schedule;entry_SYSCALL_64_after_hwframe;___pthread_cond_signal (inlined);main\n\n"
        "     2.00%  [.] pthread_cond_signal@@GLIBC_2.3.2\n2.00% pthread_cond_signal@@GLIBC_2.3.2;main\n");
    CHECK(sums == Sums{{"pthread_cond_wait", 20}, {"store", 6}, {"pthread_cond_signal@@GLIBC_2.3.2", 4}});
}

TEST_CASE("with Children each chain is printed under all its functions and counts once") {
    const std::string outermost_first =
        "    50.00%     0.00%  [.] main\n"
        "50.00% main;write;entry_SYSCALL_64_after_hwframe;do_syscall_64;vfs_write\n\n"
        "    50.00%     0.00%  [.] write\n"
        "50.00% write;entry_SYSCALL_64_after_hwframe;do_syscall_64;vfs_write\n\n"
        "    50.00%     0.00%  [k] entry_SYSCALL_64_after_hwframe\n"
        "50.00% entry_SYSCALL_64_after_hwframe;do_syscall_64;vfs_write\n\n"
        "    50.00%     0.00%  [k] do_syscall_64\n50.00% do_syscall_64;vfs_write\n\n"
        "    50.00%    50.00%  [k] vfs_write\n"
        "50.00% main;write;entry_SYSCALL_64_after_hwframe;do_syscall_64;vfs_write\n";
    CHECK(credits_in(kChildren + outermost_first) == Sums{{"write", 50}});
    const std::string innermost_first =
        "    50.00%     0.00%  [.] main\n50.00% main\n\n"
        "    50.00%     0.00%  [.] write\n50.00% write;main\n\n"
        "    50.00%     0.00%  [k] entry_SYSCALL_64_after_hwframe\n50.00% "
        "entry_SYSCALL_64_after_hwframe;write;main\n\n"
        "    50.00%     0.00%  [k] do_syscall_64\n"
        "50.00% do_syscall_64;entry_SYSCALL_64_after_hwframe;write;main\n\n"
        "    50.00%    50.00%  [k] vfs_write\n"
        "50.00% vfs_write;do_syscall_64;entry_SYSCALL_64_after_hwframe;write;main\n";
    CHECK(credits_in(kChildren + innermost_first) == Sums{{"write", 50}});
}

TEST_CASE("Children without chains: functions that only ask the kernel have its time") {
    const auto sums = credits_in(kChildren +
                                 "    80.00%     0.00%  [.] main\n"
                                 "    50.00%     2.00%  [.] __GI___libc_write\n"
                                 "    20.00%     1.00%  [.] pthread_mutex_lock@@GLIBC_2.2.5\n"
                                 "    70.00%    70.00%  [k] vfs_write\n");
    CHECK(sums == Sums{{"__GI___libc_write", 48}, {"pthread_mutex_lock@@GLIBC_2.2.5", 19}});
}

TEST_CASE("without chains and Children nothing is credited") {
    CHECK(credits_in(kRows + "    70.00%  [k] vfs_write\n    10.00%  [.] write\n").empty());
}
