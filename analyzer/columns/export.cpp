#include "analyzer/columns/export.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>

#include "analyzer/calls/call_stream.h"
#include "analyzer/calls/crowding.h"
#include "analyzer/report/score_trace.h"
#include "analyzer/report/selection.h"
#include "tools/base/printable.h"
#include "tools/trace/clock.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::columns {

namespace {

bool has_off_cpu(const trace::TraceInfo& info) {
    using State = trace::SwitchInfo::State;
    return info.switches.state == State::recorded || info.switches.state == State::stopped;
}

void write_off_cpu(std::span<const trace::OffCpu> intervals, const trace::TickRange& window,
                   std::uint32_t thread, Contents& contents) {
    if (!contents.tables.off_cpu) return;
    for (const trace::OffCpu& each : intervals) {
        const std::uint64_t out = std::max(each.out, window.begin), in = std::min(each.in, window.end);
        if (out >= in) continue;
        contents.tables.off_cpu->append(thread, contents.time.since_origin(out),
                                        contents.time.since_origin(in),
                                        each.cpu == trace::kNoCpu ? -1 : std::int32_t{each.cpu},
                                        each.preempted, each.by_recorder, each.by_program);
    }
}

Result<void> write_threads(const trace::TraceReader& reader, const score::ResolvedSettings& settings,
                           const score::ResolvedSelection& selection,
                           const std::function<bool(std::uint64_t)>& progress, Contents& contents) {
    const Folder& folder = contents.tables.folder;
    std::uint64_t events = 0;
    const auto times = calls::Absences::of(reader);
    if (!times) return tl::unexpected{times.error()};
    for (std::uint32_t thread = 0; thread < reader.info().threads.size(); ++thread) {
        contents.first_call.push_back(contents.tables.calls.rows());
        if (!std::ranges::binary_search(selection.threads, thread)) continue;
        const auto off_cpu = times->thread(thread);
        if (!off_cpu) return tl::unexpected{off_cpu.error()};
        const calls::StreamOptions how{
            .window = selection.window, .ignored = settings.ignored, .ends = settings.ends};
        const auto goes_on = [&](std::size_t /*events*/) { return !progress || progress(events); };
        const auto unended = calls::unended_calls(reader, thread, *off_cpu, how, goes_on);
        if (!unended) return tl::unexpected{unended.error()};
        calls::CallStream stream{reader, thread, *off_cpu, how};
        ThreadWriter writer{thread, reader.info(), settings, selection.shown, contents.time, contents.tables};
        writer.set_unended(*unended);
        auto read = stream.read(writer, [&](std::size_t more) {
            events += more;
            return !folder.error() && (!progress || progress(events));
        });
        if (folder.error()) return tl::unexpected{*folder.error()};
        if (!read) return read;
        writer.finish();
        write_off_cpu(*off_cpu, selection.window.value_or(trace::TickRange{}), thread, contents);
    }
    return {};
}

Result<Exported> fill(const trace::TraceReader& reader, const ExportOptions& options,
                      const score::ResolvedSettings& settings, const score::ResolvedSelection& selection,
                      Folder& folder) {
    const bool with_off_cpu = has_off_cpu(reader.info());
    for (const std::string_view room : std::span{kFolders}.first(kFolders.size() - (with_off_cpu ? 0 : 1))) {
        if (auto made = folder.make_room(room); !made) return tl::unexpected{made.error()};
    }
    Tables tables{folder, reader.info()};
    if (with_off_cpu) tables.off_cpu = std::make_unique<OffCpuTable>(folder);
    Contents contents{.tables = tables, .time = trace::time_scale(reader.info()), .first_call = {}};
    if (auto written = write_threads(reader, settings, selection, options.progress, contents); !written)
        return tl::unexpected{written.error()};
    tables.finish();
    if (folder.error()) return tl::unexpected{*folder.error()};
    // Last, so that a folder without it is known for half an export.
    if (auto written = write_contents(contents, reader, options); !written)
        return tl::unexpected{written.error()};
    return Exported{.calls = tables.calls.rows(), .sequences = tables.sequences.rows()};
}

}  // namespace

Result<Exported> export_columns(const trace::TraceReader& reader, const std::string& folder,
                                const ExportOptions& options) {
    const auto settings = score::resolve(reader.info(), options.settings);
    if (!settings) return tl::unexpected{settings.error()};
    const auto selection = score::resolve_selection(reader.info(), options.settings.selection);
    if (!selection) return tl::unexpected{selection.error()};
    auto place = Folder::create(folder);
    if (!place) return tl::unexpected{place.error()};
    auto exported = fill(reader, options, *settings, *selection, *place);
    if (!exported) place->discard();
    return exported;
}

namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

Json table_json(std::uint64_t rows, const std::vector<NpyFile*>& columns) {
    Json files = Json::object();
    for (const NpyFile* column : columns) {
        const std::filesystem::path path{column->name()};
        files[path.stem().string()] = column->name();
    }
    return {{"rows", rows}, {"columns", files}};
}

const char* kind_name(std::uint8_t kind) {
    switch (static_cast<ValueKind>(kind)) {
        case ValueKind::signed_integer:
            return "signed";
        case ValueKind::pointer:
            return "pointer";
        case ValueKind::boolean:
            return "boolean";
        case ValueKind::floating:
            return "floating";
        case ValueKind::enumeration:
            return "enumeration";
        case ValueKind::unsigned_integer:
            break;
    }
    return "unsigned";
}

Json values_json(const ValueTable& table) {
    Json columns = Json::array();
    for (const ValueTable::Value& value : table.values()) {
        Json column{{"name", value.name}, {"file", value.file->name()}};
        if (value.parameter != nullptr) {
            column["kind"] = value.parameter->is_text ? "text" : kind_name(value.parameter->kind);
            column["size"] = value.parameter->size;
            column["type"] = value.parameter->type;
            column["key"] = value.parameter->key;
        }
        columns.push_back(std::move(column));
    }
    return {{"rows", table.rows()}, {"columns", columns}};
}

Json functions_json(const Contents& contents, const trace::TraceInfo& info) {
    Json out = Json::array();
    for (std::size_t i = 0; i < info.functions.size(); ++i) {
        const trace::FunctionInfo& function = info.functions[i];
        Json row{{"name", function.name},      {"linkage_name", function.linkage_name},
                 {"module", function.module},  {"source", function.source},
                 {"object", function.object},  {"address", function.address},
                 {"waits", function.waits},    {"busy_waits", function.busy_waits},
                 {"sampled", function.sampled}};
        if (const auto& table = contents.tables.values[i]) row["values"] = values_json(*table);
        out.push_back(std::move(row));
    }
    return out;
}

Json threads_json(const Contents& contents, const trace::TraceInfo& info) {
    Json out = Json::array();
    for (std::size_t i = 0; i < info.threads.size(); ++i) {
        const trace::ThreadInfo& thread = info.threads[i];
        const std::uint64_t first = contents.first_call[i];
        const std::uint64_t behind =
            i + 1 < contents.first_call.size() ? contents.first_call[i + 1] : contents.tables.calls.rows();
        const auto time = [&](std::uint64_t tsc) {
            return tsc == 0 ? Json(nullptr) : Json(contents.time.since_origin(tsc));
        };
        out.push_back({{"tid", thread.tid},
                       {"name", thread.name},
                       {"start", time(thread.start)},
                       {"end", time(thread.end)},
                       {"dropped", thread.dropped},
                       {"first_call", first},
                       {"calls", behind - first}});
    }
    return out;
}

Json objects_json(const trace::TraceInfo& info) {
    Json out = Json::array();
    for (const trace::ObjectInfo& object : info.objects)
        out.push_back({{"path", object.path},
                       {"build_id", object.build_id},
                       {"base", object.base},
                       {"end", object.end}});
    return out;
}

Json run_json(const Contents& contents, const trace::TraceInfo& info, const ExportOptions& options) {
    const auto after_start = static_cast<double>(contents.time.since_origin(info.clock.start_tsc));
    const double start_unix_ns = static_cast<double>(info.clock.start_unix_ns) - after_start;
    return {{"file", options.trace},
            {"command", info.process.command},
            {"pid", info.process.pid},
            {"host", info.process.host},
            {"machine", info.process.machine},
            {"version", info.process.rdam_version},
            {"start_unix_ns", std::llround(std::isfinite(start_unix_ns) ? start_unix_ns : 0)},
            {"clean_end", info.process.clean_end},
            {"clock", info.clock.source},
            {"clock_step_ns",
             static_cast<double>(info.clock.step_ticks) * trace::nanoseconds_per_tick(info.clock)},
            {"clock_error_ns", info.clock.error_ticks * trace::nanoseconds_per_tick(info.clock)},
            {"machine_share", info.process.machine_share},
            {"dropped", info.dropped}};
}

