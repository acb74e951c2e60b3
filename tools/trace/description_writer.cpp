#include "tools/trace/description_writer.h"

#include <concepts>
#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

#include "tools/trace/format.h"
#include "tools/trace/schema.h"

namespace rdam::trace {
namespace {

// A structure to a protobuf message, by its list of fields (schema.h).

class MessageWriter {
  public:
    explicit MessageWriter(std::string& out) : to_(out) {}

    void message_name(const char*) {}
    void index(std::uint64_t value) { to_.add_uint64(kIndexField, value); }

    void number(std::uint32_t tag, const char*, std::unsigned_integral auto value, When when = When::always) {
        if (value != 0 || when == When::always) to_.add_uint64(tag, value);
    }
    void fixed(std::uint32_t tag, const char*, std::uint64_t value, When when = When::always) {
        if (value != 0 || when == When::always) to_.add_fixed64(tag, value);
    }
    void real(std::uint32_t tag, const char*, double value, When when = When::always) {
        if (value != 0 || when == When::always) to_.add_double(tag, value);
    }
    void truth(std::uint32_t tag, const char*, bool value, When when = When::always) {
        if (value || when == When::always) to_.add_bool(tag, value);
    }
    template <class State>
    void state(std::uint32_t tag, const char*, State value, State) {
        to_.add_uint32(tag, static_cast<std::uint32_t>(value));
    }
    void text(std::uint32_t tag, const char*, const std::string& value, When when = When::always) {
        if (!value.empty() || when == When::always) to_.add_bytes(tag, value);
    }
    void texts(std::uint32_t tag, const char*, const std::vector<std::string>& values) {
        for (const std::string& value : values)
            to_.add_bytes(tag, value);
    }
    void numbers(std::uint32_t tag, const char*, const std::vector<std::uint32_t>& values) {
        to_.add_packed_uint32(tag, values.begin(), values.end());
    }
    void addresses(std::uint32_t tag, const char*, const std::vector<std::uint64_t>& values) {
        to_.add_packed_fixed64(tag, values.begin(), values.end());
    }
    template <class Item>
    void messages(std::uint32_t tag, const char*, const std::vector<Item>& items) {
        for (const Item& item : items) {
            std::string bytes;
            MessageWriter inner(bytes);
            fields(inner, item);
            to_.add_message(tag, bytes);
        }
    }

  private:
    protozero::pbf_writer to_;
};

template <class Structure>
bool is_known(const Structure&) {
    return true;
}
bool is_known(const SwitchInfo& switches) {
    return switches.state != SwitchInfo::State::not_told;
}
bool is_known(const CounterInfo& counters) {
    return counters.state != CounterInfo::State::not_told;
}
bool is_known(const AgentInfo& agent) {
    return agent.told;
}

/// The archive of TraceInfo itself: collects the fields and items that have changed into parts.
class Parts {
  public:
    using Written = std::map<std::uint32_t, std::vector<std::uint64_t>>;

    /// The last three stand for what `info` has under these names.
    Parts(Written& written, const TraceInfo& info, const std::vector<ThreadInfo>& threads,
          std::uint64_t dropped, std::uint64_t switches_lost)
        : written_(written),
          info_(info),
          threads_(threads),
          dropped_(dropped),
          switches_lost_(switches_lost) {}

    void message_name(const char*) {}

    void number(std::uint32_t tag, const char*, const std::uint64_t& value) {
        const std::uint64_t& number = &value == &info_.dropped ? dropped_ : value;
        const std::uint64_t hash = format::hash(&number, sizeof number);
        offer(hash, written_of(tag, 1).front(),
              [&](protozero::pbf_writer& to) { to.add_uint64(tag, number); });
    }

    template <class Structure>
    void message(std::uint32_t tag, const char*, const Structure& structure) {
        if (!is_known(structure)) return;
        std::string bytes;
        MessageWriter to(bytes);
        fields(to, structure);
        offer(tag, bytes, written_of(tag, 1).front());
    }
    void message(std::uint32_t tag, const char* name, const SwitchInfo& switches) {
        SwitchInfo complete = switches;
        complete.lost = switches_lost_;
        message<SwitchInfo>(tag, name, complete);
    }

    template <class Item>
    void items(std::uint32_t tag, const char*, const std::vector<Item>& items) {
        std::vector<std::uint64_t>& written = written_of(tag, items.size());
        for (std::size_t i = 0; i < items.size(); ++i) {
            std::string bytes;
            MessageWriter to(bytes);
            to.index(i);
            fields(to, items[i]);
            offer(tag, bytes, written[i]);
        }
    }
    void items(std::uint32_t tag, const char* name, const std::vector<ThreadInfo>&) {
        items<ThreadInfo>(tag, name, threads_);
    }

    std::vector<DescriptionPart> take() { return std::move(parts_); }

  private:
    /// Grows only between two calls of changes(): parts point into it.
    std::vector<std::uint64_t>& written_of(std::uint32_t tag, std::size_t items) {
        std::vector<std::uint64_t>& written = written_[tag];
        if (written.size() < items) written.resize(items);
        return written;
    }

    void offer(std::uint32_t tag, const std::string& bytes, std::uint64_t& written) {
        offer(format::hash(bytes.data(), bytes.size()), written,
              [&](protozero::pbf_writer& to) { to.add_message(tag, bytes); });
    }
    template <class Add>
    void offer(std::uint64_t hash, std::uint64_t& written, const Add& add) {
        hash |= 1U;  // 0 is what was never written
        if (hash == written) return;
        DescriptionPart& part = this->part();
        protozero::pbf_writer to(part.message);
        add(to);
        part.written.emplace_back(&written, hash);
    }

    DescriptionPart& part() {
        constexpr std::size_t kPartSize = 256U << 10U;
        if (parts_.empty() || parts_.back().message.size() > kPartSize) parts_.emplace_back();
        return parts_.back();
    }

    Written& written_;
    const TraceInfo& info_;
    const std::vector<ThreadInfo>& threads_;
    std::uint64_t dropped_;
    std::uint64_t switches_lost_;
    std::vector<DescriptionPart> parts_;
};

}  // namespace

std::vector<DescriptionPart> DescriptionWriter::changes(const TraceInfo& info,
                                                        const std::vector<ThreadInfo>& threads,
                                                        std::uint64_t dropped, std::uint64_t switches_lost) {
    Parts parts(written_, info, threads, dropped, switches_lost);
    fields(parts, info);
    return parts.take();
}

void DescriptionWriter::confirm(const DescriptionPart& part) {
    for (const auto& [written, hash] : part.written)
        *written = hash;
}

void DescriptionWriter::forget() {
    written_.clear();
}

}  // namespace rdam::trace
