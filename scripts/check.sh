#!/bin/sh
# Checks the structure of the sources: sh scripts/check.sh
#
#   order     a file includes files of its own layer and of lower ones only (docs/architecture.md), by
#             names without "..", and neither folders nor files include each other in a circle; x.c and
#             x.h count as one file
#   isolation a plugin includes public headers alone; nothing includes a plugin; nothing but core/papers.{h,c}
#             includes model/papers or names a model of it
#   length    headers have at most 200 lines, sources 1,000, functions 80; lines have at most 100 columns
#   members   no comment behind a member splits its declaration, or goes on in the next line
#   globals   nothing that changes outlives a function call
#   tables    rows of tables (boundary kinds, …) are named by few files (scripts/check_tables.txt)
#   counts    as many files as docs/architecture.md says change with a boundary kind, …, and no more than may
#   formats   files outside of core/output/format name no format
#   families  files outside of core/backend/cuda/family name no family of GPU kernels
#   pages     a path that a page in docs/, README.md or CONTRIBUTING.md names is there
#   faults    the lines that a fault of tests/faults.txt replaces are there once
#   format    clang-format 14 would change nothing (scripts/format.sh --check)
#
# scripts/check_exceptions.txt lists what may be longer, with reasons. Prints every fault; exits 1 if
# there is one. tests/structure tests this script.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
cd "$root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
faults=$work/faults
: >"$faults"

# list FILE FIND'S ARGUMENTS: what it finds, sorted; an error if that is nothing, or if a folder is missing.
list() {
    to=$1
    shift
    find "$@" >"$to" && [ -s "$to" ] || { echo "check: nothing is found by: find $*" >&2; exit 1; }
    sort -o "$to" "$to"
}

list "$work/sources" core model kernels plugins examples -name '*.[ch]' -o -name '*.cuh'

