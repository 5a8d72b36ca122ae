// SPDX-License-Identifier: MIT
// Orders, elimination trees and supernodes of sparse factors: see factor_shape.h. Trees and counts as in Davis, Direct
// Methods for Sparse Linear Systems (2006), chapter 4.
#include "sim/solver/reference/factor_shape.h"

#include <metis.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/amd.h>

// The pattern below (or above) the diagonal in some order, and the elimination tree.
typedef struct Tree {
    int n;
    size_t *begin;
    int *row;
    int *parent, *count, *work; // count: entries of each column of the factor
} Tree;

static int *ints(size_t count) { return malloc((count + 1) * sizeof(int)); }

static void tree_free(Tree *t) {
    free(t->begin);
    free(t->row);
    free(t->parent);
    free(t->count);
    free(t->work);
    *t = (Tree){0};
}

static bool tree_allocate(Tree *t, int n, size_t entries) {
    *t = (Tree){
        n, malloc(((size_t)n + 2) * sizeof *t->begin), ints(entries), ints((size_t)n), ints((size_t)n), ints(5 * (size_t)n)};
    if (t->begin && t->row && t->parent && t->count && t->work) return true;
    tree_free(t);
    return false;
}

// Lists for every unknown of the new order the earlier (or later) ones that it meets in the matrix.
static void fill_lists(Tree *t, const int *begin, const int *row, const int *place, bool later) {
    memset(t->begin, 0, ((size_t)t->n + 2) * sizeof *t->begin);
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < t->n; j++)
            for (int e = begin[j]; e < begin[j + 1]; e++) {
                int a = place[row[e]], b = place[j], low = a < b ? a : b, high = a < b ? b : a;
                if (low == high) continue;
                size_t *end = &t->begin[(later ? low : high) + 1];
                if (pass == 1) t->row[*end] = later ? high : low;
                ++*end;
            }
        // begin[k + 1] is the length of list k, then where it begins, and after the second pass its end.
        size_t sum = 0;
        for (int k = 0; pass == 0 && k < t->n; k++) {
            size_t length = t->begin[k + 1];
            t->begin[k + 1] = sum;
            sum += length;
        }
    }
}

// Parents in the elimination tree, from lists of earlier unknowns (Liu 1990).
static void find_parents(Tree *t) {
    int *ancestor = t->work;
    for (int k = 0; k < t->n; k++) {
        t->parent[k] = ancestor[k] = -1;
        for (size_t e = t->begin[k]; e < t->begin[k + 1]; e++)
            for (int i = t->row[e], next; i != -1 && i < k; i = next) {
                next = ancestor[i];
                ancestor[i] = k;
                if (next == -1) t->parent[i] = k;
            }
    }
}

// Renumbers the unknowns so that those of every subtree follow each other, and with them the tree.
static void sort_tree(Tree *t, int *order) {
    int n = t->n, *head = t->work, *next = head + n, *stack = next + n, *sorted = stack + n, *label = sorted + n, at = 0;
    for (int k = 0; k < n; k++) head[k] = -1;
    for (int k = n - 1; k >= 0; k--) {
        if (t->parent[k] < 0) continue;
        next[k] = head[t->parent[k]];
        head[t->parent[k]] = k;
    }
    for (int root = 0; root < n; root++) {
        if (t->parent[root] >= 0) continue;
        int top = 0;
        stack[0] = root;
        while (top >= 0) {
            int child = head[stack[top]];
            if (child >= 0) {
                head[stack[top]] = next[child];
                stack[++top] = child;
            } else {
                sorted[at++] = stack[top--];
            }
        }
    }
    for (int k = 0; k < n; k++) label[sorted[k]] = k;
    for (int k = 0; k < n; k++) head[k] = t->parent[sorted[k]] < 0 ? -1 : label[t->parent[sorted[k]]];
    memcpy(t->parent, head, (size_t)n * sizeof *head);
    for (int k = 0; k < n; k++) next[k] = order[sorted[k]];
    memcpy(order, next, (size_t)n * sizeof *order);
}

