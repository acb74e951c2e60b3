// The small parts: what a call records, names within names, distances.
#include <string>
#include <vector>

#include "tests/unit/catch.h"
#include "tools/base/demangle.h"
#include "tools/base/similar_names.h"
#include "wrappers/find/name_query.h"
#include "wrappers/plan/call_description.h"

namespace {

using rdam::describe_call;
using rdam::PassedAs;
using rdam::Prototype;
using rdam::PrototypeParameter;
using rdam::PrototypeResult;
using rdam::ScalarType;
using rdam::ValueKind;

PrototypeParameter integer(const std::string& name) {
    PrototypeParameter parameter;
    parameter.name = name;
    parameter.passed.integer_registers = 1;
    parameter.scalar = ScalarType{ValueKind::signed_integer, 4};
    return parameter;
}

PrototypeParameter floating(const std::string& name) {
    PrototypeParameter parameter;
    parameter.name = name;
    parameter.passed.vector_registers = 1;
    parameter.scalar = ScalarType{ValueKind::floating, 8};
    return parameter;
}

PrototypeParameter structure(std::uint64_t size) {
    PrototypeParameter parameter;
    parameter.passed.where = PassedAs::Class::memory;
    parameter.passed.size = size;
    return parameter;
}

std::vector<int> words_of(const rdam::CallDescription& call) {
    std::vector<int> words;
    for (const auto& parameter : call.parameters)
        words.push_back(parameter.word);
    return words;
}

}  // namespace

TEST_CASE("words are numbered registers first, then the stack") {
    Prototype prototype;
    for (int index = 0; index < 7; ++index)
        prototype.parameters.push_back(integer("i"));
    prototype.parameters.push_back(floating("f"));
    const auto call = describe_call(prototype, {.names = {"f"}, .sizes = {}}, true);
    CHECK(call.frame == rdam::plan::Frame::stack);
    CHECK(call.stack_bytes == 8);
    CHECK(call.recording.integer_registers == 6);
    CHECK(call.recording.vector_registers == 1);
    CHECK(call.recording.stack_words == 1);
    CHECK(words_of(call) == std::vector<int>{0, 1, 2, 3, 4, 5, 7, 6});
    CHECK(call.parameters.back().key);
}

TEST_CASE("structures are passed over, and shift what follows") {
    Prototype prototype;
    prototype.parameters = {structure(24), integer("a")};
    for (int index = 0; index < 6; ++index)
        prototype.parameters.push_back(integer("b"));
    const auto call = describe_call(prototype, {}, true);
    CHECK(call.stack_bytes == 32);
    CHECK(call.recording.stack_words == 4);
    CHECK(words_of(call).back() == 6 + 3);
    CHECK(call.parameters.front().name == "a");
}

TEST_CASE("unnamed parameters are numbered by their place") {
    Prototype prototype;
    prototype.parameters = {integer(""), integer("")};
    const auto call = describe_call(prototype, {}, true);
    CHECK(call.parameters[1].name == "arg1");
}

TEST_CASE("a hidden result pointer takes the first register") {
    Prototype prototype;
    prototype.result.where = PrototypeResult::Where::hidden_pointer;
    prototype.parameters = {integer("a")};
    const auto call = describe_call(prototype, {}, true);
    CHECK(words_of(call) == std::vector<int>{1});
    CHECK(call.recording.return_value == rdam::plan::ReturnValue::none);
}

TEST_CASE("what cannot be copied or is not certain gets a shadow frame") {
    Prototype variadic;
    variadic.variadic = true;
    variadic.parameters = {integer("a")};
    CHECK(describe_call(variadic, {}, true).frame == rdam::plan::Frame::shadow);
    CHECK(describe_call(variadic, {}, true).parameters.size() == 1);

    Prototype large;
    large.parameters = {structure(rdam::plan::kMaxStackBytes + 8)};
    CHECK(describe_call(large, {}, true).frame == rdam::plan::Frame::shadow);

    Prototype over_aligned;
    over_aligned.parameters = {structure(32)};
    over_aligned.parameters[0].passed.alignment = 32;
    CHECK(describe_call(over_aligned, {}, true).frame == rdam::plan::Frame::shadow);

    Prototype doubtful = variadic;
    doubtful.doubt = "for the test";
    CHECK(describe_call(doubtful, {}, true).parameters.empty());
}

