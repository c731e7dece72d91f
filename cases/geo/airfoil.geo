// A NACA 0012 airfoil with a closed trailing edge, in a disc of air.
//
//     gmsh -2 -format msh41 airfoil.geo -setnumber coarsen 1.5 -o airfoil.msh
//     gmsh -2 -format msh41 airfoil.geo -setnumber coarsen 0.5 -setnumber order 4 -o fine.msh
//
// The chord goes from (0, 0) to (1, 0); an angle of attack is that of the flow far away. Half the
// thickness at x is
//     t/0.2 (0.2969 √x - 0.1260 x - 0.3516 x² + 0.2843 x³ - 0.1036 x⁴),
// where the last coefficient, -0.1015 in [jacobs1933], makes it zero at x = 1.
//
// Groups: airfoil, farfield, domain.

DefineConstant[
  thickness = 0.12  // of the airfoil, in chords
  points = 80       // along each side of it, through which splines go
  far = 20          // the radius of the disc, in chords
  h_nose = 0.02     // the size of elements at the nose,
  h_tail = 0.02     // at the trailing edge,
  h_side = 0.1      // at most along the airfoil,
  h_far = 5         // and at most anywhere
  growth = 0.3      // how the size grows with the distance
  coarsen = 1       // all sizes are multiplied by this
  order = 2         // the degree of the elements' mapping
];

// From the tail along the upper side to the nose and back along the lower one, closer towards both.
For i In {0 : 2 * points - 1}
  x = (1 + Cos(Pi * i / points)) / 2;
  y = thickness / 0.2 *
      (0.2969 * Sqrt(x) - 0.126 * x - 0.3516 * x^2 + 0.2843 * x^3 - 0.1036 * x^4);
  Point(1 + i) = {x, i > points ? -y : y, 0};
EndFor
tail = 1;
nose = 1 + points;
above = 1 + Floor(points / 2); // where splines end, so that one goes round the nose
below = 1 + Ceil(points * 3 / 2);
Spline(1) = {tail : above};
Spline(2) = {above : below};
Spline(3) = {below : 2 * points, tail};
centre = newp;
Point(centre) = {0.5, 0, 0};
east = newp;
Point(east) = {0.5 + far, 0, 0};
west = newp;
Point(west) = {0.5 - far, 0, 0};
north = newp;
Point(north) = {0.5, far, 0};
south = newp;
Point(south) = {0.5, -far, 0};
Circle(4) = {east, centre, north};
Circle(5) = {north, centre, west};
Circle(6) = {west, centre, south};
Circle(7) = {south, centre, east};
Curve Loop(1) = {4, 5, 6, 7};
Curve Loop(2) = {1, 2, 3};
Plane Surface(1) = {1, 2};

Field[1] = Distance;
Field[1].PointsList = {nose};
Field[2] = Distance;
Field[2].PointsList = {tail};
Field[3] = Distance;
Field[3].PointsList = {1 : 2 * points};
Field[4] = MathEval;
Field[4].F = Sprintf("%g + %g * F1", coarsen * h_nose, coarsen * growth);
Field[5] = MathEval;
Field[5].F = Sprintf("%g + %g * F2", coarsen * h_tail, coarsen * growth);
Field[6] = MathEval;
Field[6].F = Sprintf("%g + %g * F3", coarsen * h_side, coarsen * growth);
Field[7] = MathEval;
Field[7].F = Sprintf("%g", coarsen * h_far);
Field[8] = Min;
Field[8].FieldsList = {4, 5, 6, 7};
Background Field = 8;
Mesh.CharacteristicLengthExtendFromBoundary = 0;
Mesh.CharacteristicLengthFromPoints = 0;

Physical Curve("airfoil") = {1, 2, 3};
Physical Curve("farfield") = {4, 5, 6, 7};
Physical Surface("domain") = {1};

Mesh.ElementOrder = order;
