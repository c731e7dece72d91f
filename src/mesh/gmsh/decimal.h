/* Decimal numbers in text, read fast and to the last bit; for readers of files. */
#ifndef EG_GMSH_DECIMAL_H
#define EG_GMSH_DECIMAL_H

/* Reads the number that begins at `at`: a sign or none, digits with a point or none, an exponent or
 * none. Returns where it ends, NULL if there is none; bytes beyond the first EG_DECIMAL_BYTES are
 * not looked at. *value is the double nearest to it, of two the even one, whatever locale is set;
 * infinite if it is too large. */
#define EG_DECIMAL_BYTES 800
const char *eg_decimal_parse(const char *at, const char *end, double *value);

#endif
