-module(fib).
-export([main/0]).
fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).
main() ->
    Caught = length([x || I <- lists:seq(1, 1000), (catch (case I rem 2 of 1 -> throw(odd); 0 -> I end)) == odd]),
    io:format("~p ~p~n", [fib(18), Caught]),
    halt(0).
