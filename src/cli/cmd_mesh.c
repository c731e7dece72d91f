/* `eagre mesh`: makes meshes, reads and writes Gmsh files, describes meshes, draws and divides
 * them. */
#include "cli/mesh.h"

#include <string.h>

#define ORDER_MOST EG_DEGREE_MAX_QUAD
#define TIMES_MOST 20

static const cli_option options_list[] = {
    CLI_COMMON_OPTIONS,
    {"output", 'o', "FILE",
     "generate, picture: what is written; partition: the part of each element",
     offsetof(cli_options, output)},
    {"refine", 0, "N", "divide every element N times", offsetof(cli_options, refine)},
    {"order", 0, "Q", "make elements of order Q", offsetof(cli_options, order)},
    {"merge", 0, NULL, "make nodes of a Gmsh file that lie at one place one",
     offsetof(cli_options, merge)},
    {"format", 0, "VERSION",
     "of the Gmsh file that is written: 2.2 or 4.1 (default; of FILE.msh2: 2.2)",
     offsetof(cli_options, format)},
    {"binary", 0, NULL, "write a binary Gmsh file", offsetof(cli_options, binary)},
    {"text", 0, NULL, "write a Gmsh file of text (default)", offsetof(cli_options, text)},
    {"degree", 0, "N", "info: memory for polynomials of degree N", offsetof(cli_options, degree)},
    {"times", 0, "N", "refine: how often (1); -n N says the same", offsetof(cli_options, count)},
    {"parts", 'n', "N", "partition: into how many parts", offsetof(cli_options, count)},
    {"width", 0, "PIXELS", "picture: how wide", offsetof(cli_options, width)},
    {0}};

static eg_status generate(eg_context *ctx, const cli_options *options, const cli_mesh_words *words)
{
    if (!words->output)
        return eg_fail(
            ctx, EG_ERROR_ARGUMENT,
            "where to? --output FILE.msh names the file; \"eagre mesh info\" only looks");
    return cli_mesh_write(ctx, options, words);
}

#define TAKES(member) offsetof(cli_options, member)

typedef struct action {
    const char *name;
    cli_mesh_action *run;
    bool copies;     /* two files are named: what is read, what is written */
    size_t takes[6]; /* of the options that not all actions take; 0, --device, ends the list */
} action;

static const action actions[] = {
    {"generate",
     generate,
     false,
     {TAKES(output), TAKES(refine), TAKES(format), TAKES(binary), TAKES(text)}},
    {"info", cli_mesh_info, false, {TAKES(refine), TAKES(degree)}},
    {"check", cli_mesh_check, false, {TAKES(refine)}},
    {"convert", cli_mesh_write, true, {TAKES(refine), TAKES(format), TAKES(binary), TAKES(text)}},
    {"refine", cli_mesh_write, true, {TAKES(count), TAKES(format), TAKES(binary), TAKES(text)}},
    {"picture", cli_mesh_picture, false, {TAKES(output), TAKES(refine), TAKES(width)}},
    {"partition", cli_mesh_partition, false, {TAKES(output), TAKES(refine), TAKES(count)}},
};

static const action *find_action(const char *name)
{
    for (size_t i = 0; i < EG_COUNT(actions); i++)
        if (strcmp(name, actions[i].name) == 0) return &actions[i];
    return NULL;
}

static eg_status unknown_action(eg_context *ctx, const char *given)
{
    eg_status status = EG_OK;
    const char *names[EG_COUNT(actions)], *nearest = NULL;
    eg_text list = eg_text_new(ctx);
    for (size_t i = 0; i < EG_COUNT(actions); i++) {
        names[i] = actions[i].name;
        EG_TRY(eg_text_printf(&list, "%s%s", i ? ", " : "", names[i]));
    }
    if (given) nearest = eg_nearest(given, names, EG_COUNT(names));
    if (!given)
        status = eg_fail(ctx, EG_ERROR_ARGUMENT, "what to do? One of %s", eg_text_string(&list));
    else
        status = eg_fail(ctx, EG_ERROR_ARGUMENT, "\"%s\" is none of %s%s%s%s", given,
                         eg_text_string(&list), nearest ? "; did you mean \"" : "",
                         nearest ? nearest : "", nearest ? "\"?" : "");
done:
    eg_text_free(&list);
    return status;
}

static bool is_given(const cli_options *options, const cli_option *option)
{
    const char *at = (const char *)options + option->offset;
    return option->value ? *(const char *const *)(const void *)at != NULL : *(const bool *)at;
}

