const std = @import("std");
const c = struct { extern "c" fn printf(f: [*:0]const u8, ...) c_int; };
var calls: u64 = 0;
const Node = struct { l: ?*Node = null, r: ?*Node = null, v: i64 };
noinline fn insert(a: std.mem.Allocator, n: ?*Node, v: i64) error{OutOfMemory}!*Node {
    calls += 1;
    const t = n orelse {
        const new = try a.create(Node);
        new.* = .{ .v = v };
        return new;
    };
    if (v < t.v) { t.l = try insert(a, t.l, v); } else if (v > t.v) { t.r = try insert(a, t.r, v); }
    return t;
}
noinline fn total(n: ?*Node) i64 { return if (n) |t| total(t.l) + t.v + total(t.r) else 0; }
const Bad = error{Odd};
noinline fn odd(i: u32) Bad!u32 { if (i % 2 == 1) return error.Odd; return i; }
noinline fn deep(n: u32) u32 { if (n == 0) return 0; const r = deep(n - 1); std.mem.doNotOptimizeAway(r); return r + 1; }
noinline fn work(k: u32, out: *u64) void { var s: u64 = 0; var i: u32 = 0; while (i < 100000) : (i += 1) { s +%= i * k; std.mem.doNotOptimizeAway(s); } out.* = s; }
noinline fn wide(x: u128, y: f64, z: @Vector(4, f32)) u128 { return x *% 3 + @as(u128, @intFromFloat(y)) + @as(u128, @intFromFloat(@reduce(.Add, z))); }
pub fn main() !void {
    const a = std.heap.c_allocator;
    var root: ?*Node = null;
    var state: i64 = 12345;
    var i: u32 = 0;
    while (i < 20000) : (i += 1) { state = (state * 1103515245 + 12345) & 0x3fffffff; root = try insert(a, root, state >> 10); }
    var caught: u32 = 0;
    i = 0;
    while (i < 2000) : (i += 1) { _ = odd(i) catch { caught += 1; }; }
    var outs: [3]u64 = .{ 0, 0, 0 };
    var ts: [3]std.Thread = undefined;
    for (&ts, 0..) |*t, k| t.* = try std.Thread.spawn(.{}, work, .{ @as(u32, @intCast(k + 1)), &outs[k] });
    for (ts) |t| t.join();
    var w: u128 = 1;
    i = 0;
    while (i < 1000) : (i += 1) w = wide(w, 2.5, .{ 1, 2, 3, 4 });
    _ = c.printf("%lld %llu %u %u %llu %llu\n", total(root), calls, caught, deep(10000), outs[0] + outs[1] + outs[2], @as(u64, @truncate(w)));
}
