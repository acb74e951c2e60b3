// The functions whose calls probe_cost times. They do nothing: what a call costs more under a recorder is the
// recorder's. Each begins with room for a call instruction (five bytes of nops), which `uftrace record -P`
// asks for; so all tools wrap the same code.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

void empty_call(void);                                   // described by debug information: no parameters
void empty_call_ints(int first, int second, int third);  // described: three parameters to record
void empty_call_undescribed(void);                       // without debug information
void empty_call_shared(void);                            // in a shared library, called through the PLT

#ifdef __cplusplus
}
#endif