// Whether j is a leaf of row i's subtree; *junction receives its least common ancestor with the leaf before it, -1 if it is
// the first.
static bool find_leaf(int i, int j, const int *first, int *most, int *last, int *ancestor, int *junction) {
    if (first[j] <= most[i]) return false;
    int before = last[i], top = before;
    most[i] = first[j];
    last[i] = j;
    while (top >= 0 && top != ancestor[top]) top = ancestor[top];
    for (int k = before, up; k >= 0 && k != top; k = up) {
        up = ancestor[k];
        ancestor[k] = top;
    }
    *junction = top;
    return true;
}

// Counts the entries of every column of the factor, the diagonal one among them, from lists of later unknowns (Gilbert, Ng
// and Peyton 1994).
static void count_columns(Tree *t) {
    int n = t->n, *first = t->work, *most = first + n, *last = most + n, *ancestor = last + n;
    for (int k = 0; k < n; k++) {
        first[k] = most[k] = last[k] = -1;
        ancestor[k] = k;
    }
    for (int k = 0; k < n; k++) {
        t->count[k] = first[k] < 0;
        for (int j = k; j >= 0 && first[j] < 0; j = t->parent[j]) first[j] = k;
    }
    for (int j = 0; j < n; j++) {
        if (t->parent[j] >= 0) t->count[t->parent[j]]--;
        for (size_t e = t->begin[j]; e < t->begin[j + 1]; e++) {
            int junction;
            if (!find_leaf(t->row[e], j, first, most, last, ancestor, &junction)) continue;
            t->count[j]++;
            if (junction >= 0) t->count[junction]--;
        }
        if (t->parent[j] >= 0) ancestor[j] = t->parent[j];
    }
    for (int j = 0; j < n; j++)
        if (t->parent[j] >= 0) t->count[t->parent[j]] += t->count[j];
}

// --- the order --------------------------------------------------------------------------------------------

// Sorts an order along its tree and counts the factor.
static void analyze(SandFactorShape *s, Tree *t, const int *begin, const int *row) {
    for (int k = 0; k < s->n; k++) s->place[s->order[k]] = k;
    fill_lists(t, begin, row, s->place, false);
    find_parents(t);
    sort_tree(t, s->order);
    for (int k = 0; k < s->n; k++) s->place[s->order[k]] = k;
    fill_lists(t, begin, row, s->place, true);
    count_columns(t);
    s->entries = s->squares = 0;
    for (int k = 0; k < s->n; k++) {
        double length = t->count[k];
        s->entries += length;
        s->squares += length * length;
    }
}

static bool order_by_degree(int *order, int n, const int *begin, const int *row) {
    double control[AMD_CONTROL];
    amd_defaults(control);
    int status = amd_order(n, begin, row, order, control, NULL);
    return status == AMD_OK || status == AMD_OK_BUT_JUMBLED;
}

// METIS wants the neighbors of every unknown, each of them once.
static bool list_neighbors(int n, const int *begin, const int *row, idx_t *first, idx_t *neighbor, int *seen) {
    memset(first, 0, ((size_t)n + 1) * sizeof *first);
    for (int j = 0; j < n; j++)
        for (int e = begin[j]; e < begin[j + 1]; e++) first[j]++, first[row[e]]++;
    idx_t sum = 0, kept = 0;
    for (int k = 0; k <= n; k++) {
        idx_t length = first[k];
        first[k] = sum;
        sum += length;
    }
    for (int j = 0; j < n; j++)
        for (int e = begin[j]; e < begin[j + 1]; e++) {
            neighbor[first[j]++] = row[e];
            neighbor[first[row[e]]++] = j;
        }
    memmove(first + 1, first, (size_t)n * sizeof *first);
    first[0] = 0;
    for (int k = 0; k < n; k++) seen[k] = -1;
    for (int k = 0; k < n; k++) {
        idx_t from = first[k];
        first[k] = kept;
        seen[k] = k;
        for (idx_t e = from; e < first[k + 1]; e++)
            if (seen[neighbor[e]] != k) seen[neighbor[e]] = k, neighbor[kept++] = neighbor[e];
    }
    first[n] = kept;
    return kept > 0;
}

