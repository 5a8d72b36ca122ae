#include "sim/core/mail.h"

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

bool sand_mail_exchange(SandMail *mail, const SandRanks *ranks, SandError *error) {
    static _Thread_local int64_t bytes[SAND_CHUNKS][SAND_CHUNKS]; // from each rank to each
    SandMessage messages[SAND_CHUNKS];
    int first[SAND_CHUNKS + 1], count = 0, me = ranks->rank;
    const size_t most = 8 * (size_t)INT_MAX; // by eight beyond INT_MAX, as MPI counts
    for (int r = 0; r < ranks->count; r++)
        if (mail->sent_bytes[r] > most) return sand_fail(error, "more than 16 GB for one rank in one step");
    if (!ranks->agree(ranks->user, 0, error)) return false;
    for (int r = 0; r <= ranks->count; r++) first[r] = r;
    for (int r = 0; r < ranks->count; r++) bytes[me][r] = (int64_t)mail->sent_bytes[r];
    ranks->allgather(ranks->user, bytes, first, sizeof bytes[0]);
    mail->received_bytes = 0;
    for (int r = 0; r < ranks->count; r++) mail->received_bytes += (size_t)bytes[r][me];
    if (!SAND_GROW(mail->received, mail->received_capacity, mail->received_bytes + 1, "messages", error) ||
        !ranks->agree(ranks->user, 0, error))
        return false;
    size_t at = 0;
    for (int r = 0; r < ranks->count; at += (size_t)bytes[r++][me]) {
        if (r == me && bytes[r][me]) memcpy(mail->received + at, mail->sent[me], (size_t)bytes[r][me]);
        if (r == me || !(bytes[me][r] || bytes[r][me])) continue;
        messages[count++] = (SandMessage){r, mail->sent[r], mail->received + at, (size_t)bytes[me][r], (size_t)bytes[r][me]};
    }
    ranks->exchange(ranks->user, messages, count);
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
