/* The shipped plugins, opened and closed by a group of tests. */
#ifndef TZ_TEST_REGISTRY_H
#define TZ_TEST_REGISTRY_H

#include "stencil/registry.h"
#include "tests/unit.h"

static tz_registry *registry;

static inline int open_plugins(void **state)
{
    static const char *const folders[] = {TZ_TEST_PLUGIN_DIR};
    return tz_registry_create(&registry, folders, 1, NULL) == TZ_OK ? 0 : -1;
}

/* Those of tests/plugins. */
static inline int open_test_plugins(void **state)
{
    static const char *const folders[] = {TZ_TEST_TEST_PLUGIN_DIR};
    return tz_registry_create(&registry, folders, 1, NULL) == TZ_OK ? 0 : -1;
}

/* The shipped ones and those of tests/plugins. */
static inline int open_all_plugins(void **state)
{
    static const char *const folders[] = {TZ_TEST_PLUGIN_DIR, TZ_TEST_TEST_PLUGIN_DIR};
    return tz_registry_create(&registry, folders, 2, NULL) == TZ_OK ? 0 : -1;
}

static inline int close_plugins(void **state)
{
    tz_registry_destroy(registry);
    return 0;
}

#endif
