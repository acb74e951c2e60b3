#include "wrappers/catalogue/catalogue.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/unit/catch.h"
#include "wrappers/catalogue/known_programs.h"

using rdam::Catalogue;
using rdam::KnownPrograms;
using rdam::ValueKind;

namespace {

const rdam::CatalogueFunction& known(std::string_view name) {
    const auto* function = Catalogue::builtin().find(name);
    INFO(name);
    REQUIRE(function != nullptr);
    return *function;
}

std::string contents(const std::string& name) {
    std::ifstream file(CATALOGUE_FOLDER "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string error_of(std::string_view text) {
    const auto parsed = Catalogue::parse(text, "my.toml");
    REQUIRE_FALSE(parsed.has_value());
    return parsed.error().message;
}

}  // namespace

TEST_CASE("what is compiled in is what the data files say, and sorted") {
    const auto catalogue = Catalogue::parse(contents("catalogue.toml"), "catalogue.toml");
    const auto programs = KnownPrograms::parse(contents("programs.toml"), "programs.toml");
    REQUIRE(catalogue.has_value());
    REQUIRE(programs.has_value());
    CHECK(Catalogue::builtin() == *catalogue);
    CHECK(KnownPrograms::builtin() == *programs);
    const auto& functions = Catalogue::builtin().functions();
    CHECK(functions.size() > 300);
    CHECK(std::is_sorted(functions.begin(), functions.end(),
                         [](const auto& a, const auto& b) { return a.name < b.name; }));
}

TEST_CASE("partners are functions of the catalogue with the same keys, under all of their names") {
    std::size_t pairs = 0;
    for (const auto& function : Catalogue::builtin().functions()) {
        for (const std::string& name : function.partners()) {
            INFO(function.name << " " << name);
            const auto& partner = known(name);
            CHECK(partner.keys == function.keys);
            CHECK((function.waits || function.busy_waits ||
                   (function.tries() && function.other_fails != function.zero_fails)));
            // What a call about a futex does depends on its parameters.
            CHECK(partner.waits == (partner.futex && &partner == &function));
            ++pairs;
        }
    }
    CHECK(pairs > 20);
    const auto& names = known("pthread_cond_wait").woken_by;
    CHECK(std::find(names.begin(), names.end(), "__pthread_cond_signal") != names.end());
    CHECK(names.front() == "pthread_cond_signal");
    CHECK(known("pthread_cond_broadcast").wakes_all);
    CHECK(known("sem_post").counts);
}

TEST_CASE("a lock is told by its address") {
    const auto& lock = known("pthread_mutex_lock");
    REQUIRE(lock.parameters.size() == 1);
    CHECK(lock.parameters[0].name == "mutex");
    CHECK(lock.parameters[0].kind == ValueKind::pointer);
    CHECK(lock.keys == std::vector<std::string>{"mutex"});
    CHECK(lock.waits);
    CHECK(lock.in_default_list);
    REQUIRE(lock.result.has_value());
    CHECK(lock.result->kind == ValueKind::signed_integer);
    CHECK(lock.result->size == 4);
}

TEST_CASE("parameters have the order, kind and size of the prototype") {
    const auto& write = known("write");
    REQUIRE(write.parameters.size() == 3);
    CHECK(write.parameters[0].name == "fd");
    CHECK(write.parameters[0].size == 4);
    CHECK(write.parameters[1].kind == ValueKind::pointer);
    CHECK(write.parameters[2].kind == ValueKind::unsigned_integer);
    CHECK(write.result->size == 8);
    CHECK(known("printf").variadic);
    CHECK_FALSE(known("free").result.has_value());
    CHECK(known("strtod").result->kind == ValueKind::floating);
}

TEST_CASE("sleeping and busy waiting are told apart") {
    const auto waits = [](std::string_view name) {
        return std::pair{known(name).waits, known(name).busy_waits};
    };
    CHECK(waits("pthread_mutex_lock") == std::pair{true, false});
    CHECK(waits("read") == std::pair{true, false});
    CHECK(waits("pthread_spin_lock") == std::pair{false, true});
    CHECK(waits("GOMP_barrier") == std::pair{true, true});
    CHECK(waits("__kmpc_barrier") == std::pair{true, true});
    CHECK(waits("MPI_Recv") == std::pair{true, true});
    CHECK(waits("PMPI_Recv") == std::pair{true, true});
    CHECK(waits("MPI_Isend") == std::pair{false, false});
    CHECK(waits("memcpy") == std::pair{false, false});
    CHECK(waits("__pthread_mutex_lock") == std::pair{true, false});
}

TEST_CASE("MPI's functions are known by both names, with what tells calls apart") {
    for (const auto* name : {"MPI_Allreduce", "PMPI_Allreduce"}) {
        CHECK(known(name).keys == std::vector<std::string>{"count", "comm"});
        CHECK(known(name).parameters.back().size == 4);
        CHECK_FALSE(known(name).in_default_list);
    }
    for (const auto& function : Catalogue::builtin().functions()) {
        if (function.name.find("MPI_") != 0) continue;
        INFO(function.name);
        CHECK(known("P" + function.name).keys == function.keys);
    }
}

TEST_CASE("every key names a parameter, and nothing refused is in the default list") {
    for (const auto& function : Catalogue::builtin().functions()) {
        INFO(function.name);
        for (const auto& key : function.keys)
            CHECK(std::any_of(function.parameters.begin(), function.parameters.end(),
                              [&](const auto& parameter) { return parameter.name == key; }));
        if (!function.refuse.empty()) {
            CHECK_FALSE(function.in_default_list);
            CHECK_FALSE(function.waits);
            CHECK_FALSE(function.busy_waits);
        }
    }
}

TEST_CASE("sizes of what is to be done are keys, library by library") {
    using Names = std::vector<std::string>;
    for (const auto* name : {"memset", "memcpy", "memmove", "memcmp", "__memcpy_chk"}) {
        CHECK(known(name).keys.size() == 1);
        CHECK(known(name).sizes == known(name).keys);
    }
    CHECK(known("calloc").sizes == Names{"nmemb", "size"});
    CHECK(known("qsort").sizes == Names{"nmemb", "size"});
    CHECK(known("write").keys == Names{"fd", "count"});
    CHECK(known("write").sizes == Names{"count"});
    for (const auto* name :
         {"strlen", "wcslen", "strchr", "read", "recv", "getline", "snprintf", "ZSTD_decompress"})
        CHECK(known(name).result_is_size);
    CHECK(known("cblas_dgemm").sizes == Names{"m", "n", "k"});
    CHECK(known("LAPACKE_dpotrf").sizes == Names{"n"});
    CHECK(known("compress2").keys == Names{"sourceLen", "level"});
    CHECK(known("LZ4_compress_default").sizes == Names{"srcSize"});
    CHECK(known("BZ2_bzBuffToBuffCompress").sizes == Names{"sourceLen"});
    CHECK(known("SHA256_Update").sizes == Names{"len"});
    CHECK(known("sin").sizes == Names{"x"});
    CHECK(known("fftw_execute").sizes.empty());
    CHECK(known("fftw_execute").keys == Names{"plan"});
    for (const auto* name : {"pthread_mutex_lock", "strcmp", "free"}) {
        CHECK(known(name).sizes.empty());
        CHECK_FALSE(known(name).result_is_size);
    }
    for (const auto& function : Catalogue::builtin().functions()) {
        INFO(function.name);
        for (const auto& size : function.sizes)
            CHECK(std::find(function.keys.begin(), function.keys.end(), size) != function.keys.end());
    }
}

TEST_CASE("the default list holds the waits and the blocking calls, each function once") {
    for (const auto* name :
         {"pthread_mutex_lock", "pthread_cond_wait", "pthread_rwlock_wrlock", "pthread_barrier_wait",
          "pthread_spin_lock", "pthread_join", "sem_wait", "read", "pwrite64", "readv", "recv", "send",
          "accept", "connect", "poll", "select", "epoll_wait", "fsync", "nanosleep"})
        CHECK(known(name).in_default_list);
    for (const auto* name : {"pthread_mutex_unlock", "malloc", "memcpy", "waitpid", "__libc_read"})
        CHECK_FALSE(known(name).in_default_list);
    CHECK(known("__libc_read").parameters.size() == 3);
}

TEST_CASE("what cannot be wrapped is refused with a reason, also through globs") {
    for (const auto* name : {"setjmp",
                             "__sigsetjmp",
                             "vfork",
                             "getcontext",
                             "swapcontext",
                             "makecontext",
                             "setcontext",
                             "clone",
                             "_Unwind_RaiseException",
                             "dlsym",
                             "dlopen",
                             "dlvsym",
                             "dlmopen",
                             "__tls_get_addr",
                             "_start",
                             "__libc_start_main",
                             "_dl_fixup",
                             "_init",
                             "_fini",
                             "__stack_chk_fail",
                             "__cxa_throw",
                             "__gxx_personality_v0",
                             "__restore_rt",
                             "__x86_indirect_thunk_rax"})
        CHECK_FALSE(known(name).refuse.empty());
    CHECK(Catalogue::builtin().find("longjmp") == nullptr);
    CHECK(known("write").refuse.empty());
    CHECK(Catalogue::builtin().find("no_such_function") == nullptr);
}

TEST_CASE("interpreters, utilities and launchers that lose the recorder are known by their file name") {
    const KnownPrograms& programs = KnownPrograms::builtin();
    for (const char* name : {"perl", "/usr/bin/perl5.36.0", "python3.11", "ruby3.1", "tclsh8.6"})
        CHECK(programs.is_interpreter(name));
    for (const char* name : {"perldoc", "pythonize", "sh", ""})
        CHECK_FALSE(programs.is_interpreter(name));
    CHECK(programs.is_utility("/usr/bin/dirname"));
    CHECK_FALSE(programs.is_utility("sysbench"));
    CHECK(programs.how_it_strips("/usr/bin/sudo") == "removes LD_PRELOAD from what it starts");
    CHECK(programs.how_it_strips("env").empty());
    CHECK(programs.is_launcher("tini"));
}

TEST_CASE("launchers are known by their file name") {
    const auto& programs = KnownPrograms::builtin();
    CHECK(programs.is_launcher("sh"));
    CHECK(programs.is_launcher("/usr/bin/taskset"));
    CHECK(programs.is_launcher("mpirun"));
    CHECK(programs.is_launcher("/usr/bin/mpirun.openmpi"));
    CHECK_FALSE(programs.is_launcher("xz"));
    CHECK_FALSE(programs.is_launcher(""));
}

TEST_CASE("a broken catalogue is named with what is wrong") {
    CHECK(error_of("= nonsense").find("my.toml:1: ") == 0);
    const auto programs = KnownPrograms::parse("launchers = [", "my.toml");
    REQUIRE_FALSE(programs.has_value());
    CHECK(programs.error().message.find("my.toml:1: ") == 0);
    CHECK(error_of("[[group]]\nwaits = true") == "my.toml: a group has no functions; mend the file");
    CHECK(error_of("[[group]]\nbusy_waits = true\n[group.functions]\nf = ''") ==
          "my.toml: a group has 'busy_waits', which means nothing; mend the file");
    CHECK(error_of("[[group]]\nalso-with-prefix = 'P'\n[group.functions]\nf = ''\nPf = ''") ==
          "my.toml: 'Pf' stands there twice; mend the file");
    CHECK(error_of("[[group]]\n[group.functions]\nf = 3") ==
          "my.toml: f: the signature is not a string; mend the file");
    CHECK(error_of("[[group]]\n[group.functions]\nf = 'a: ptr'\n[alias]\ng = 'h'") ==
          "my.toml: alias g: there is no function 'h'; mend the file");
    CHECK(error_of("[[group]]\n[group.functions]\nf = ''\n[[refuse]]\nreason = 'r'\nnames = ['f']") ==
          "my.toml: 'f' stands there twice; mend the file");
    CHECK(error_of("[[refuse]]\nnames = ['f']") ==
          "my.toml: a [[refuse]] lacks its reason or its names; mend the file");
    CHECK(error_of("group = [3]") == "my.toml: group is not a list of tables; mend the file");
}

TEST_CASE("a runtime that tells its callers to tools is known by a function of its own") {
    const auto& catalogue = Catalogue::builtin();
    const auto libomp = [](std::string_view name) { return name == "__kmpc_fork_call"; };
    const auto libgomp = [](std::string_view) { return false; };
    for (const char* name : {"omp_set_lock", "GOMP_parallel", "__kmpc_barrier", "__kmp_api_GOMP_barrier"}) {
        CHECK(catalogue.only_tells_caller(name, libomp));
        CHECK_FALSE(catalogue.only_tells_caller(name, libgomp));
    }
    CHECK_FALSE(catalogue.only_tells_caller("work", libomp));
    CHECK(error_of("[[tells-caller]]\nmarker = 'f'\n").find("lacks its marker or its names") !=
          std::string::npos);
}