/* Options that only some actions take mean nothing to the others. */
static eg_status check_options(eg_context *ctx, const cli_options *options, const action *act)
{
    for (const cli_option *o = options_list; o->name; o++) {
        bool for_some = false, taken = false;
        for (size_t i = 0; i < EG_COUNT(actions); i++) {
            for (const size_t *offset = actions[i].takes; *offset; offset++) {
                for_some = for_some || *offset == o->offset;
                taken = taken || (*offset == o->offset && &actions[i] == act);
            }
        }
        if (for_some && !taken && is_given(options, o))
            return eg_fail(ctx, EG_ERROR_ARGUMENT, "\"eagre mesh %s\" has no option --%s",
                           act->name, o->name);
    }
    return EG_OK;
}

/* Two files: what is read, what is written. */
static eg_status check_files(eg_context *ctx, const action *act, const cli_mesh_words *words)
{
    if (!words->input || !words->output)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "name two files: the mesh to read and the Gmsh file to write, as in \"eagre "
                       "mesh %s in.msh out.msh\"",
                       act->name);
    if (!cli_has_gmsh_name(words->output))
        return eg_fail(
            ctx, EG_ERROR_ARGUMENT,
            "the file to write is a Gmsh file, whose name ends with .msh (or .msh2, .msh4); "
            "\"%s\" does not",
            words->output);
    return EG_OK;
}

static eg_status run(eg_context *ctx, const cli_options *options)
{
    eg_status status = EG_OK;
    const char *given = options->name_count > 0 ? options->names[0] : NULL;
    const action *act = given ? find_action(given) : NULL;
    if (!act) return unknown_action(ctx, given);
    char *const *names = options->names + 1, *const *end = options->names + options->name_count;
    cli_mesh_words words = {.output = options->output};
    if (names < end && !cli_is_replacement(names[0])) words.input = *names++;
    if (act->copies && names < end && !cli_is_replacement(names[0])) words.output = *names++;
    words.replacements = names;
    words.replacement_count = (int)(end - names);
    EG_TRY(check_options(ctx, options, act));
    if (act->copies) EG_TRY(check_files(ctx, act, &words));
    EG_TRY(cli_mesh_number(ctx, "order", options->order, 1, ORDER_MOST, 0, &words.order));
    if (strcmp(act->name, "refine") == 0)
        EG_TRY(cli_mesh_number(ctx, "times", options->count, 0, TIMES_MOST, 1, &words.times));
    else
        EG_TRY(cli_mesh_number(ctx, "refine", options->refine, 0, TIMES_MOST, 0, &words.times));
    EG_TRY(act->run(ctx, options, &words));
done:
    return status;
}

static eg_status complete(eg_context *ctx, int count, char *const *words, eg_text *out)
{
    eg_status status = EG_OK;
    const action *act = count > 0 ? find_action(words[0]) : NULL;
    if (count > 0) {
        const int files = act && act->copies ? 2 : 1;
        if (count <= files) EG_TRY(eg_text_puts(out, "FILES\n"));
        /* The case may be left out. */
        if (count > files || files == 1) EG_TRY(cli_list_keys(words[count], "=", out));
        return EG_OK;
    }
    for (size_t i = 0; i < EG_COUNT(actions); i++)
        EG_TRY(eg_text_printf(out, "%s\n", actions[i].name));
done:
    (void)ctx;
    return status;
}

const cli_command cli_command_mesh = {
    .name = "mesh",
    .summary = "make, read, check, change, draw and divide meshes",
    .usage = "ACTION [FILE] [mesh.KEY=VALUE …]",
    .about =
        "Works on the mesh of a Gmsh file (.msh, version 2.2 or 4.1, text or binary), of a case,\n"
        "with replacements as in \"eagre run\", or on the one that the replacements alone\n"
        "describe.\n\n"
        "  info FILE        counts, groups, sizes and quality of its elements, boundaries, memory\n"
        "  check FILE       whether it is a mesh: what was repaired, or what is wrong and where\n"
        "  convert IN OUT   read it and write it as a Gmsh file\n"
        "  refine IN OUT    the same with every element divided\n"
        "  picture FILE     draw it, boundaries and groups coloured: --output FILE.svg or .png\n"
        "  generate         write the mesh of a case or of replacements: --output FILE.msh\n"
        "  partition FILE   divide it: --parts N; --output FILE writes a line for each element\n\n"
        "--merge, --refine and --order change the mesh before anything else is done with it, in\n"
        "this order. A file that is there is replaced only when the new one is complete.\n",
    .example = "  eagre mesh info cases/geo/disc.msh --degree 4\n"
               "  eagre mesh check cases/geo/airfoil.msh\n"
               "  eagre mesh convert disc.msh fine.msh --refine 2 --order 3 --binary\n"
               "  eagre mesh picture cases/geo/airfoil.msh --output airfoil.svg\n"
               "  eagre mesh generate mesh.shape=triangle mesh.cells=[10,10] --output box.msh\n"
               "  eagre mesh partition cases/project-sine.toml --parts 4\n",
    .options = options_list,
    .run = run,
    .complete = complete,
};
