// An auditor (LD_AUDIT) that does nothing.
unsigned la_version(unsigned version) {
    return version;
}
