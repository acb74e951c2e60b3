#include "tools/agent/plan/inheritance.h"

#include <utility>

#include "tools/base/byte_archive.h"

namespace rdam::trace {

template <class Archive>
void fields(Archive& archive, ParameterInfo& parameter) {
    archive(parameter.name, parameter.kind, parameter.size, parameter.word, parameter.key, parameter.type,
            parameter.is_text, parameter.by_size);
}

/// Not what is found out while it is recorded.
template <class Archive>
void fields(Archive& archive, FunctionInfo& function) {
    archive(function.name, function.linkage_name, function.module, function.source, function.object,
            function.address, function.size, function.enter_words, function.leave_words,
            function.inlined_copies, function.waits, function.busy_waits, function.wait_of, function.wakes,
            function.partner, function.sampled, function.parameters, function.result);
}

template <class Archive>
void fields(Archive& archive, ObjectInfo& object) {
    archive(object.path, object.build_id, object.base, object.end);
}

template <class Archive>
void fields(Archive& archive, AnswerInfo& answer) {
    archive(answer.entry, answer.verdict, answer.function, answer.reason);
}

}  // namespace rdam::trace

namespace rdam::agent {

template <class Archive>
void fields(Archive& archive, KnownFunction& function) {
    archive(function.number, function.info);
}

template <class Archive>
void fields(Archive& archive, AwaitedEntry& awaited) {
    archive(awaited.entry, awaited.module);
}

template <class Archive>
void fields(Archive& archive, Knowledge& knowledge) {
    archive(knowledge.list, knowledge.gone, knowledge.objects, knowledge.functions, knowledge.answers,
            knowledge.awaited, knowledge.remarks);
}

std::vector<std::uint8_t> encode(Knowledge knowledge) {
    ByteWriter writer;
    fields(writer, knowledge);
    return writer.take();
}

std::optional<std::vector<Knowledge>> decode_knowledge(std::span<const std::uint8_t> bytes) {
    std::vector<Knowledge> all;
    ByteReader reader{bytes};
    while (reader.good() && !reader.at_end())
        fields(reader, all.emplace_back());
    if (!reader.good() || all.empty()) return std::nullopt;
    return all;
}

}  // namespace rdam::agent
