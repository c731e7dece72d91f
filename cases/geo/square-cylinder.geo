// A cylinder of square section in a rectangle of flow: the domain of [karakus2018, section 4.2] and
// about as many triangles (2300).
//
//     gmsh -2 -format msh41 square-cylinder.geo -o square-cylinder.msh
//     gmsh -2 -format msh41 square-cylinder.geo -setnumber coarsen 2 -o coarse.msh
//
// Groups: inflow (left, lower and upper side), outflow, cylinder, domain; in a channel the lower
// and the upper side are the group wall instead.

DefineConstant[
  side = 1         // of the square, whose centre is the origin
  left = -16       // the rectangle
  right = 25
  bottom = -22
  top = 22
  channel = 0      // 1: there are walls below and above
  h_corner = 0.08  // the size of elements at the corners of the square,
  h_wake = 0.5     // at most in the wake, four sides wide,
  wake = 14        // which ends at this x,
  h_far = 5        // and at most anywhere
  growth = 0.23    // how the size grows with the distance
  coarsen = 1      // all sizes are multiplied by this
  order = 1        // the degree of the elements' mapping
];

a = side / 2;
Point(1) = {-a, -a, 0};
Point(2) = {a, -a, 0};
Point(3) = {a, a, 0};
Point(4) = {-a, a, 0};
Point(5) = {left, bottom, 0};
Point(6) = {right, bottom, 0};
Point(7) = {right, top, 0};
Point(8) = {left, top, 0};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Line(5) = {5, 6};
Line(6) = {6, 7};
Line(7) = {7, 8};
Line(8) = {8, 5};
Curve Loop(1) = {5, 6, 7, 8};
Curve Loop(2) = {1, 2, 3, 4};
Plane Surface(1) = {1, 2};

Field[1] = Distance;
Field[1].PointsList = {1, 2, 3, 4};
Field[2] = MathEval;
Field[2].F = Sprintf("%g + %g * F1", coarsen * h_corner, coarsen * growth);
Field[3] = Box;
Field[3].XMin = -side;
Field[3].XMax = wake;
Field[3].YMin = -2 * side;
Field[3].YMax = 2 * side;
Field[3].VIn = h_wake * coarsen;
Field[3].VOut = h_far * coarsen;
Field[3].Thickness = (h_far - h_wake) / growth;
Field[4] = Min;
Field[4].FieldsList = {2, 3};
Background Field = 4;
Mesh.CharacteristicLengthExtendFromBoundary = 0;
Mesh.CharacteristicLengthFromPoints = 0;

Physical Curve("outflow") = {6};
Physical Curve("cylinder") = {1, 2, 3, 4};
If(channel)
  Physical Curve("inflow") = {8};
  Physical Curve("wall") = {5, 7};
Else
  Physical Curve("inflow") = {5, 7, 8};
EndIf
Physical Surface("domain") = {1};

Mesh.ElementOrder = order;
