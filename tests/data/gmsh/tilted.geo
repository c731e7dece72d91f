// A disc in a plane that is not that of x and y.
//
// Groups: wall (the circle), domain.

Include "../../../cases/geo/disc.geo";
Rotate {{1, 2, 0.5}, {3, 2, 1}, 0.7} { Surface {1}; }
