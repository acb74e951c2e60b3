#include "analyzer/report/match_reports.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "tools/base/files.h"

namespace rdam::score {
namespace {

using Reports = std::span<const Report* const>;
using Side = std::vector<InReport> MatchedFunction::*;

// A new build often has another file name; the module of the program itself is therefore the empty one.
std::string module_of(const Report& report, const FunctionRow& row) {
    return row.module == program_of(report) ? std::string{} : row.module;
}

/// Wrapped functions of a report that were never called.
class NeverCalled {
  public:
    explicit NeverCalled(const Report& report)
        : program_(program_of(report)), names_(report.never_called.begin(), report.never_called.end()) {}

    bool contains(const FunctionIdentity& function) const {
        const std::string& module = function.module.empty() ? program_ : function.module;
        return names_.contains(qualified_name(module, function.name));
    }

  private:
    std::string program_;
    std::set<std::string> names_;
};

/// Null: there is none.
const FunctionRow* first_row(const std::vector<InReport>& side) {
    const auto found = std::ranges::find_if(side, [](const InReport& one) { return one.row != nullptr; });
    return found == side.end() ? nullptr : found->row;
}

class Matcher {
  public:
    Matcher(Reports a, Reports b) : a_(a), b_(b) {
        for (const Reports side : {a, b})
            for (const Report* report : side) {
                identities_.look_at(*report);
                foreign_ = foreign_ || !report->process.recorder.empty();
            }
    }

    std::vector<MatchedFunction> match() {
        add(a_, &MatchedFunction::a);
        add(b_, &MatchedFunction::b);
        join_by_name();
        find_recorded(a_, &MatchedFunction::a);
        find_recorded(b_, &MatchedFunction::b);
        std::vector<MatchedFunction> functions;
        for (auto& [identity, function] : functions_)
            functions.push_back(std::move(function));
        return functions;
    }

  private:
    void add(Reports reports, Side side) {
        for (std::size_t i = 0; i < reports.size(); ++i)
            for (const FunctionRow& row : reports[i]->functions) {
                const FunctionIdentity identity = identities_.of(row, module_of(*reports[i], row));
                const auto [place, is_new] = functions_.try_emplace(identity);
                MatchedFunction& function = place->second;
                if (is_new) {
                    function.identity = identity;
                    function.a.resize(a_.size());
                    function.b.resize(b_.size());
                }
                const FunctionRow*& kept = (function.*side)[i].row;
                if (kept == nullptr) kept = &row;
            }
    }

    /// Whether the modules of two functions say that they are not the same. Other tools know no modules, or name
    /// them in other ways.
    bool modules_tell(const FunctionRow& in_a, const FunctionRow& in_b) const {
        return !foreign_ && !in_a.module.empty() && !in_b.module.empty() && in_a.module != in_b.module;
    }

    /// Joins functions that are the only ones of their names on both sides.
    void join_by_name() {
        std::map<std::string, std::vector<FunctionIdentity>> by_name;
        for (const auto& [identity, function] : functions_)
            by_name[identity.name].push_back(identity);
        for (const auto& [name, identities] : by_name) {
            if (identities.size() != 2) continue;
            const bool a_first = first_row(functions_.at(identities[0]).a) != nullptr;
            const FunctionIdentity &of_a = identities[a_first ? 0 : 1], &of_b = identities[a_first ? 1 : 0];
            MatchedFunction &in_a = functions_.at(of_a), &in_b = functions_.at(of_b);
            const FunctionRow *row_a = first_row(in_a.a), *row_b = first_row(in_b.b);
            const bool apart = row_a != nullptr && row_b != nullptr && first_row(in_a.b) == nullptr &&
                               first_row(in_b.a) == nullptr;
            if (!apart || modules_tell(*row_a, *row_b)) continue;
            in_b.a = std::move(in_a.a);
            functions_.erase(of_a);
        }
    }

    void find_recorded(Reports reports, Side side) {
        for (std::size_t i = 0; i < reports.size(); ++i) {
            const NeverCalled never_called{*reports[i]};
            for (auto& [identity, function] : functions_) {
                InReport& one = (function.*side)[i];
                one.recorded = one.row != nullptr || never_called.contains(identity);
            }
        }
    }

    Reports a_, b_;
    bool foreign_ = false;  // one of the traces is another tool's
    FunctionIdentities identities_;
    std::map<FunctionIdentity, MatchedFunction> functions_;
};

}  // namespace

std::string program_of(const Report& report) {
    const trace::ProcessInfo& process = report.process;
    if (!process.executable.empty() || process.command.empty())
        return std::string{file_name(process.executable)};
    return std::string{file_name(process.command.front())};  // formats of other tools have no more
}

const FunctionRow& MatchedFunction::row() const {
    const FunctionRow* const in_b = first_row(b);
    return in_b != nullptr ? *in_b : *first_row(a);
}

std::vector<MatchedFunction> match_functions(Reports a, Reports b) {
    return Matcher{a, b}.match();
}

}  // namespace rdam::score
