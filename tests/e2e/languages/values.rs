// Says of each call of a wrapped function, before it, what it passes.
#![allow(dead_code)]
use std::sync::atomic::{AtomicI64, Ordering};

static SUM: AtomicI64 = AtomicI64::new(0);
static GLOBAL: i32 = 5;

fn add(value: i64) {
    SUM.fetch_add(value, Ordering::Relaxed);
}

#[derive(Clone, Copy)]
struct Pair {
    whole: i32,
    part: f64,
}
struct Big {
    a: i64,
    b: i64,
    c: i64,
    d: i64,
}
struct Shape {
    base: i32,
}
enum Either {
    Left(i32),
    Right(f64),
}

impl Shape {
    #[inline(never)]
    fn area(&self, n: i32, f: f64, name: &str) -> i32 {
        add(self.base as i64 + n as i64 + f as i64 + name.len() as i64);
        self.base
    }
}

// Fat pointers and an option in a pointer's niche between integers and floating-point numbers, and more than there are registers.
#[inline(never)]
fn mixed(n: i32, f: f64, text: &str, list: &[i32], maybe: Option<&i32>, pair: Pair, small: i8, flag: bool, g: f32, letter: char, far: u64) -> i64 {
    add(n as i64 + f as i64 + text.len() as i64 + list.len() as i64 + *maybe.unwrap_or(&1) as i64 + pair.whole as i64 + pair.part as i64);
    add(small as i64 + flag as i64 + g as i64 + letter as i64 + (far >> 1) as i64);
    if n <= 0 {
        return small as i64;
    }
    let further = far.wrapping_add(SUM.load(Ordering::Relaxed) as u64 % 3);
    println!("CALL mixed n={} f={} small={} flag={} g={} letter={} far={}", n - 1, f * 1.5, small - 1, !flag as i32, g / 2.0, letter as u32 + 1, further);
    let next = char::from_u32(letter as u32 + 1).unwrap();
    mixed(n - 1, f * 1.5, text, list, maybe, pair, small - 1, !flag, g / 2.0, next, further).wrapping_add(1)
}

// The result is in memory, whose address comes first; a parameter is changed at once.
#[inline(never)]
fn makes(mut n: i32, pointer: &i32, other: i64, big: Big) -> Big {
    n = n.wrapping_add(other as i32);
    add(n as i64);
    Big { a: n as i64, b: *pointer as i64, c: other, d: big.d + 1 }
}

#[inline(never)]
fn either(which: Either, n: i32) -> i32 {
    match which {
        Either::Left(value) => value + n,
        Either::Right(value) => value as i32 + n,
    }
}

#[inline(never)]
fn unused(_n: i32, _f: f64, last: i32) -> i32 {
    add(last as i64);
    last
}

#[no_mangle]
#[inline(never)]
pub extern "C" fn plain(a: i32, b: f64, c: u16) -> i32 {
    a + b as i32 + c as i32
}

#[inline(never)]
fn calls<F: Fn(i32) -> i32>(function: F, n: i32) -> i32 {
    function(n) + function(n + 1)
}

fn main() {
    let n = std::env::args().count() as i32;
    let list = vec![1, 2, 3];
    let shape = Shape { base: n + 3 };
    println!("CALL mixed n={} f={} small={} flag={} g={} letter={} far={}", n + 4, 1.25, -3, 1, 2.5, 'x' as u32, 1u64 << 63);
    add(mixed(n + 4, 1.25, "abc", &list, Some(&GLOBAL), Pair { whole: n, part: 2.0 }, -3, true, 2.5, 'x', 1 << 63));
    for i in 0..4 {
        println!("CALL makes n={} pointer={:p} other={}", n + i, &GLOBAL, 99 - i);
        let big = makes(n + i, &GLOBAL, 99 - i as i64, Big { a: 1, b: 2, c: 3, d: i as i64 });
        add(big.a + big.d);
        println!("CALL either n={}", n - i);
        add(either(if i % 2 == 0 { Either::Left(i) } else { Either::Right(2.5) }, n - i) as i64);
        println!("CALL unused _n={} _f={} last={}", i, i as f64 * 0.5, n + i);
        add(unused(i, i as f64 * 0.5, n + i) as i64);
        println!("CALL area self={:p} n={} f={}", &shape, i, i as f64 * 0.25);
        add(shape.area(i, i as f64 * 0.25, "square") as i64);
        println!("CALL plain a={} b={} c={}", i, i as f64 * 1.5, n);
        add(plain(i, i as f64 * 1.5, n as u16) as i64);
        println!("CALL calls n={}", i + 2);
        add(calls(|x| x + n, i + 2) as i64);
    }
    println!("{}", SUM.load(Ordering::Relaxed));
}