static bool order_by_dissection(int *order, int n, const int *begin, const int *row) {
    size_t most = 2 * (size_t)begin[n];
    idx_t *first = malloc(((size_t)n + 2) * sizeof *first), *neighbor = malloc((most + 1) * sizeof *neighbor);
    idx_t *new_order = malloc(((size_t)n + 1) * sizeof *new_order), *labels = malloc(((size_t)n + 1) * sizeof *labels),
          size = n;
    bool ok = first && neighbor && new_order && labels && most < INT32_MAX;
    // Where nothing is coupled there is nothing to dissect.
    ok = ok && list_neighbors(n, begin, row, first, neighbor, order) &&
         METIS_NodeND(&size, first, neighbor, NULL, NULL, new_order, labels) == METIS_OK;
    for (int k = 0; ok && k < n; k++) order[k] = (int)new_order[k];
    free(first);
    free(neighbor);
    free(new_order);
    free(labels);
    return ok;
}

// From which work on CHOLMOD tries nested dissection: multiplications for each entry of the factor, and entries for each of
// the matrix (its defaults nd_oksep aside, CHOLMOD 3.0, cholmod_analyze.c).
static bool is_large(const SandFactorShape *s, const int *begin) {
    return s->squares >= 500 * s->entries && s->entries >= 5 * (double)begin[s->n];
}

static bool find_order(SandFactorShape *s, Tree *t, const int *begin, const int *row, SandOrdering ordering) {
    if (ordering == SAND_ORDERING_DISSECTION) {
        if (!order_by_dissection(s->order, s->n, begin, row)) return false;
        analyze(s, t, begin, row);
        return true;
    }
    if (!order_by_degree(s->order, s->n, begin, row)) return false;
    analyze(s, t, begin, row);
    if (ordering == SAND_ORDERING_MINIMUM_DEGREE || !is_large(s, begin)) return true;
    int *best = ints((size_t)s->n);
    if (!best) return false;
    double squares = s->squares;
    memcpy(best, s->order, (size_t)s->n * sizeof *best);
    if (order_by_dissection(s->order, s->n, begin, row)) analyze(s, t, begin, row);
    if (s->squares >= squares) {
        memcpy(s->order, best, (size_t)s->n * sizeof *best);
        analyze(s, t, begin, row);
    }
    free(best);
    return true;
}

// --- supernodes -----------------------------------------------------------------------------------------------

// Whether a supernode of these columns may hold this share of zeros: small supernodes cost more than their zeros (CHOLMOD's
// nrelax and zrelax).
static bool may_hold(int columns, double share) {
    return columns <= 4 || (columns <= 16 && share < 0.8) || (columns <= 48 && share < 0.1) || share < 0.05;
}

// Columns of one supernode: first those with the same rows, then supernodes are joined to the one that follows them and is
// their parent, where that adds few zeros.
static void find_supernodes(SandFactorShape *s, const Tree *t) {
    int n = s->n, supernodes = 0, *first = s->first, *work = t->work;
    for (int k = 0; k < n; k++)
        if (k == 0 || t->parent[k - 1] != k || t->count[k - 1] != t->count[k] + 1) first[supernodes++] = k;
    first[supernodes] = n;
    // From the end, so that the supernode behind is whole: its columns, the rows of its first one, and its zeros.
    int kept = supernodes, end = n, length = 0;
    double zeros = 0;
    for (int p = supernodes - 1; p >= 0; p--) {
        int columns = first[p + 1] - first[p], more = kept < supernodes ? end - first[p + 1] : 0;
        double added = (double)columns * (length + columns - t->count[first[p]]), all = columns + more;
        double size = 0.5 * all * (all + 1) + all * (length - more), sum = zeros + added;
        bool child = more > 0 && t->parent[first[p + 1] - 1] >= 0 && t->parent[first[p + 1] - 1] < end;
        if (child && may_hold(columns + more, sum / size)) {
            zeros = sum;
            length += columns;
            work[kept] = first[p];
            continue;
        }
        end = first[p + 1];
        work[--kept] = first[p];
        length = t->count[first[p]];
        zeros = 0;
    }
    s->supernodes = supernodes - kept;
    memmove(first, work + kept, (size_t)s->supernodes * sizeof *first);
    first[s->supernodes] = n;
    for (int p = 0; p < s->supernodes; p++)
        for (int k = first[p]; k < first[p + 1]; k++) s->supernode_of[k] = p;
}

