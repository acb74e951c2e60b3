#include "wrappers/plan/planner.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "tools/base/demangle.h"
#include "tools/base/name_text.h"
#include "tools/base/similar_names.h"
#include "wrappers/find/entry_resolver.h"
#include "wrappers/find/name_query.h"
#include "wrappers/find/object_set.h"
#include "wrappers/plan/function_planner.h"

namespace rdam {
namespace {

using Key = std::pair<std::size_t, std::uint64_t>;  // object, address

Key key_of(const Candidate& candidate) {
    return {candidate.object, candidate.address};
}

/// Up to three names ("module:name") of functions in `where`, the likeliest first (SimilarNames). Looks at a
/// bounded number of names.
std::vector<std::string> nearest_names(std::string_view wanted, ObjectSet& objects,
                                       const std::vector<std::size_t>& where) {
    constexpr std::size_t kMaxDemangled = 30000;
    SimilarNames similar{wanted};
    std::size_t demangled = 0;
    for (const std::size_t index : where) {
        const ObjectFile* file = objects.file(index);
        if (file == nullptr || !objects.why_excluded(index).empty()) continue;
        std::string_view previous;
        for (const Symbol& symbol : file->symbols()) {
            if (!symbol.is_code() || symbol.name == previous) continue;
            previous = symbol.name;
            std::string name{symbol.name};
            if (looks_mangled(symbol.name)) {
                if (++demangled > kMaxDemangled) continue;
                name = display_name(symbol.name);
            }
            similar.consider(name, objects.module_name(index) + ":" + name);
        }
    }
    return similar.names();
}

class Planner {
  public:
    Planner(const PlanRequest& request, const Catalogue& catalogue)
        : request_{request},
          catalogue_{catalogue},
          objects_{request},
          resolver_{request, objects_},
          planner_{request, catalogue, objects_} {}

    Plan make() {
        std::vector<Resolution> resolutions;
        std::vector<Candidate> all;
        for (const ListEntry& entry : request_.list.entries) {
            if (is_unwanted()) return {.functions = {}, .answers = {}, .split_places = {}, .complete = false};
            resolutions.push_back(resolver_.resolve(entry));
            const auto& found = resolutions.back().candidates;
            all.insert(all.end(), found.begin(), found.end());
        }
        const std::vector<Candidate> partners = partners_of(all);
        all.insert(all.end(), partners.begin(), partners.end());
        planner_.prepare(all);
        for (std::size_t index = 0; index < resolutions.size(); ++index) {
            if (is_unwanted()) return {.functions = {}, .answers = {}, .split_places = {}, .complete = false};
            answer(request_.list.entries[index], resolutions[index]);
        }
        remark_inlined_copies();
        add_partners(partners);
        finish();
        return std::move(plan_);
    }

  private:
    bool is_unwanted() const { return request_.unwanted && request_.unwanted(); }

    /// The functions that end the waits of these, and those that take the same without waiting, where they are not
    /// called as often as a lock that spins.
    std::vector<Candidate> partners_of(const std::vector<Candidate>& listed) {
        // In the catalogue's order: the first name of a function is the one it is shown under.
        std::vector<std::pair<std::size_t, std::string>> names;
        for (const Candidate& candidate : listed) {
            const CatalogueFunction* const known = catalogue_.find(candidate.name);
            if (known == nullptr || known->busy_waits || known->tries() || !candidate.refusal.empty())
                continue;
            std::vector<std::string> partners = known->partners();
            if (!known->given_back_by.empty())
                for (const CatalogueFunction& other : catalogue_.functions())
                    if (other.tries() && other.given_back_by == known->given_back_by)
                        partners.push_back(other.name);
            for (const std::string& name : partners)
                if (const std::pair each{candidate.object, name};
                    std::ranges::find(names, each) == names.end())
                    names.push_back(each);
        }
        std::vector<Candidate> partners;
        for (const auto& [object, name] : names) {
            const std::string module = objects_.module_name(object);
            const auto found =
                resolver_
                    .resolve({.text = name, .scope = module, .name = name, .origin = {}, .unless_found = {}})
                    .candidates;
            partners.insert(partners.end(), found.begin(), found.end());
        }
        return partners;
    }

    void add_partners(const std::vector<Candidate>& partners) {
        const std::size_t listed = plan_.functions.size();
        for (const Candidate& partner : partners) {
            const auto& outcome = outcome_of(partner);
            if (!outcome || *outcome < listed || plan_.functions[*outcome].partner) continue;
            FunctionPlan& function = plan_.functions[*outcome];
            function.partner = true;
            const auto waiters = waiters_seen(*objects_.file(function.object), function.address);
            if (waiters) function.waiters = *waiters;
        }
    }

    void answer(const ListEntry& entry, const Resolution& resolution) {
        if (resolution.candidates.empty()) {
            plan_.answers.push_back(is_region(entry) ? region_answer(entry)
                                                     : not_found(entry, resolution.reason));
            return;
        }
        for (const Candidate& candidate : resolution.candidates)
            answer(entry, candidate);
    }

