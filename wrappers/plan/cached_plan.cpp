#include "wrappers/plan/cached_plan.h"

#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "wrappers/entry/moved_frames.h"
#include "wrappers/plan/byte_archive.h"
#include "wrappers/plan/plan_sources.h"

namespace rdam {

namespace {

/// The list may have been moved or come from elsewhere. Answers are in its order, each with its entry.
void set_origins(std::vector<Answer>& answers, const std::vector<ListEntry>& list) {
    auto entry = list.begin();
    for (Answer& answer : answers) {
        while (entry != list.end() && entry->text != answer.entry.text)
            ++entry;
        if (entry == list.end()) return;
        answer.entry.origin = entry->origin;
    }
}

std::optional<Plan> known_plan(const PlanRequest& request, const std::string& key, const PlanStore& store) {
    const auto bytes = store.load(key);
    if (!bytes) return std::nullopt;
    auto record = decode(*bytes);
    if (!record || record->key != key || !is_sound(record->plan, request.objects.size())) return std::nullopt;
    if (!are_unchanged(record->sources) || !are_confirmed(record->choices, request)) return std::nullopt;
    set_origins(record->plan.answers, request.list.entries);
    return std::move(record->plan);
}

/// Which files hold split debug information is known only once the plan is made. False: one of them may have
/// changed meanwhile.
bool add_split_files(PlanRecord& record, std::chrono::system_clock::time_point began) {
    // The clock of a file system may lag behind.
    constexpr auto kLag = std::chrono::seconds{1};
    const auto limit =
        std::chrono::duration_cast<std::chrono::nanoseconds>((began - kLag).time_since_epoch()).count();
    bool settled = true;
    for (const std::string& place : record.plan.split_places) {
        const FileIdentity identity = identity_of(place);
        settled = settled && identity.changed_ns < limit;
        record.sources.push_back({place, identity});
    }
    return settled;
}

}  // namespace

Plan make_cached_plan(const PlanRequest& request, std::uint64_t catalogue, const PlanStore& store,
                      const PlanMaker& make) {
    const bool all_named = std::ranges::all_of(
        request.objects, [](const LoadedObject& object) { return object.open_at.empty(); });
    if (!store.is_on() || !all_named) return make(request);
    PlanRecord record;
    record.key = plan_key(request, catalogue);
    if (auto known = known_plan(request, record.key, store)) return std::move(*known);
    // Before the plan is made: a file that changes in between is then not what the plan is kept for.
    record.sources = sources_of(request);
    PlanRequest listening = request;
    if (request.resolve_ifunc) {
        listening.resolve_ifunc = [&](std::uint64_t resolver) {
            const std::uint64_t chosen = request.resolve_ifunc(resolver);
            record.choices.push_back({place_of(request.objects, resolver),
                                      chosen == 0 ? CodePlace{} : place_of(request.objects, chosen)});
            return chosen;
        };
    }
    const auto began = std::chrono::system_clock::now();
    record.plan = make(listening);
    const bool settled = add_split_files(record, began);
    if (record.plan.complete && settled) store.save(record.key, encode(record));
    return std::move(record.plan);
}

namespace plan {

template <class Archive>
void fields(Archive& archive, Recording& recording) {
    archive(recording.integer_registers, recording.vector_registers, recording.stack_words,
            recording.return_value);
}

template <class Archive>
void fields(Archive& archive, Fixup& fixup) {
    archive(fixup.code_offset, fixup.kind, fixup.target);
}

constexpr Frame last_of(Frame) {
    return Frame::shadow;
}
constexpr ReturnValue last_of(ReturnValue) {
    return ReturnValue::xmm0;
}
constexpr FixupKind last_of(FixupKind) {
    return FixupKind::abs64;
}

}  // namespace plan

constexpr ValueKind last_of(ValueKind) {
    return ValueKind::enumeration;
}
constexpr ListVerdict last_of(ListVerdict) {
    return ListVerdict::refused;
}

template <class Archive>
void fields(Archive& archive, Parameter& parameter) {
    archive(parameter.name, parameter.kind, parameter.size, parameter.word, parameter.key, parameter.type,
            parameter.by_size);
}

template <class Archive>
void fields(Archive& archive, MovedPrologue& prologue) {
    archive(prologue.original, prologue.code, prologue.fixups, prologue.jump_before, prologue.call,
            prologue.description);
}

template <class Archive>
void fields(Archive& archive, FunctionPlan& function) {
    archive(function.name, function.linkage_name, function.source, function.object, function.address,
            function.size, function.prologue, function.frame, function.stack_bytes, function.recording,
            function.parameters, function.result, function.inlined_copies, function.waits,
            function.busy_waits, function.wait_of, function.sampled, function.takes_flags, function.aliases,
            function.unproven);
}

template <class Archive>
void fields(Archive& archive, Answer& answer) {
    archive(answer.entry, answer.verdict, answer.function, answer.reason, answer.unproven,
            answer.awaits_module, answer.nearest);
}

template <class Archive>
void fields(Archive& archive, FileIdentity& identity) {
    archive(identity.exists, identity.device, identity.inode, identity.size, identity.modified_ns,
            identity.changed_ns);
}

template <class Archive>
void fields(Archive& archive, PlanSource& source) {
    archive(source.path, source.identity);
}

template <class Archive>
void fields(Archive& archive, CodePlace& place) {
    archive(place.object, place.offset);
}

template <class Archive>
void fields(Archive& archive, IfuncChoice& choice) {
    archive(choice.resolver, choice.chosen);
}

template <class Archive>
void fields(Archive& archive, PlanRecord& record) {
    archive(record.key, record.sources, record.choices, record.plan.functions, record.plan.answers);
}

namespace {

constexpr std::uint64_t kMagic = 0x374e414c504d4144;  // "DAMPLAN7"

struct Head {
    std::uint64_t magic = kMagic;
    std::uint64_t checksum = 0;  // of all that follows
};

bool is_sound(const Parameter& parameter, std::uint32_t words) {
    return parameter.size > 0 && parameter.size <= 8 && parameter.word < words;
}

bool is_sound(const MovedPrologue& prologue) {
    const auto width = [](const plan::Fixup& fixup) {
        return fixup.kind == plan::FixupKind::abs64 ? 8U : 4U;
    };
    const auto fits = [&](const plan::Fixup& fixup) {
        return std::uint64_t{fixup.code_offset} + width(fixup) <= prologue.code.size();
    };
    return !prologue.original.empty() && prologue.original.size() <= plan::kMaxMoved &&
           !prologue.code.empty() && prologue.code.size() <= kMaxMovedCode + kMaxDescription &&
           prologue.description < prologue.code.size() &&
           (prologue.jump_before == 0 || (prologue.jump_before >= 5 && prologue.jump_before <= 124)) &&
           std::all_of(prologue.fixups.begin(), prologue.fixups.end(), fits);
}

bool is_sound(const FunctionPlan& function, std::size_t objects) {
    const plan::Recording& recording = function.recording;
    const std::uint32_t words =
        recording.integer_registers + recording.vector_registers + recording.stack_words;
    const bool has_result = recording.return_value != plan::ReturnValue::none;
    return function.object < objects && is_sound(function.prologue) &&
           function.stack_bytes <= plan::kMaxStackBytes && function.stack_bytes % 8 == 0 &&
           recording.integer_registers <= plan::kMaxIntegerRegisters &&
           recording.vector_registers <= plan::kMaxVectorRegisters &&
           recording.stack_words <= plan::kMaxStackWords &&
           std::all_of(function.parameters.begin(), function.parameters.end(),
                       [&](const Parameter& parameter) { return is_sound(parameter, words); }) &&
           has_result == function.result.has_value() && (!has_result || is_sound(*function.result, 1));
}

}  // namespace

bool is_sound(const Plan& plan, std::size_t objects) {
    return std::all_of(plan.functions.begin(), plan.functions.end(),
                       [&](const FunctionPlan& function) { return is_sound(function, objects); });
}

std::vector<std::uint8_t> encode(const PlanRecord& record) {
    ByteWriter writer;
    Head head;
    writer(head.magic, head.checksum);
    PlanRecord copy = record;
    fields(writer, copy);
    std::vector<std::uint8_t> bytes = writer.take();
    head.checksum = XXH3_64bits(bytes.data() + sizeof head, bytes.size() - sizeof head);
    std::memcpy(bytes.data(), &head, sizeof head);
    return bytes;
}

std::optional<PlanRecord> decode(std::span<const std::uint8_t> bytes) {
    Head head;
    ByteReader reader{bytes};
    reader(head.magic, head.checksum);
    if (!reader.good() || head.magic != kMagic) return std::nullopt;
    const auto payload = bytes.subspan(sizeof head);
    if (XXH3_64bits(payload.data(), payload.size()) != head.checksum) return std::nullopt;
    PlanRecord record;
    fields(reader, record);
    if (!reader.good() || !reader.at_end()) return std::nullopt;
    if (!is_sound(record.plan, std::numeric_limits<std::size_t>::max())) return std::nullopt;
    return record;
}

}  // namespace rdam
