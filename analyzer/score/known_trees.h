// Call trees that a thread repeats: what the general way has found out of one is known of those with the same
// functions, callers and nesting, so that only their times are left to be looked at.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/sequences/sequence_store.h"
#include "tools/base/seeded_hash.h"
#include "tools/trace/event.h"
#include "tools/trace/event_columns.h"

namespace rdam::score {

/// A complete call tree of calls that all return.
struct KnownTree {
    /// The calls of a tree are in the order in which they end.
    struct Call {
        std::uint32_t function = 0;
        std::uint32_t enter = 0;   ///< place of its event in the tree
        std::uint32_t leave = 0;   ///< likewise
        std::uint32_t parent = 0;  ///< place among the calls; of the outermost one its own
        std::uint32_t inside = 0;  ///< calls directly inside it
        std::uint32_t nested = 0;  ///< … and at whatever depth
        bool recursive = false;    ///< inside another call of its function
        bool keyed = false;        ///< its group depends on the values of parameters
        std::uint64_t probes = 0;  ///< ticks of its duration that are the recorder's
        // Found out the general way:
        sequences::ShapeId shape = 0;
        std::uint32_t caller = 0;      ///< CallerNumbers
        sequences::GroupId group = 0;  ///< of one without keys
    };
    /// Calls that have to be added in the order in which they ended, by their places.
    using Places = std::vector<std::uint32_t>;

    std::vector<std::uint32_t> ops;  ///< by event, OpNumbers
    std::vector<Call> calls;
    Places by_begin;  ///< all, in the order in which they begin
    // Of those without keys:
    std::vector<Places> by_group;
    std::vector<Places> by_function;  ///< those that are not recursive
    Places keyed;                     ///< the others
    /// The first calls inside others: where they end, and where the other begins.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> firsts;
    std::uint32_t depth = 0;
    bool about_waits = false;  ///< a call in it may say who waits for whom
    bool usable = false;       ///< false: the general way has found it to be no such tree

    /// From the ops; what is to be found out is missing.
    static KnownTree of(std::span<const trace::EventColumns::Op> ops, std::span<const std::uint32_t> events,
                        std::span<const std::uint32_t> numbers);
    /// `calls` have their groups.
    void divide();
};

/// The ops of a pack, and the trees of which its events consist. To be used by one thread.
class PackTrees {
  public:
    /// `plain(function)`: whether its calls may be in such a tree. Both must outlive it.
    template <class Plain>
    PackTrees(const trace::EventColumns& columns, const Plain& plain) : columns_(columns) {
        ops_.reserve(columns.ops.size());
        for (const trace::EventColumns::Op& op : columns.ops) {
            const trace::Event& event = op.event;
            const bool fits = event.kind == trace::EventKind::enter ||
                              (event.kind == trace::EventKind::leave && !event.unwound);
            const Role role = !fits || !plain(event.function)         ? Role::other
                              : event.kind == trace::EventKind::enter ? Role::enter
                                                                      : Role::leave;
            ops_.push_back({event.function, role});
        }
    }

    /// How many events the tree has that begins here; 0: none does.
    std::size_t length(std::size_t event) {
        if (of(event).role != Role::enter) return 0;
        if (lengths_.empty()) {
            if (event + 1 == columns_.size()) return 0;
            if (of(event + 1).role == Role::leave && of(event + 1).function == of(event).function) return 2;
            match();
        }
        return lengths_[event];
    }

  private:
    enum class Role : std::uint8_t { enter, leave, other };

    struct Op {
        std::uint32_t function = 0;
        Role role = Role::other;
    };

    const Op& of(std::size_t event) const { return ops_[columns_.op[event]]; }
    void match();

    const trace::EventColumns& columns_;
    std::vector<Op> ops_;
    std::vector<std::uint32_t> lengths_;  // by event; empty: not wanted yet
};

/// The same numbers for the ops of all packs of a thread. Not thread-safe.
class OpNumbers {
  public:
    /// A made-up trace may have any number of ops.
    static constexpr std::size_t kMax = std::size_t{1} << 16;

    /// By op.
    std::vector<std::uint32_t> of(std::span<const trace::EventColumns::Op> ops);
    bool is_full() const { return numbers_.size() >= kMax; }

  private:
    struct Key {
        std::uint64_t caller = 0;
        std::uint32_t function = 0;
        trace::EventKind kind = trace::EventKind::enter;

        friend bool operator==(const Key&, const Key&) = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const {
            return seeded_hash(key.caller,
                               std::uint64_t{key.function} << 8U | static_cast<std::uint64_t>(key.kind));
        }
    };

    tsl::robin_map<Key, std::uint32_t, Hash> numbers_;
};

/// Memory: some megabytes at most. Not thread-safe.
class KnownTrees {
  public:
    /// More events are in no known tree.
    static constexpr std::size_t kMaxEvents = 512;

    struct Found {
        const KnownTree* tree = nullptr;  ///< null: it is not known
        bool is_to_be_learned = false;    ///< it was seen before, so it may come again
    };
    /// The tree with these events. `numbers`: OpNumbers, by op.
    Found find(std::span<const std::uint32_t> events, std::span<const std::uint32_t> numbers);
    void add(KnownTree tree);

  private:
    static constexpr std::size_t kMaxInAll = std::size_t{1} << 17;  // events

    static constexpr std::size_t kSeen = std::size_t{1} << 16;

    std::deque<KnownTree> trees_;
    tsl::robin_map<std::uint64_t, std::vector<const KnownTree*>, SeededHash> by_hash_;
    /// By first op and length, of those with the same place the one that was found last.
    std::array<const KnownTree*, 1024> latest_{};
    std::vector<bool> seen_ = std::vector<bool>(kSeen);  // by hash: a tree that is not known, perhaps
    std::size_t events_ = 0;
};

}  // namespace rdam::score
