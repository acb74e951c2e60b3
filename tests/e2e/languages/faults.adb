--  Accesses and divisions that fail at a function's first instructions: the checks are signals.
with Ada.Text_IO; use Ada.Text_IO;
procedure Faults is
   type Int_Ptr is access all Integer;
   package Work is
      function First (P : Int_Ptr) return Integer with No_Inline;
      function Own (P : Int_Ptr) return Integer with No_Inline;
      function Others_Only (P : Int_Ptr) return Integer with No_Inline;
      function Divides (A, B : Integer) return Integer with No_Inline;
   end Work;
   package body Work is
      pragma Suppress (All_Checks);
      function First (P : Int_Ptr) return Integer is
      begin
         return P.all * 3 + 1;
      end First;
      function Own (P : Int_Ptr) return Integer is
      begin
         return P.all;
      exception
         when Program_Error => return -3;
         when Storage_Error | Constraint_Error => return -1;
      end Own;
      function Others_Only (P : Int_Ptr) return Integer is
      begin
         return P.all;
      exception
         when others => return -2;
      end Others_Only;
      function Divides (A, B : Integer) return Integer is
      begin
         return A / B;
      exception
         when Constraint_Error => return -5;
      end Divides;
   end Work;
   X : aliased Integer := 7;
   Caught, Sum : Integer := 0;
   P : Int_Ptr;
begin
   for I in 1 .. 300 loop
      P := (if I mod 3 = 0 then null else X'Unchecked_Access);
      begin
         Sum := Sum + Work.First (P);
      exception
         when Storage_Error | Constraint_Error => Caught := Caught + 1;
      end;
      Sum := Sum + Work.Own (P) + Work.Others_Only (P) + Work.Divides (I, I mod 2);
   end loop;
   Put_Line (Integer'Image (300) & Caught'Image & Sum'Image);
end Faults;
