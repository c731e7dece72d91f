// A round bar of curved hexahedra: a disc of quadrilaterals around a square, extruded.
//
// Groups: wall (the curved side), bottom, top, domain.

DefineConstant[
  cells = 1  // in the square, which is cells × cells, and along the bar
  order = 2  // the degree of the elements' mapping
];

a = 0.5;
Point(1) = {0, 0, 0};
For i In {0 : 3}
  Point(2 + i) = {Cos(Pi / 4 + Pi / 2 * i), Sin(Pi / 4 + Pi / 2 * i), 0};
  Point(6 + i) = {a * Cos(Pi / 4 + Pi / 2 * i), a * Sin(Pi / 4 + Pi / 2 * i), 0};
EndFor
For i In {0 : 3}
  j = (i + 1) % 4;
  Circle(1 + i) = {2 + i, 1, 2 + j};
  Line(5 + i) = {6 + i, 6 + j};
  Line(9 + i) = {6 + i, 2 + i};
EndFor
For i In {0 : 3}
  j = (i + 1) % 4;
  Curve Loop(1 + i) = {9 + i, 1 + i, -(9 + j), -(5 + i)};
  Plane Surface(1 + i) = {1 + i};
EndFor
Curve Loop(5) = {5, 6, 7, 8};
Plane Surface(5) = {5};
Transfinite Curve {1 : 12} = cells + 1;
Transfinite Surface {1 : 5};
Recombine Surface {1 : 5};
bar[] = Extrude {0, 0, 1} {
  Surface {1 : 5};
  Layers {cells};
  Recombine;
};

Physical Surface("bottom") = {1 : 5};
Physical Surface("top") = {bar[0], bar[6], bar[12], bar[18], bar[24]};
Physical Surface("wall") = {bar[3], bar[9], bar[15], bar[21]};
Physical Volume("domain") = {bar[1], bar[7], bar[13], bar[19], bar[25]};

Mesh.ElementOrder = order;
