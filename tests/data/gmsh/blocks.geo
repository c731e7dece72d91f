// Three blocks in a row, of tetrahedra or hexahedra, in two groups: the ends and the middle.

DefineConstant[ hexahedra = 0 ];
Point(1) = {0, 0, 0, 0.6};
Point(2) = {0, 1, 0, 0.6};
Point(3) = {0, 1, 1, 0.6};
Point(4) = {0, 0, 1, 0.6};
For i In {1 : 4}
  Line(i) = {i, 1 + i % 4};
EndFor
Curve Loop(1) = {1 : 4};
Plane Surface(1) = {1};
If(hexahedra)
  Transfinite Curve {1 : 4} = 3;
  Transfinite Surface {1};
  Recombine Surface {1};
EndIf
end = 1;
sides[] = {};
volumes[] = {};
For i In {0 : 2}
  If(hexahedra)
    made[] = Extrude {0.5 + i / 2, 0, 0} { Surface{end}; Layers{2}; Recombine; };
  Else
    made[] = Extrude {0.5 + i / 2, 0, 0} { Surface{end}; };
  EndIf
  end = made[0];
  volumes[] += made[1];
  sides[] += made[{2 : 5}];
EndFor
Physical Surface("front") = {1};
Physical Surface("back") = {end};
Physical Surface("sides") = sides[];
Physical Volume("ends") = {volumes[0], volumes[2]};
Physical Volume("middle") = {volumes[1]};
