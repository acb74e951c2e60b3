#!/usr/bin/python3
"""Programs of many languages under the recorder: the same output and status as without it, every call counted where the program
counts them itself, and the code that cannot be wrapped refused with the reason. docs/languages.md is the table of it."""

import dataclasses
import pathlib
import re
import shutil
import unittest

from harness import Case

SOURCES = pathlib.Path(__file__).parent / "languages"


@dataclasses.dataclass
class Language:
    """A program in one language: what it is made with, what is put on the list, and what comes of it."""

    name: str
    tools: tuple[str, ...]  # without them there is nothing to be tried
    files: tuple[str, ...]
    build: tuple[str, ...]  # commands
    run: str
    functions: str  # the list
    refused: str = ""  # the reason for each function of the language
    counted: dict[str, int] = dataclasses.field(default_factory=dict)  # by function: the word of the output that is its count
    recorded: tuple[str, ...] = ()  # functions that are called at least once
    doctor: str = ""  # the program to examine, which says the reason as well


LANGUAGES = [
    Language("OCaml", ("ocamlopt",), ("tree.ml",), ("ocamlopt -inline 0 -g tree.ml -o tree",),
             "./tree 20000", "camlTree*insert_*,camlTree*catch_*,camlTree*throw_*,caml_call_gc,caml_minor_collection,"
             "caml_format_int,caml_alloc_string", "is OCaml code", {}, ("caml_format_int", "caml_alloc_string"), "./tree"),
    Language("Haskell", ("ghc",), ("Main.hs",), ("ghc -v0 -O1 -threaded -rtsopts Main.hs -o fib",),
             "./fib 500 +RTS -N2 -A1m", "Main_zdwthrower_info,stg_upd_frame_info,stg_ap_v_fast,GarbageCollect,allocate,scheduleWaitThread",
             "is Haskell code", {}, ("scheduleWaitThread",), "./fib"),
    Language("Haskell, dynamically linked", ("ghc",), ("Main.hs",), ("ghc -v0 -O1 -dynamic Main.hs -o fib",),
             "./fib 500", "Main_zdwthrower_info,stg_upd_frame_info,stg_ap_v_fast,GarbageCollect,scheduleWaitThread",
             "is Haskell code", {}, ("scheduleWaitThread",), "./fib"),
    Language("C# (Mono, ahead of time)", ("mono", "mcs"), ("throws.cs",), ("mcs throws.cs", "mono --aot throws.exe"),
             "mono throws.exe 2000", "throws.exe.so:*,write,pthread_mutex_lock", "is code that Mono compiled ahead of time", {}, ("write",)),
    Language("Scheme (CHICKEN)", ("csc",), ("fib.scm",), ("csc -O2 fib.scm -o fib",),
             "./fib", "f_[0-9]*,C_toplevel,write,main", "never returns: CHICKEN", {}, ("write",), "./fib"),
    Language("Scheme (Gambit)", ("gsc", "gcc"), ("fib.scm",), ("gsc -exe -o fib fib.scm",), "./fib", "___H_*,write", "", {}, ("___H_fib", "write")),
    Language("Scheme (Chez)", ("chezscheme",), ("fib.scm",), (), "chezscheme --script fib.scm", "write,malloc", "", {}, ("malloc",)),
    Language("Scheme (Guile)", ("guile",), ("fib.scm",), (), "guile --no-auto-compile fib.scm", "write,scm_cons", "", {}, ("write",)),
    Language("Lisp (SBCL)", ("sbcl",), ("fib.lisp",), (), "sbcl --script fib.lisp", "write,os_*,collect_garbage", "", {}, ("write",)),
    Language("Lisp (ECL)", ("ecl",), ("fib.lisp",), (), "ecl --shell fib.lisp", "write,cl_cons", "", {}, ("write",)),
    Language("Standard ML (SML/NJ)", ("sml",), ("fib.sml",), (), "sml fib.sml", "write,mmap", "", {}, ()),
    Language("Standard ML (Poly/ML)", ("poly",), ("fib.sml",), (), "poly -q --use fib.sml", "write,malloc", "", {}, ("malloc",)),
    Language("Nim", ("nim", "gcc"), ("fib.nim",), ("nim c -d:release --hints:off --nimcache:cache -o:fib fib.nim",),
             "./fib", "fib_nim,write", "", {"fib_nim": 1}),
    Language("Lua (LuaJIT)", ("luajit",), ("fib.lua",), (), "luajit fib.lua", "lua_pcall,lua_gc,luaL_loadfile*,malloc", "", {}, ("malloc",)),
    Language("Python (PyPy)", ("pypy3",), ("fib.py",), (), "pypy3 fib.py", "write,pypy_main_startup,malloc", "", {}, ("malloc",)),
    Language("Go (a library for C)", ("go", "gcc"), ("work.go", "in_c.c", "calls_go.c"),
             ("mkdir go", "mv work.go in_c.c go", "env GO111MODULE=off GOCACHE={folder}/cache "
              "sh -c 'cd go && go build -buildmode=c-shared -o ../libwork.so'",
              "gcc -O1 calls_go.c -o calls -L. -lwork -Wl,-rpath,{folder}"),
             "./calls 1000", "libwork.so:main.GoWork,libwork.so:in_c,GoWork", "is Go code", {}, ("in_c", "GoWork")),
    Language("LLVM's stack maps", ("clang",), ("stack_maps.ll",), ("clang -O0 -fPIE -pie -Wno-override-module stack_maps.ll -o program",),
             "./program", "mapped,mapped_twice,plain", "has LLVM stack maps", {}, ("plain",), "./program"),
    Language("Ada", ("gnatmake",), ("fib.adb",), ("gnatmake -q -O1 -g fib.adb",), "./fib", "fib__number*,fib__thrower*", "", {"fib__number": 1}),
    Language("D (gdc)", ("gdc",), ("fib.d",), ("gdc -O1 -g fib.d -o fib",), "./fib", "fib,thrower", "", {"fib": 1}),
    Language("D (ldc)", ("ldc2",), ("fib.d",), ("ldc2 -O1 -g fib.d -of=fib",), "./fib", "fib,thrower", "", {"fib": 1}),
    # Signals are exceptions there: the first instructions of a function may throw.
    Language("Ada, checks by signals", ("gnatmake",), ("faults.adb",), ("gnatmake -q -O1 -g -fnon-call-exceptions faults.adb",), "./faults",
             "faults__work__*", "", {"faults__work__first": 0, "faults__work__divides": 0}),
    Language("D, faults (gdc)", ("gdc",), ("faults.d",), ("gdc -O1 -g -fnon-call-exceptions faults.d -o faults",), "./faults", "by_type,cleans",
             "", {"by_type": 0, "cleans": 0}),
    Language("D, faults (ldc)", ("ldc2",), ("faults.d",), ("ldc2 -O1 -g faults.d -of=faults",), "./faults", "by_type,cleans", "",
             {"by_type": 0, "cleans": 0}),
    Language("Rust", ("rustc",), ("fib.rs",), ("rustc -O -g fib.rs -o program",), "./program", "fib", "", {"fib": 1}),
    Language("Fortran", ("gfortran",), ("fib.f90",), ("gfortran -O1 -g fib.f90 -o fib",), "./fib", "__numbers_MOD_fib", "", {"__numbers_MOD_fib": 1}),
    Language("Pascal", ("fpc",), ("fib.pas",), ("fpc -v0 -O1 -Xs- -g fib.pas -ofib",), "./fib",
             "P$FIBONACCI_$$_FIB*,P$FIBONACCI_$$_THROWER*", "", {"P$FIBONACCI_$$_FIB$LONGINT$$LONGINT": 1}),
    Language("Crystal", ("crystal",), ("fib.cr",), ("env CRYSTAL_CACHE_DIR={folder}/cache crystal build fib.cr -o program",),
             "./program", "fib", "", {"fib": 1}),
    Language("Erlang", ("erl", "erlc"), ("fib.erl",), ("erlc fib.erl",),
             "erl -noshell -s fib main", "pthread_mutex_lock,writev", "", {}, ("pthread_mutex_lock",)),
    Language("Ruby", ("ruby",), ("fib.rb",), (), "ruby --disable-gems fib.rb", "rb_ensure,rb_str_new,malloc", "", {}, ("malloc",)),
    Language("Perl", ("perl",), ("fib.pl",), (), "perl fib.pl", "Perl_sv_setsv_flags,malloc,write", "", {}, ("malloc",)),
    Language("Scheme (Gambit), collected", ("gsc", "gcc"), ("tree.scm",), ("gsc -exe -o tree tree.scm",), "./tree", "tree:___H_*,libgambit.so*:*",
             "", {}, ("___H_tree",)),
    Language("Scheme (Chez), threads", ("chezscheme",), ("threads.ss",), (), "chezscheme --script threads.ss", "malloc,chezscheme*:*", "", {},
             ("malloc",)),
    Language("Scheme (Guile), collected", ("guile",), ("guile.scm",), (), "guile --no-auto-compile guile.scm", "libguile-3*.so*:*", "", {},
             ("scm_call_0",)),
    Language("Scheme (MIT)", ("mit-scheme",), ("deep.scm",), (), "mit-scheme --quiet --load deep.scm", "malloc,mit-scheme*:*", "", {}, ("malloc",)),
    Language("Racket", ("racket",), ("tree.rkt",), (), "racket tree.rkt", "malloc,racket:*", "", {}, ("malloc",)),
    Language("Lisp (CLISP)", ("clisp",), ("tree.lisp",), (), "clisp -q tree.lisp", "malloc,lisp.run:*", "", {}, ()),
    Language("Standard ML (Poly/ML, compiled)", ("polyc", "gcc"), ("tree.sml",), ("polyc -o tree tree.sml",), "./tree",
             "tree:area1,libpolyml.so*:Poly*", "is code of an image of Poly/ML", {}, ("PolyFullGC",), "./tree"),
    Language("Prolog (GNU)", ("gplc",), ("tree.pl",), ("gplc -o tree tree.pl",), "./tree",
             "X0_*,X1_*,tree:Lpred*,Pl_Unify,Pl_Get_Structure_Tagged", "is Prolog code made by GNU Prolog", {}, ("Pl_Unify",), "./tree"),
    Language("Prolog (SWI)", ("swipl",), ("swi.pl",), (), "swipl swi.pl", "malloc,libswipl.so*:*", "", {}, ("PL_initialise",)),
    *(Language(f"Nim ({' '.join(options)})", ("nim", "gcc"), ("tree.nim",),
               (f"nim c -d:release --threads:on {' '.join(options)} --hints:off --nimcache:cache -o:tree tree.nim",),
               "./tree", "tree:*", "", {"insert_nim": 1})
      for options in (["--mm:refc"], ["--mm:orc"], ["--mm:orc", "--exceptions:setjmp"], ["--mm:arc"])),
    Language("Crystal, fibers", ("crystal",), ("tree.cr",), ("env CRYSTAL_CACHE_DIR={folder}/cache crystal build --release tree.cr -o program",),
             "./program", "program:*,libgc.so*:*", "", {}, ("GC_gcollect",)),
    Language("Zig", ("zig",), ("tree.zig",), ("env ZIG_GLOBAL_CACHE_DIR={folder}/cache zig build-exe -lc -OReleaseSafe tree.zig",),
             "./tree", "tree.insert,tree:*debug*", "", {"tree": 1}),
    Language("Vala", ("valac", "gcc"), ("tree.vala",), ("valac -X -w --pkg gio-2.0 tree.vala -o tree",), "./tree",
             "insert,odd,total,wait_for_co", "", {"insert": 1}),
    *(Language(f"Objective-C ({compiler})", (compiler, "gcc", "gnustep-config"), ("tree.m",),
               ((f"{compiler} -std=gnu11 -O1 -g -w $(gnustep-config --objc-flags | sed s/-MMD.-MP//) "
                 "-isystem $(gcc -print-file-name=include) tree.m -o tree -lgnustep-base -lobjc"),),
               "./tree", "tree:*,libobjc.so*:*", "", {}, ("_i_Node__insert_", "odd"))
      for compiler in ("gcc", "clang")),
    Language("COBOL", ("cobc",), ("calls.cob",), ("cobc -x -free -o calls calls.cob",), "./calls", "sub1,rec_,libcob.so*:*", "", {"sub1": 1}),
    Language("PHP", ("php",), ("tree.php",), (), "php tree.php", "php*:*", "", {}, ("zend_fiber_switch_context", "zend_call_function")),
    Language("R", ("R",), ("tree.R",), (), "R --no-echo --no-restore --file=tree.R", "libR.so:*", "", {}, ("Rf_eval",)),
    Language("Octave", ("octave-cli",), ("octave.m",), (), "octave-cli --norc octave.m", "malloc,liboctinterp.so*:*tree_evaluator*", "", {},
             ("malloc",)),
    Language("Lua", ("lua5.4",), ("tree.lua",), (), "lua5.4 tree.lua", "lua5.4:lua*", "", {}, ("lua_pcallk",)),
    Language("Lua (LuaJIT), coroutines", ("luajit",), ("tree.lua",), (), "luajit tree.lua", "luajit:lua*,malloc", "", {}, ("malloc",)),
    Language("Ruby, fibers", ("ruby",), ("fibers.rb",), (), "ruby --disable-gems fibers.rb", "libruby*.so*:*", "", {}, ("rb_fiber_resume_kw",)),
    Language("Tcl", ("tclsh8.6",), ("tree.tcl",), (), "tclsh8.6 tree.tcl", "libtcl8.6.so:*", "", {}, ("Tcl_CreateInterp",)),
    Language("Pike", ("pike8.0",), ("tree.pike",), (), "pike8.0 tree.pike", "malloc,pike8.0:*", "", {}, ("malloc",)),
    Language("Icon", ("icont", "iconx"), ("tree.icn",), ("icont -s tree.icn",), "./tree", "iconx:*", "", {}, ()),
    Language("Forth (gforth)", ("gforth-fast",), ("fib.fs",), (), "gforth-fast fib.fs", "malloc,write", "", {}, ("malloc",)),
    Language("PicoLisp", ("picolisp",), ("fib.l",), (), "picolisp fib.l", "malloc,picolisp:*", "", {}, ("malloc",)),
    Language("newLISP", ("newlisp",), ("fib.lsp",), (), "newlisp fib.lsp", "malloc", "", {}, ("malloc",)),
]