TEST_CASE("processor variants name their function") {
    using Names = std::vector<std::string>;
    CHECK(rdam::variant_bases("__strcmp_evex") == Names{"strcmp"});
    CHECK(rdam::variant_bases("__memmove_avx512_unaligned_erms") == Names{"memmove", "memcpy"});
    CHECK(rdam::variant_bases("__memcmp_evex_movbe") == Names{"memcmp", "bcmp"});
    CHECK(rdam::variant_bases("__memset_avx2_unaligned_erms_rtm") == Names{"memset"});
    CHECK(rdam::variant_bases("__strlen_sse2") == Names{"strlen"});
    CHECK(rdam::variant_bases("__exp_fma") == Names{"exp"});
    CHECK(rdam::variant_bases("__ieee754_log_fma") == Names{"log"});
    CHECK(rdam::variant_bases("__memcmpeq_avx2") == Names{"memcmpeq", "__memcmpeq"});
    CHECK(rdam::variant_bases("__memcpy_chk").empty());
    CHECK(rdam::variant_bases("my_sse2").empty());
    CHECK(rdam::variant_bases("__").empty());
}

TEST_CASE("OpenBLAS's kernels are known by the sizes that they take") {
    CHECK(rdam::openblas_kernel("dgemm_kernel_SKYLAKEX") == "openblas_kernel_mnk");
    CHECK(rdam::openblas_kernel("zgemm_kernel_n_OPTERON_SSE3") == "openblas_kernel_mnk");
    CHECK(rdam::openblas_kernel("dgemm_small_kernel_b0_nn_HASWELL") == "openblas_kernel_mnk");
    CHECK(rdam::openblas_kernel("sgemm_itcopy_ZEN") == "openblas_kernel_mn");
    CHECK(rdam::openblas_kernel("dtrsm_ounncopy_HASWELL") == "openblas_kernel_mn");
    CHECK(rdam::openblas_kernel("dgemv_t_HASWELL") == "openblas_kernel_mn");
    CHECK(rdam::openblas_kernel("ddot_k_HASWELL") == "openblas_kernel_n");
    for (const auto* name : {"dgemm_kernel", "dlaswp_ncopy_HASWELL", "xgemm_kernel_HASWELL",
                             "sgemm_direct_HASWELL", "ZEN", "_ZEN", ""})
        CHECK(rdam::openblas_kernel(name).empty());
}

TEST_CASE("internal names suggest exported ones") {
    const auto has = [](const std::vector<std::string>& names, const std::string& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    CHECK(has(rdam::exported_candidates("__GI___pthread_mutex_unlock_usercnt"), "pthread_mutex_unlock"));
    CHECK(has(rdam::exported_candidates("__GI___libc_write"), "write"));
    CHECK(has(rdam::exported_candidates("__pthread_mutex_lock_full"), "pthread_mutex_lock"));
    CHECK(rdam::exported_candidates("ordinary_name").empty());
    CHECK(rdam::exported_candidates("").empty());
}

TEST_CASE("the part of a name that its mangled form spells out") {
    CHECK(rdam::required_token("shop::Till::take") == "shop");
    CHECK(rdam::required_token("std::string::operator=").empty());
    CHECK(rdam::required_token("leveldb::DBImpl::Write") == "leveldb");
    CHECK(rdam::required_token("").empty());
    CHECK(rdam::NameQuery{"f@@V1"}.version() == "V1");
    CHECK(rdam::NameQuery{"f@V1"}.name() == "f");
    CHECK(rdam::NameQuery{"f@@"}.version().empty());
    CHECK(rdam::NameQuery{"*"}.matches_everything());
    CHECK_FALSE(rdam::NameQuery{"a*"}.matches_everything());
}

TEST_CASE("distances between names") {
    CHECK(rdam::edit_distance("kitten", "sitting", 5) == 3);
    CHECK(rdam::edit_distance("wirte", "write", 5) == 1);
    CHECK(rdam::edit_distance("", "abc", 5) == 3);
    CHECK(rdam::edit_distance("same", "same", 0) == 0);
    CHECK(rdam::edit_distance("completely", "different", 3) == 4);
}
