/* VTK's XML files: what the first tag says of all arrays [vtkformats]. */
#include "report/vtu/file.h"

#include <stdlib.h>
#include <string.h>

static bool is_little_endian(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

/* "2.1" and above have another order of nodes than what was before. */
static eg_lagrange_version version_of(const char *text)
{
    char *point;
    const long major = strtol(text, &point, 10);
    const long minor = *point == '.' ? strtol(point + 1, NULL, 10) : 0;
    return major > 2 || (major == 2 && minor >= 1) ? EG_LAGRANGE_21 : EG_LAGRANGE_OLD;
}

static eg_status read_encoding(eg_vtu_file *file)
{
    const eg_xml *xml = &file->xml;
    const char *order = eg_xml_get(xml, 0, "byte_order"), *mine = "LittleEndian";
    const char *header = eg_xml_get(xml, 0, "header_type");
    const char *compressor = eg_xml_get(xml, 0, "compressor");
    const char *version = eg_xml_get(xml, 0, "version");
    const int appended = eg_xml_child(xml, 0, -1, "AppendedData");
    char quote[EG_QUOTE_BYTES];
    if (!is_little_endian()) mine = "BigEndian";
    if (order && strcmp(order, mine) != 0)
        return eg_xml_fail(xml, 0, "byte_order=\"%s\", but this machine's is \"%s\"",
                           eg_quote(quote, order, strlen(order)), mine);
    if (header && strcmp(header, "UInt32") != 0 && strcmp(header, "UInt64") != 0)
        return eg_xml_fail(xml, 0, "header_type=\"%s\" is neither \"UInt32\" nor \"UInt64\"",
                           eg_quote(quote, header, strlen(header)));
    if (compressor && compressor[0] && strcmp(compressor, "vtkZLibDataCompressor") != 0)
        return eg_xml_fail(xml, 0,
                           "compressor=\"%s\" is not read; write the file without compression or "
                           "with \"vtkZLibDataCompressor\"",
                           eg_quote(quote, compressor, strlen(compressor)));
    const char *encoding = appended >= 0 ? eg_xml_get(xml, appended, "encoding") : NULL;
    if (encoding && strcmp(encoding, "raw") != 0 && strcmp(encoding, "base64") != 0)
        return eg_xml_fail(xml, appended, "encoding=\"%s\" is neither \"raw\" nor \"base64\"",
                           eg_quote(quote, encoding, strlen(encoding)));
    file->raw = encoding && strcmp(encoding, "raw") == 0;
    file->header_bytes = header && strcmp(header, "UInt64") == 0 ? 8 : 4;
    file->compressed = compressor && compressor[0];
    file->version = version ? version_of(version) : EG_LAGRANGE_OLD;
    return EG_OK;
}

eg_status eg_vtu_open(eg_context *ctx, const char *name, const char *data, size_t length,
                      eg_vtu_file *out)
{
    static const char *const types[] = {[EG_VTU_GRID] = "UnstructuredGrid",
                                        [EG_VTU_PIECES] = "PUnstructuredGrid",
                                        [EG_VTU_SERIES] = "Collection",
                                        NULL};
    eg_status status = EG_OK;
    const char *given;
    int type = 0;
    char quote[EG_QUOTE_BYTES];
    *out = (eg_vtu_file){.grid = -1,
                         .values_left = (int64_t)(length * (EG_VTU_GROWTH_MOST / sizeof(double)))};
    EG_TRY(eg_xml_parse(ctx, name, data, length, &out->xml));
    EG_TRY(eg_xml_need(&out->xml, 0, "type", &given));
    for (; types[type] && strcmp(given, types[type]) != 0; type++)
        ;
    if (!types[type])
        return eg_xml_fail(&out->xml, 0,
                           "type=\"%s\" is not read; \"UnstructuredGrid\" is, with pieces "
                           "\"PUnstructuredGrid\", and a series of such files \"Collection\"",
                           eg_quote(quote, given, strlen(given)));
    out->type = (eg_vtu_type)type;
    EG_TRY(read_encoding(out));
    out->grid = eg_xml_child(&out->xml, 0, -1, given);
    if (out->grid < 0) return eg_xml_fail(&out->xml, 0, "<VTKFile> holds no <%s>", given);
done:
    return status;
}

void eg_vtu_close(eg_vtu_file *file)
{
    eg_xml_free(&file->xml);
}

eg_status eg_vtu_spend(eg_vtu_file *file, int node, int64_t values)
{
    if (values > file->values_left)
        return eg_xml_fail(&file->xml, node,
                           "what it has from here on is more than a file of this size can mean: it "
                           "is damaged");
    file->values_left -= values;
    return EG_OK;
}

const char *eg_vtu_array_name(const eg_vtu_file *file, int node, char quote[EG_QUOTE_BYTES])
{
    const char *name = eg_xml_get(&file->xml, node, "Name");
    return eg_quote(quote, name ? name : "", name ? strlen(name) : 0);
}

int eg_vtu_find_array(const eg_xml *xml, int parent, const char *name)
{
    int node = eg_xml_child(xml, parent, -1, "DataArray");
    for (; node >= 0; node = eg_xml_child(xml, parent, node, "DataArray")) {
        const char *given = eg_xml_get(xml, node, "Name");
        if (given && strcmp(given, name) == 0) break;
    }
    return node;
}
