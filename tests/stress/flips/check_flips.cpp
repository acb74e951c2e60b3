// What a trace of `flips` says, as JSON: of each thread how many calls of counted() there are, how many of
// them from the first on are just what they should be, and what is wrong with the others.
//
//   check_flips TRACE
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>

#include "tools/trace/reader.h"

namespace {

using namespace rdam;
using Json = nlohmann::json;

struct Sequence {
    std::uint64_t calls = 0;
    std::uint64_t exact = 0;      ///< from the first on
    std::uint64_t gaps = 0;       ///< calls are missing
    std::uint64_t wrong = 0;      ///< a parameter or result that none of these calls had
    std::uint64_t unmatched = 0;  ///< begins and ends that do not take turns
    std::uint64_t backwards = 0;  ///< an event earlier than the one before
    std::uint64_t next = 0;       ///< the parameter of the call to come
    std::uint64_t last = 0;       ///< ticks
    bool open = false;

    bool faultless() const { return gaps + wrong + unmatched + backwards == 0; }

    void see(const trace::Event& event) {
        if (event.tsc < last) ++backwards;
        last = event.tsc;
        const bool enters = event.kind == trace::EventKind::enter;
        if (enters == open) ++unmatched;
        open = enters;
        if (!enters) {
            if (!event.words.empty() && event.words[0] + 1 != next) ++wrong;
            if (faultless()) exact = next;
            return;
        }
        ++calls;
        const std::uint64_t value = event.words.empty() ? ~std::uint64_t{0} : event.words[0];
        constexpr std::uint64_t kMax = std::uint64_t{1} << 32;
        if (value > kMax || value < next) {
            ++wrong;
        } else {
            if (value != next) ++gaps;
            next = value + 1;
        }
    }
};

Result<Json> describe(const trace::TraceReader& reader, std::uint32_t thread) {
    const trace::TraceInfo& info = reader.info();
    Sequence sequence;
    const auto sink = [&](std::span<const trace::Event> events) {
        for (const trace::Event& event : events)
            if (event.kind != trace::EventKind::pause && info.functions[event.function].name == "counted")
                sequence.see(event);
    };
    if (auto read = reader.read_thread(thread, sink, [] {}); !read) return tl::unexpected{read.error()};
    return Json{{"tid", info.threads[thread].tid}, {"calls", sequence.calls},
                {"exact", sequence.exact},         {"gaps", sequence.gaps},
                {"wrong", sequence.wrong},         {"unmatched", sequence.unmatched},
                {"backwards", sequence.backwards}, {"unwritten", info.threads[thread].unwritten}};
}

int fail(const std::string& message) {
    std::fprintf(stderr, "check_flips: %s\n", message.c_str());
    return 1;
}

int run(int argc, char** argv) {
    if (argc != 2) return fail("usage: check_flips TRACE");
    const auto reader = trace::TraceReader::open(argv[1]);
    if (!reader) return fail(reader.error().message);
    Json threads = Json::array();
    for (std::uint32_t thread = 0; thread < reader->info().threads.size(); ++thread) {
        auto described = describe(*reader, thread);
        if (!described) return fail(described.error().message);
        threads.push_back(std::move(*described));
    }
    const trace::Damage damage = reader->damage();
    const Json all{{"threads", threads},
                   {"remarks", reader->info().remarks},
                   {"dropped", reader->info().dropped},
                   {"clean_end", reader->info().process.clean_end},
                   {"whole_file", !damage.bad_header && !damage.no_index && damage.bad_chunks == 0 &&
                                      damage.missing_chunks == 0 && damage.skipped_bytes == 0}};
    std::printf("%s\n", all.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        return fail(error.what());
    }
}
