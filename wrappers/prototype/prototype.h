// What a function takes and returns, in the terms of the calling convention.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wrappers/catalogue/catalogue.h"
#include "wrappers/prototype/calling_convention.h"

namespace rdam {

/// A value that a trace can show: a number, a pointer, a truth value. Structures are none.
struct ScalarType {
    ValueKind kind = ValueKind::unsigned_integer;
    std::uint8_t size = 8;  ///< bytes, at most 8
};

struct PrototypeParameter {
    std::string name;  ///< empty: not known
    std::string type;  ///< as in the source; empty: not known
    PassedAs passed;
    std::optional<ScalarType> scalar;
    bool unproven = false;  ///< nothing says that it is there when the function is entered: no value is known
};

struct PrototypeResult {
    enum class Where : std::uint8_t {
        nowhere,  ///< void, or a kind that is not recorded (structures in registers, x87, vectors)
        rax,
        xmm0,
        hidden_pointer,  ///< in memory whose address the caller passes as the first integer argument
    };
    Where where = Where::nowhere;
    std::string type;
    std::optional<ScalarType> scalar;
};

struct Prototype {
    std::vector<PrototypeParameter> parameters;  ///< in the order in which they are passed
    PrototypeResult result;
    bool variadic = false;
    bool stack_unproven = false;  ///< how much the caller passes on the stack may differ
    /// Empty: the layout is certain. Else why it is not ("K&R definition", "a 32-byte vector"): nothing may
    /// be derived from the parameters then.
    std::string doubt;
};

/// A catalogue's description in the same terms. Never doubtful.
Prototype prototype_of(const CatalogueFunction& function);

}  // namespace rdam
