# Every tests/<room>/test_*.c is one program, every tests/cli/*.sh one script; each is a test named
# after its file's stem and labelled with its room. Exit status 77 counts as skipped.

# Kernels that tests have compiled; builds may share them.
set(EAGRE_TEST_CACHE ${PROJECT_BINARY_DIR}/test-cache CACHE PATH "where tests keep compiled kernels")

# Leaks inside drivers are not ours.
set(test_environment
    EAGRE_CACHE_DIR=${EAGRE_TEST_CACHE}/eagre
    POCL_CACHE_DIR=${EAGRE_TEST_CACHE}/pocl
    LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tools/lsan.supp:print_suppressions=0
    UBSAN_OPTIONS=print_stacktrace=1
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    EAGRE_TEST_MPIEXEC=$<$<BOOL:${EAGRE_HAVE_MPI}>:${MPIEXEC_EXECUTABLE}>)
file(MAKE_DIRECTORY ${EAGRE_TEST_CACHE}/pocl)

# The cache insists on a private directory.
file(MAKE_DIRECTORY ${EAGRE_TEST_CACHE}/eagre)
file(CHMOD ${EAGRE_TEST_CACHE}/eagre
    PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)

function(describe_test name room)
    set_tests_properties(${name} PROPERTIES LABELS ${room} SKIP_RETURN_CODE 77 TIMEOUT 600
        ENVIRONMENT "${test_environment}")
endfunction()

if(PkgConfig_FOUND)
    pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
endif()
if(NOT CMOCKA_FOUND)
    message(STATUS "cmocka was not found: the test programs are not built "
        "(on Debian: apt-get install pkg-config libcmocka-dev)")
endif()

if(TARGET eagre)
    set(command_path $<TARGET_FILE:eagre>)
else()
    set(command_path ${PROJECT_BINARY_DIR}/eagre)
endif()

add_custom_target(unit_tests)
foreach(room IN ITEMS unit kernel convergence paper cli)
    file(GLOB test_files CONFIGURE_DEPENDS tests/${room}/test_*.c)
    if(NOT CMOCKA_FOUND)
        continue()
    endif()
    foreach(file IN LISTS test_files)
        cmake_path(GET file STEM name)
        add_executable(${name} ${file})
        target_link_libraries(${name} PRIVATE eagre_all PkgConfig::CMOCKA)
        target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
        target_compile_definitions(${name} PRIVATE
            EG_TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
            EG_TEST_BUILD_DIR="${PROJECT_BINARY_DIR}"
            EG_TEST_BINARY="${command_path}")
        set_target_properties(${name} PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
        if(TARGET eagre)
            add_dependencies(${name} eagre)
        endif()
        add_test(NAME ${name} COMMAND ${name})
        describe_test(${name} ${room})
        if(room STREQUAL unit)
            add_dependencies(unit_tests ${name})
        endif()
    endforeach()
endforeach()

# MPI leaks from plug-ins that it unloads, so that no suppression can name them.
if(TARGET test_comm AND EAGRE_HAVE_MPI)
    add_test(NAME test_comm_on_3_ranks
        COMMAND ${MPIEXEC_EXECUTABLE} --oversubscribe ${MPIEXEC_NUMPROC_FLAG} 3
            $<TARGET_FILE:test_comm>)
    describe_test(test_comm_on_3_ranks unit)
    set_property(TEST test_comm test_comm_on_3_ranks APPEND PROPERTY
        ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
endif()

foreach(name IN ITEMS test_halo test_relay test_checkpoint test_norms test_probe_ranks test_quantity_ranks
        test_creation_ranks test_vtu_pieces test_krylov_ranks test_elliptic_ranks test_elliptic_colours test_elliptic_matrix)
    if(TARGET ${name} AND EAGRE_HAVE_MPI)
        foreach(ranks IN ITEMS 2 3 4)
            add_test(NAME ${name}_on_${ranks}_ranks
                COMMAND ${MPIEXEC_EXECUTABLE} --oversubscribe ${MPIEXEC_NUMPROC_FLAG} ${ranks}
                    $<TARGET_FILE:${name}>)
            describe_test(${name}_on_${ranks}_ranks unit)
            set_property(TEST ${name}_on_${ranks}_ranks APPEND PROPERTY
                ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
        endforeach()
        set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
    endif()
endforeach()

# The products and chains once more as a compiler without vector types would build them, on CPUs alone.
foreach(name IN ITEMS test_gemm test_fragments)
    if(TARGET ${name})
        add_test(NAME ${name}_without_vectors COMMAND ${name})
        describe_test(${name}_without_vectors kernel)
        set_property(TEST ${name}_without_vectors APPEND PROPERTY
            ENVIRONMENT "CC=cc -DK_PLAIN=1;OCL_ICD_VENDORS=/nonexistent;CUDA_VISIBLE_DEVICES=")
    endif()
endforeach()

# Every tests/fuzz/fuzz_*.c is fed what fuzzing has kept in tests/fuzz/corpus. tools/fuzz.sh fuzzes on.
file(GLOB fuzzers CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
foreach(file IN LISTS fuzzers)
    cmake_path(GET file STEM name)
    string(REPLACE fuzz_ "" corpus ${name})
    add_executable(${name} ${file})
    target_link_libraries(${name} PRIVATE eagre_all)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    target_compile_definitions(${name} PRIVATE EG_FUZZ_REPLAY)
    set_target_properties(${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    file(GLOB data LIST_DIRECTORIES true tests/data/${corpus}/*)
    list(FILTER data EXCLUDE REGEX "\\.[a-z]+$") # folders alone
    add_test(NAME ${name}_corpus
        COMMAND ${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${corpus} ${data})
    describe_test(${name}_corpus fuzz)
endforeach()

# Scripts are given the command, the source and the build directory.
file(GLOB test_scripts CONFIGURE_DEPENDS tests/cli/*.sh)
foreach(file IN LISTS test_scripts)
    cmake_path(GET file STEM name)
    if(TARGET eagre)
        add_test(NAME cli_${name}
            COMMAND sh ${file} ${command_path} ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
        describe_test(cli_${name} cli)
    endif()
endforeach()
