// Two squares, one of triangles, one of quadrilaterals, in groups of their own.

For i In {0 : 2}
  Point(1 + i) = {i, 0, 0, 0.3};
  Point(4 + i) = {i, 1, 0, 0.3};
  Line(1 + i) = {1 + i, 4 + i};
EndFor
Line(4) = {1, 2};
Line(5) = {2, 3};
Line(6) = {4, 5};
Line(7) = {5, 6};
Curve Loop(1) = {4, 2, -6, -1};
Curve Loop(2) = {5, 3, -7, -2};
Plane Surface(1) = {1};
Plane Surface(2) = {2};
Transfinite Surface {2};
Recombine Surface {2};
Physical Curve("left") = {1};
Physical Curve("right") = {3};
Physical Curve("sides") = {4, 5, 6, 7};
Physical Surface("triangles") = {1};
Physical Surface("quadrilaterals") = {2};
