// A square with a round hole in it.

DefineConstant[ quadrilaterals = 0 ];
For i In {0 : 3}
  Point(1 + i) = {Cos(Pi / 4 + Pi / 2 * i), Sin(Pi / 4 + Pi / 2 * i), 0, 0.4};
  Point(5 + i) = {0.4 * Cos(Pi / 2 * i), 0.4 * Sin(Pi / 2 * i), 0, 0.25};
EndFor
Point(9) = {0, 0, 0};
For i In {0 : 3}
  Line(1 + i) = {1 + i, 1 + (i + 1) % 4};
  Circle(5 + i) = {5 + i, 9, 5 + (i + 1) % 4};
EndFor
Curve Loop(1) = {1 : 4};
Curve Loop(2) = {5 : 8};
Plane Surface(1) = {1, 2};
If(quadrilaterals)
  Recombine Surface {1};
  Mesh.RecombinationAlgorithm = 2;
EndIf
Physical Curve("the hole") = {5 : 8};
Physical Curve("lid") = {1};
Physical Curve("wall") = {2, 3, 4};
Physical Surface("fluid") = {1};
