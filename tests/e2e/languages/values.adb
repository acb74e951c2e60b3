--  Says of each call of a wrapped function, before it, what it passes.
with Ada.Command_Line;
with Ada.Text_IO;
procedure Values is
   type Small_Range is range -50 .. 100;
   type Colour is (Red, Green, Blue);
   type Bits is mod 2**16;
   type Money is delta 0.01 digits 12;
   type Fixed is delta 0.125 range -1000.0 .. 1000.0;
   type Pair is record
      Whole : Integer;
      Part  : Long_Float;
   end record;
   type Big is record
      A, B, C, D : Long_Integer;
   end record;
   type Pointer is access all Integer;

   Sum    : Long_Integer := 0;
   Global : aliased Integer := 5;
   N      : constant Integer := Ada.Command_Line.Argument_Count + 1;

   function Image (Value : Long_Integer) return String is
      Text : constant String := Long_Integer'Image (Value);
   begin
      return (if Text (Text'First) = ' ' then Text (Text'First + 1 .. Text'Last) else Text);
   end Image;

   --  Floating-point values here are all multiples of 1/4.
   function Image (Value : Long_Float) return String is (Image (Long_Integer (Value * 4.0)) & "/4");

   procedure Say (Text : String) renames Ada.Text_IO.Put_Line;

   --  A text, a record and an array's bounds between integers and floating-point numbers, and more than there are registers.
   function Mixed
     (Depth : Integer; F : Long_Float; Text : String; Both : Pair; Small : Small_Range; Hue : Colour; Flag : Boolean; G : Float;
      Mask : Bits; Price : Money; Step : Fixed; Far : Long_Integer) return Integer
   is
   begin
      Sum := Sum + Long_Integer (Depth) + Long_Integer (F) + Text'Length + Long_Integer (Both.Whole) + Long_Integer (Small) + Colour'Pos (Hue) +
        Boolean'Pos (Flag) + Long_Integer (G) + Long_Integer (Mask) + Long_Integer (Price) + Long_Integer (Step) + Far mod 1000;
      if Depth <= 0 then
         return Integer (Small);
      end if;
      Say ("CALL mixed depth=" & Image (Long_Integer (Depth - 1)) & " f=" & Image (F + 0.5) & " small=" & Image (Long_Integer (Small - 1)) &
           " hue=" & Image (Colour'Pos (Hue)) & " flag=" & Image (Boolean'Pos (not Flag)) & " g=" & Image (Long_Float (G) * 2.0) &
           " mask=" & Image (Long_Integer (Mask + 1)) & " far=" & Image (Far + 1));
      return Mixed (Depth - 1, F + 0.5, Text & "x", Both, Small - 1, Hue, not Flag, G * 2.0, Mask + 1, Price, Step, Far + 1) + 1;
   end Mixed;

   --  What is given back is in no register at the entry, though its place is filled at once; what is both comes as a value.
   procedure Changes (Both : in out Integer; Back : out Integer; Given : Integer; Whole : in out Big; Where : Pointer) is
   begin
      Back := Both;
      Both := Both + Given;
      Whole.A := Whole.A + 1;
      Where.all := Given;
      Back := Back + Both;
   end Changes;

   --  The result is in memory, whose address comes first.
   function Makes (Count : Integer; F : Float) return Big is
   begin
      Sum := Sum + Long_Integer (F);
      return (Long_Integer (Count), 2, 3, Sum);
   end Makes;

   function Unused (First : Integer; Second : Long_Float; Last : Integer) return Integer is
      pragma Unreferenced (First, Second);
   begin
      return Last + Integer (Sum mod 3);
   end Unused;

   Back  : Integer := 0;
   Both  : Integer := 0;
   Whole : Big := (1, 2, 3, 4);
begin
   Say ("CALL mixed depth=" & Image (Long_Integer (N + 4)) & " f=5/4 small=-3 hue=1 flag=1 g=10/4 mask=65533 far=" & Image (Long_Integer'(2**62)));
   Sum := Sum + Long_Integer
     (Mixed (N + 4, 1.25, "abc", (N, 2.0), -3, Green, True, 2.5, 65533, 12.5, 0.25, 2**62));
   for I in 0 .. 3 loop
      Both := I + 7;
      Say ("CALL changes both=" & Image (Long_Integer (Both)) & " given=" & Image (Long_Integer (I)));
      Changes (Both, Back, I, Whole, Global'Unchecked_Access);
      Sum := Sum + Long_Integer (Both + Back) + Whole.A;
      Say ("CALL makes count=" & Image (Long_Integer (N + I)) & " f=" & Image (Long_Float (I) * 0.25));
      Whole := Makes (N + I, Float (I) * 0.25);
      Say ("CALL unused first=" & Image (Long_Integer (I)) & " second=" & Image (Long_Float (I) * 0.5) & " last=" & Image (Long_Integer (Both)));
      Sum := Sum + Long_Integer (Unused (I, Long_Float (I) * 0.5, Both));
   end loop;
   Say (Image (Sum));
end Values;
