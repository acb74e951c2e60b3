#include "tools/study-native/memory/symbols.h"

#include <elf.h>
#include <string.h>

struct bytes {
    const unsigned char* begin;
    uint64_t size;
};

/* A part of the file; empty where it is not all there. */
static struct bytes part(struct bytes file, uint64_t offset, uint64_t size) {
    const struct bytes none = {NULL, 0};
    if (offset > file.size || size > file.size - offset) return none;
    return (struct bytes){file.begin + offset, size};
}

static bool read_part(struct bytes file, uint64_t offset, void* into, uint64_t size) {
    const struct bytes found = part(file, offset, size);
    if (found.size != size) return false;
    memcpy(into, found.begin, size);
    return true;
}

static bool read_section(struct bytes file, const Elf64_Ehdr* head, uint64_t number, Elf64_Shdr* section) {
    return number < head->e_shnum && head->e_shentsize == sizeof *section && head->e_shoff < file.size &&
           read_part(file, head->e_shoff + number * sizeof *section, section, sizeof *section);
}

enum {
    longest_name = 4096
}; /* with its end; else a file could have the same bytes looked through for each symbol */

/* The name, if it ends inside the table. */
static const char* name_in(struct bytes strings, uint64_t offset) {
    if (offset >= strings.size) return NULL;
    const char* const name = (const char*)strings.begin + offset;
    const uint64_t room = strings.size - offset < longest_name ? strings.size - offset : longest_name;
    return memchr(name, '\0', room) != NULL ? name : NULL;
}

static bool is_taken(const Elf64_Sym* symbol) {
    const unsigned type = ELF64_ST_TYPE(symbol->st_info);
    return (type == STT_OBJECT || type == STT_FUNC || type == STT_GNU_IFUNC) &&
           symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS && symbol->st_shndx != SHN_COMMON &&
           symbol->st_size > 0 && symbol->st_value <= UINT64_MAX - symbol->st_size;
}

static bool read_table(struct bytes file, const Elf64_Ehdr* head, uint32_t kind,
                       void (*take)(void*, const struct ObjectSymbol*), void* data) {
    for (unsigned number = 0; number < head->e_shnum; number++) {
        Elf64_Shdr table;
        Elf64_Shdr names;
        if (!read_section(file, head, number, &table)) return false;
        if (table.sh_type != kind || !read_section(file, head, table.sh_link, &names)) continue;
        const struct bytes symbols = part(file, table.sh_offset, table.sh_size);
        const struct bytes strings = part(file, names.sh_offset, names.sh_size);
        if (symbols.size == 0 || strings.size == 0) continue;
        for (uint64_t at = 0; symbols.size - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            memcpy(&symbol, symbols.begin + at, sizeof symbol);
            const char* const name = is_taken(&symbol) ? name_in(strings, symbol.st_name) : NULL;
            if (name == NULL) continue;
            const struct ObjectSymbol found = {name, symbol.st_value, symbol.st_size,
                                               ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT};
            take(data, &found);
        }
        return true;
    }
    return false;
}

enum SymbolTable each_symbol(const void* file, size_t bytes, void (*take)(void*, const struct ObjectSymbol*),
                             void* data) {
    const struct bytes all = {file, bytes};
    Elf64_Ehdr head;
    if (!read_part(all, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB)
        return symbols_none;
    if (read_table(all, &head, SHT_SYMTAB, take, data)) return symbols_all;
    return read_table(all, &head, SHT_DYNSYM, take, data) ? symbols_dynamic : symbols_none;
}
