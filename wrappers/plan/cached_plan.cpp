#include "wrappers/plan/cached_plan.h"

#include <cpuid.h>
#include <link.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "tools/base/byte_archive.h"
#include "wrappers/entry/moved_frames.h"
#include "wrappers/object/elf_image.h"

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
            recording.return_value, recording.owner);
}

template <class Archive>
void fields(Archive& archive, Waiters& waiters) {
    archive(waiters.mask, waiters.offset);
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
            function.busy_waits, function.wait_of, function.wakes, function.partner, function.waiters,
            function.sampled, function.takes_flags, function.aliases, function.unproven);
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

constexpr std::uint64_t kMagic = 0x394e414c504d4144;  // "DAMPLAN9"

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
           std::ranges::all_of(prologue.fixups, fits);
}

bool is_sound(const FunctionPlan& function, std::size_t objects) {
    const plan::Recording& recording = function.recording;
    const std::uint32_t words = recording.enter_words();
    const bool has_result = recording.return_value != plan::ReturnValue::none;
    return function.object < objects && is_sound(function.prologue) && function.waiters.offset < 128 &&
           function.stack_bytes <= plan::kMaxStackBytes && function.stack_bytes % 8 == 0 &&
           recording.integer_registers <= plan::kMaxIntegerRegisters &&
           recording.vector_registers <= plan::kMaxVectorRegisters &&
           recording.stack_words <= plan::kMaxStackWords &&
           (recording.owner == 0 ||
            (recording.owner == 1 && words == 2 && recording.integer_registers == 1)) &&
           std::ranges::all_of(function.parameters,
                               [&](const Parameter& parameter) { return is_sound(parameter, words); }) &&
           has_result == function.result.has_value() && (!has_result || is_sound(*function.result, 1));
}

}  // namespace

bool is_sound(const Plan& plan, std::size_t objects) {
    return std::ranges::all_of(plan.functions,
                               [&](const FunctionPlan& function) { return is_sound(function, objects); });
}

std::vector<std::uint8_t> encode(const PlanRecord& record) {
    ByteWriter writer;
    Head head;
    writer.raw(&head, sizeof head);
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
    reader.raw(&head, sizeof head);
    if (!reader.good() || head.magic != kMagic) return std::nullopt;
    const auto payload = bytes.subspan(sizeof head);
    if (XXH3_64bits(payload.data(), payload.size()) != head.checksum) return std::nullopt;
    PlanRecord record;
    fields(reader, record);
    if (!reader.good() || !reader.at_end()) return std::nullopt;
    if (!is_sound(record.plan, std::numeric_limits<std::size_t>::max())) return std::nullopt;
    return record;
}

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t nanoseconds(const timespec& time) {
    return time.tv_sec * kSecond + time.tv_nsec;
}

/// Libraries too: half of what decides about a plan is theirs.
std::vector<std::string> files_of_planner() {
    std::vector<std::string> files{"/proc/self/exe"};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* list) {
            if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/')
                static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
            return 0;
        },
        &files);
    return files;
}

/// Fields that begin with their length: no two lists of fields are one key.
class KeyText {
  public:
    KeyText& operator<<(std::string_view field) {
        text_ += fmt::format("{}:{}\n", field.size(), field);
        return *this;
    }
    KeyText& operator<<(std::uint64_t number) { return *this << std::to_string(number); }
    std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

void add_processor(KeyText& key) {
    constexpr unsigned kBasic = 1;
    constexpr unsigned kExtended = 7;
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    // ebx of the basic leaf says on which processor this was asked.
    if (__get_cpuid(kBasic, &eax, &ebx, &ecx, &edx) != 0) key << eax << ecx << edx;
    if (__get_cpuid_count(kExtended, 0, &eax, &ebx, &ecx, &edx) != 0) key << ebx << ecx << edx;
}

}  // namespace

FileIdentity identity_of(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) return {};
    return {true,
            status.st_dev,
            status.st_ino,
            static_cast<std::uint64_t>(status.st_size),
            nanoseconds(status.st_mtim),
            nanoseconds(status.st_ctim)};
}

std::vector<PlanSource> sources_of(const PlanRequest& request) {
    std::vector<std::string> paths = files_of_planner();
    for (const LoadedObject& object : request.objects) {
        if (!object.path.starts_with('/')) continue;
        paths.push_back(object.path);
        const auto more = debug_places(object.path);
        paths.insert(paths.end(), more.begin(), more.end());
    }
    paths.insert(paths.end(), request.own_objects.begin(), request.own_objects.end());
    std::ranges::sort(paths);
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    std::vector<PlanSource> sources;
    for (std::string& path : paths) {
        const FileIdentity identity = identity_of(path);
        sources.push_back({std::move(path), identity});
    }
    return sources;
}

bool are_unchanged(const std::vector<PlanSource>& sources) {
    return std::ranges::all_of(
        sources, [](const PlanSource& source) { return identity_of(source.path) == source.identity; });
}

CodePlace place_of(const std::vector<LoadedObject>& objects, std::uint64_t run_time_address) {
    CodePlace place;
    for (std::size_t index = 0; index < objects.size(); ++index) {
        const std::uint64_t base = objects[index].base;
        if (base > run_time_address) continue;
        if (place == CodePlace{} || run_time_address - base < place.offset)
            place = {index, run_time_address - base};
    }
    return place;
}

bool are_confirmed(const std::vector<IfuncChoice>& choices, const PlanRequest& request) {
    return std::ranges::all_of(choices, [&](const IfuncChoice& choice) {
        if (choice.resolver.object >= request.objects.size() || !request.resolve_ifunc) return false;
        const std::uint64_t chosen =
            request.resolve_ifunc(request.objects[choice.resolver.object].base + choice.resolver.offset);
        return choice.chosen == (chosen == 0 ? CodePlace{} : place_of(request.objects, chosen));
    });
}

std::string plan_key(const PlanRequest& request, std::uint64_t catalogue) {
    KeyText key;
    key << RDAM_VERSION << plan::kVersion << catalogue;
    add_processor(key);
    key << std::uint64_t{request.has_executable} << std::uint64_t{request.record_arguments}
        << std::uint64_t{request.resolve_ifunc != nullptr};
    key << request.own_objects.size();
    for (const std::string& own : request.own_objects)
        key << own;
    key << request.objects.size();
    for (const LoadedObject& object : request.objects)
        key << object.path << object.build_id;
    for (const ListEntry& entry : request.list.entries)
        key << entry.text << entry.scope << entry.name << std::uint64_t{entry.added_wait}
            << std::uint64_t{entry.sampled} << entry.unless_found;
    return key.take();
}

}  // namespace rdam
