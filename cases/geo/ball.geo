// A ball of curved tetrahedra.
//
//     gmsh -3 -format msh41 ball.geo -o ball.msh
//     gmsh -3 -format msh41 ball.geo -setnumber h 0.3 -setnumber order 2 -o fine.msh
//
// The geometry is OpenCASCADE's: on Gmsh's own spheres the nodes of elements of order 4 and above lie
// so unevenly that the volume converges more slowly than it should.
//
// Groups: wall (the sphere), domain.

SetFactory("OpenCASCADE");
DefineConstant[
  radius = 1  // of the ball, whose centre is the origin
  h = 0.6     // the size of its elements
  order = 3   // the degree of the elements' mapping
];

Sphere(1) = {0, 0, 0, radius};

Physical Surface("wall") = {1};
Physical Volume("domain") = {1};

Mesh.CharacteristicLengthFromPoints = 0; // the poles have no size of their own
Mesh.CharacteristicLengthMax = h;
Mesh.ElementOrder = order;
