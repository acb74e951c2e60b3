// Says of each call of a wrapped function, before it, what it passes.
import core.stdc.stdio;

struct Pair { int whole; double part; }
struct Big { long a, b, c, d; }
enum Colour : short { red, green, blue }

__gshared long sum;
__gshared int global = 5;

class Shape {
    int base;
    this(int value) { base = value; }
    pragma(inline, false) final int area(int n, double f, string name) {
        sum += base + n + cast(long) f + name.length;
        return base;
    }
}

// Integers, floating-point numbers, a structure, a slice and a text between each other, and more than there are registers.
pragma(inline, false) int mixed(int n, double f, string text, Pair pair, short last, float g, byte small, bool flag, int[] list,
                                Colour colour, ulong far) {
    sum += n + cast(long) f + text.length + pair.whole + last + cast(long) g + small + flag + list.length + colour + far;
    if (n <= 0) return last;
    const ulong further = far + sum % 3;
    printf("CALL mixed n=%d f=%.17g last=%d g=%.9g small=%d flag=%d colour=%d far=%llu\n", n - 1, f * 1.5, last + 1, g / 2, small - 1, !flag,
           (colour + 1) % 3, further);
    return mixed(n - 1, f * 1.5, text, pair, cast(short)(last + 1), g / 2, cast(byte)(small - 1), !flag, list,
                 cast(Colour)((colour + 1) % 3), further) + 1;
}

// The result is in memory, whose address comes first; two parameters are changed at once.
pragma(inline, false) Big makes(int n, ref int changed, int* pointer, long other) {
    n = n + cast(int) other;
    other = n;
    changed += n;
    return Big(n, *pointer, other, 4);
}

pragma(inline, false) int takes_big(Big big, int n, Pair pair, int last) {
    sum += big.a + n + pair.whole;
    return last;
}

pragma(inline, false) int unused(int n, double f, int last) { return cast(int) sum; }

int encloses(int k) {
    pragma(inline, false) int nested(int a, double d) {
        sum += k;
        return a + k + cast(int) d;
    }
    printf("CALL nested a=%d d=%.17g\n", k * 2, 1.5);
    return nested(k * 2, 1.5);
}

extern (C) pragma(inline, false) int plain(int a, double b, int c) { return a + cast(int) b + c; }

void main(string[] arguments) {
    const int n = cast(int) arguments.length;
    auto shape = new Shape(n + 3);
    int[] list = [1, 2, 3];
    printf("CALL mixed n=%d f=%.17g last=%d g=%.9g small=%d flag=%d colour=%d far=%llu\n", n + 4, 1.25, -7, 2.5, -3, 1, 1, 1UL << 63);
    sum += mixed(n + 4, 1.25, "abc", Pair(n, 2), -7, 2.5f, -3, true, list, Colour.green, 1UL << 63);
    foreach (i; 0 .. 4) {
        int changed = i;
        printf("CALL makes n=%d changed=%p pointer=%p other=%lld\n", n + i, &changed, &global, 99L - i);
        Big big = makes(n + i, changed, &global, 99 - i);
        printf("CALL takes_big n=%d last=%d\n", i, changed);
        sum += takes_big(big, i, Pair(n, 2.5), changed);
        printf("CALL unused n=%d f=%.17g last=%d\n", i, i * 0.5, changed);
        sum += unused(i, i * 0.5, changed);
        printf("CALL area this=%p n=%d f=%.17g\n", cast(void*) shape, i, i * 0.25);
        sum += shape.area(i, i * 0.25, "square");
        printf("CALL plain a=%d b=%.17g c=%d\n", i, i * 1.5, n);
        sum += plain(i, i * 1.5, n);
        sum += encloses(n + i);
    }
    printf("%lld\n", sum);
}
