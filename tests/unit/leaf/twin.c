// Another function of the same name as one in leaves.c.
int elsewhere(int);

static int twin(int x) {
    for (volatile int i = 0; i < 3; ++i)
        x = elsewhere(x);
    return x;
}
int (*volatile second_twin)(int) = twin;