    /// Any constant of the program may be a region's name, so a mistyped name of a function may look like
    /// one.
    Answer region_answer(const ListEntry& entry) {
        Answer answer;
        answer.entry = entry;
        answer.verdict = ListVerdict::wrapped;
        answer.function = fmt::format("{}:{}", kRegionModule, entry.name);
        if (!entry.scope.empty()) return answer;
        answer.reason = fmt::format(
            "no function has that name, so rdam treats it as a region that the program may mark; {} states "
            "this explicitly",
            answer.function);
        answer.nearest = nearest(entry);
        return answer;
    }

    Answer not_found(const ListEntry& entry, const std::string& why) {
        Answer answer;
        answer.entry = entry;
        answer.verdict = ListVerdict::not_found;
        answer.awaits_module = awaits_module(entry);
        const bool anywhere = names_any_module(entry.scope);
        if (answer.awaits_module && !anywhere) {
            answer.reason = fmt::format("{} was not loaded", entry.scope);
            return answer;
        }
        answer.reason = entry.scope == kRegionModule ? "no loaded object has a region of that name" : why;
        if (anywhere) answer.reason += "; it is looked up in libraries that are loaded later, too";
        if (!entry.unless_found.empty()) answer.reason += "; " + entry.unless_found;
        // The names of functions do not help who looks for a region.
        if (entry.scope != kRegionModule) answer.nearest = nearest(entry);
        return answer;
    }

    void answer(const ListEntry& entry, const Candidate& candidate) {
        const auto& outcome = outcome_of(candidate);
        Answer answer;
        answer.entry = entry;
        answer.function =
            fmt::format("{}:{}", objects_.module_name(candidate.object), display_name(candidate.name));
        answer.verdict = outcome ? ListVerdict::wrapped : ListVerdict::refused;
        answer.reason = outcome ? candidate.remark : outcome.error().message;
        if (outcome && request_.record_arguments) answer.unproven = plan_.functions[*outcome].unproven;
        if (outcome) remark_folded(plan_.functions[*outcome], answer.reason);
        if (outcome) answered_.emplace_back(plan_.answers.size(), *outcome);
        if (outcome) note_mark(entry, candidate, *outcome);
        plan_.answers.push_back(std::move(answer));
    }

    /// Calls of functions that a linker has folded into one cannot be told apart.
    void remark_folded(const FunctionPlan& function, std::string& reason) {
        const auto names = folded_into(function);
        if (names.empty()) return;
        reason += fmt::format("{}{} {} the same code: calls of {} are in one row", reason.empty() ? "" : "; ",
                              fmt::join(names, ", "), names.size() == 1 ? "is" : "are",
                              names.size() == 1 ? "both" : "all");
    }

    /// A few of the names, and how many more there are.
    std::vector<std::string> folded_into(const FunctionPlan& function) {
        constexpr std::size_t kShown = 3;
        constexpr std::size_t kMaxColumns = 80;
        const ObjectFile* file = objects_.file(function.object);
        // A library's own aliases of a function that it provides in the C library's place (tcmalloc's
        // tc_malloc).
        const bool provided = function.object != 0 && catalogue_.find(function.linkage_name) != nullptr;
        if (file == nullptr || provided) return {};
        auto names = folded_names(*file, function.address, function.linkage_name);
        const std::size_t all = names.size();
        names.resize(std::min(all, kShown));
        for (std::string& name : names)
            name = shortened_name(name, kMaxColumns);
        if (all > kShown) names.push_back(fmt::format("{} more", all - kShown));
        return names;
    }

    /// A written name means that function; a glob, or an entry added by the catalogue, merely matches it.
    void note_mark(const ListEntry& entry, const Candidate& candidate, std::size_t function) {
        if (entry.sampled) plan_.functions[function].sampled = true;
        if (!entry.sampled && !entry.added_wait && !candidate.by_glob) named_.insert(function);
    }

    /// The first entry that means a function decides its name; a refusal depends on how it was found.
    const Result<std::size_t>& outcome_of(const Candidate& candidate) {
        if (!candidate.refusal.empty()) {
            refusal_ = fail("{}", planner_.refusal_by_kind(candidate));
            return refusal_;
        }
        const auto known = outcomes_.find(key_of(candidate));
        if (known != outcomes_.end()) return known->second;
        auto planned = planner_.plan(candidate);
        Result<std::size_t> outcome = plan_.functions.size();
        if (planned) {
            plan_.functions.push_back(std::move(*planned));
        } else {
            outcome = tl::unexpected{planned.error()};
        }
        return outcomes_.emplace(key_of(candidate), std::move(outcome)).first->second;
    }

    bool is_region(const ListEntry& entry) {
        if (entry.added_wait || (!entry.scope.empty() && entry.scope != kRegionModule)) return false;
        if (!regions_) {
            regions_.emplace();
            for (std::size_t index = 0; index < objects_.size(); ++index)
                if (const ObjectFile* file = objects_.file(index)) regions_->emplace_back(*file);
        }
        // A pattern without a module means functions.
        const bool pattern = !entry.scope.empty() && NameQuery{entry.name}.is_glob();
        return std::ranges::any_of(*regions_, [&](const RegionNames& names) {
            return names.may_hold(entry.name) || (pattern && names.may_match(entry.name));
        });
    }

