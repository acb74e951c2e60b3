#include "wrappers/eztrace/prelude.h"

namespace rdam {

std::string_view eztrace_prelude() {
    return R"(/* What EZTrace's FUNCTION_ENTRY lacks: arguments. Its FUNCTION_ENTRY_WITH_ARGS cuts off what comes after the
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
}

}  // namespace rdam
