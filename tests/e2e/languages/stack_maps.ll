; Functions with and without stack maps, as a runtime's compiler would ask for them.
target triple = "x86_64-pc-linux-gnu"
declare void @llvm.experimental.stackmap(i64, i32, ...)

define i32 @mapped(i32 %x) noinline {
  call void (i64, i32, ...) @llvm.experimental.stackmap(i64 7, i32 0, i32 %x)
  %y = mul i32 %x, 3
  ret i32 %y
}

define i32 @mapped_twice(i32 %x) noinline {
  call void (i64, i32, ...) @llvm.experimental.stackmap(i64 8, i32 0, i32 %x)
  call void (i64, i32, ...) @llvm.experimental.stackmap(i64 9, i32 0, i32 5)
  %y = add i32 %x, 3
  ret i32 %y
}

define i32 @plain(i32 %x) noinline {
  %y = add i32 %x, 4
  ret i32 %y
}

define i32 @main() {
  %a = call i32 @mapped(i32 5)
  %b = call i32 @mapped_twice(i32 %a)
  %c = call i32 @plain(i32 %b)
  ret i32 %c
}
