errordomain Bad { ODD }
class Node : Object { public Node? l; public Node? r; public int v; public string s; public Node (int v) { this.v = v; s = v.to_string (); } }
int calls = 0;
Node insert (Node? n, int v) { calls++; if (n == null) return new Node (v); if (v < n.v) n.l = insert (n.l, v); else if (v > n.v) n.r = insert (n.r, v); return n; }
int64 total (Node? n) { return n == null ? 0 : total (n.l) + n.v + n.s.length + total (n.r); }
int odd (int i) throws Bad { if (i % 2 == 1) throw new Bad.ODD ("odd %d", i); return i; }
async int wait_for (int ms) { int s = 0; for (int i = 0; i < 5; i++) { Idle.add (wait_for.callback); yield; s += i * ms; } return s; }
void main () {
  Node? root = null; int64 state = 12345; int caught = 0;
  for (int i = 0; i < 10000; i++) { state = (state * 1103515245 + 12345) & 0x3fffffff; root = insert (root, (int) (state >> 10)); }
  for (int i = 0; i < 2000; i++) { try { odd (i); } catch (Bad e) { caught++; } }
  var t = new Thread<int> ("w", () => { int s = 0; for (int i = 0; i < 1000; i++) s += i.to_string ().length; return s; });
  int sum = 0, left = 10; var loop = new MainLoop ();
  for (int k = 0; k < 10; k++) wait_for.begin (k, (o, r) => { sum += wait_for.end (r); if (--left == 0) loop.quit (); });
  loop.run ();
  print ("%lld %d %d %d %d\n", total (root), calls, caught, t.join (), sum);
}
