#include "analyzer/inputs/chrome/json_events.h"

#include <algorithm>
#include <istream>
#include <nlohmann/json.hpp>

#include "analyzer/inputs/chrome/json_source.h"

namespace rdam::inputs::chrome {
namespace {

/// Names and values of an object, those of objects inside it included. Keeps the memory of the ones before.
class Arguments {
  public:
    static constexpr std::size_t kMost = 64;

    void clear() {
        count_ = 0;
        path_.clear();
        lengths_.clear();
    }
    void enter(std::string_view key) {
        lengths_.push_back(path_.size());
        path_.append(key).append(".");
    }
    void leave() {
        path_.resize(lengths_.back());
        lengths_.pop_back();
    }
    std::size_t depth() const { return lengths_.size(); }
    /// Null: there are too many.
    Argument* add(std::string_view key) {
        if (count_ == kMost) return nullptr;
        if (count_ == all_.size()) all_.emplace_back();
        Argument& next = all_[count_++];
        next.name.assign(path_).append(key);
        next.text.clear();
        return &next;
    }
    void drop_last() { --count_; }
    std::span<const Argument> all() const { return {all_.data(), count_}; }

  private:
    std::vector<Argument> all_;
    std::size_t count_ = 0;
    std::string path_;
    std::vector<std::size_t> lengths_;  // of path_, before each object that is open
};

/// Where in the document a value is.
enum class Where : std::uint8_t { root, events, event, id, arguments, list, facts, passed_over };

// NOLINTBEGIN(readability-identifier-naming): nlohmann_json looks for these names.
class EventReader final {
  public:
    EventReader(JsonSource& buffer, EventSink& sink, const Progress& progress)
        : buffer_(buffer), sink_(sink), progress_(progress) {}

    bool null() {
        if (at() == Where::list) write_element("null");
        return true;
    }
    bool boolean(bool value) {
        if (at() == Where::list) return write_element(value ? "true" : "false");
        return take(ValueType::boolean, value ? 1 : 0, {});
    }
    bool number_integer(std::int64_t value) {
        if (at() == Where::list) return write_element(std::to_string(value));
        const bool is_small = value >= -Microseconds::kMaxWhole;
        return take(ValueType::integer, put_value(value),
                    is_small ? std::optional{Microseconds{.whole = value}} : std::nullopt);
    }
    bool number_unsigned(std::uint64_t value) {
        if (at() == Where::list) return write_element(std::to_string(value));
        const bool is_large = value > static_cast<std::uint64_t>(Microseconds::kMaxWhole);
        if (is_large) return take(ValueType::large, value, {});
        return take(ValueType::integer, value, Microseconds{.whole = static_cast<std::int64_t>(value)});
    }
    bool number_float(double value, const std::string& text) {
        if (at() == Where::list) return write_element(text);
        return take(ValueType::floating, put_value(value), microseconds_in(text));
    }
    bool string(const std::string& text) {
        if (at() == Where::list) return write_element(text);
        return take_text(text);
    }
    bool binary(const std::vector<std::uint8_t>& /*value*/) { return true; }
    bool key(const std::string& name) {
        buffer_.token();
        if (at() == Where::list) {
            write_element(name + ":");
            list_.begins = true;
        } else {
            key_ = name;
        }
        return true;
    }
    bool start_object(std::size_t /*size*/) {
        open_.push_back(inside_of(true));
        return true;
    }
    bool start_array(std::size_t /*size*/) {
        open_.push_back(inside_of(false));
        return true;
    }
    bool end_object() {
        const Where where = open_.back();
        open_.pop_back();
        if (where == Where::list) end_list('}');
        if (where == Where::root) root_ended_ = true;
        if (where == Where::event) end_event();
        const bool nested = where == Where::arguments || where == Where::facts;
        if (nested && arguments_.depth() > 0) arguments_.leave();
        return true;
    }
    bool end_array() {
        const Where where = open_.back();
        open_.pop_back();
        if (where == Where::list) end_list(']');
        if (where == Where::events) list_ended_ = true;
        return true;
    }
    bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                     const nlohmann::detail::exception& problem) {
        problem_ = problem.what();
        return false;
    }