class Languages(Case):
    def build(self, language: Language):
        self.need(*language.tools)
        for name in language.files:
            shutil.copy(SOURCES / name, self.folder / name)
        for command in language.build:
            done = self.run_in_folder("sh", "-c", command.format(folder=self.folder))
            if done.returncode != 0:
                self.skipTest(f"{language.name}: {command}: {(done.stderr + done.stdout).decode().strip().splitlines()[-1]}")

    def check(self, language: Language):
        self.build(language)
        words = language.run.split()
        plain = self.run_in_folder(*words)
        done = self.rdam("record", "-v", "-f", language.functions, "--", *words)
        said = done.stderr.decode()
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout), said)
        if language.refused:
            self.assertIn(language.refused, said)
        if language.doctor:
            examined = self.rdam("doctor", language.doctor).stdout.decode()
            self.assertIn(language.refused, examined)
        if not language.counted and not language.recorded:
            return
        counts = {name.rpartition(":")[2].partition(".")[0]: count for name, count in self.counts().items()}
        printed = plain.stdout.decode().split()
        for name, place in language.counted.items():
            self.assertEqual(counts.get(name), int(printed[place]), (counts, said))
        for name in language.recorded:
            self.assertGreater(counts.get(name, 0), 0, (counts, said))
        # What is refused has no calls.
        self.assertFalse([name for name in counts if re.match(r"caml[A-Z]|Main_|stg_|f_[0-9]|mapped|X[0-9]_|Lpred|area1", name)], counts)

    def test_hot_leaves_out_what_record_refuses(self):
        self.need("perf")
        language = LANGUAGES[0]
        self.build(language)
        done = self.run_in_folder("perf", "record", "-q", "-e", "cpu-clock", "-F", "1999", "-g", "-o", "perf.data", "--", "./tree", "300000")
        if done.returncode != 0:
            self.skipTest("perf cannot sample here: " + done.stderr.decode().strip().splitlines()[-1])
        done = self.succeeded(self.rdam("hot", "perf.data", "--min-percent", "0.3"))
        # perf prints camlTree__total_314 as Tree.total_314, and the first function of a unit as its code's beginning.
        self.assertNotRegex(done.stdout.decode(), r"camlTree|Tree\.|camlStdlib|Stdlib\.")
        self.assertRegex(done.stderr.decode(), r"left out: tree:\S*Tree\S+ \([0-9.]+ %.*\): rdam record would skip it: is OCaml code")
        # What is left is recorded.
        (self.folder / "hot.txt").write_bytes(done.stdout)
        done = self.succeeded(self.rdam("record", "-f", "hot.txt", "--", "./tree", "1000"))
        self.assertNotIn("is OCaml code", done.stderr.decode())


def add_test(language: Language):
    name = "test_" + re.sub(r"[^a-z0-9]+", "_", language.name.lower()).strip("_")
    setattr(Languages, name, lambda self: self.check(language))


for each in LANGUAGES:
    add_test(each)


if __name__ == "__main__":
    unittest.main()
