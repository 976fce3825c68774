# Run by cpack on the folders of the packages before they are packed: the files that Debian's policy asks for.
set(maintainer "${CPACK_PACKAGE_CONTACT}")
set(version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # or of $SOURCE_DATE_EPOCH

function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# A page of man(1) with the text that a program prints when it is called wrongly.
function(write_contract_page program path)
    execute_process(COMMAND ${CPACK_TRAPEZE_EMULATOR} ${program} ERROR_VARIABLE text OUTPUT_QUIET RESULT_VARIABLE code)
    if(NOT text MATCHES "^usage: trapeze-contract ")
        message(FATAL_ERROR "${program} does not print its usage: ${text} (${code})")
    endif()
    string(REPLACE "-" "\\-" text "${text}")
    file(WRITE ${path} ".TH TRAPEZE-CONTRACT 1 \"\" \"trapeze ${CPACK_PACKAGE_VERSION}\" \"Trapeze\"\n.SH NAME\n"
        "trapeze-contract \\- tests stencil plugins of Trapeze\n.SH SYNOPSIS\n.nf\n${text}.fi\n.SH DESCRIPTION\n"
        "Tests that a plugin reads and writes what it declares, and that every plan gives the same bits.\n"
        ".SH SEE ALSO\n.BR trapeze (1)\n")
endfunction()

function(complete component)
    string(TOUPPER ${component} upper)
    set(name ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
    set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr)
    set(docs ${root}/share/doc/${name})

    file(READ ${CPACK_TRAPEZE_LICENSE} license)
    string(REGEX MATCH "Copyright[^\n]*" copyright "${license}")
    file(REMOVE ${root}/share/doc/trapeze/LICENSE)
    file(WRITE ${docs}/copyright "This is Trapeze, packaged from its own source.\n\n${copyright}\n\n${license}")
    file(WRITE ${docs}/changelog.Debian
        "trapeze (${version}) unstable; urgency=medium\n\n  * Version ${CPACK_PACKAGE_VERSION}.\n\n -- ${maintainer}  ${date}\n")
    run(gzip -9nf ${docs}/changelog.Debian)

    if(component STREQUAL trapeze)
        file(RENAME ${docs}/CHANGELOG.md ${docs}/changelog)
        run(gzip -9nf ${docs}/changelog)
        # Cell updates are arithmetic alone: some plugins call no function of a library.
        file(WRITE ${root}/share/lintian/overrides/trapeze
            "trapeze: library-not-linked-against-libc [usr/lib/trapeze/plugins/*.so]\n"
            "trapeze: shared-library-lacks-prerequisites [usr/lib/trapeze/plugins/*.so]\n")
    endif()
    if(component STREQUAL lib)
        # CPack adds the call to packages with libraries; the trigger does the same.
        file(WRITE ${root}/share/lintian/overrides/libtrapeze0 "libtrapeze0: maintscript-calls-ldconfig [postinst]\n"
            "libtrapeze0: maintscript-calls-ldconfig [postrm]\n")
    endif()
    if(component STREQUAL dev)
        write_contract_page(${root}/bin/trapeze-contract ${root}/share/man/man1/trapeze-contract.1)
    endif()
    if(EXISTS ${root}/share/zsh/site-functions) # Debian's zsh looks elsewhere
        file(RENAME ${root}/share/zsh/site-functions ${root}/share/zsh/vendor-completions)
    endif()
    if(EXISTS ${root}/lib/pkgconfig) # where the tools of all architectures look
        file(RENAME ${root}/lib/pkgconfig ${root}/share/pkgconfig)
    endif()
    file(GLOB pages ${root}/share/man/man1/*.1)
    foreach(page IN LISTS pages)
        run(gzip -9nf ${page})
    endforeach()
    file(GLOB_RECURSE programs ${root}/bin/* ${root}/libexec/* ${root}/lib/*.so ${root}/lib/*.so.*)
    foreach(program IN LISTS programs)
        if(NOT IS_SYMLINK ${program})
            run(${CPACK_TRAPEZE_STRIP} --strip-unneeded --remove-section=.comment --remove-section=.note ${program})
        endif()
    endforeach()
    # Modules of a program are not executable files.
    run(find ${root} -type d -exec chmod 755 {} +)
    run(find ${root} -type f -exec chmod 644 {} +)
    run(find ${root} ( -path "${root}/bin/*" -o -path "${root}/libexec/*" ) -type f -exec chmod 755 {} +)
endfunction()

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    complete(${component})
endforeach()