    ReadEvents& read() { return read_; }
    bool has_list() const { return has_list_; }
    const std::string& problem() const { return problem_; }
    /// The document is a single event, as each line of some tools' files is.
    bool is_event() const { return root_ended_ && has_phase_ && !has_list_; }
    bool in_events() const {
        return has_list_ && !list_ended_ && !open_.empty() && list_depth_ <= open_.size();
    }
    bool in_event() const { return in_events() && open_.size() > list_depth_; }

  private:
    Where at() const { return open_.empty() ? Where::root : open_.back(); }

    Where inside_of(bool is_object) {
        buffer_.token();
        if (open_.empty()) {
            if (!is_object) begin_list();
            return is_object ? Where::root : Where::events;
        }
        switch (at()) {
            case Where::root:
                if (!is_object && key_ == "traceEvents") {
                    begin_list();
                    return Where::events;
                }
                if (!is_object || (key_ != "otherData" && key_ != "metadata" && key_ != "viztracer_metadata"))
                    return Where::passed_over;
                arguments_.clear();
                if (key_ == "viztracer_metadata") arguments_.enter("viztracer");
                return Where::facts;
            case Where::events:
                if (!is_object) return Where::passed_over;
                begin_event();
                return Where::event;
            case Where::event:
                if (is_object && key_ == "id2") return Where::id;
                if (key_ != "args") return Where::passed_over;
                return is_object ? Where::arguments : begin_list_argument(is_object);
            case Where::list:
                write_element(is_object ? "{" : "[");
                list_.begins = true;
                return Where::list;
            case Where::arguments:
            case Where::facts:
                return nested(is_object);
            case Where::id:
            case Where::passed_over:
                break;
        }
        return Where::passed_over;
    }
    Where nested(bool is_object) {
        constexpr std::size_t kDeepest = 4;
        if (is_object && arguments_.depth() < kDeepest) {
            arguments_.enter(key_);
            return at();
        }
        return at() == Where::arguments ? begin_list_argument(is_object) : Where::passed_over;
    }

    // A list is a text: its elements with commas between, in brackets, whatever is inside.

    Where begin_list_argument(bool is_object) {
        list_.text = is_object ? "{" : "[";
        list_.key = key_;
        list_.depth = open_.size();
        list_.begins = true;
        return Where::list;
    }
    bool write_element(std::string_view element) {
        if (list_.text.size() > kLongestList) return true;
        if (!list_.begins) list_.text += ',';
        list_.text += element.substr(0, kLongestList + 1);
        list_.begins = false;
        return true;
    }
    void end_list(char bracket) {
        if (list_.text.size() <= kLongestList) list_.text += bracket;
        list_.begins = false;
        if (open_.size() > list_.depth) return;
        // A part of it would seem to be another one's.
        if (list_.text.size() > kLongestList)
            ++read_.arguments_left_out;
        else
            keep_as(list_.key, Where::arguments, ValueType::text, 0, list_.text);
    }

    void begin_list() {
        has_list_ = true;
        list_depth_ = open_.size() + 1;
    }
    void begin_event() {
        arguments_.clear();
        event_.phase = '\0';
        for (std::string* text :
             {&event_.name, &event_.category, &event_.pid, &event_.tid, &event_.id, &event_.scope})
            text->clear();
        for (auto* time : {&event_.begin, &event_.duration, &event_.thread_begin, &event_.thread_duration})
            time->reset();
        event_.id_is_global = false;
    }
    void end_event() {
        constexpr std::uint64_t kBetween = 100'000;
        event_.arguments = arguments_.all();
        sink_.event(event_);
        if (++read_.events % kBetween == 0 && progress_)
            progress_(buffer_.source().consumed(), buffer_.source().size());
    }

