#!/bin/sh
# SPDX-License-Identifier: MIT
# A sweep whose runs are started by something else than sandglass: here xargs, two at a time. A queue, or ssh to machines that
# share the folder, does the same.
#
#     examples/sweep.sh FOLDER [PROGRAM [TASK]]
set -eu
folder=$1
program=${2-sandglass}

sweep() {
    "$program" sweep incline --seconds 0.5 --vary mu=0.1:0.5:3 --vary steeper=0,10 --probe "box path body=box rate=100" --out "$folder" "$@"
}

tasks=$(sweep --tasks)

# Each of these is one run, and leaves one file.
if [ "${3-}" ]; then
    sweep --task "$3"
    exit
fi
seq "$tasks" | xargs -n 1 -P 2 "$0" "$folder" "$program"

# All are done: this makes the table, and would take what is missing.
sweep
