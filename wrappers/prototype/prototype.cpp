#include "wrappers/prototype/prototype.h"

namespace rdam {
namespace {

PassedAs passed_as(ValueKind kind) {
    PassedAs passed;
    passed.integer_registers = kind == ValueKind::floating ? 0 : 1;
    passed.vector_registers = kind == ValueKind::floating ? 1 : 0;
    return passed;
}

}  // namespace

Prototype prototype_of(const CatalogueFunction& function) {
    Prototype prototype;
    prototype.variadic = function.variadic;
    for (const CatalogueParameter& parameter : function.parameters) {
        prototype.parameters.push_back(
            {parameter.name, {}, passed_as(parameter.kind), ScalarType{parameter.kind, parameter.size}});
    }
    if (function.result) {
        prototype.result.where = function.result->kind == ValueKind::floating ? PrototypeResult::Where::xmm0
                                                                              : PrototypeResult::Where::rax;
        prototype.result.scalar = ScalarType{function.result->kind, function.result->size};
    }
    return prototype;
}

}  // namespace rdam
