// A square without its lower right quarter: the L with its reentrant corner at the origin, where
// r^(2/3) sin(2/3 φ), harmonic and zero on both sides that meet there, has no bounded gradient.
//
//     gmsh -2 -format msh41 l-shape.geo -o l-shape.msh
//     gmsh -2 -format msh41 l-shape.geo -setnumber h_corner 0.2 -o even.msh
//
// Groups: corner (the two sides that meet at the reentrant corner), outer (all others), domain.

DefineConstant[
  size = 1            // of each of the three squares
  h = 0.2             // the size of elements far from the corner
  h_corner = 0.02     // and at the corner
  quadrilaterals = 0  // 1: quadrilaterals instead of triangles
  order = 1           // the degree of the elements' mapping
];

Point(1) = {0, 0, 0, h_corner};
Point(2) = {size, 0, 0, h};
Point(3) = {size, size, 0, h};
Point(4) = {-size, size, 0, h};
Point(5) = {-size, -size, 0, h};
Point(6) = {0, -size, 0, h};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 5};
Line(5) = {5, 6};
Line(6) = {6, 1};
Curve Loop(1) = {1, 2, 3, 4, 5, 6};
Plane Surface(1) = {1};
If(quadrilaterals)
  Recombine Surface {1};
EndIf

Physical Curve("corner") = {1, 6};
Physical Curve("outer") = {2, 3, 4, 5};
Physical Surface("domain") = {1};

Mesh.Algorithm = quadrilaterals ? 6 : 5; // by fronts: triangles that pair well; or Delaunay
Mesh.RecombinationAlgorithm = 2; // no triangle is left
Mesh.ElementOrder = order;