static int compare_ints(const void *a, const void *b) {
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

// Adds those of `count` rows that lie behind the supernode and are not marked with it yet. Returns the end.
static size_t add_rows(const SandFactorShape *s, int p, const int *rows, size_t count, int *seen, size_t at) {
    for (size_t e = 0; e < count; e++) {
        if (rows[e] < s->first[p + 1] || seen[rows[e]] == p) continue;
        seen[rows[e]] = p;
        s->row[at++] = rows[e];
    }
    return at;
}

// The rows of every supernode: its own columns, and behind them those of its columns in the matrix and of its children.
static void fill_rows(SandFactorShape *s, const Tree *t) {
    int *seen = t->work, *head = seen + s->n, *next = head + s->n;
    size_t at = 0;
    for (int k = 0; k < s->n; k++) seen[k] = head[k] = -1;
    for (int p = 0; p < s->supernodes; p++) {
        s->begin[p] = at;
        for (int k = s->first[p]; k < s->first[p + 1]; k++) s->row[at++] = k;
        size_t own = at;
        for (int k = s->first[p]; k < s->first[p + 1]; k++)
            at = add_rows(s, p, t->row + t->begin[k], t->begin[k + 1] - t->begin[k], seen, at);
        for (int c = head[p]; c >= 0; c = next[c])
            at = add_rows(s, p, s->row + s->begin[c], s->begin[c + 1] - s->begin[c], seen, at);
        qsort(s->row + own, at - own, sizeof *s->row, compare_ints);
        if (at == own) continue;
        int parent = s->supernode_of[s->row[own]];
        next[p] = head[parent];
        head[parent] = p;
    }
    s->begin[s->supernodes] = at;
}

// Rows of all supernodes: those of a supernode's last column are behind it.
static size_t count_rows(const SandFactorShape *s, const Tree *t) {
    size_t rows = 0;
    for (int p = 0; p < s->supernodes; p++)
        rows += (size_t)(sand_supernode_columns(s, p) + t->count[s->first[p + 1] - 1] - 1);
    return rows;
}

bool sand_factor_shape_make(SandFactorShape *s, int n, const int *begin, const int *row, SandOrdering ordering,
                            SandError *error) {
    size_t size = (size_t)n;
    Tree t = {0};
    *s = (SandFactorShape){.n = n,
                           .order = ints(size),
                           .place = ints(size),
                           .first = ints(size),
                           .supernode_of = ints(size),
                           .begin = malloc((size + 1) * sizeof *s->begin)};
    bool ok = s->order && s->place && s->first && s->supernode_of && s->begin && tree_allocate(&t, n, (size_t)begin[n]) &&
              find_order(s, &t, begin, row, ordering);
    if (ok) {
        find_supernodes(s, &t);
        s->row = ints(count_rows(s, &t));
        ok = s->row != NULL;
    }
    if (ok) fill_rows(s, &t);
    tree_free(&t);
    if (!ok) sand_factor_shape_free(s);
    return ok || sand_fail(error, "out of memory for the factors of a linear system");
}

void sand_factor_shape_free(SandFactorShape *s) {
    free(s->order);
    free(s->place);
    free(s->first);
    free(s->supernode_of);
    free(s->begin);
    free(s->row);
    *s = (SandFactorShape){0};
}
