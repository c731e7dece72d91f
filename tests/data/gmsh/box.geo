// A box whose sides in x are joined, of tetrahedra or hexahedra.

DefineConstant[ hexahedra = 0 ];
For i In {0 : 1}
  For j In {0 : 1}
    For k In {0 : 1}
      Point(1 + i + 2 * j + 4 * k) = {2 * i, j, 1.5 * k, 0.6};
    EndFor
  EndFor
EndFor
Line(1) = {1, 2};
Line(2) = {3, 4};
Line(3) = {5, 6};
Line(4) = {7, 8};
Line(5) = {1, 3};
Line(6) = {2, 4};
Line(7) = {5, 7};
Line(8) = {6, 8};
Line(9) = {1, 5};
Line(10) = {2, 6};
Line(11) = {3, 7};
Line(12) = {4, 8};
Curve Loop(1) = {5, 11, -7, -9};
Curve Loop(2) = {6, 12, -8, -10};
Curve Loop(3) = {1, 10, -3, -9};
Curve Loop(4) = {2, 12, -4, -11};
Curve Loop(5) = {1, 6, -2, -5};
Curve Loop(6) = {3, 8, -4, -7};
For i In {1 : 6}
  Plane Surface(i) = {i};
EndFor
Surface Loop(1) = {1 : 6};
Volume(1) = {1};
Periodic Surface {2} = {1} Translate {2, 0, 0};
If(hexahedra)
  Transfinite Curve {1 : 4} = 5;
  Transfinite Curve {5 : 8} = 3;
  Transfinite Curve {9 : 12} = 4;
  Transfinite Surface {1 : 6};
  Recombine Surface {1 : 6};
  Transfinite Volume {1};
EndIf
Physical Surface("west") = {1};
Physical Surface("east") = {2};
Physical Surface("floor") = {5};
Physical Surface("others") = {3, 4, 6};
Physical Volume("inside") = {1};
