// An analysis that the user changes step by step while watching the scores: the model of the interactive
// screen, independent of it.
//
// It keeps the times of all calls in memory, by everything that might distinguish them (each parameter and
// the caller), unless that has too many values. Most changes then do not need the trace again, and give
// exactly the report of an analysis with these settings. The others read the trace again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/hints/hints.h"
#include "analyzer/report/report.h"
#include "analyzer/settings/rules.h"
#include "analyzer/settings/settings.h"
#include "tools/base/result.h"
#include "tools/base/unmovable.h"
#include "tools/trace/event.h"
#include "tools/trace/reader.h"

namespace rdam::screen {

/// What distinguishes the calls of a function, or could.
struct KeyChoice {
    std::string name;             ///< of the parameter, or `caller`
    std::uint16_t parameter = 0;  ///< index into FunctionInfo::parameters; sequences::kCallerKey
    bool is_key = false;
    std::optional<double> explains = {};       ///< of the variation, 0…1; nothing: it is a key, or no calls
    std::optional<double> rdam_with_key = {};  ///< the score that would be left
};

/// Everything about one function.
struct FunctionPage {
    score::FunctionRow row;
    hints::FunctionHints hints;    ///< whatever its score
    std::vector<KeyChoice> keys;   ///< in the order of the parameters, the caller last
    std::vector<score::Bar> bars;  ///< its outermost calls, from the shortest to the longest; equal ratios
};

/// A step. Those that are no change at all are none.
enum class Effect {
    nothing,   ///< it was so before
    rescored,  ///< from memory
    reread,    ///< from the trace
};

/// Called now and then while the trace is read, with the number of events so far; null: not needed. An
/// exception from it ends the reading and passes through the Session, which is then unchanged.
using Progress = std::function<void(std::uint64_t events)>;

/// Not thread-safe.
class Session : private Unmovable {
  public:
    /// Reads the trace, which must outlive the session. `settings` as for score::score_trace(); patterns are
    /// not looked for. Errors: of that.
    static Result<std::unique_ptr<Session>> open(const trace::TraceReader& reader, score::Settings settings,
                                                 Progress progress);
    ~Session();

    const trace::TraceInfo& info() const;
    /// With the present settings. Rows have no samples, and there are no hints: page() has them.
    const score::Report& report() const;
    const score::Settings& settings() const;
    /// With the present settings: what explains the scores, and who waits for whom. Takes as long as all pages together
    /// the first time after a change.
    const hints::Analysis& analysis();
    /// The same, if it has been asked for since the last change; null: it has not.
    const hints::Analysis* known_analysis() const;
    /// Functions that are ignored, in the order of the trace.
    std::vector<std::uint32_t> ignored() const;

    /// `bars`: how many the distribution is to have, 1 at least. Errors: it has no calls; of reading the
    /// context switches.
    Result<FunctionPage> page(std::uint32_t function, std::size_t bars);

    // Changes. Errors: of reading the trace; then nothing has changed.
    Result<Effect> set_key(std::uint32_t function, std::uint16_t parameter, bool is_key);
    Result<Effect> set_ignored(std::uint32_t function, bool ignored);
    Result<Effect> set_fold_loops(bool fold);
    Result<Effect> set_deep_keys(bool deep);
    Result<Effect> set_baseline(score::Baseline baseline);
    Result<Effect> set_threshold(double threshold);

    /// Takes the last change back; nothing: there is none.
    Result<Effect> undo();
    /// What undo() would take back, in a few words; empty: nothing.
    std::string last_change() const;
    /// Since open(), or since mark_saved().
    bool has_unsaved_changes() const;
    void mark_saved();

    /// The present settings as a rules file has them, for rules::write_rules(). What `in_force` says of
    /// functions that this trace lacks stays.
    rules::Rules rules() const;

  private:
    struct Model;
    explicit Session(std::unique_ptr<Model> model);
    std::unique_ptr<Model> model_;
};

// Single changes to the rules about functions by name, which leave the rest of a rules file unchanged.

/// The shortest name that distinguishes it from the other functions of the trace: `name`, otherwise
/// `module:name`. Functions that share that too are changed together.
std::string rule_name(const trace::TraceInfo& info, std::uint32_t function);

/// The parameter (or sequences::kCallerKey) is a key from now on, or is none. Rules that say so of several are
/// replaced by what they say of the others.
void set_key(const trace::TraceInfo& info, std::uint32_t function, std::uint16_t parameter, bool is_key,
             score::NamedRules& rules);

/// The function is ignored from now on, or is not.
void set_ignored(const trace::TraceInfo& info, std::uint32_t function, bool ignored,
                 score::NamedRules& rules);

/// Settings::rules with Settings::given added: in this trace, the result means the same as both together.
/// Names must be names of the trace.
score::NamedRules combined_rules(const trace::TraceInfo& info, const score::Settings& settings);

}  // namespace rdam::screen
