/* The text of every status and the version: constants of the library. */
#include "base/base.h"

#ifndef EG_VERSION
#error "the build defines EG_VERSION as a string, \"MAJOR.MINOR.PATCH\""
#endif

static const char *const status_texts[] = {
#define X(code, text) [code] = text,
    EG_STATUS_LIST(X)
#undef X
};

const char *eg_status_text(eg_status status)
{
    size_t index = (size_t)status;
    return index < EG_COUNT(status_texts) ? status_texts[index] : "unknown status";
}

const char *eg_version(void)
{
    return EG_VERSION;
}
