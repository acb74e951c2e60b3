// Another function of the same name as one in leaves.c.
int elsewhere(int);

static int twin(int x) {
    return elsewhere(x) * 2;
}
int (*volatile second_twin)(int) = twin;
