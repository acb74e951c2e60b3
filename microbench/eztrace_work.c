/* In a library, because EZTrace wraps nothing else. */
static volatile unsigned long g_sink;

/* Always the same work: a chain in which each step needs the one before. */
void constant_work(long steps) {
    unsigned long value = 1;
    for (long step = 0; step < steps; ++step)
        value = value * 6364136223846793005UL + 1442695040888963407UL;
    g_sink = value;
}
