/* Fuzzes case files: any bytes are parsed as TOML and opened as a case; a text that begins with "!"
 * is an override of a small case instead. Whatever is refused is refused with a place and a
 * line. */
#define _GNU_SOURCE
#include "case/case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/replay.h"

static const char *const choices[] = {"gauss", "lobatto", NULL};

static const eg_key some_keys[] = {
    {.section = "mesh",
     .name = "cells",
     .type = EG_KEY_INTEGERS,
     .fallback = "[4, 4]",
     .least = 1,
     .most = INFINITY,
     .least_count = 1,
     .most_count = 3},
    {.section = "mesh", .name = "low", .type = EG_KEY_REALS, .fallback = "[0, 0.5]"},
    {.section = "mesh", .name = "periodic", .type = EG_KEY_BOOLEANS, .fallback = "false"},
    {.section = "mesh", .name = "map", .type = EG_KEY_EXPRESSIONS},
    {.section = "mesh", .name = "tags", .type = EG_KEY_STRINGS},
    {.section = "space", .name = "degree", .type = EG_KEY_INTEGER, .fallback = "2", .most = 15},
    {.section = "space", .name = "basis", .type = EG_KEY_CHOICE, .choices = choices},
    {.section = "space", .name = "bases", .type = EG_KEY_CHOICES, .choices = choices},
    {.section = "time", .name = "end", .type = EG_KEY_REAL},
    {.section = "time", .name = "adapt", .type = EG_KEY_BOOLEAN},
    {.section = "initial", .name = "*", .type = EG_KEY_EXPRESSION},
    {.section = "boundary.*", .name = "type", .type = EG_KEY_STRING, .fallback = "\"wall\""},
    {.section = "boundary.*", .name = "value", .type = EG_KEY_EXPRESSION, .fallback = "0"},
    {0}};

static const eg_key *const tables[] = {eg_case_keys, some_keys};

/* Also where assert means nothing. */
static void require(bool holds)
{
    if (!holds) abort();
}

/* A failure names the file or argument, says "error", and fits its buffer whole. */
static void check_failure(eg_context *ctx, eg_status status)
{
    const char *message = eg_context_error(ctx);
    require(status == EG_ERROR_INPUT);
    require(strstr(message, ": error: ") || strstr(message, "a case file at most"));
    require(strlen(message) < 12000);
}

static void use(const eg_case *cas)
{
    double at[EG_VARIABLE_COUNT] = {1, 2, 3, 4}, sum = 0;
    const char *name;
    char key[512];
    require(eg_case_string(cas, "model") != NULL);
    require(eg_case_integer(cas, "space.degree") >= 0 &&
            eg_case_integer(cas, "space.degree") <= 15);
    for (size_t i = 0; i < eg_case_count(cas, "mesh.cells"); i++)
        require(eg_case_integer_at(cas, "mesh.cells", i) >= 1);
    for (size_t i = 0; i < eg_case_count(cas, "mesh.map"); i++)
        sum += eg_expression_evaluate(eg_case_expression_at(cas, "mesh.map", i), at);
    for (size_t i = 0; i < eg_case_count(cas, "mesh.tags"); i++)
        sum += (double)strlen(eg_case_string_at(cas, "mesh.tags", i));
    for (size_t i = 0; i < 20 && (name = eg_case_name_at(cas, "initial", i)); i++) {
        if (strlen(name) > 400) continue;
        strcpy(stpcpy(key, "initial."), name);
        sum += eg_expression_evaluate(eg_case_expression(cas, key), at);
    }
    for (size_t i = 0; i < 20 && (name = eg_case_name_at(cas, "boundary", i)); i++) {
        if (strlen(name) > 400) continue;
        strcpy(stpcpy(stpcpy(key, "boundary."), name), ".type");
        require(eg_case_string(cas, key) != NULL);
        require(eg_case_fail(cas, key, -1, "no") == EG_ERROR_INPUT);
    }
    (void)sum;
}

static void open_case(eg_context *ctx, const char *text, size_t size, const char *override)
{
    eg_case *cas = NULL;
    eg_case_options options = {.overrides = &override,
                               .override_count = override != NULL,
                               .tables = tables,
                               .table_count = EG_COUNT(tables)};
    eg_status status = eg_case_open_text(ctx, "f", text, size, &options, &cas);
    if (status == EG_OK)
        use(cas);
    else
        check_failure(ctx, status);
    require((status == EG_OK) == (cas != NULL));
    eg_case_close(&cas);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char base[] = "model = 'm'\n[constants]\nk = 2\n[initial]\nu = 'k*x'\n";
    eg_context *ctx = NULL;
    if (eg_context_create(NULL, &ctx) != EG_OK) abort();
    eg_text json = eg_text_new(ctx);
    const char *text = (const char *)data;
    if (size > 0 && text[0] == '!') {
        char *override = strndup(text + 1, size - 1);
        if (!override) abort();
        open_case(ctx, base, strlen(base), override);
        free(override);
    } else {
        eg_status status = eg_toml_to_json(ctx, "f", text, size, &json);
        if (status == EG_OK)
            require(json.length >= 3);
        else
            check_failure(ctx, status);
        open_case(ctx, text, size, NULL);
    }
    eg_text_free(&json);
    eg_context_destroy(&ctx);
    return 0;
}
