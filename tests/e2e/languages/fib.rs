use std::sync::atomic::{AtomicU64, Ordering};
static CALLS: AtomicU64 = AtomicU64::new(0);
#[no_mangle]
#[inline(never)]
pub extern "C" fn fib(n: u64) -> u64 {
    CALLS.fetch_add(1, Ordering::Relaxed);
    if n < 2 { n } else { fib(n - 1).wrapping_mul(3) ^ fib(n - 2).wrapping_mul(5) }
}
fn main() {
    let texts: Vec<String> = (0..1000).map(|i| i.to_string()).collect();
    println!("{} {} {}", fib(15), CALLS.load(Ordering::Relaxed), texts.concat().len());
}
