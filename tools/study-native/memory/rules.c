#include "tools/study-native/memory/rules.h"

#include <stdio.h>
#include <string.h>

struct text {
    const char* begin;
    const char* end;
};

static size_t size_of(struct text text) {
    return (size_t)(text.end - text.begin);
}

static bool equals(struct text text, const char* word) {
    return size_of(text) == strlen(word) && memcmp(text.begin, word, size_of(text)) == 0;
}

static bool takes_prefix(struct text* text, const char* prefix) {
    const size_t size = strlen(prefix);
    if (size_of(*text) < size || memcmp(text->begin, prefix, size) != 0) return false;
    text->begin += size;
    return true;
}

/* Takes the digits at the beginning. */
static bool take_number(struct text* text, uint64_t most, uint64_t* number) {
    const char* const begin = text->begin;
    *number = 0;
    while (text->begin < text->end && *text->begin >= '0' && *text->begin <= '9') {
        const uint64_t digit = (uint64_t)(*text->begin++ - '0');
        if (*number > (most - digit) / 10) return false;
        *number = *number * 10 + digit;
    }
    return text->begin > begin;
}

static bool parse_bytes(struct text text, uint64_t* bytes) {
    static const char units[] = "KMG";
    if (!take_number(&text, UINT64_MAX >> 30, bytes)) return false;
    if (text.begin == text.end) return true;
    const char* const unit = memchr(units, *text.begin, sizeof units - 1);
    if (unit == NULL || size_of(text) != 1) return false;
    *bytes <<= 10 * (unit - units + 1);
    return true;
}

/* FROM..TO; an end that is left out stays as it is. */
static bool parse_range(struct text text, uint64_t* first, uint64_t* last) {
    const char* dots = memmem(text.begin, size_of(text), "..", 2);
    if (dots == NULL) return false;
    const struct text from = {text.begin, dots};
    const struct text to = {dots + 2, text.end};
    return (size_of(from) > 0 || size_of(to) > 0) && (size_of(from) == 0 || parse_bytes(from, first)) &&
           (size_of(to) == 0 || parse_bytes(to, last));
}

static bool parse_size(struct text text, struct MemoryRule* rule) {
    rule->subject = rule_size;
    rule->least = whole_page;
    rule->most = UINT64_MAX;
    return parse_range(text, &rule->least, &rule->most) && rule->least >= whole_page &&
           rule->least <= rule->most;
}

/* Takes NAME[FROM..TO] apart. */
static bool take_part(struct text* text, struct MemoryRule* rule) {
    const char* const bracket = memchr(text->begin, '[', size_of(*text));
    if (bracket == NULL || text->end[-1] != ']') return false;
    rule->is_of_part = true;
    rule->to = UINT64_MAX;
    if (!parse_range((struct text){bracket + 1, text->end - 1}, &rule->from, &rule->to)) return false;
    text->end = bracket;
    return rule->from < rule->to;
}

static bool parse_name(struct text text, struct MemoryRule* rule) {
    if (size_of(text) == 0 || size_of(text) > most_rule_name) return false;
    for (const char* at = text.begin; at < text.end; at++)
        if ((unsigned char)*at <= ' ' || *at == 0x7f || *at == '[' || *at == ']') return false;
    memcpy(rule->name, text.begin, size_of(text));
    rule->name[size_of(text)] = '\0';
    return true;
}

static bool parse_what(struct text text, struct MemoryRule* rule) {
    if (parse_size(text, rule)) return true;
    if (memmem(text.begin, size_of(text), "..", 2) != NULL && !take_part(&text, rule)) return false;
    rule->subject = takes_prefix(&text, "@") ? rule_function : rule_variable;
    rule->least = rule->subject == rule_variable ? 1 : large_area;
    rule->most = UINT64_MAX;
    return parse_name(text, rule) && (rule->subject == rule_variable || !rule->is_of_part);
}

static bool parse_nodes(struct text text, struct MemoryRule* rule) {
    do {
        uint64_t node = 0;
        if (rule->node_count == most_bound_nodes || !take_number(&text, highest_node, &node)) return false;
        for (unsigned i = 0; i < rule->node_count; i++)
            if (rule->nodes[i] == node) return false;
        rule->nodes[rule->node_count++] = (uint16_t)node;
    } while (takes_prefix(&text, "+"));
    return text.begin == text.end;
}

static bool parse_policy(struct text text, struct MemoryRule* rule) {
    static const struct {
        const char* word;
        enum PagePolicy policy;
    } words[] = {{"first-touch", page_first_touch}, {"local", page_first_touch},
                 {"interleave", page_interleave},   {"bind_block", page_bind_block},
                 {"cyclic", page_cyclic},           {"skew_mapp", page_skew_mapp},
                 {"prime_mapp", page_prime_mapp},   {"random", page_random}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!equals(text, words[i].word)) continue;
        rule->policy = words[i].policy;
        return true;
    }
    rule->policy = page_bind;
    return takes_prefix(&text, "bind:") && parse_nodes(text, rule);
}

