import std.stdio;
int calls, thrown;
extern (C) int fib(int n) { calls++; return n < 2 ? n : fib(n - 1) * 3 ^ fib(n - 2) * 5; }
extern (C) int thrower(int n) { if (n % 2) throw new Exception("odd"); return n; }
void main() {
    string[] texts;
    foreach (i; 0 .. 1000) {
        try texts ~= [cast(char)(97 + thrower(i) % 26)].idup;
        catch (Exception) thrown++;
    }
    writeln(fib(15), " ", calls, " ", thrown, " ", texts.length);
}
