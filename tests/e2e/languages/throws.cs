using System;
using System.Collections.Generic;
class Throws {
    static long calls;
    static int Thrower(int i) { calls++; if (i % 2 == 1) throw new Exception("odd"); return i; }
    static int Catcher(int i) { try { return Thrower(i); } catch (Exception e) { return e.Message.Length; } }
    static void Main(string[] arguments) {
        long sum = 0;
        var seen = new Dictionary<string, int>();
        for (int i = 0; i < int.Parse(arguments[0]); i++) { sum += Catcher(i); seen[(i % 100).ToString()] = i; }
        Console.WriteLine(sum + " " + seen.Count + " " + calls);
    }
}
