#include "wrappers/plan/cached_plan.h"

#include <algorithm>
#include <chrono>

#include "wrappers/plan/plan_codec.h"
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

}  // namespace rdam
