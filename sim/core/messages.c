#include "sim/core/messages.h"

#include "sim/core/array.h"
#include "sim/core/assert.h"

#include <limits.h>
#include <string.h>

void sand_mail_free(SandMail *mail) {
    for (int r = 0; r < SAND_CHUNKS; r++) sand_free(mail->sent[r]);
    sand_free(mail->received);
    *mail = (SandMail){0};
}

void sand_mail_begin(SandMail *mail) {
    for (int r = 0; r < SAND_CHUNKS; r++) mail->sent_bytes[r] = 0;
}

bool sand_mail_reserve(SandMail *mail, int rank, size_t count, SandError *error) {
    return SAND_GROW(mail->sent[rank], mail->sent_capacity[rank], mail->sent_bytes[rank] + count, "messages", error);
}

bool sand_mail_put(SandMail *mail, int rank, const void *bytes, size_t count, SandError *error) {
    size_t end = mail->sent_bytes[rank] + count;
    if (!sand_mail_reserve(mail, rank, count, error)) return false;
    if (count) memcpy(mail->sent[rank] + mail->sent_bytes[rank], bytes, count);
    mail->sent_bytes[rank] = end;
    return true;
}

bool sand_mail_announce(const SandRanks *ranks, const size_t sent[SAND_CHUNKS], size_t coming[SAND_CHUNKS],
                        SandError *error) {
    static _Thread_local int64_t bytes[SAND_CHUNKS][SAND_CHUNKS]; // from each rank to each
    int first[SAND_CHUNKS + 1], me = ranks->rank;
    const size_t most = 8 * (size_t)INT_MAX; // by eight beyond INT_MAX, as MPI counts
    for (int r = 0; r < ranks->count; r++)
        if (sent[r] > most) return sand_fail(error, "more than 16 GB for one rank in one step");
    if (!ranks->agree(ranks->user, 0, error)) return false;
    for (int r = 0; r <= ranks->count; r++) first[r] = r;
    for (int r = 0; r < ranks->count; r++) bytes[me][r] = (int64_t)sent[r];
    ranks->allgather(ranks->user, bytes, first, sizeof bytes[0]);
    for (int r = 0; r < ranks->count; r++) coming[r] = (size_t)bytes[r][me];
    return true;
}

void sand_mail_deliver(const SandRanks *ranks, uint8_t *const out[SAND_CHUNKS], const size_t sent[SAND_CHUNKS],
                       uint8_t *received, const size_t coming[SAND_CHUNKS]) {
    SandMessage messages[SAND_CHUNKS];
    int count = 0, me = ranks->rank;
    uint8_t *at = received;
    for (int r = 0; r < ranks->count; at += coming[r++]) {
        if (r == me && sent[me]) memcpy(at, out[me], sent[me]);
        if (r == me || !(sent[r] || coming[r])) continue;
        messages[count++] = (SandMessage){r, out[r], at, sent[r], coming[r]};
    }
    ranks->exchange(ranks->user, messages, count);
}

bool sand_mail_exchange(SandMail *mail, const SandRanks *ranks, SandError *error) {
    size_t coming[SAND_CHUNKS];
    if (!sand_mail_announce(ranks, mail->sent_bytes, coming, error)) return false;
    mail->received_bytes = 0;
    for (int r = 0; r < ranks->count; r++) mail->received_bytes += coming[r];
    if (!SAND_GROW(mail->received, mail->received_capacity, mail->received_bytes + 1, "messages", error) ||
        !ranks->agree(ranks->user, 0, error))
        return false;
    sand_mail_deliver(ranks, mail->sent, mail->sent_bytes, mail->received, coming);
    return true;
}

bool sand_mail_share(SandMail *mail, const SandRanks *ranks, SandError *error) {
    int64_t bytes[SAND_CHUNKS] = {0}, all = 0;
    int first[SAND_CHUNKS + 1] = {0}, me = ranks->rank;
    const int unit = 8;
    SAND_ASSERT(mail->sent_bytes[me] % (size_t)unit == 0);
    if (!ranks->agree(ranks->user, 0, error)) return false;
    bytes[me] = (int64_t)mail->sent_bytes[me];
    ranks->sum(ranks->user, bytes, ranks->count);
    for (int r = 0; r < ranks->count; r++) first[r + 1] = (int)((all += bytes[r]) / unit);
    if (all / unit > INT_MAX) return sand_fail(error, "more than %d GB in one step", unit * 2);
    if (!SAND_GROW(mail->received, mail->received_capacity, all + 1, "messages", error) ||
        !ranks->agree(ranks->user, 0, error))
        return false;
    mail->received_bytes = (size_t)all;
    if (bytes[me]) memcpy(mail->received + (size_t)first[me] * (size_t)unit, mail->sent[me], mail->sent_bytes[me]);
    ranks->allgather(ranks->user, mail->received, first, (size_t)unit);
    return true;
}