static bool parse_rule(struct text text, struct MemoryRule* rule) {
    memset(rule, 0, sizeof *rule);
    rule->subject = rule_any;
    rule->least = large_area;
    rule->most = UINT64_MAX;
    const char* const equals_sign = memrchr(text.begin, '=', size_of(text));
    if (equals_sign != NULL) {
        if (!parse_what((struct text){text.begin, equals_sign}, rule)) return false;
        text.begin = equals_sign + 1;
    }
    return parse_policy(text, rule);
}

bool parse_memory_rules(const char* text, struct MemoryRules* rules, const char** wrong) {
    rules->count = 0;
    for (;;) {
        const char* const end = text + strcspn(text, ",");
        *wrong = text;
        if (rules->count == most_rules) return false;
        if (!parse_rule((struct text){text, end}, &rules->rules[rules->count++])) return false;
        if (*end == '\0') return true;
        text = end + 1;
    }
}

/* `grid::u` as the Itanium ABI of C++ has it: 4grid1u. False if it would be too long. */
static bool mangle(const char* name, char* mangled, size_t room, unsigned* parts) {
    size_t used = 0;
    *parts = 0;
    for (;;) {
        const char* const colons = strstr(name, "::");
        const int size = (int)(colons != NULL ? (size_t)(colons - name) : strlen(name));
        const int written = snprintf(mangled + used, room - used, "%d%.*s", size, size, name);
        if (size == 0 || written < 0 || (size_t)written >= room - used) return false;
        used += (size_t)written;
        ++*parts;
        if (colons == NULL) return true;
        name = colons + 2;
    }
}

/* What follows `prefix` in the text, or NULL. */
static const char* behind(const char* text, const char* prefix) {
    const size_t size = strlen(prefix);
    return strncmp(text, prefix, size) == 0 ? text + size : NULL;
}

static bool is_mangled_symbol_of(const char* symbol, const char* name) {
    char mangled[2 * most_rule_name + 8];
    unsigned parts = 0;
    if (!mangle(name, mangled, sizeof mangled, &parts)) return false;
    if (parts == 1) {
        const char* const prefixes[] = {"_Z", "_ZL"};
        for (int i = 0; i < 2; i++) {
            const char* const rest = behind(symbol, prefixes[i]);
            if (rest != NULL && behind(rest, mangled) != NULL) return true;
        }
        const char* rest = behind(symbol, "_ZN12_GLOBAL__N_1"); /* a namespace without a name */
        return rest != NULL && (rest = behind(rest, mangled)) != NULL && *rest == 'E';
    }
    const char* const prefixes[] = {"_ZN", "_ZNK", "_ZNL"};
    for (int i = 0; i < 3; i++) {
        const char* rest = behind(symbol, prefixes[i]);
        if (rest != NULL && (rest = behind(rest, mangled)) != NULL && *rest == 'E') return true;
    }
    return false;
}

/* `u` of Fortran's module `m`: __m_MOD_u. */
static bool is_module_symbol_of(const char* symbol, const char* name) {
    const char* const rest = behind(symbol, "__") != NULL ? strstr(symbol, "_MOD_") : NULL;
    return rest != NULL && strcmp(rest + strlen("_MOD_"), name) == 0;
}

bool is_symbol_of(const char* symbol, const char* name) {
    const char* const rest = behind(symbol, name);
    if (rest != NULL && (*rest == '\0' || *rest == '.' || strcmp(rest, "_") == 0)) return true;
    if (symbol[0] != '_') return false;
    return is_module_symbol_of(symbol, name) || is_mangled_symbol_of(symbol, name);
}

static bool fits(const struct MemoryRule* rule, unsigned number, const struct MemoryArea* area) {
    if (area->bytes < rule->least || area->bytes > rule->most) return false;
    switch (rule->subject) {
        case rule_any:
        case rule_size:
            return true;
        case rule_variable:
            return area->variable != NULL && !rule->is_of_part && is_symbol_of(area->variable, rule->name);
        case rule_function:
            return (area->functions >> number & 1) != 0;
    }
    return false;
}

const struct MemoryRule* rule_of_area(const struct MemoryRules* rules, const struct MemoryArea* area) {
    for (unsigned i = 0; i < rules->count; i++)
        if (fits(&rules->rules[i], i, area)) return &rules->rules[i];
    return NULL;
}

uint64_t least_allocation(const struct MemoryRules* rules) {
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < rules->count; i++)
        if (rules->rules[i].subject != rule_variable && rules->rules[i].least < least)
            least = rules->rules[i].least;
    return least;
}
