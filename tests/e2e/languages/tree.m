#import <Foundation/Foundation.h>
static int calls = 0;
@interface Odd : NSException @end
@implementation Odd @end
@interface Node : NSObject { @public Node *l, *r; int v; NSString *s; } - (Node *)insert:(int)x; - (long)total; @end
@implementation Node
- (Node *)insert:(int)x { calls++; Node **p = x < v ? &l : &r; if (x == v) return self; if (*p == nil) { calls++; Node *n = [Node new]; n->v = x; n->s = [[NSString alloc] initWithFormat: @"%d", x]; *p = n; } else [*p insert: x]; return self; }
- (long)total { return [l total] + v + [s length] + [r total]; }
- (void)dealloc { [l release]; [r release]; [s release]; [super dealloc]; }
@end
static int __attribute__((noinline)) odd(int i) { if (i & 1) @throw [Odd exceptionWithName: @"odd" reason: @"x" userInfo: nil]; return i; }
static int __attribute__((noinline)) deep(int n) { return n == 0 ? 0 : 1 + deep(n - 1) + (int)([[NSString stringWithFormat: @"%d", n] length] > 99); }
@interface W : NSObject @end
@implementation W
- (void)run:(NSMutableArray *)a { NSAutoreleasePool *p = [NSAutoreleasePool new]; for (int i = 0; i < 1000; i++) @synchronized (a) { [a addObject: [NSNumber numberWithInt: i]]; } [p release]; }
@end
int main(void) {
  NSAutoreleasePool *pool = [NSAutoreleasePool new];
  Node *root = [Node new]; root->v = 500000; long state = 12345; int caught = 0;
  for (int i = 0; i < 10000; i++) { state = (state * 1103515245 + 12345) & 0x3fffffff; [root insert: (int)(state >> 10)]; }
  for (int i = 0; i < 2000; i++) { @try { odd(i); } @catch (Odd *e) { caught++; } @finally { state++; } }
  NSMutableArray *a = [NSMutableArray array]; W *w = [W new];
  for (int k = 0; k < 3; k++) [NSThread detachNewThreadSelector: @selector(run:) toTarget: w withObject: a];
  for (;;) { @synchronized (a) { if ([a count] == 3000) break; } [NSThread sleepForTimeInterval: 0.001]; }
  printf("%ld %d %d %d %d\n", [root total], calls, caught, deep(5000), (int)[a count]);
  [pool release]; return 0;
}
