// A disc of two layers, each a group: the core, and around it a shell of two halves. With
// several = 1 the upper half is in a group of its own as well, with several = 2 first in that.

DefineConstant[ several = 0 order = 1 ];
For i In {0 : 3}
  x = i == 0 ? 1 : i == 2 ? -1 : 0;
  y = i == 1 ? 1 : i == 3 ? -1 : 0;
  Point(1 + i) = {x / 2, y / 2, 0, 0.3};
  Point(5 + i) = {x, y, 0, 0.5};
EndFor
Point(9) = {0, 0, 0};
For i In {0 : 3}
  Circle(1 + i) = {1 + i, 9, 1 + (i + 1) % 4};
  Circle(5 + i) = {5 + i, 9, 5 + (i + 1) % 4};
EndFor
Line(9) = {1, 5};
Line(10) = {3, 7};
Curve Loop(1) = {1, 2, 3, 4};
Curve Loop(2) = {9, 5, 6, -10, -2, -1};
Curve Loop(3) = {10, 7, 8, -9, -4, -3};
For i In {1 : 3}
  Plane Surface(i) = {i};
EndFor
If(several == 2)
  Physical Surface("upper") = {2};
EndIf
Physical Surface("shell") = {2, 3};
Physical Surface("core") = {1};
If(several == 1)
  Physical Surface("upper") = {2};
EndIf
Physical Curve("wall") = {5, 6, 7, 8};
Mesh.ElementOrder = order;
