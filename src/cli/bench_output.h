/* The results of benchmarks as JSON, as text tables, as a section of a Markdown file and as a chart. */
#ifndef EG_CLI_BENCH_OUTPUT_H
#define EG_CLI_BENCH_OUTPUT_H

#include "base/json.h"
#include "bench/bench.h"
#include "report/chart/chart.h"

/* One object. */
void cli_bench_json(eg_json *json, const eg_bench_result *result);

/* Ceilings and points as a readable table. */
eg_status cli_bench_table(eg_context *ctx, const eg_bench_result *result, eg_text *out);

/* Rewrites the section of this device in a Markdown file, or adds it; all else stays as it is. */
eg_status cli_bench_markdown(eg_context *ctx, const eg_bench_result *results, size_t count,
                             const char *path);

/* bench_chart.c: adds a picture of the fractions of their bounds that points reach. */
eg_status cli_bench_chart(eg_context *ctx, const eg_bench_result *results, size_t count,
                          eg_picture_format format, eg_text *out);

#endif