    bool take(ValueType type, std::uint64_t bits, const std::optional<Microseconds>& decimal) {
        if (at() == Where::event) {
            if (auto* const time = time_of_key()) *time = decimal;
            if (key_ == "id" && type != ValueType::floating) take_id(std::to_string(bits));
            if (decimal && (key_ == "pid" || key_ == "tid"))
                (key_ == "pid" ? event_.pid : event_.tid) = std::to_string(decimal->whole);
        } else if (at() == Where::id) {
            if (type != ValueType::floating) take_id(std::to_string(bits));
        } else {
            keep(type, bits, {});
        }
        return true;
    }
    std::optional<Microseconds>* time_of_key() {
        if (key_ == "ts") return &event_.begin;
        if (key_ == "dur") return &event_.duration;
        if (key_ == "tts") return &event_.thread_begin;
        return key_ == "tdur" ? &event_.thread_duration : nullptr;
    }
    void take_id(const std::string& id) {
        event_.id = id;
        event_.id_is_global = at() == Where::id && key_ == "global";
    }
    bool take_text(const std::string& text) {
        if (at() == Where::id) take_id(text);
        if (at() != Where::event) {
            keep(ValueType::text, 0, text);
            return true;
        }
        if (key_ == "name") event_.name = text;
        if (key_ == "cat") event_.category = text;
        if (key_ == "pid") event_.pid = text;
        if (key_ == "tid") event_.tid = text;
        if (key_ == "ph") event_.phase = text.size() == 1 ? text.front() : '\0';
        if (key_ == "id") take_id(text);
        if (key_ == "scope") event_.scope = text;
        if (auto* const time = time_of_key()) *time = microseconds_in(text);
        return true;
    }
    void keep(ValueType type, std::uint64_t bits, const std::string& text) {
        const Where where = at();
        if (where == Where::root && key_ == "ph") has_phase_ = true;
        if (where == Where::arguments || where == Where::facts) keep_as(key_, where, type, bits, text);
    }
    void keep_as(std::string_view key, Where where, ValueType type, std::uint64_t bits,
                 const std::string& text) {
        if (Argument* next = arguments_.add(key); next != nullptr) {
            next->type = type;
            next->bits = bits;
            next->text = text;
            if (where != Where::facts) return;
            sink_.fact(*next);
            arguments_.drop_last();
        } else if (where == Where::arguments) {
            ++read_.arguments_left_out;
        }
    }

    JsonSource& buffer_;
    EventSink& sink_;
    const Progress& progress_;
    ReadEvents read_;
    std::vector<Where> open_;
    std::size_t list_depth_ = 0;
    bool has_list_ = false;
    std::string key_;
    static constexpr std::size_t kLongestList = 4096;  // the longest text that has a number
    struct List {
        std::string text;
        std::string key;
        std::size_t depth = 0;  // of open_, around it
        bool begins = false;    // no comma is due before what comes
    };
    List list_;
    bool root_ended_ = false, has_phase_ = false, list_ended_ = false;
    Event event_;
    Arguments arguments_;
    std::string problem_;
};
// NOLINTEND(readability-identifier-naming)

}  // namespace

std::optional<Microseconds> microseconds_in(std::string_view text) {
    constexpr std::uint32_t kParts = Microseconds::kParts;
    const auto decimal = parse_decimal(text);
    const auto parts = decimal ? in_units(*decimal, 6) : std::nullopt;
    if (!parts || *parts / kParts >= static_cast<std::uint64_t>(Microseconds::kMaxWhole)) return std::nullopt;
    const auto whole = static_cast<std::int64_t>(*parts / kParts);
    const auto rest = static_cast<std::uint32_t>(*parts % kParts);
    if (!decimal->negative) return Microseconds{whole, rest};
    return rest == 0 ? Microseconds{-whole, 0} : Microseconds{-whole - 1, kParts - rest};
}

Result<ReadEvents> read_events(ByteSource source, std::string_view path, EventSink& sink,
                               const Progress& progress) {
    JsonSource buffer{std::move(source)};
    std::istream stream{&buffer};
    EventReader reader{buffer, sink, progress};
    const bool complete = nlohmann::json::sax_parse(stream, &reader);
    if (auto bad = buffer.problem_of(path)) return tl::unexpected{*bad};
    if (reader.is_event())
        return fail(
            "{} has a trace event on each line, and no list of them: `jq -s . FILE` makes one, and so does a "
            "[ in "
            "the first line, with a comma behind each event",
            path);
    if (!complete && !(buffer.ended() && reader.has_list()))
        return fail("{}: not sound as JSON: {}", path, plain_problem(reader.problem()));
    if (!reader.has_list())
        return fail(
            "{} is not an rdam trace, and no trace events: JSON of them is a list, or an object with a list "
            "\"traceEvents\"; docs/inputs.md lists what can be read",
            path);
    reader.read().unterminated = !complete;
    reader.read().cut = !complete && reader.in_event();
    reader.read().cut_behind = !complete && !reader.in_events();
    return reader.read();
}

}  // namespace rdam::inputs::chrome
