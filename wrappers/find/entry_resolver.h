// From one entry of the list to the functions it means.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wrappers/find/name_query.h"
#include "wrappers/find/object_set.h"

namespace rdam {

/// A function that an entry means, before it is known whether it can be wrapped.
struct Candidate {
    std::size_t object = 0;
    std::uint64_t address = 0;  ///< link-time; of the implementation where the name is an IFUNC's
    std::string name;           ///< linkage name under which it was found; empty: unknown
    std::string remark;         ///< what a user should know about how it was found
    std::string refusal;        ///< not empty: cannot be wrapped, and why
    bool by_glob = false;       ///< the entry does not spell its name out
};

struct Resolution {
    std::vector<Candidate> candidates;
    std::string reason;  ///< where there is no candidate: what was looked at
};

class EntryResolver {
  public:
    /// Both must outlive the resolver.
    EntryResolver(const PlanRequest& request, ObjectSet& objects) : request_{request}, objects_{objects} {}

    Resolution resolve(const ListEntry& entry);

  private:
    /// Globs match in the first `globbed` objects; in the others a name must be spelled out.
    std::vector<Candidate> search(const NameQuery& query, const std::vector<std::size_t>& where,
                                  std::string_view source_file, std::size_t globbed = SIZE_MAX);
    std::vector<Candidate> search_object(const NameQuery& query, std::size_t object,
                                         std::string_view source_file, bool as_glob);
    std::vector<Candidate> search_substitutes(const NameQuery& query, const std::vector<std::size_t>& where);
    bool comes_from(std::size_t object, const Symbol& symbol, std::string_view source_file);
    Candidate candidate_for(std::size_t object, const Symbol& symbol, MatchKind kind, const NameQuery& query);
    void follow_ifunc(Candidate& candidate, const Symbol& symbol);
    std::vector<Candidate> search_inlined(const NameQuery& query, const std::vector<std::size_t>& where);
    std::string why_nothing(const ListEntry& entry, const std::vector<std::size_t>& where);

    const PlanRequest& request_;
    ObjectSet& objects_;
};

}  // namespace rdam
