#include "analyzer/inputs/rows/rows.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "analyzer/calls/crowding.h"
#include "analyzer/inputs/rows/division.h"
#include "tools/trace/side_tables.h"
#include "tools/trace/writer.h"

namespace rdam::inputs {

namespace {

Result<void> write_windows(const trace::TraceInfo& info, trace::TraceWriter& writer) {
    trace::WindowsEncoder encoder;
    for (const trace::Window& window : info.windows) {
        encoder.add(window);
        if (!encoder.full()) continue;
        if (auto done = writer.append_windows(encoder); !done) return done;
    }
    return writer.append_windows(encoder);
}

Result<void> write_rows(const trace::TraceReader& reader, trace::TraceWriter& writer,
                        const Progress& progress) {
    const auto off_cpu = calls::Absences::of(reader);
    if (!off_cpu) return tl::unexpected{off_cpu.error()};
    const auto survey = survey_stacks(reader);
    if (!survey) return tl::unexpected{survey.error()};
    Division division{reader, *off_cpu, *survey, writer, progress};
    if (auto done = division.run(); !done) return done;
    if (auto done = write_windows(reader.info(), writer); !done) return done;
    return writer.finish(division.describe());
}

}  // namespace

bool switches_stacks(const trace::TraceReader& reader) {
    for (std::uint32_t thread = 0; thread < reader.info().threads.size(); ++thread)
        if (reader.switches_stacks(thread)) return true;
    return false;
}

Result<trace::TraceReader> divide_into_rows(const trace::TraceReader& reader, const std::string& name,
                                            const Progress& progress) {
    const auto file = TemporaryTrace::create(name);
    if (!file) return tl::unexpected{file.error()};
    auto writer = trace::TraceWriter::create(file->to_write, "the temporary copy of " + name, 0,
                                             trace::Purpose::temporary_copy);
    auto written = writer ? write_rows(reader, *writer, progress) : tl::unexpected{writer.error()};
    if (!written) {
        close(file->to_read);
        return tl::unexpected{written.error()};
    }
    auto rows = trace::TraceReader::read_descriptor(file->to_read, name);
    if (rows) rows->add_damage(reader.damage());
    return rows;
}

namespace {

/// Sets of threads that are united step by step.
class Sets {
  public:
    explicit Sets(std::size_t threads) : parent_(threads) { std::iota(parent_.begin(), parent_.end(), 0U); }

    std::uint32_t of(std::uint32_t thread) {
        while (parent_[thread] != thread)
            thread = parent_[thread] = parent_[parent_[thread]];
        return thread;
    }
    void unite(std::uint32_t a, std::uint32_t b) { parent_[of(b)] = of(a); }

  private:
    std::vector<std::uint32_t> parent_;
};

Result<std::unordered_set<std::uint64_t>> stacks_of(const trace::TraceReader& reader, std::uint32_t thread) {
    std::unordered_set<std::uint64_t> stacks;
    auto stream = reader.stream(thread);
    if (!stream) return tl::unexpected{stream.error()};
    for (;;) {
        const auto part = stream->next();
        if (!part) return tl::unexpected{part.error()};
        if (!*part) return stacks;
        for (const trace::Event& event : (*part)->events)
            if (event.kind == trace::EventKind::stack_switch && event.until != 0 && event.until != kSomeStack)
                stacks.insert(event.until);
    }
}

using Threads = std::unordered_map<std::uint64_t, std::vector<std::uint32_t>>;

Threads threads_by_tid(const trace::TraceInfo& info) {
    Threads threads;
    for (std::uint32_t thread = 0; thread < info.threads.size(); ++thread)
        threads[info.threads[thread].tid].push_back(thread);
    for (auto& [tid, all] : threads)
        std::ranges::sort(all, {}, [&](std::uint32_t thread) { return info.threads[thread].start; });
    return threads;
}

}  // namespace

std::optional<std::uint32_t> StackSurvey::lender(const trace::TraceInfo& info, std::uint64_t stack,
                                                 std::uint64_t tsc) const {
    if (stack < kThreadStacks) return std::nullopt;
    const auto found = lenders.find(stack - kThreadStacks);
    if (found == lenders.end()) return std::nullopt;
    std::uint32_t thread = found->second.front();
    for (const std::uint32_t each : found->second)
        if (info.threads[each].start <= tsc) thread = each;
    return thread;
}

Result<StackSurvey> survey_stacks(const trace::TraceReader& reader) {
    const auto threads = static_cast<std::uint32_t>(reader.info().threads.size());
    StackSurvey survey;
    Sets sets{threads};
    std::unordered_map<std::uint64_t, std::uint32_t> first_on;
    const Threads by_tid = threads_by_tid(reader.info());
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
        if (!reader.switches_stacks(thread)) continue;
        const auto stacks = stacks_of(reader, thread);
        if (!stacks) return tl::unexpected{stacks.error()};
        for (const std::uint64_t stack : *stacks) {
            if (const auto own = by_tid.find(stack - kThreadStacks);
                stack >= kThreadStacks && own != by_tid.end()) {
                survey.lenders.insert(*own);
                for (const std::uint32_t lender : own->second) {
                    survey.lent.insert(lender);
                    sets.unite(lender, thread);
                }
                continue;
            }
            const auto [known, is_new] = first_on.try_emplace(stack, thread);
            if (is_new) continue;
            survey.shared.insert(stack);
            sets.unite(known->second, thread);
        }
    }
    std::map<std::uint32_t, std::vector<std::uint32_t>> groups;
    for (std::uint32_t thread = 0; thread < threads; ++thread)
        groups[sets.of(thread)].push_back(thread);
    for (auto& [first, group] : groups)
        survey.groups.push_back(std::move(group));
    return survey;
}

}  // namespace rdam::inputs
