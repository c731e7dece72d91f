// A square of unstructured triangles or quadrilaterals, whose sides may be joined.
//
//     gmsh -2 -format msh41 square.geo -o square.msh
//     gmsh -2 -format msh41 square.geo -setnumber periodic 1 -setnumber h 0.1 -o mine.msh
//
// By default it is the square of the Taylor vortex of [karakus2018, section 4.1] with 40 triangles,
// about as many as the 35 from which the refinement starts there.
//
// Groups: left, right, bottom, top, domain.

DefineConstant[
  low = -0.5          // where it begins in x and y
  high = 0.5          // where it ends
  h = 0.25            // the size of its elements
  periodic = 0        // 1: right is a copy of left, top of bottom, and $Periodic says so
  quadrilaterals = 0  // 1: quadrilaterals instead of triangles
  order = 1           // the degree of the elements' mapping
];

Point(1) = {low, low, 0, h};
Point(2) = {high, low, 0, h};
Point(3) = {high, high, 0, h};
Point(4) = {low, high, 0, h};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {4, 3};
Line(4) = {1, 4};
Curve Loop(1) = {1, 2, -3, -4};
Plane Surface(1) = {1};
If(periodic)
  Periodic Curve {2} = {4} Translate {high - low, 0, 0};
  Periodic Curve {3} = {1} Translate {0, high - low, 0};
EndIf
If(quadrilaterals)
  Recombine Surface {1};
EndIf

Physical Curve("left") = {4};
Physical Curve("right") = {2};
Physical Curve("bottom") = {1};
Physical Curve("top") = {3};
Physical Surface("domain") = {1};

Mesh.Algorithm = quadrilaterals ? 6 : 5; // by fronts: triangles that pair well; or Delaunay
Mesh.RecombinationAlgorithm = 2; // no triangle is left
Mesh.ElementOrder = order;
