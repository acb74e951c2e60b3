// The first half of the agent's work: from the user's list to a plan in shared memory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/agent/memory/chunk_parser.h"
#include "tools/agent/memory/shared_memory.h"
#include "tools/agent/plan/configuration.h"
#include "tools/agent/plan/inheritance.h"
#include "tools/agent/plan/plan_area.h"
#include "tools/trace/event.h"
#include "wrappers/plan/plan_store.h"
#include "wrappers/plan/planner.h"

namespace rdam::agent {

/// Makes plans: one when the process starts, one for every change of its objects. All references must outlive
/// it.
class Planning {
  public:
    /// `unwanted`: there is no program any more that a plan would be of use to.
    Planning(const SharedMemory& shared, ProcessDescription& process, const Configuration& configuration,
             trace::TraceInfo& info, std::function<bool()> unwanted = {});

    /// Writes the plan area; announces nothing. An Error is the reason why nothing is recorded: whole lines
    /// for stderr. On success `info` knows the objects, functions and answers.
    Result<void> start();
    /// start() for a fork child, which goes on with its parent's plan. Reads no file.
    Result<void> resume();
    /// The path of the list, absolute, if it was given as a relative one; else empty.
    std::string list_path() const;

    /// `change`, or one before it, reports unloaded objects: everything recorded until now must be read
    /// before change().
    bool replaces_objects(const ObjectChange& change) const;

    /// What functions of objects that have gone have left unread; reads what it can.
    using Unread = std::function<FunctionsLeft()>;

    /// Answers the late request `serial` with the plan of the new objects, which are returned. `info` and
    /// `process` know them; an object that comes back is the one that it was, for the trace. `unread` is
    /// asked where all numbers are given away.
    std::vector<ProcessObject> change(ObjectChange change, std::uint32_t serial, const Unread& unread);
    const FunctionNumbers& numbers() const { return process_.numbers; }
    /// The numbers that functions which have gone have left to others since the last time.
    std::vector<std::uint32_t> take_released() { return std::exchange(released_, {}); }
    /// Answers the late request `serial`, which makes no sense, with no plan.
    void refuse_change(std::uint32_t serial);

    /// What was not found in libraries, because they have not been loaded so far: lines for stderr.
    std::string awaited_text() const;

  private:
    Plan plan_objects(std::size_t first, bool late);
    PlanTexts texts(std::string message, Knowledge news);
    Knowledge everything() const;
    std::vector<AwaitedEntry> awaited() const;
    void learn(const Knowledge& knowledge);
    std::string note_replaced();
    void match_objects(const std::vector<ProcessObject>& current);
    void add_object(const ProcessObject& object);
    std::uint32_t known_function(const FunctionPlan& function) const;
    std::optional<FunctionNumbers::Given> number_for(const FunctionPlan& function, const Unread& unread);
    void recycle(const FunctionsLeft& left);
    bool is_loaded(std::uint32_t function) const;
    void note_file(std::uint32_t function);
    void note_answers(const std::vector<trace::AnswerInfo>& answers);
    std::pair<std::string, std::string> late_texts(const Plan& plan);
    void await(const Plan& plan);
    void note_copied_stacks(std::size_t first, const Plan& plan);
    void drop_known_misses(Plan& plan);
    std::string unsaid(const std::string& text) const;
    bool is_new(const std::string& fact) const;
    bool has_strayed() const;
    void unload(const std::vector<std::uint64_t>& bases);

    const SharedMemory& shared_;
    ProcessDescription& process_;
    const Configuration& configuration_;
    trace::TraceInfo& info_;
    PlanStore store_;
    FunctionList list_;
    bool said_full_ = false;
    bool recycled_ = false;                ///< for the change at hand
    std::vector<std::uint32_t> released_;  ///< numbers
    /// Functions of files with a build ID: by the file and the address in it.
    std::multimap<std::pair<std::string, std::uint64_t>, std::uint32_t> by_file_;
    std::size_t late_ = 0;      ///< plans of objects loaded later of which the program's user was told
    std::vector<bool> loaded_;  ///< by object
    std::map<std::string, std::string> awaited_;  ///< entries whose library has not been loaded, and that
    std::function<bool()> unwanted_;
    std::string run_;                   ///< of new_in_run()
    std::vector<std::string> remarks_;  ///< of the plan
    std::size_t told_ = 0;              ///< bytes that the process keeps for its children
    std::size_t told_anew_ = 0;         ///< `told_` when everything was last sent
};

}  // namespace rdam::agent
