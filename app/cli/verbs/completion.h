// SPDX-License-Identifier: MIT
// Completion of the command line in shells, made from the tables of verbs and options.
#pragma once

void completion_print_bash(void);
void completion_print_zsh(void);
void completion_print_fish(void);
