#!/usr/bin/python3
"""How people start programs, and what rdam says where nothing can be recorded: it works, or the sentence is true."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

from harness import LIBRDAM, PROGRAMS, RDAM, Case

COUNTS = PROGRAMS / "counts"  # calls work() as often as its second argument says, and returns 3
LOADER = "/lib64/ld-linux-x86-64.so.2"
SOURCE = r"""
#include <sched.h>
#include <stdlib.h>
__attribute__((noinline)) long work(long n) { long r = 0; for (volatile long i = 0; i < n; i++) r += i; return r; }
int main(int argc, char** argv) { long s = 0; for (int i = 0; i < atoi(argv[1]); i++) s += work(9) + sched_yield(); return s == 0; }
"""
CLEARS = r"""
#include <string.h>
#include <stdlib.h>
#include <unistd.h>
volatile long sum;
__attribute__((noinline)) void before(long n) { for (long i = 0; i < n; i++) sum += i; }
int main(int argc, char** argv) {
  before(10);
  if (strcmp(argv[1], "kept") == 0) argv++; else clearenv();
  execv(argv[1], argv + 1);
  return 127;
}
"""
SEALED = r"""
extern char __executable_start[], etext[];
static int real_ok(void) { return 1; }
static int (*resolve(void))(void) {
  unsigned long a = ((unsigned long)real_ok) & ~4095UL, b = ((unsigned long)etext + 4095) & ~4095UL;
  long r = 462;
  __asm__ volatile("syscall" : "+a"(r) : "D"(a), "S"(b - a), "d"(0L) : "rcx", "r11", "memory");
  if (r != 0) __builtin_trap();
  return real_ok;
}
int sealed_ok(void) __attribute__((ifunc("resolve")));
int (*volatile seal_ptr)(void) = sealed_ok;
"""


def has_mseal() -> bool:
    release = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return (int(release[1]), int(release[2])) >= (6, 10)


class Sentences(Case):
    def said(self, *command, status=None, **options) -> str:
        self.done = self.rdam("record", "-f", "work", *command, **options)
        text = self.done.stderr.decode()
        if status is not None:
            self.assertEqual(self.done.returncode, status, text)
        return text

    def compiled(self, text: str, *options, compiler="gcc", name="program") -> pathlib.Path:
        self.need(compiler)
        (self.folder / f"{name}.c").write_text(text)
        subprocess.run([compiler, "-O2", "-g", *options, f"{name}.c", "-o", name], cwd=self.folder, check=True)
        return self.folder / name

    def find(self, command: str) -> str:
        found = shutil.which(command, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
        if found is None:
            self.skipTest(f"{command} is not installed")
        return found

    def assert_recorded(self, *command):
        text = self.said("--", *command)
        self.assertEqual(self.counts(), {"work": 10}, text)
        self.assertEqual(self.traces(), ["trace.bin"], text)

    def examine(self, *arguments) -> str:
        done = self.rdam("doctor", *arguments)
        line = re.search(r"^program .*(?:\n .*)*", done.stdout.decode(), re.M)[0]
        return re.sub(r"\s+", " ", line)


class Launchers(Sentences):
    def test_interpreters(self):
        script = {"perl": f'system("{COUNTS} 1 10"); exit 0', "python3": f'import os; os.system("{COUNTS} 1 10")',
                  "ruby": f'system("{COUNTS} 1 10")'}
        option = {"python3": "-c"}
        for name, text in script.items():
            with self.subTest(name):
                self.assert_recorded(self.find(name), option.get(name, "-e"), text)
                (self.folder / "trace.bin").unlink()

    def test_an_interpreter_in_which_nothing_is_found_says_what_is_recorded(self):
        text = self.said("--", "perl", "-e", "exit 0", status=1)
        self.assertRegex(text, r"none of the functions on the list can be wrapped in .*/perl: only what it starts is recorded\n")
        self.assertIn("no program of the run that is known to have loaded the recorder contained a function on the list "
                      "(programs started by sudo, ", text)

    def test_small_inits(self):
        self.assert_recorded(self.find("tini"), "-s", "--", COUNTS, "1", "10")

    def test_sandboxes(self):
        bwrap = self.find("bwrap")
        if subprocess.run([bwrap, "--bind", "/", "/", "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("bwrap may not make namespaces here")
        self.assert_recorded(bwrap, "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc", COUNTS, "1", "10")

    def test_other_clocks(self):
        self.assert_recorded(self.find("faketime"), "-f", "+1d", COUNTS, "1", "10")

    def test_daemons(self):
        self.assert_recorded(self.find("start-stop-daemon"), "--start", "--exec", COUNTS, "--", "1", "10")

    def test_terminals(self):
        if os.geteuid() != 0:
            self.skipTest("screen has its own group, which keeps the recorder out, unless root starts it")
        self.assert_recorded(self.find("screen"), "-D", "-m", COUNTS, "1", "10")

    def test_a_link_to_a_launcher(self):
        launcher = shutil.which("env")
        os.symlink(launcher, self.folder / "env.alternative")
        self.assert_recorded("./env.alternative", COUNTS, "1", "10")

    def test_mpirun(self):
        mpirun = self.find("mpirun.openmpi")
        variables = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        text = self.said("-o", "trace-%r.bin", "--", mpirun, "--oversubscribe", "-n", "2", COUNTS, "1", "10", env=variables)
        self.assertEqual(self.traces(), ["trace-0.bin", "trace-1.bin"], text)
        self.assertEqual([self.counts(name) for name in self.traces()], [{"work": 10}] * 2)

    def test_what_a_script_calls_on_its_way_has_not_the_name_of_the_run(self):
        script = self.folder / "start.sh"
        script.write_text(f'#!/bin/sh\nhere=$(dirname "$(readlink -f "$0")")\ncd "$here"\n{COUNTS} 1 10\nexit 0\n')
        script.chmod(0o755)
        for record in (lambda: self.rdam("record", "-f", "work,write", "--", "./start.sh"), lambda: self.preload("work,write", "./start.sh")):
            done = record()
            self.assertEqual(self.counts().get("work"), 10, done.stderr.decode())
            self.assertGreater(len(self.traces()), 1)
            for name in self.traces():
                (self.folder / name).unlink()

    def test_a_utility_has_the_name_if_nothing_else_is_recorded(self):
        for command in (["dirname", "/a/b"], ["sh", "-c", "dirname /a/b; exit 0"]):
            done = self.succeeded(self.rdam("record", "-f", "write", "-o", "one.bin", "--", *command))
            self.assertIn("rdam: one.bin: dirname: ", done.stderr.decode())
            self.assertEqual([path.name for path in self.folder.glob("*.bin")], ["one.bin"])
            (self.folder / "one.bin").unlink()


class Loader(Sentences):
    """The launcher of bundles that bring their own libc: ld.so ./program."""

    def test_the_program_is_known(self):
        for options in ([], ["--argv0", "other"], ["--library-path", "/usr/lib"]):
            for kind in ("-pie", "-no-pie"):
                with self.subTest(options=options, kind=kind):
                    program = self.compiled(SOURCE, kind)
                    text = self.said("--", LOADER, *options, "./program", "10", status=0)
                    self.assertEqual(self.counts(), {"work": 10}, text)
                    self.assertIn("rdam: trace.bin: program: ", text)
                    self.assertIn(f"rdam: 1 function wrapped in {program.resolve()}\n", text)
                    done = self.preload("work", LOADER, *options, "./program", "10", RDAM_OUTPUT="other.bin")
                    self.assertEqual(self.counts("other.bin"), {"work": 10}, done.stderr.decode())

    def test_a_program_that_may_not_be_executed(self):
        self.compiled(SOURCE).chmod(0o644)
        self.said("--", LOADER, "./program", "10", status=0)
        self.assertEqual(self.counts(), {"work": 10})

    def test_nothing_to_start(self):
        for arguments in ([], ["--help"]):
            self.assert_one_line(self.rdam("record", "--", LOADER, *arguments), 1,
                                 "is the dynamic linker, and no program to start is among its arguments")
        self.assert_one_line(self.rdam("record", "--", LOADER, "./none"), 1, "./none: No such file")
        (self.folder / "script").write_text("#!/bin/sh\n")
        self.assert_one_line(self.rdam("record", "--", LOADER, "./script"), 1, "is a script, which", "name its interpreter")
        self.assert_one_line(self.rdam("record", "--", LIBRDAM), 1, "librdam.so: ")


class OtherLibraries(Sentences):
    def test_musl(self):
        self.compiled(SOURCE, compiler="musl-gcc")
        self.assert_one_line(self.rdam("record", "-f", "work", "--", "./program", "10"), 1, "is linked with musl", "build it with glibc")
        self.assertIn("FAILS", self.examine("./program"))
        self.assertIn("is linked with musl (its dynamic linker is /lib/ld-musl-x86_64.so.1)", self.examine("./program"))

    def test_a_musl_program_that_another_one_starts_is_left_alone(self):
        self.compiled(SOURCE, compiler="musl-gcc")
        text = self.said("--", "sh", "-c", f"./program 10 && {COUNTS} 1 10", status=3)
        self.assertEqual(len(re.findall(r"rdam: process \d+ has another C library than glibc \(such as musl\): it is not recorded\n", text)), 1)
        self.assertEqual(self.counts(), {"work": 10})
        text = self.said("-o", "other.bin", "--", "sh", "-c", "./program 10; exit 0", status=1)
        self.assertIn("(programs started by sudo, env -i, LD_PRELOAD=… or a program that clears its environment do not load it, nor do static, "
                      "set-user-ID, 32-bit and musl programs", text)

    def test_no_dynamic_linker(self):
        program = self.compiled(SOURCE, "-Wl,--dynamic-linker=/nowhere/ld.so")
        self.assert_one_line(self.rdam("record", "-f", "work", "--", program, "10"), 1, "its dynamic linker /nowhere/ld.so does not exist")

    def test_a_library(self):
        self.assert_one_line(self.rdam("record", "--", PROGRAMS / "libplugin.so"), 1, "libplugin.so: is a library, not a program")


class Places(Sentences):
    def test_installed_below_blanks_and_colons(self):
        library = pathlib.Path(LIBRDAM)
        agent = library.parent / "../tools/agent/rdam-agent"
        for name in ("a b", "a:b", "a : b"):
            root = self.folder / name
            for file, place in ((RDAM, "tools/rdam/rdam"), (library, "libprobe/librdam.so"), (agent, "tools/agent/rdam-agent")):
                (root / place).parent.mkdir(parents=True)
                shutil.copy(file, root / place)
            with self.subTest(name):
                self.succeeded(self.run_in_folder(root / "tools/rdam/rdam", "record", "-f", "work", "--", "sh", "-c", f"{COUNTS} 1 10; exit 0",
                                                  env={"TMPDIR": str(self.folder)}))
                self.assertEqual(self.counts(), {"work": 10})
                self.assertEqual(list(self.folder.glob("rdam-preload-*")), [])

    def test_two_dots(self):
        self.assert_one_line(self.rdam("record", "-f", "work", "-o", "none/../q.bin", "--", COUNTS, "1", "10"), 1,
                             "cannot write the trace to ", "none/../q.bin: No such file or directory")
        (self.folder / "some/where").mkdir(parents=True)
        (self.folder / "link").symlink_to("some/where")
        self.said("-o", "link/../q.bin", "--", COUNTS, "1", "10", status=3)
        self.assertEqual(self.counts("some/q.bin"), {"work": 10})
        self.said("-o", "./some/../q.bin", "--", COUNTS, "1", "10", status=3)
        self.assertEqual(self.counts("q.bin"), {"work": 10})

    def test_standard_output(self):
        self.assert_one_line(self.rdam("record", "-f", "work", "-o", "-", "--", COUNTS, "1", "10"), 1, "-o -: a trace cannot go to standard output")
        self.said("-o", "./-", "--", COUNTS, "1", "10", status=3)
        self.assertEqual(self.counts("./-"), {"work": 10})

    def test_a_pattern_in_a_folder_that_is_not_there(self):
        for folder in ("none", "/proc"):
            self.assert_one_line(self.rdam("record", "-f", "work", "-o", f"{folder}/%p.bin", "--", "sh", "-c", f"{COUNTS} 1 10"), 1,
                                 "cannot write the trace to ", f"{folder}/%p.bin: ")


class NotLoaded(Sentences):
    ONLY = "no trace was written: the recorder is known to have been loaded only into "

    def test_a_cleared_environment(self):
        for command, launchers in ((["env", "-i", COUNTS, "1", "10"], "env"),
                                   (["sh", "-c", f"LD_PRELOAD= {COUNTS} 1 10; exit 3"], "(dash|bash|busybox)"),
                                   (["env", "sh", "-c", f"env -i {COUNTS} 1 10; exit 3"], "env, (dash|bash|busybox)")):
            with self.subTest(launchers):
                text = self.said("--", *command, status=1)
                self.assertRegex(text, f"rdam: {self.ONLY}{launchers}, where no function was on the list .*; start rdam behind the "
                                       r"command that keeps it out \(the run ended with exit code 3\)\n")
                self.assertEqual(text.count("\n"), 1, text)

    def test_a_program_that_clears_its_environment(self):
        program = self.compiled(CLEARS)
        text = self.said("--", "env", program, COUNTS, "1", "10", status=1)
        self.assertIn("no program of the run that is known to have loaded the recorder contained a function on the list (programs started by "
                      "sudo, env -i, LD_PRELOAD=… or a program that clears its environment do not load it", text)
        # One that is recorded itself. Its agent looks at what it has become some ten times a second.
        text = self.rdam("record", "-f", "work,before", "--", program, self.find("sleep"), "2").stderr.decode()
        self.assertEqual(self.counts(), {"before": 1})
        self.assertIn("rdam: the process went on as sleep, which is not recorded: it was started with an environment without the recorder's "
                      "LD_PRELOAD\n", text)
        self.assertIn("went on as sleep", self.rdam("analyze").stdout.decode())
        # One that keeps it is recorded, whatever it executes.
        text = self.rdam("record", "-f", "work,before", "--", program, "kept", COUNTS, "1", "10").stderr.decode()
        self.assertEqual(sum(self.counts(trace).get("work", 0) for trace in self.traces()), 10)
        self.assertNotIn("went on", text)

    def test_static_programs(self):
        text = self.said("--", "sh", "-c", f"{PROGRAMS}/regions_static; exit 0", status=1)
        self.assertIn(self.ONLY, text)
        self.assertIn("static, set-user-ID, 32-bit and musl programs", text)

    def test_sudo(self):
        sudo = self.find("sudo")
        if os.geteuid() != 0 or subprocess.run([sudo, "-n", "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("sudo works for root only here")
        text = self.said("--", sudo, "-n", COUNTS, "1", "10", status=1)
        self.assertIn(f"{self.ONLY}sudo, which removes LD_PRELOAD from what it starts; start rdam behind it: sudo rdam record … -- PROGRAM", text)
        self.assertRegex(self.examine(sudo), "no .*/sudo removes LD_PRELOAD from what it starts start rdam behind it: sudo rdam record")
        text = self.said("-o", "other.bin", "--", "sh", "-c", f"{sudo} -n {COUNTS} 1 10; exit 0", status=1)
        self.assertRegex(text, self.ONLY + r"(dash|bash|busybox), sudo, where no function was on the list \(programs started by sudo, env -i, ")

    def test_a_set_user_id_launcher(self):
        self.need("setpriv", "sudo")
        if os.geteuid() != 0:
            self.skipTest("needs root, to become another user")
        done = self.run_in_folder("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", RDAM, "record", "-f", "work", "-o",
                                  "/tmp/x.bin", "--", "sudo", "true", env={"RDAM_CACHE": "0"})
        self.assert_one_line(done, 1, "sudo: runs with other rights than its user's", "start rdam behind it: sudo rdam record … -- PROGRAM")

    def test_a_program_of_which_nothing_is_on_the_list(self):
        text = self.said("--", PROGRAMS / "shapes", status=1)
        self.assertTrue(text.endswith("rdam: the program was not run, and no trace was written; if a program that it starts has the functions, put "
                                      f"env in front: rdam record … -- env {PROGRAMS}/shapes\n"), text)

    def test_programs_of_which_nothing_is_on_the_list(self):
        text = self.said("--", "sh", "-c", f"{PROGRAMS}/shapes; exit 0", status=1)
        self.assertRegex(text, r"rdam: no program of the run that is known to have loaded the recorder "
                               r"contained a function on the list \(.*\): no trace was written\n")

    def test_the_recorder_has_said_why(self):
        done = self.forbidding(["memfd_create"], RDAM, "record", "-f", "work", "--", COUNTS, "1", "10")
        self.assertIn("cannot create shared memory", done.stderr.decode())
        self.assertIn("no trace was written: either the recorder has said why above, or the dynamic linker did not load it into ",
                      done.stderr.decode())

    def test_a_place_that_a_process_cannot_write_to(self):
        (self.folder / "list").mkdir()
        text = self.said("-o", "%r/x.bin", "--", "sh", "-c", f"{COUNTS} 1 10; exit 0", status=0)
        self.assertIn("cannot write the trace to ", text)
        self.assertIn("no trace was written: either no wrapped function was called, or the recorder has said why above", text)


    def test_a_place_that_another_user_cannot_write_to(self):
        self.need("setpriv")
        if os.geteuid() != 0:
            self.skipTest("needs root, to become another user")
        self.folder.chmod(0o755)
        text = self.said("--", "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", COUNTS, "1", "10", status=1)
        self.assertRegex(text, "rdam: cannot write the trace to .*/trace.bin: Permission denied")
        self.assertNotIn("no program of the run", text)
        if "is known to have been" in text:  # the process could not tell the run
            self.assertIn("a process of a user who may not write here has reported it", text)


class Sampled(Sentences):
    """What `rdam hot` says of a file that is not the one that perf sampled."""

    def test_a_file_that_was_replaced(self):
        self.need("perf")
        self.compiled(SOURCE.replace("work(9)", "work(9999)"))
        command = ("perf", "record", "-N", "-q", "-e", "cpu-clock", "-g", "-o", "perf.data", "--", "./program", "20000")
        if self.run_in_folder(*command).returncode != 0:
            self.skipTest("perf may not sample here")
        self.assertNotIn("not the file that was sampled", self.rdam("hot", "perf.data").stderr.decode())
        self.compiled(SOURCE)
        text = self.rdam("hot", "perf.data").stderr.decode()
        self.assertRegex(text, r"without a name in program \(.*\): .*/program is not the file that was sampled \(build ID \w{8}, sampled \w{8}\): "
                               "put that file back, or sample again")
        self.assertNotIn("install debug symbols", text)
        (self.folder / "program").unlink()
        self.assertIn("/program is gone: put the file that was sampled back, or sample again", self.rdam("hot", "perf.data").stderr.decode())


class Sealed(Sentences):
    def setUp(self):
        super().setUp()
        if not has_mseal():
            self.skipTest("the kernel has no mseal")
        self.compiled(SOURCE + SEALED, "-fcf-protection=none")

    def test_sealed_code_is_recorded(self):
        text = self.said("--", "./program", "10", status=0)
        self.assertEqual(self.counts(), {"work": 10}, text)
        self.assertIn("programs that seal their code (mseal) can be recorded", self.rdam("doctor").stdout.decode())

    def test_sealed_code_that_nobody_may_write_to(self):
        # librdam.so alone calls open, not openat.
        done = self.forbidding(["open"], RDAM, "record", "-f", "work", "--", "./program", "10")
        text = done.stderr.decode()
        self.assertIn("rdam: 1 function was not wrapped: the code is sealed (mseal), and the kernel does not let /proc/self/mem write to it\n", text)
        self.assertNotIn("function wrapped in", text)
        self.assertNotIn("was called", text)
        self.assertIn("no trace was written: none of the functions that were to be wrapped in ", text)
        self.assertEqual(done.returncode, 1, text)
        done = self.forbidding(["open"], "./program", "10", env={"LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": "work"})
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.decode().count("no trace was written"), 1, done.stderr.decode())

    def test_libraries_beside_sealed_code(self):
        done = self.forbidding(["open"], RDAM, "record", "-f", "work,sched_yield", "--", "./program", "10")
        text = done.stderr.decode()
        self.assertIn("rdam: of these, 1 function was not wrapped: the code is sealed", text)
        self.assertIn("rdam: 2 functions wrapped in ", text)
        self.assertEqual(self.counts(), {"sched_yield": 10}, text)


class Doctor(Sentences):
    def test_scripts(self):
        script = self.folder / "start.sh"
        script.write_text("#!/bin/sh\n")
        script.chmod(0o755)
        self.assertRegex(self.examine(script), "ok .*start.sh is a script for /bin/sh: what it starts can be recorded, except static, set-user-ID, ")
        script.write_text("#!/usr/bin/python3\n")
        self.assertRegex(self.examine(script), "a script for /usr/bin/python3: "
                                               "functions of python3 and its libraries can be recorded, not those of the script; ")

    def test_launchers(self):
        self.assertRegex(self.examine("env"), "ok .*/env starts other programs: what it starts can be recorded, except ")
        self.assertRegex(self.examine("perl"), "ok .*/perl runs scripts: "
                                               "functions of perl and its libraries can be recorded, not those of the script")

    def test_programs_that_cannot_be_recorded(self):
        self.assertIn("statically linked", self.examine(PROGRAMS / "regions_static"))
        self.assertIn("is the dynamic linker", self.examine(LOADER))


if __name__ == "__main__":
    unittest.main()
