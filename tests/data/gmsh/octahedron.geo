// An octahedron of eight tetrahedra that meet in its centre.
//
// Groups: wall, domain.

Point(1) = {0, 0, 0};
Point(2) = {1, 0, 0};
Point(3) = {0, 1, 0};
Point(4) = {-1, 0, 0};
Point(5) = {0, -1, 0};
Point(6) = {0, 0, 1};
Point(7) = {0, 0, -1};
For i In {0 : 3}
  j = (i + 1) % 4;
  Line(1 + i) = {2 + i, 2 + j};
  Line(5 + i) = {2 + i, 6};
  Line(9 + i) = {2 + i, 7};
EndFor
For i In {0 : 3}
  j = (i + 1) % 4;
  Curve Loop(1 + i) = {1 + i, 5 + j, -(5 + i)};
  Plane Surface(1 + i) = {1 + i};
  Curve Loop(5 + i) = {-(1 + i), 9 + i, -(9 + j)};
  Plane Surface(5 + i) = {5 + i};
EndFor
Transfinite Curve {1 : 12} = 2;
Surface Loop(1) = {1 : 8};
Volume(1) = {1};
Point {1} In Volume {1};

Physical Surface("wall") = {1 : 8};
Physical Volume("domain") = {1};

Mesh.CharacteristicLengthMax = 2;
