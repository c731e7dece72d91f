// The square of the Taylor vortex, [-1/2, 1/2]^2, of a few triangles of different sizes: ten.

Point(1) = {-0.5, -0.5, 0};
Point(2) = {0.06, -0.5, 0};
Point(3) = {0.5, -0.5, 0};
Point(4) = {0.5, 0.5, 0};
Point(5) = {-0.5, 0.5, 0};
Point(6) = {-0.5, 0.04, 0};
Point(7) = {0.09, 0.07, 0};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 5};
Line(5) = {5, 6};
Line(6) = {6, 1};
Curve Loop(1) = {1 : 6};
Plane Surface(1) = {1};
Transfinite Curve {1 : 6} = 2;
Point {7} In Surface {1};
Physical Curve("left") = {5, 6};
Physical Curve("right") = {3};
Physical Curve("bottom") = {1, 2};
Physical Curve("top") = {4};
Physical Surface("domain") = {1};
Mesh.MeshSizeMax = 10; // so that sides and the point inside say how large triangles are
