#include "wrappers/hot/eztrace_plugin.h"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/base/name_text.h"
#include "tools/base/printable.h"
#include "wrappers/find/name_query.h"
#include "wrappers/find/object_set.h"
#include "wrappers/hot/eztrace_names.h"
#include "wrappers/hot/hot_functions.h"
#include "wrappers/prototype/dwarf_prototype.h"

namespace rdam {

namespace {

/// C: macros that take the place of EZTrace's FUNCTION_ENTRY and FUNCTION_EXIT. For each wrapped function f
/// they need RDAM_PARAMETERS_libf, `{"name", OTF2_TYPE_…},` for each parameter, and RDAM_VALUES_libf,
/// `{.member = argument},` of an OTF2_AttributeValue.
constexpr std::string_view kPrelude =
    R"(/* What EZTrace's FUNCTION_ENTRY lacks: arguments. Its FUNCTION_ENTRY_WITH_ARGS cuts off what comes after the
 * point, and keeps a list for each call in memory until the program ends. */
#undef INTERCEPT_FUNCTION
#undef FUNCTION_ENTRY
#undef FUNCTION_EXIT

struct rdam_parameter {
  const char* name;
  OTF2_Type type;
  int attribute;
};

struct rdam_function {
  int state; /* 0: not registered, 1: someone is at it, 2: registered */
  int region;
};

static int rdam_is_recording(void) {
  return eztrace_can_trace && EZTRACE_SAFE && !recursion_shield_on();
}

static void rdam_register(const char* name, struct rdam_function* function, struct rdam_parameter* parameters) {
  int unregistered = 0;
  if (!__atomic_compare_exchange_n(&function->state, &unregistered, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
    return;
  function->region = ezt_otf2_register_function(name);
  for (; parameters->name != NULL; ++parameters)
    parameters->attribute = ezt_otf2_register_attribute((char*)parameters->name, parameters->type);
  __atomic_store_n(&function->state, 2, __ATOMIC_RELEASE);
}

/* The region that the caller has to leave; -1: the call is not recorded. */
static int rdam_enter(const char* name, struct rdam_function* function, struct rdam_parameter* parameters,
                      const OTF2_AttributeValue* values) {
  static __thread OTF2_AttributeList* list;
  int region = -1;
  if (!rdam_is_recording()) return region;
  set_recursion_shield_on();
  if (__atomic_load_n(&function->state, __ATOMIC_ACQUIRE) != 2) rdam_register(name, function, parameters);
  if (__atomic_load_n(&function->state, __ATOMIC_ACQUIRE) == 2) {
    if (list == NULL) list = OTF2_AttributeList_New();
    OTF2_AttributeList_RemoveAllAttributes(list);
    for (; parameters->name != NULL; ++parameters, ++values)
      OTF2_AttributeList_AddAttribute(list, parameters->attribute, parameters->type, *values);
    if (OTF2_EvtWriter_Enter(evt_writer, list, ezt_get_timestamp(), function->region) == OTF2_SUCCESS)
      region = function->region;
  }
  set_recursion_shield_off();
  return region;
}

static void rdam_leave(int region) {
  if (region < 0 || !rdam_is_recording()) return;
  const OTF2_TimeStamp now = ezt_get_timestamp();
  set_recursion_shield_on();
  EZT_OTF2_CHECK(OTF2_EvtWriter_Leave(evt_writer, NULL, now, region));
  set_recursion_shield_off();
}

#define INTERCEPT_FUNCTION(name, original)                                             \
  static struct rdam_function rdam_function;                                           \
  static struct rdam_parameter rdam_parameters[] = {RDAM_PARAMETERS_##original {NULL}};\
  const OTF2_AttributeValue rdam_values[] = {RDAM_VALUES_##original {.uint64 = 0}};    \
  if (original == NULL) *(void**)&original = dlsym(RTLD_NEXT, name);                   \
  const int rdam_region = rdam_enter(name, &rdam_function, rdam_parameters, rdam_values)
#define FUNCTION_ENTRY
#define FUNCTION_EXIT rdam_leave(rdam_region)
)";

/// Whether it is a program and no library: libraries that can be run as well have a soname.
bool is_program(const ObjectFile& file) {
    if (file.image().header().e_type == ET_EXEC) return true;
    if (!file.soname().empty()) return false;
    const auto segments = read_segments(file.image());
    return std::ranges::any_of(segments,
                               [](const GElf_Phdr& segment) { return segment.p_type == PT_INTERP; });
}

class PluginMaker {
  public:
    PluginMaker(const HotReport& report, const Catalogue& catalogue)
        : catalogue_(catalogue), request_(request_about(report.objects)), objects_(request_) {
        mpich_ = std::ranges::any_of(report.objects, [](const std::string& path) {
            return file_name_of(path).substr(0, 8) == "libmpich";
        });
    }

    void add(const HotFunction& function) {
        const std::string what =
            fmt::format("{}{}{} ({:.1f} %)", function.module, function.module.empty() ? "" : ":",
                        function.name, function.percent);
        const bool library = function.module.empty() || function.module.find(".so") != std::string::npos;
        if (!function.leaf.empty()) {
            leave_out(what, function.leaf + ": EZTrace cannot sample its calls");
        } else if (!library || !is_recorded_already(function.name, what)) {
            auto added = add_from_objects(function);
            if (!added) leave_out(what, added.error().message);
        }
    }

    /// A function in which the program waits: it is imported from some library.
    void add_wait(const std::string& name) {
        if (is_recorded_already(name, name)) return;
        const CatalogueFunction* known = catalogue_.find(name);
        auto added =
            known == nullptr ? fail("it is not known what it takes") : add_catalogued(*known, "wait");
        if (!added) leave_out(name, added.error().message);
    }

    EztracePlugin finish() {
        // EZTrace 2.0 with Open MPI 4.1.
        if (modules_.count("openmpi") + modules_.count("mpich") > 0 && modules_.erase("pthread") > 0)
            plugin_.left_out.emplace_back(
                "EZTrace's module pthread is not among those to record with, because "
                "programs hang with it and MPI's");
        plugin_.modules.assign(modules_.begin(), modules_.end());
        if (prototypes_.empty()) return std::move(plugin_);
        plugin_.text = fmt::format(
            "BEGIN_MODULE\nNAME {}\nDESC \"what rdam hot found\"\nLANGUAGE C\nBEGIN_CFLAGS\n-O2\n"
            "END_CFLAGS\nBEGIN_INCLUDE\n{}{}END_INCLUDE\n{}END_MODULE\n",
            kEztracePluginName, kPrelude, definitions_, prototypes_);
        return std::move(plugin_);
    }

  private:
    void leave_out(const std::string& what, const std::string& why) {
        plugin_.left_out.push_back(fmt::format("left out of the plug-in: {}: {}", what, why));
    }

    bool is_recorded_already(const std::string& name, const std::string& what) {
        const std::string public_name = well_known_name(name, catalogue_);
        const std::string& known = public_name.empty() ? name : public_name;
        std::string_view module = eztrace_module_of(known);
        if (!module.empty()) {
            if (module == "openmpi" && mpich_) module = "mpich";
            modules_.emplace(module);
            leave_out(what, fmt::format("EZTrace's own module {} records {}", module, known));
        } else if (is_used_by_eztrace(known)) {
            leave_out(what, fmt::format("EZTrace itself calls {}", known));
        }
        return !module.empty() || is_used_by_eztrace(known);
    }

    Result<void> add_from_objects(const HotFunction& function) {
        const NameQuery query(function.name);
        std::string why = request_.objects.empty() ? "its file is not known; give it with --program"
                                                   : "its file cannot be read, or has no such symbol";
        bool any = false;
        for (std::size_t object = 0; object < objects_.size(); ++object) {
            if (!function.module.empty() && !objects_.is_named(object, function.module)) continue;
            const ObjectFile* file = objects_.file(object);
            if (file == nullptr) continue;
            for (const SymbolMatch& match : query.find_in(*file)) {
                auto added = add_symbol(object, *file, file->symbols()[match.symbol], function.percent);
                any = any || added.has_value();
                if (!added) why = added.error().message;
            }
        }
        if (!any) return fail("{}", why);
        return {};
    }

    Result<void> add_symbol(std::size_t object, const ObjectFile& file, const Symbol& symbol,
                            double percent) {
        if (is_program(file))
            return fail(
                "it is in the program itself, and EZTrace wraps what is in shared "
                "libraries; rdam record wraps it");
        const auto at = file.at(symbol.address);
        const auto exported = std::ranges::find_if(at, [](const Symbol& other) {
            return other.exported && other.is_code() && other.binding != SymbolBinding::local;
        });
        if (exported == at.end())
            return fail("{} does not export it, so nothing can be put in its place; rdam record wraps it",
                        objects_.module_name(object));
        const std::string name{symbol.exported ? symbol.name : exported->name};
        if (DwarfFile* dwarf = objects_.dwarf(object)) {
            if (auto described = describe_function(*dwarf, symbol.address, name))
                return add_function(name, described->prototype, catalogue_.find(name) != nullptr,
                                    fmt::format("{:.1f} %, {}", percent, described->declared_at));
        }
        const CatalogueFunction* known = catalogue_.find(name);
        if (known == nullptr)
            return fail("{} has no debug information that says what it takes", objects_.module_name(object));
        return add_catalogued(*known, fmt::format("{:.1f} %", percent));
    }

    Result<void> add_catalogued(const CatalogueFunction& known, const std::string& comment) {
        if (!known.refuse.empty()) return fail("{}", known.refuse);
        return add_function(known.name, prototype_of(known), true, comment);
    }

    Result<void> add_function(const std::string& name, const Prototype& prototype, bool declared,
                              const std::string& comment) {
        const auto function = plugin_function(name, prototype, declared);
        if (!function) return tl::unexpected{function.error()};
        if (!names_.insert(name).second) return {};
        definitions_ += function->definitions;
        prototypes_ += fmt::format("# {}\n{}\n", printable(comment), function->prototype);
        return {};
    }

    const Catalogue& catalogue_;
    const PlanRequest request_;
    ObjectSet objects_;
    bool mpich_ = false;
    std::set<std::string> names_;
    std::set<std::string> modules_;
    std::string definitions_;
    std::string prototypes_;
    EztracePlugin plugin_;
};

}  // namespace

EztracePlugin eztrace_plugin(const HotReport& report, const Catalogue& catalogue) {
    PluginMaker maker(report, catalogue);
    for (const HotFunction& function : report.hot.functions)
        maker.add(function);
    for (const std::string& name : report.waits)
        maker.add_wait(name);
    return maker.finish();
}

namespace {

bool is_c_name(std::string_view name) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !name.empty() && is_letter(name.front()) &&
           std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

/// Text of a program inside of quotation marks, on one line.
std::string in_quotes(std::string_view name) {
    std::string quoted = "\"";
    for (const char c : name) {
        const bool plain = c > ' ' && c <= '~' && c != '"' && c != '\\' && c != '@';
        quoted += plain ? c : '_';
    }
    return quoted + "\"";
}

/// How a value is written in C, and in OTF2.
struct Spelling {
    std::string type;    ///< "int32_t"
    std::string otf2;    ///< "INT32", of OTF2_TYPE_INT32
    std::string member;  ///< of OTF2_AttributeValue
};

Spelling spelling_of(const ScalarType& scalar) {
    const int bits = scalar.size * 8;
    switch (scalar.kind) {
        case ValueKind::pointer:
            return {"void*", "UINT64", "uint64"};
        case ValueKind::boolean:
            return {scalar.size == 1 ? "_Bool" : fmt::format("uint{}_t", bits), fmt::format("UINT{}", bits),
                    fmt::format("uint{}", bits)};
        case ValueKind::floating:
            return scalar.size == 4 ? Spelling{"float", "FLOAT", "float32"}
                                    : Spelling{"double", "DOUBLE", "float64"};
        case ValueKind::signed_integer:
        case ValueKind::enumeration:
            return {fmt::format("int{}_t", bits), fmt::format("INT{}", bits), fmt::format("int{}", bits)};
        case ValueKind::unsigned_integer:
            break;
    }
    return {fmt::format("uint{}_t", bits), fmt::format("UINT{}", bits), fmt::format("uint{}", bits)};
}

/// The type that travels like a parameter of a kind that is not recorded; nothing: there is none so simple.
std::optional<std::string> stand_in(const PassedAs& passed) {
    if (passed.where != PassedAs::Class::registers) return std::nullopt;
    if (passed.integer_registers == 1 && passed.vector_registers == 0) return "uint64_t";
    if (passed.integer_registers == 0 && passed.vector_registers == 1 && passed.size <= 8) return "double";
    return std::nullopt;
}

/// eztrace_create_plugin takes each type with "void" in it for one without a value.
Result<std::string> result_type(const PrototypeResult& result) {
    using Where = PrototypeResult::Where;
    if (result.where == Where::hidden_pointer) return "uintptr_t";
    if (result.where == Where::nowhere && (result.type.empty() || result.type == "void")) return "void";
    if (result.where == Where::nowhere || !result.scalar)
        return fail("returns {} by value, which a plug-in cannot pass on", result.type);
    return result.scalar->kind == ValueKind::pointer ? "uintptr_t" : spelling_of(*result.scalar).type;
}

}  // namespace

Result<PluginFunction> plugin_function(const std::string& linkage_name, const Prototype& prototype,
                                       bool declared) {
    if (!is_c_name(linkage_name)) return fail("its name cannot be written in C");
    if (!prototype.doubt.empty()) return fail("what it takes is not certain: {}", prototype.doubt);
    if (prototype.variadic) return fail("takes a variable number of arguments");
    const auto returned = result_type(prototype.result);
    if (!returned) return tl::unexpected{returned.error()};
    std::vector<std::string> arguments;
    if (prototype.result.where == PrototypeResult::Where::hidden_pointer)
        arguments.emplace_back("void* result");
    std::string parameters;
    std::string values;
    for (std::size_t index = 0; index < prototype.parameters.size(); ++index) {
        const PrototypeParameter& parameter = prototype.parameters[index];
        const std::string argument = fmt::format("a{}", index + 1);
        const std::string name = parameter.name.empty() ? fmt::format("arg{}", index) : parameter.name;
        if (!parameter.scalar) {
            const auto type = stand_in(parameter.passed);
            if (!type) return fail("takes {} by value ({})", parameter.type, name);
            arguments.push_back(fmt::format("{} {}", *type, argument));
            continue;
        }
        const Spelling spelling = spelling_of(*parameter.scalar);
        const bool pointer = parameter.scalar->kind == ValueKind::pointer;
        arguments.push_back(fmt::format("{} {}", spelling.type, argument));
        parameters += fmt::format("{{{}, OTF2_TYPE_{}}}, ", in_quotes(name), spelling.otf2);
        values += fmt::format("{{.{} = {}{}}}, ", spelling.member, pointer ? "(uintptr_t)" : "", argument);
    }
    PluginFunction function;
    function.prototype = fmt::format("{} {}({})", *returned, linkage_name, fmt::join(arguments, ", "));
    function.definitions = fmt::format("#define RDAM_PARAMETERS_lib{0} {1}\n#define RDAM_VALUES_lib{0} {2}\n",
                                       linkage_name, parameters, values);
    if (declared) {
        function.definitions += fmt::format("{0} rdam_{1}({2}) __asm__(\"{1}\");\n#define {1} rdam_{1}\n",
                                            *returned, linkage_name, fmt::join(arguments, ", "));
    }
    return function;
}

}  // namespace rdam
