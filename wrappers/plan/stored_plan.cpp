#include "wrappers/plan/stored_plan.h"

#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

NLOHMANN_JSON_NAMESPACE_BEGIN
template <class T>
struct adl_serializer<std::optional<T>> {
    static void to_json(json& to, const std::optional<T>& value) {
        to = value ? json(*value) : json(nullptr);
    }
    static void from_json(const json& from, std::optional<T>& value) {
        if (from.is_null())
            value.reset();
        else
            value = from.get<T>();
    }
};
NLOHMANN_JSON_NAMESPACE_END

namespace rdam {

namespace plan {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Recording, integer_registers, vector_registers, stack_words, return_value)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Fixup, code_offset, kind, target)
}  // namespace plan

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MovedPrologue, original, code, fixups, jump_before)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Parameter, name, kind, size, word, key, type)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PlannedFunction, name, linkage_name, source, object, address, size,
                                   prologue, frame, stack_bytes, recording, parameters, result,
                                   inlined_copies, aliases)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ListEntry, text, scope, name, origin, added_wait)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Answer, entry, verdict, function, reason, awaits_module, nearest)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Plan, functions, answers)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FileIdentity, device, inode, size, changed_ns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FileState, path, identity)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ObjectPlace, object, offset)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(IfuncChoice, resolver, chosen)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StoredPlan, plan, files, choices)

namespace {

using Json = nlohmann::json;
using Hash = XXH64_hash_t;

constexpr std::string_view kMagic = "rdam plan 1\n";

Hash hash_of(std::string_view bytes) {
    return XXH64(bytes.data(), bytes.size(), 0);
}

bool is_sound(const Parameter& parameter) {
    return parameter.kind <= ValueKind::enumeration && parameter.size <= sizeof(std::uint64_t);
}

bool is_sound(const PlannedFunction& function, std::size_t objects) {
    const plan::Recording& recording = function.recording;
    const MovedPrologue& prologue = function.prologue;
    return function.object < objects && function.frame <= plan::Frame::side &&
           recording.return_value <= plan::ReturnValue::xmm0 &&
           recording.integer_registers <= plan::kMaxIntegerRegisters &&
           recording.vector_registers <= plan::kMaxVectorRegisters &&
           recording.stack_words <= plan::kMaxStackWords && function.stack_bytes <= plan::kMaxStackBytes &&
           !prologue.original.empty() && prologue.original.size() <= plan::kMaxMoved &&
           prologue.code.size() <= kMaxMovedCode &&
           std::ranges::all_of(prologue.fixups,
                               [&](const plan::Fixup& fixup) {
                                   return fixup.kind <= plan::FixupKind::abs64 &&
                                          fixup.code_offset < prologue.code.size();
                               }) &&
           std::ranges::all_of(function.parameters, [](const Parameter& each) { return is_sound(each); }) &&
           (!function.result || is_sound(*function.result));
}

bool is_sound(const ObjectPlace& place, std::size_t objects) {
    return place.object < objects || place.object == ObjectPlace::kNowhere;
}

bool is_sound(const StoredPlan& stored, std::size_t objects) {
    return std::ranges::all_of(stored.plan.functions,
                               [&](const PlannedFunction& each) { return is_sound(each, objects); }) &&
           std::ranges::all_of(stored.plan.answers,
                               [](const Answer& each) { return each.verdict <= Verdict::refused; }) &&
           std::ranges::all_of(stored.choices, [&](const IfuncChoice& each) {
               return is_sound(each.resolver, objects) && is_sound(each.chosen, objects);
           });
}

}  // namespace

FileIdentity FileIdentity::of(const std::string& path) {
    struct stat file {};
    if (::stat(path.c_str(), &file) != 0) return {};
    constexpr std::uint64_t kSecond = 1'000'000'000;
    return {file.st_dev, file.st_ino, static_cast<std::uint64_t>(file.st_size),
            static_cast<std::uint64_t>(file.st_mtim.tv_sec) * kSecond +
                static_cast<std::uint64_t>(file.st_mtim.tv_nsec)};
}

std::string serialize(const StoredPlan& stored) {
    std::string body;
    Json::to_cbor(Json(stored), body);
    const Hash hash = hash_of(body);
    std::string bytes{kMagic};
    bytes.append(reinterpret_cast<const char*>(&hash), sizeof hash);
    return bytes + body;
}

std::optional<StoredPlan> parse_stored_plan(std::string_view bytes, std::size_t objects) {
    Hash hash = 0;
    if (bytes.size() < kMagic.size() + sizeof hash || !bytes.starts_with(kMagic)) return {};
    bytes.remove_prefix(kMagic.size());
    std::memcpy(&hash, bytes.data(), sizeof hash);
    bytes.remove_prefix(sizeof hash);
    if (hash != hash_of(bytes)) return {};
    try {
        auto stored = Json::from_cbor(bytes).get<StoredPlan>();
        if (is_sound(stored, objects)) return stored;
    } catch (const Json::exception&) {
    }
    return {};
}

}  // namespace rdam