Json settings_json(const ExportOptions& options) {
    const score::Settings& settings = options.settings;
    const score::Selection& selection = settings.selection;
    const auto time = [](const std::optional<double>& ns) { return ns ? Json(*ns) : Json(nullptr); };
    return {{"rules", options.rules.empty() ? Json(nullptr) : Json(options.rules)},
            {"key", settings.given.keys},
            {"no_key", settings.given.no_keys},
            {"split_by_context", settings.given.split_by_context},
            {"ignore", settings.given.ignore},
            {"deep_keys", settings.sequences.deep_keys},
            {"fold_loops", settings.sequences.fold_loops},
            {"since_ns", time(selection.since_ns)},
            {"until_ns", time(selection.until_ns)},
            {"thread", selection.threads},
            {"function", selection.functions}};
}

/// By the number in the column. The last has had a word of its own from the beginning.
Json end_words() {
    Json words = calls::kEndWords;
    words.back() = "unseen";
    return words;
}

Json damage_json(const trace::Damage& damage) {
    return {{"no_index", damage.no_index},
            {"bad_chunks", damage.bad_chunks},
            {"missing_chunks", damage.missing_chunks},
            {"skipped_bytes", damage.skipped_bytes}};
}

}  // namespace

Result<void> write_contents(const Contents& contents, const trace::TraceReader& reader,
                            const ExportOptions& options) {
    const trace::TraceInfo& info = reader.info();
    Tables& tables = contents.tables;
    Json tables_of{{"calls", table_json(tables.calls.rows(), tables.calls.columns())},
                   {"sequences", table_json(tables.sequences.rows(), tables.sequences.columns())}};
    if (tables.off_cpu) tables_of["off_cpu"] = table_json(tables.off_cpu->rows(), tables.off_cpu->columns());
    const Json out{{"format", kFormat},
                   {"version", kVersion},
                   {"trace", run_json(contents, info, options)},
                   {"settings", settings_json(options)},
                   {"damage", damage_json(reader.damage())},
                   {"end", end_words()},
                   {"tables", tables_of},
                   {"threads", threads_json(contents, info)},
                   {"functions", functions_json(contents, info)},
                   {"texts", info.texts},
                   {"objects", objects_json(info)}};
    const std::filesystem::path path = tables.folder.path() / kContentsFile;
    std::ofstream file(path);
    file << printable_json(out.dump(2, ' ', false, Json::error_handler_t::replace)) << '\n';
    file.close();
    if (!file)
        return fail("{}: {}; free some space there, or give another path", path.string(),
                    std::strerror(errno));
    return {};
}

namespace {

namespace fs = std::filesystem;
using Parsed = nlohmann::json;

/// The member, or null: a file of that name may hold anything.
const Parsed& member(const Parsed& object, const char* name) {
    static const Parsed none;
    const auto found = object.find(name);
    return found == object.end() ? none : *found;
}

void add_name(const Parsed& name, std::set<std::string>& files) {
    if (name.is_string()) files.insert(name.get<std::string>());
}

/// The files that an export consists of, relative to its folder.
std::optional<std::set<std::string>> files_of_export(const fs::path& contents) {
    std::error_code error;
    if (fs::symlink_status(contents, error).type() != fs::file_type::regular) return std::nullopt;
    std::ifstream stream(contents);
    const Parsed json = Parsed::parse(stream, nullptr, false);
    if (member(json, "format") != kFormat) return std::nullopt;
    std::set<std::string> files{kContentsFile};
    for (const Parsed& table : member(json, "tables")) {
        for (const Parsed& file : member(table, "columns"))
            add_name(file, files);
    }
    for (const Parsed& function : member(json, "functions")) {
        for (const Parsed& column : member(member(function, "values"), "columns"))
            add_name(member(column, "file"), files);
    }
    return files;
}

bool is_expected(const fs::directory_entry& entry, const std::string& name,
                 const std::set<std::string>& files) {
    std::error_code error;
    const fs::file_type type = entry.symlink_status(error).type();
    if (type == fs::file_type::regular) return files.contains(name);
    return type == fs::file_type::directory && std::ranges::find(kFolders, name) != kFolders.end();
}

}  // namespace

Result<void> check_only_columns(const std::string& folder) {
    const auto files = files_of_export(fs::path{folder} / kContentsFile);
    if (!files)
        return fail("{}: is not a directory of columns, and is not replaced; give another path", folder);
    std::error_code error;
    for (fs::recursive_directory_iterator entry{folder, error}, end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().lexically_relative(folder).generic_string();
        if (!is_expected(*entry, name, *files))
            return fail(
                "{}: {} does not belong to the export there, and would be lost: move it away, or give "
                "another path",
                folder, name);
    }
    if (error) return fail("{}: cannot be read: {}; give another path", folder, error.message());
    return {};
}

}  // namespace rdam::columns
