with Ada.Text_IO; use Ada.Text_IO;
procedure Fib is
   Calls : Integer := 0;
   Odd   : exception;
   function Number (N : Integer) return Integer is
   begin
      Calls := Calls + 1;
      if N < 2 then return N; else return Number (N - 1) + Number (N - 2); end if;
   end Number;
   function Thrower (N : Integer) return Integer is
   begin
      if N mod 2 = 1 then raise Odd; end if;
      return N;
   end Thrower;
   pragma No_Inline (Thrower);
   Sum : Integer := 0;
begin
   for I in 1 .. 1000 loop
      begin
         Sum := Sum + Thrower (I);
      exception
         when Odd => Sum := Sum + 1;
      end;
   end loop;
   Put_Line (Integer'Image (Number (15)) & Integer'Image (Calls) & Integer'Image (Sum));
end Fib;