    bool awaits_module(const ListEntry& entry) {
        if (names_any_module(entry.scope)) return true;
        // A pattern with a point and no .so is one for source files.
        const bool for_modules = entry.scope.find_first_of("*?[") != std::string::npos &&
                                 entry.scope.find('.') == std::string::npos;
        if (!for_modules && entry.scope.find(".so") == std::string::npos) return false;
        for (std::size_t index = 0; index < objects_.size(); ++index)
            if (objects_.is_named(index, entry.scope)) return false;
        return true;
    }

    std::vector<std::string> nearest(const ListEntry& entry) {
        // All names are compared for each of them, and nobody reads so many answers.
        constexpr std::size_t kMaxAsked = 200;
        if (entry.added_wait || NameQuery{entry.name}.is_glob() || ++asked_nearest_ > kMaxAsked) return {};
        std::vector<std::size_t> everywhere(objects_.size());
        std::iota(everywhere.begin(), everywhere.end(), std::size_t{0});
        std::vector<std::size_t> named;
        for (const std::size_t index : everywhere) {
            if (!entry.scope.empty() && objects_.is_named(index, entry.scope)) named.push_back(index);
        }
        auto names = nearest_names(entry.name, objects_, named);
        if (names.empty()) names = nearest_names(entry.name, objects_, everywhere);
        // Somebody who has mistyped a name looks for one that can be read.
        constexpr std::size_t kMaxColumns = 160;
        for (std::string& name : names)
            name = shortened_name(name, kMaxColumns);
        return names;
    }

    void remark_inlined_copies() {
        const auto remarks = planner_.count_inlined_copies(plan_.functions);
        for (const auto& [answer, function] : answered_) {
            std::string& reason = plan_.answers[answer].reason;
            if (!reason.empty() && !remarks[function].empty()) reason += "; ";
            reason += remarks[function];
        }
    }

    void finish() {
        for (const std::size_t function : named_)
            plan_.functions[function].sampled = false;
        for (FunctionPlan& function : plan_.functions)
            if (function.takes_flags) function.sampled = false;
        plan_.split_places = objects_.split_places();
        tell_overloads_apart();
        for (FunctionPlan& function : plan_.functions)
            if (const auto names = folded_into(function); !names.empty())
                function.name += fmt::format(" (also {})", fmt::join(names, ", "));
        add_waits();
        std::ranges::sort(plan_.functions, [](const FunctionPlan& a, const FunctionPlan& b) {
            return std::pair{a.object, a.address} < std::pair{b.object, b.address};
        });
    }

    /// What a lock loses it loses where it waits: that is recorded whether the lock itself can be or not.
    void add_waits() {
        const std::size_t listed = plan_.functions.size();
        for (std::size_t index = 0; index < listed; ++index) {
            if (!plan_.functions[index].waits && !plan_.functions[index].busy_waits) continue;
            for (FunctionPlan& wait : planner_.plan_waits(plan_.functions[index]))
                if (!is_patched(wait)) plan_.functions.push_back(std::move(wait));
        }
    }

    /// Functions share the place where they wake, and it may be where one of them begins.
    bool is_patched(const FunctionPlan& wait) const {
        return std::ranges::any_of(plan_.functions, [&](const FunctionPlan& other) {
            return other.object == wait.object && wait.address + wait.size > other.address &&
                   wait.address < other.address + std::max<std::uint64_t>(other.prologue.original.size(), 1);
        });
    }

    /// Two functions with one name in a report would be taken for one.
    void tell_overloads_apart() {
        std::map<std::string, int> uses;
        for (const FunctionPlan& function : plan_.functions)
            ++uses[function.name];
        for (FunctionPlan& function : plan_.functions) {
            if (uses[function.name] > 1) function.name = display_name(function.linkage_name, true);
        }
    }

    const PlanRequest& request_;
    const Catalogue& catalogue_;
    ObjectSet objects_;
    EntryResolver resolver_;
    FunctionPlanner planner_;
    Plan plan_;
    std::map<Key, Result<std::size_t>> outcomes_;
    std::vector<std::pair<std::size_t, std::size_t>> answered_;  // answer, function
    std::set<std::size_t> named_;                                // functions that a plain entry spells out
    std::optional<std::vector<RegionNames>> regions_;            // read when first asked for
    std::size_t asked_nearest_ = 0;
    Result<std::size_t> refusal_ = 0;
};

}  // namespace

Plan make_plan(const PlanRequest& request, const Catalogue& catalogue) {
    try {
        return Planner{request, catalogue}.make();
    } catch (const std::exception& error) {
        // Usually out of memory: nothing is wrapped, and every entry gets the reason.
        Plan plan;
        plan.complete = false;
        for (const ListEntry& entry : request.list.entries) {
            plan.answers.push_back({entry,
                                    ListVerdict::refused,
                                    {},
                                    fmt::format("planning failed: {}", error.what()),
                                    {},
                                    false,
                                    {}});
        }
        return plan;
    }
}

}  // namespace rdam
