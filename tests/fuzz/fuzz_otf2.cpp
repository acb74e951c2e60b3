// What OTF2's library may tell about an archive, from any bytes: numbers that nothing defines, values of
// another type than their attribute, times that go back, calls that do not nest. The library itself, which
// crashes at some files, is not here: it runs in a process of its own (tests/e2e/otf2_input_test.py).
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "analyzer/inputs/otf2/functions.h"
#include "analyzer/inputs/otf2/names.h"
#include "analyzer/inputs/otf2/thread_events.h"

namespace {

using namespace rdam;
using namespace rdam::inputs;
using namespace rdam::inputs::otf2;

void require(bool truth) {
    if (!truth) std::abort();
}

class Bytes {
  public:
    Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
    bool more() const { return size_ > 0; }
    std::uint8_t byte() {
        if (size_ == 0) return 0;
        --size_;
        return *data_++;
    }
    std::uint64_t word() {
        std::uint64_t word = 0;
        for (int i = 0; i < 8; ++i)
            word = word << 8U | byte();
        return word;
    }
    /// Mostly small, so that things are defined and refer to each other.
    std::uint32_t number() {
        const std::uint8_t first = byte();
        return first < 250 ? first % 8U : static_cast<std::uint32_t>(word());
    }
    std::string text() {
        std::string text(byte() % 12U, '\0');
        for (char& each : text)
            each = static_cast<char>(byte());
        return text;
    }

  private:
    const std::uint8_t* data_;
    std::size_t size_;
};

OTF2_Type type_in(Bytes& bytes) {
    return static_cast<OTF2_Type>(bytes.byte() % 30U);
}

Definitions definitions_in(Bytes& bytes) {
    Definitions made;
    made.is_ours = bytes.byte() % 2 == 0;
    made.ticks_per_second = bytes.word();
    for (unsigned i = bytes.byte() % 8U; i > 0; --i)
        made.strings.try_emplace(bytes.number(), bytes.text());
    // So that what is ours is met.
    made.strings.try_emplace(100, rdam::otf2::kNotSeen);
    for (unsigned i = bytes.byte() % 8U; i > 0; --i) {
        Region region{.ref = bytes.number(), .name = bytes.number(), .canonical = bytes.number()};
        region.artificial = bytes.byte() % 4 == 0;
        made.regions.push_back(region);
    }
    for (unsigned i = bytes.byte() % 8U; i > 0; --i)
        made.attributes.try_emplace(bytes.number(),
                                    Described{.name = bytes.number(), .type = type_in(bytes)});
    for (unsigned i = bytes.byte() % 4U; i > 0; --i)
        made.parameters.try_emplace(bytes.number(),
                                    Described{.name = bytes.number(), .type = type_in(bytes)});
    made.locations.push_back({.ref = 0, .name = bytes.number(), .group = bytes.number()});
    return made;
}

/// The same events for each sink.
void tell(Bytes bytes, EventSink& sink) {
    std::uint64_t time = bytes.word();
    while (bytes.more()) {
        time += bytes.byte() < 250 ? bytes.byte() : bytes.word();
        std::vector<AttributeValue> attributes;
        const std::uint8_t what = bytes.byte();
        for (unsigned i = what / 16U % 4U; i > 0; --i) {
            AttributeValue value{.ref = bytes.number(), .value = {.type = type_in(bytes)}};
            value.value.value.uint64 = bytes.byte() % 2 == 0 ? 98 + bytes.byte() % 8U : bytes.word();
            attributes.push_back(value);
        }
        const std::array fields{
            FieldValue{.field = static_cast<Field>(bytes.byte() % kFields), .value = bytes.byte() - 1}};
        switch (what % 8U) {
            case 0:
            case 1:
                sink.enter(time, bytes.number(), attributes);
                break;
            case 2:
            case 3:
                sink.leave(time, bytes.number(), attributes);
                break;
            case 4:
                sink.flush(time, bytes.word());
                break;
            case 5:
                sink.record(fields);
                break;
            case 6:
                sink.parameter(bytes.number(), attributes.empty() ? TypedValue{} : attributes[0].value);
                break;
            default:
                sink.metric();
        }
    }
}

void read_all(const trace::TraceReader& reader) {
    std::uint64_t events = 0;
    const auto read = reader.read_thread(
        0, [&](std::span<const trace::Event> some) { events += some.size(); }, [] {});
    require(read.has_value() && events == reader.events_of(0));
    require(reader.damage().bad_chunks == 0);
    require(reader.off_cpu(0).has_value());
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes bytes{data, size};
    const Definitions definitions = definitions_in(bytes);
    // Of some inputs the census knows no event: everything that follows is a surprise.
    const bool sampled = size % 2 == 1;
    FirstPass census;
    if (!sampled) tell(bytes, census);
    auto builder = TraceBuilder::create("fuzz");
    require(builder.has_value());
    describe(definitions, "traces.otf2", *builder);
    const Functions functions{definitions, census, *builder};
    add_threads(definitions, definitions.locations, *builder);
    std::atomic<bool> surprised{false};
    ThreadEvents events{definitions, functions, *builder, builder->thread(0), sampled ? &surprised : nullptr};
    tell(bytes, events);
    events.finish(size);
    if (const auto reader = std::move(*builder).finish()) read_all(*reader);
    return 0;
}
