insert(leaf, V, node(leaf, V, S, leaf)) :- number_codes(V, S).
insert(node(L, Y, S, R), V, T) :- V < Y, !, insert(L, V, L1), T = node(L1, Y, S, R).
insert(node(L, Y, S, R), V, T) :- V > Y, !, insert(R, V, R1), T = node(L, Y, S, R1).
insert(T, _, T).
total(leaf, 0).
total(node(L, Y, S, R), N) :- total(L, A), total(R, B), length(S, C), N is A + B + C + Y.
build(0, _, T, T) :- !.
build(N, S, T0, T) :- S1 is (S * 1103515245 + 12345) /\ 0x3fffffff, V is S1 // 1024, insert(T0, V, T1), N1 is N - 1,
    ( 0 is N mod 1000 -> gc ; true ), build(N1, S1, T1, T).
odd(N) :- 1 is N mod 2, !, throw(odd(N)).
odd(_).
catches(0, C, C) :- !.
catches(N, C0, C) :- catch((odd(N), C1 = C0), odd(_), C1 is C0 + 1), N1 is N - 1, catches(N1, C1, C).
deep(0, 0) :- !.
deep(N, M) :- N1 is N - 1, deep(N1, M1), M is M1 + 1.
gc.
main :- build(5000, 12345, leaf, T), total(T, N), catches(2000, 0, C), deep(5000, D), findall(X, between(1, 1000, X), Xs), sum_list(Xs, F), write([N, C, D, F]), nl, halt.
:- initialization(main).
