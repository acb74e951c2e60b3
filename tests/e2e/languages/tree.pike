int calls = 0;
mapping insert(mapping|int n, int v) { calls++; if (!n) return (["v":v, "s":(string)v]); if (v < n->v) n->l = insert(n->l, v); else if (v > n->v) n->r = insert(n->r, v); return n; }
int total(mapping|int n) { return n ? total(n->l) + n->v + sizeof(n->s) + total(n->r) : 0; }
int odd(int i) { if (i & 1) error("odd\n"); return i; }
int deep(int n) { return n == 0 ? 0 : 1 + deep(n - 1); }
int main() { mapping|int root = 0; int state = 12345, caught = 0; for (int i = 0; i < 3000; i++) { state = (state * 1103515245 + 12345) & 0x3fffffff; root = insert(root, state >> 10); if (i % 500 == 0) gc(); }
 for (int i = 0; i < 1000; i++) { if (catch { odd(i); }) caught++; }
 for (int i = 0; i < 100; i++) { if (catch { sort(map(({3, i}), odd)); }) caught++; }
 array(Thread.Thread) ts = map(({1, 2, 3}), lambda(int k) { return Thread.Thread(lambda() { int s; for (int i = 0; i < 10000; i++) s += i * k; return s; }); });
 write("%d %d %d %d %d\n", total(root), calls, caught, deep(3000), `+(@ts->wait())); return 0; }
