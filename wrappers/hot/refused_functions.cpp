#include "wrappers/hot/refused_functions.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "wrappers/find/entry_resolver.h"
#include "wrappers/find/function_list.h"
#include "wrappers/find/object_set.h"
#include "wrappers/plan/function_planner.h"

namespace rdam {
namespace {

PlanRequest request_for(const HotReport& report) {
    PlanRequest request = request_about(report.objects);
    request.record_arguments = false;
    return request;
}

/// perf prints camlList__map_12 as List.map_12, and OCaml 5's camlList.map_12 as well.
std::vector<std::string> names_of_ocaml(const std::string& printed) {
    std::string old = "caml" + printed;
    for (std::size_t at = old.find('.'); at != std::string::npos; at = old.find('.', at))
        old.replace(at, 1, "__");
    return {std::move(old), "caml" + printed};
}

class Judge {
  public:
    Judge(const HotReport& report, const Catalogue& catalogue)
        : request_{request_for(report)},
          objects_{request_},
          resolver_{request_, objects_},
          planner_{request_, catalogue, objects_} {}

    /// The functions that each entry means; all at once, as each object's code is looked at once for all.
    void resolve(const std::vector<HotFunction>& functions) {
        std::vector<Candidate> all;
        for (const HotFunction& function : functions) {
            candidates_.push_back(meant_by(function));
            all.insert(all.end(), candidates_.back().begin(), candidates_.back().end());
        }
        planner_.prepare(all);
    }

    /// Why the function with this index is always refused; empty: it is not, or nothing is known of it.
    std::string reason_against(std::size_t index) {
        std::string reason;
        for (const Candidate& candidate : candidates_[index]) {
            if (is_chosen_at_start(candidate)) return {};
            std::string refusal = planner_.refusal(candidate);
            if (refusal.empty()) return {};
            if (reason.empty()) reason = std::move(refusal);
        }
        return reason;
    }

  private:
    std::vector<Candidate> meant_by(const HotFunction& function) {
        auto candidates = named(function.module, function.name);
        if (!candidates.empty() || function.name.empty() || std::isupper(function.name.front()) == 0)
            return candidates;
        for (const std::string& name : names_of_ocaml(function.name)) {
            candidates = named(function.module, name);
            if (!candidates.empty()) break;
        }
        return candidates;
    }

    std::vector<Candidate> named(const std::string& module, const std::string& name) {
        auto list = parse_function_list(list_entry_text(module, name) + "\n", "");
        if (!list || list->entries.size() != 1) return {};
        auto candidates = resolver_.resolve(list->entries.front()).candidates;
        // Without a file there is nothing that could be judged.
        std::erase_if(candidates, [&](const Candidate& c) { return objects_.file(c.object) == nullptr; });
        return candidates;
    }

    bool is_chosen_at_start(const Candidate& candidate) {
        const auto symbols = objects_.file(candidate.object)->at(candidate.address);
        return std::ranges::any_of(symbols,
                                   [](const Symbol& symbol) { return symbol.kind == SymbolKind::ifunc; });
    }

    const PlanRequest request_;
    ObjectSet objects_;
    EntryResolver resolver_;
    FunctionPlanner planner_;
    std::vector<std::vector<Candidate>> candidates_;  // by the function's index
};

}  // namespace

void leave_out_refused(HotReport& report, const Catalogue& catalogue) {
    Judge judge{report, catalogue};
    auto& functions = report.hot.functions;
    judge.resolve(functions);
    std::vector<HotFunction> kept;
    for (std::size_t index = 0; index < functions.size(); ++index) {
        HotFunction& function = functions[index];
        std::string reason = judge.reason_against(index);
        if (reason.empty()) {
            kept.push_back(std::move(function));
            continue;
        }
        report.hot.left_out.push_back({LeftOut::refused, std::move(function.module), std::move(function.name),
                                       function.percent, function.percent, 1, std::move(reason)});
    }
    functions = std::move(kept);
    std::ranges::stable_sort(report.hot.left_out, [](const LeftOutLine& a, const LeftOutLine& b) {
        return a.percent > b.percent;
    });
}

}  // namespace rdam
