// A disc of curved triangles or quadrilaterals.
//
//     gmsh -2 -format msh41 disc.geo -o disc.msh
//     gmsh -2 -format msh41 disc.geo -setnumber h 0.1 -setnumber order 3 -o fine.msh
//
// Groups: wall (the circle), domain.

DefineConstant[
  radius = 1          // of the disc, whose centre is the origin
  h = 0.5             // the size of its elements
  quadrilaterals = 0  // 1: quadrilaterals instead of triangles
  order = 4           // the degree of the elements' mapping
];

Point(1) = {0, 0, 0, h};
Point(2) = {radius, 0, 0, h};
Point(3) = {0, radius, 0, h};
Point(4) = {-radius, 0, 0, h};
Point(5) = {0, -radius, 0, h};
Circle(1) = {2, 1, 3};
Circle(2) = {3, 1, 4};
Circle(3) = {4, 1, 5};
Circle(4) = {5, 1, 2};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
If(quadrilaterals)
  Recombine Surface {1};
EndIf

Physical Curve("wall") = {1, 2, 3, 4};
Physical Surface("domain") = {1};

Mesh.Algorithm = quadrilaterals ? 6 : 5; // by fronts: triangles that pair well; or Delaunay
Mesh.RecombinationAlgorithm = 2; // no triangle is left
Mesh.ElementOrder = order;