# ---- Order ---------------------------------------------------------------------------------------
# FILE INCLUDED, as paths from the root, without system headers.
# shellcheck disable=SC2046 # a list of files
awk -v faults="$faults" '
FNR == NR { there[$0] = 1; next }
/^[ \t]*#[ \t]*include[ \t]*["<]/ {
    name = $0
    sub(/^[^"<]*["<]/, "", name)
    sub(/[">].*$/, "", name)
    folder = FILENAME
    sub(/[^\/]*$/, "", folder)
    if ($0 ~ /</) folder = "<"
    n = split(folder name "|core/" name "|" name "|core/include/" name "|core/include/trapeze/" name "|kernels/cuda/" name, tries, "|")
    for (i = 1; i <= n && !(tries[i] in there); i++) ;
    if (i <= n)
        print FILENAME, tries[i]
    else if ($0 ~ /"/)
        print FILENAME " includes \"" name "\", which is no path from its folder, core/ or the root" >>faults
}' "$work/sources" $(cat "$work/sources") >"$work/includes"

awk '
function layer(path,   parts) {
    split(path, parts, "/")
    if (path ~ /^(model\/papers\/|core\/papers\.[ch]$)/) return "papers"
    if (parts[1] == "core") return parts[2]
    return parts[1] == "examples" ? "plugins" : parts[1]
}
BEGIN {
    n = split("include base mpi model stencil define kernels backend jump calibrate predict policy sim output papers lua library cli", order, " ")
    for (i = 1; i <= n; i++) rank[order[i]] = i
}
{
    from = layer($1)
    to = layer($2)
    if (from == "plugins") {
        if (to != "include" && to != "plugins") print $1 " includes " $2 ": a plugin includes <trapeze/…> alone"
    } else if (to == "plugins")
        print $1 " includes the plugin file " $2
    else if ($2 ~ /^model\/papers\// && $1 !~ /^(model\/papers\/|core\/papers\.[ch]$)/)
        print $1 " includes " $2 ": core/papers.c registers what it has"
    else if (!(from in rank)) print $1 ": its folder is no layer"
    else if (!(to in rank)) print $2 ": its folder is no layer"
    else if (rank[from] < rank[to]) print $1 " includes " $2 ": " to " lies above " from
}' "$work/includes" >>"$faults"

# A model of the papers by name.
# shellcheck disable=SC2046 # a list of files
grep -nE 'meng(2009|2011)|"meng"|luo2011|tabik2015' $(grep -vE '^(model/papers/|core/papers\.[ch]$|plugins/)' "$work/sources") |
    sed 's/^\([^:]*:[0-9]*\):.*/\1 names a model of model\/papers/' >>"$faults" || true

# Folders that include each other in a circle.
awk '
function folder(path) { sub(/\/[^\/]*$/, "", path); return path }
folder($1) != folder($2) { print folder($1), folder($2) }' "$work/includes" | sort -u >"$work/folders"
if ! tsort <"$work/folders" >/dev/null 2>"$work/circles"; then
    echo "these folders include each other in a circle:" \
        "$(sed -n 's/^tsort: \([a-z].*\/.*\)/\1/p' "$work/circles" | sort -u | tr '\n' ' ')" >>"$faults"
fi

# Files that do so. tsort names the members of a circle one by one.
awk '
function unit(path) { sub(/\.(c|h|cuh)$/, "", path); return path }
unit($1) != unit($2) { print unit($1), unit($2) }' "$work/includes" | sort -u >"$work/units"
if ! tsort <"$work/units" >/dev/null 2>"$work/circles"; then
    awk '
    function finish() { if (names != "") print "these files include each other in a circle:" names }
    /: input contains a loop:$/ { finish(); names = ""; next }
    { sub(/^tsort: /, ""); names = names " " $0 }
    END { finish() }' "$work/circles" >>"$faults"
fi

# ---- Length --------------------------------------------------------------------------------------
list "$work/long" core model kernels plugins tests examples -name '*.[ch]' -o -name '*.cuh'
# shellcheck disable=SC2046 # a list of files
awk '
FNR == NR { if ($0 !~ /^(#|$)/ && $1 != "global") allowed[$1 " " $2] = $3; next }
function check(what, name, lines, most,   limit) {
    limit = (what " " name) in allowed ? allowed[what " " name] : most
    used[what " " name] = 1
    if (lines > limit)
        print name ": " lines " lines, and a " what " has at most " limit
    else if (limit > most && lines <= most)
        print name ": " lines " lines: needs no exception any more"
}
function finish() {
    if (file != "") check(file ~ /\.h$/ ? "header" : "source", file, last, file ~ /\.h$/ ? 200 : 1000)
}
FNR == 1 { finish(); file = FILENAME; start = 0 }
{ last = FNR }
/^[{]/ { start = FNR }
/^[a-zA-Z_].*\(/ && !/;[ \t]*$/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
/^[}]/ { if (start && $0 !~ /^[}](;| [a-zA-Z_])/) check("function", file ":" name, FNR - start - 1, 80); start = 0 }
END {
    finish()
    for (key in allowed) if (!(key in used)) print "check_exceptions.txt: there is no " key
}' scripts/check_exceptions.txt $(cat "$work/long") >>"$faults"

# ---- Columns, members, globals -------------------------------------------------------------------
# Columns are characters.
# shellcheck disable=SC2046 # a list of files
LC_ALL=C.UTF-8 grep -nE '.{101}' $(cat "$work/long") /dev/null | sed 's/^\([^:]*:[0-9]*\):.*/\1: more than 100 columns/' >>"$faults"
# shellcheck disable=SC2046 # a list of files
awk '
FNR == NR { if ($0 !~ /^(#|$)/ && $1 == "global") allowed[$2] = 1; next }
FNR == 1 { depth = 0; before = "" }
/^[ \t]*(typedef |static |const )*(struct|enum|union)[^;()]*[{]$/ { depth++; before = ""; next }
depth && /^[ \t]*[}]/ { depth--; before = ""; next }
depth && /[;,][ \t]*\/\*/ && !/\\$/ && !/^[ \t]*\/?\*/ {
    if (!/\*\//) print FILENAME ":" FNR ": the comment behind this member takes several lines; it goes above"
    if (before ~ /^[ \t]+[A-Za-z_]/ && before !~ /([;,{}\/\\:)]|\*\/)[ \t]*$/ && before !~ /^[ \t]*TZ_[A-Z_]+\(/)
        print FILENAME ":" FNR ": the comment behind this member splits its declaration; it goes above"
}
{ before = $0 }
FILENAME !~ /^(tests|plugins|examples)\// && !/[({]/ && !/(^|[ *])const[ ;=\[]/ &&
    /^[ \t]*(static|_Thread_local|static _Thread_local) [A-Za-z_]/ && /(;|=.*)([ \t]*\/\*.*)?$/ {
    name = $0
    sub(/[ \t]*(=|;|\[).*/, "", name)
    sub(/.*[ *]/, "", name)
    if ((FILENAME ":" name) in allowed) used[FILENAME ":" name] = 1
    else print FILENAME ":" FNR ": " name " changes and outlives the call"
}
END { for (key in allowed) if (!(key in used)) print "check_exceptions.txt: there is no global " key }
' scripts/check_exceptions.txt $(cat "$work/long") >>"$faults"
# ---- Tables --------------------------------------------------------------------------------------
# WHAT PATTERN FILE…: no source outside these files has the pattern, and each of them has it.
grep -vE '^(#|$)' scripts/check_tables.txt >"$work/tables" || true
while read -r what pattern files; do
    printf '%s\n' $files | sort >"$work/may"
    # shellcheck disable=SC2046 # a list of files
    grep -lE "$pattern" $(grep -vE '^(plugins|examples)/' "$work/sources") | sort >"$work/do" || true
    comm -13 "$work/may" "$work/do" | sed "s/\$/ names a $what: scripts\/check_tables.txt has the files that may/"
    comm -23 "$work/may" "$work/do" | sed "s/\$/ names no $what: scripts\/check_tables.txt must not list it/"
done <"$work/tables" >>"$faults"

# ---- Counts --------------------------------------------------------------------------------------
# What is added changes at most so many files outside its own: a row of docs/architecture.md says how many and names them.
[ ! -e docs/architecture.md ] || while read -r most what; do
    row=$(grep "^| an* $what |" docs/architecture.md) || row=
    named=$(printf '%s' "$row" | grep -oE '`(core|kernels)/[^`]*`' | sort -u | wc -l)
    [ "$named" -le "$most" ] && [ "$named" -gt 0 ] && [ "$(printf '%s' "$row" | cut -d '|' -f 3 | tr -d ' ')" = "$named" ] ||
        echo "docs/architecture.md: $what: its row must say and name at most $most files" >>"$faults"
done <<END
8 boundary kind
8 element type
1 backend
1 CPU family
1 output format
END

# ---- Formats -------------------------------------------------------------------------------------
# A format is known to its file and to the table: elsewhere nothing names its row, or compares the end of a name with its own. (Text
# is no format of outputs, and .txt is the end of other files, too.)
if [ -d core/output/format ]; then
    endings=$(sed -nE 's/.*suffix = "\.([a-z0-9]+)".*/\1/p' core/output/format/*.c | grep -vx txt | sort -u | tr '\n' '|')
    grep -rnE "tz_format_($(sed -nE 's/^ *X\(([a-z0-9]+)\).*/\1/p' core/output/format/format.h | tr '\n' '|')-)\\>|\"\.(${endings}-)\"" \
        core --include='*.[ch]' | grep -v '^core/output/format/' |
        sed -nE 's/^([^:]*:[0-9]*):.*/\1 knows a format: ask core\/output\/format\/format.h/p' >>"$faults" || true
fi

# ---- Families of GPU kernels ---------------------------------------------------------------------
# A family is known to its folder and to the table of family.c.
family=core/backend/cuda/family
if [ -d $family ]; then
    grep -rnE "tz_cuda_family_($(sed -nE 's/^ *F\(([a-z]+),.*/\1/p' $family/family.c | tr '\n' '|')-)\>" core tests \
        --include='*.[ch]' | grep -v "^$family/" |
        sed -nE "s#^([^:]*:[0-9]*):.*#\1 names a family of kernels: ask $family/family.h#p" >>"$faults" || true
fi

# ---- Pages ---------------------------------------------------------------------------------------
# Paths in back quotes or links; NAME, *, { and … stand for something else.
list "$work/pages" docs README.md CONTRIBUTING.md -name '*.md'
while IFS= read -r page; do
    grep -oE '`(core|kernels|model|plugins|python|examples|tests|scripts|docs)/[^` ]*`' "$page" | tr -d '`' >"$work/named" || true
    grep -oE '\]\([^):]*\)' "$page" | sed "s|^](#|](${page##*/}#|; s|^](|$(dirname "$page")/|; s|)\$||" >>"$work/named" || true
    grep -vE 'NAME|[*{…]' "$work/named" | while IFS= read -r path; do
        file=${path%%#*}
        [ -e "$file" ] || { echo "$page names $path, which is not there"; continue; }
        # A heading is named by its words in lower case, joined by hyphens.
        [ "$file" = "$path" ] || grep '^#' "$file" | sed 's/^#* //' | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9\n-' | grep -qxF -e "${path#*#}" ||
            echo "$page names $path, but that page has no such heading"
    done
done <"$work/pages" >>"$faults"

# ---- Faults --------------------------------------------------------------------------------------
[ ! -e tests/faults.txt ] || sh scripts/faults.sh --check 2>>"$faults" || true

if [ -s "$faults" ]; then
    cat "$faults" >&2
    echo "check: $(wc -l <"$faults") faults" >&2
    exit 1
fi
sh scripts/format.sh --check
echo "check: $(wc -l <"$work/sources") sources in order, none too long, all formatted"
