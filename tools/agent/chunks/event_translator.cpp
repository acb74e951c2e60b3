#include "tools/agent/chunks/event_translator.h"

#include "tools/agent/memory/chunk_parser.h"

namespace rdam::agent {

EventTranslator::EventTranslator(const SharedMemory& shared, const ProcessDescription& process,
                                 trace::TraceInfo& info, PackSink& sink)
    : info_(info), finisher_(process, shared.control(), shared.measured().step, info), sink_(sink) {}

EventTranslator::Outcome EventTranslator::translate(OpenChunk& chunk, Unwritten unwritten) {
    if (chunk.facts.kind != shm::ChunkKind::packed) return translate_records(chunk, unwritten);
    translate_packed(chunk);
    return Outcome::done;
}

void EventTranslator::translate_packed(const OpenChunk& chunk) {
    if (chunk.facts.used < shm::kChunkHeader) return;
    const auto shared = chunk.bytes.first(chunk.facts.used);
    copy_.assign(shared.begin() + shm::kChunkHeader, shared.end());
    for (std::span<const std::uint8_t> left(copy_); !left.empty(); pass_on(chunk.facts.thread))
        left = left.subspan(finisher_.add_packed(chunk.facts.thread, left, packs_));
}

/// False: its events have been in the trace already. Sets where they begin.
bool EventTranslator::is_due(OpenChunk& chunk) {
    const ChunkFacts& facts = chunk.facts;
    const auto packed = finisher_.last_packed(facts.thread);
    chunk.from = packed.sequence == facts.sequence ? packed.end : shm::kChunkHeader;
    const bool late = packed.sequence != shm::kNone && facts.sequence < packed.sequence;
    if (late) finisher_.note_damage();
    return !late && (facts.number == 0 || finisher_.note_number(facts.thread, facts.number));
}

EventTranslator::Outcome EventTranslator::translate_records(OpenChunk& chunk, Unwritten unwritten) {
    const std::uint32_t thread = chunk.facts.thread;
    if (chunk.from == 0 && !is_due(chunk)) return Outcome::done;
    ChunkParser parser(chunk.bytes, finisher_.rules(), chunk.full ? chunk.facts.used : 0, chunk.from);
    EventRecord record;
    auto step = parser.next(record);
    for (; step != ChunkParser::Step::end; step = parser.next(record)) {
        if (step == ChunkParser::Step::unwritten) {
            if (unwritten == Unwritten::wait) break;
            parser.skip_unwritten();
            continue;
        }
        finisher_.add_record(thread, record.raw, packs_);
    }
    finisher_.flush(thread, packs_);
    pass_on(thread);
    chunk.from = parser.at();
    if (step == ChunkParser::Step::unwritten) return Outcome::waits;
    info_.threads[thread].unwritten += parser.unwritten();
    return parser.unwritten() > 0 ? Outcome::gaps : Outcome::done;
}

void EventTranslator::pass_on(std::uint32_t thread) {
    if (packs_.events == 0) return;
    sink_.append(thread, packs_);
    packs_.clear();
}

void EventTranslator::thread_ended(std::uint32_t thread) {
    finisher_.forget(thread);
}

}  // namespace rdam::agent
