/* As much of XML as VTK's files have: elements, attributes, text, and the block of bytes in
 * <AppendedData>; private to the readers and writers of these files. */
#ifndef EG_REPORT_VTU_XML_H
#define EG_REPORT_VTU_XML_H

#include "base/arena.h"

typedef struct eg_xml_attribute {
    const char *name, *value; /* the arena's; entities are replaced */
} eg_xml_attribute;

typedef struct eg_xml_node {
    const char *name; /* the arena's */
    size_t line;      /* from 1 */
    int parent;       /* -1: the root */
    int end;          /* nodes behind it, up to here, are within it */
    int first_attribute, attribute_count;
    const char *text; /* [length] as it stands in the file, blanks at both ends removed */
    size_t length;
} eg_xml_node;

/* A file in memory. Node 0 is its root. */
typedef struct eg_xml {
    eg_context *ctx;        /* not owned */
    const char *file;       /* its name; not owned */
    const char *data, *end; /* not owned */
    eg_arena arena;
    int node_count, node_capacity;
    eg_xml_node *nodes; /* owned, in the order of the file */
    int attribute_count, attribute_capacity;
    eg_xml_attribute *attributes; /* owned */
    const char *appended;         /* behind the "_"; NULL: there is none */
    const char *appended_end;     /* where </AppendedData> begins */
    const char *counted;          /* lines were counted up to here … */
    size_t line;                  /* … which is in this line */
} eg_xml;

/* Reads a file [length] whose root is <VTKFile>. What it is not is EG_ERROR_INPUT with the line.
 * Free it in any case. */
eg_status eg_xml_parse(eg_context *ctx, const char *file, const char *data, size_t length,
                       eg_xml *out);
void eg_xml_free(eg_xml *xml);

/* The first child of `parent` called `name` behind its child `after` (-1: from the first on); -1 if
 * there is none. */
int eg_xml_child(const eg_xml *xml, int parent, int after, const char *name);

/* NULL if the node has no such attribute; borrowed. */
const char *eg_xml_get(const eg_xml *xml, int node, const char *attribute);
/* The same, of an attribute that must be there. */
eg_status eg_xml_need(const eg_xml *xml, int node, const char *attribute, const char **out);
/* A whole number from 0 on; `fallback` NULL: it must be there. */
eg_status eg_xml_count(const eg_xml *xml, int node, const char *attribute, const int64_t *fallback,
                       int64_t *out);
/* A node's text with its entities replaced; the arena's. */
eg_status eg_xml_text(eg_xml *xml, int node, const char **out);

/* EG_ERROR_INPUT with "FILE:LINE: error: …". */
eg_status eg_xml_fail(const eg_xml *xml, int node, const char *format, ...) EG_PRINTF(3, 4);
#ifdef __clang_analyzer__ /* which cannot see what it returns */
#define eg_xml_fail(xml, node, ...)                                                                \
    ((void)(eg_xml_fail)((xml), (node), __VA_ARGS__), EG_ERROR_INPUT)
#endif

/* A path as it is seen from the directory of `file`; release with eg_release. */
eg_status eg_xml_beside(eg_context *ctx, const char *file, const char *path, char **out);

/* Adds text with what XML needs to be replaced. */
eg_status eg_xml_put(eg_text *out, const char *text);
/* Adds a number that reads back the same, with a point whatever the locale is. */
eg_status eg_xml_put_number(eg_text *out, double value);

#endif
