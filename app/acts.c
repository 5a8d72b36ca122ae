#include "acts.h"

#include "sim/memory.h"

bool act_changes_motion(ActKind kind) {
    switch (kind) {
    case ACT_SOLVE:
    case ACT_GRAVITY:
    case ACT_FLIP:
    case ACT_GRAB:
    case ACT_DRAG:
    case ACT_RELEASE:
    case ACT_THROW: return true;
    default: return false;
    }
}

bool acts_add(ActLog *log, uint64_t step, const Act *act, SandError *error) {
    if (!SAND_GROW(log->items, log->room, log->count + 1, "acts", error)) return false;
    log->items[log->count].step = step;
    log->items[log->count++].act = *act;
    return true;
}

void acts_cut(ActLog *log, uint64_t step) {
    while (log->count && log->items[log->count - 1].step > step) log->count--;
}

void acts_free(ActLog *log) {
    sand_free(log->items);
    *log = (ActLog){0};
}
