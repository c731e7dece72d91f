/* A locale in which 1.5 is written 1,5. */
#ifndef EG_TEST_COMMA_H
#define EG_TEST_COMMA_H

#include "test.h"

#include <locale.h>

/* Makes a locale with a decimal comma in a folder of its own: few machines have one installed. */
static inline bool set_comma_locale(const char *folder)
{
    char command[2 * PATH_MAX + 128];
    snprintf(command, sizeof command,
             "localedef -c -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1 || [ $? -eq 1 ]", folder,
             folder);
    if (setenv("LOCPATH", folder, 1) != 0 || system(command) != 0) return false;
    return setlocale(LC_NUMERIC, "de_DE.UTF-8") != NULL;
}

#endif
