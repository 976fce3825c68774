#!/bin/sh
# Tests of `trapeze examples`: run_examples_tests.sh TRAPEZE
# Each example is copied to a folder of its own, where it has all that it reads.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/support.sh"

t examples
check 'examples' is $rc 0
check 'first.lua is one' grep -q '^first  .*power' out
check 'wave.lua is one' grep -q '^wave ' out
check 'of two with one name the second has its folder' grep -q '^stencils/wave ' out
check 'scenarios that measure are none' [ "$(grep -c '^bench \|^classes\|^copies \|^precision ' out)" = 0 ]
check 'lines are not too long' [ "$(awk 'length > 100' out | wc -l)" = 0 ]
names=$(awk '/^[a-z]/ && !/^trapeze/ { print $1 }' out)
check 'there are many' [ "$(echo "$names" | wc -l)" -ge 20 ]

for example in $names; do
    folder="copies/$example"
    t examples "$example" --into "$folder"
    check "$example: is copied" says "trapeze run $folder/$example.lua"
    t run "$folder/$example.lua" --check
    check "$example: the copy is complete" is $rc 0
done
check 'files that an example reads are copied' [ -f copies/hotspot/chip.flp ] && [ -f copies/life/patterns/gosper-gun.rle ]

t examples first
check 'to this folder' [ -f first.lua ]
check 'how to run it' says 'trapeze run first.lua'
echo mine >first.lua
t examples life first
check 'a file that exists is kept' grep -qx mine first.lua
expect "that is an error" rc 1 errs './first.lua: exists already'
t examples lief
expect "an unknown name" rc 1 errs "no example 'lief'; did you mean 'life'?"
t examples --into x
check '--into without a name' is $rc 2
t examples ../scripts/life
check 'a path is no name' is $rc 1
finish
