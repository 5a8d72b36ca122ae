// SPDX-License-Identifier: MIT
// The ffmpeg process: its command line for each format, its pipes, and its errors as sentences.
#include "app/io/film.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct Film {
    FilmDef def;
    char path[1024];
    pid_t child;
    int pipe;       // to ffmpeg
    FILE *messages; // its standard error
};

enum { MOST_WORDS = 64 };

static const char *const format_names[] = {"MP4", "WebM", "GIF"};

bool film_check(const FilmDef *def, SandError *error) {
    if (def->kind != FILM_GIF && (def->width % 2 || def->height % 2))
        return sand_fail(error, "%s films have even sizes; %d x %d is not, %d x %d is", format_names[def->kind], def->width,
                         def->height, def->width + def->width % 2, def->height + def->height % 2);
    if (def->kind == FILM_MP4 && def->alpha)
        return sand_fail(error, "an MP4 film has no alpha; take --webm, --gif or PNG frames");
    if (def->kind == FILM_GIF && def->fps > 50)
        return sand_fail(error, "a GIF shows at most 50 frames a second; give --fps 50 or less");
    if (strlen(def->path) >= sizeof((Film *)0)->path) return sand_fail(error, "the film's path is too long");
    return true;
}

static int command(const FilmDef *def, char *size, char *rate, const char **words) {
    const char *first[] = {"ffmpeg", "-y",       "-nostdin", "-hide_banner", "-loglevel", "error",
                           "-f",     "rawvideo", "-pix_fmt", "rgba",         "-s",        size,
                           "-r",     rate,       "-i",       "pipe:0",       "-an"};
    const char *mp4[] = {"-c:v", "libx264", "-preset", "fast", "-crf", "17", "-movflags", "+faststart", "-f", "mp4"};
    const char *webm[] = {"-c:v", "libvpx-vp9", "-crf", "26",        "-b:v", "0",  "-row-mt",
                          "1",    "-cpu-used",  "4",    "-deadline", "good", "-f", "webm"};
    // BT.709, converted and tagged as such.
    const char *colors[] = {"-pix_fmt",
                            def->alpha ? "yuva420p" : "yuv420p",
                            "-vf",
                            "scale=out_color_matrix=bt709:out_range=tv",
                            "-colorspace",
                            "bt709",
                            "-color_primaries",
                            "bt709",
                            "-color_trc",
                            "bt709",
                            "-color_range",
                            "tv"};
    // One palette per frame, so that nothing waits for the end and an interrupted film is complete.
    const char *gif[] = {
        "-vf",   "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1:dither=bayer:bayer_scale=4",
        "-loop", "0",
        "-f",    "gif"};
    int n = 0;
#define ADD(list) \
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) words[n++] = list[i]
    ADD(first);
    if (def->kind != FILM_GIF) ADD(colors);
    if (def->kind == FILM_MP4)
        ADD(mp4);
    else if (def->kind == FILM_WEBM)
        ADD(webm);
    else
        ADD(gif);
#undef ADD
    words[n++] = def->path;
    words[n] = NULL;
    return n;
}

// In the child: becomes ffmpeg. Where that fails, errno goes to `report`.
static void exec_ffmpeg(int in, int messages_to, const char **words, int report) {
    setpgid(0, 0);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_IGN);
    dup2(in, STDIN_FILENO);
    int nothing = open("/dev/null", O_WRONLY);
    if (nothing >= 0) dup2(nothing, STDOUT_FILENO);
    dup2(messages_to, STDERR_FILENO);
    execvp(words[0], (char *const *)words);
    int why = errno;
    if (write(report, &why, sizeof why) < 0) _exit(126);
    _exit(127);
}

// Starts ffmpeg. An error of exec comes back through a pipe that closes by itself when exec succeeds.
static bool start(Film *film, SandError *error) {
    int data[2], report[2], why = 0;
    const char *words[MOST_WORDS];
    char size[32], rate[32];
    snprintf(size, sizeof size, "%dx%d", film->def.width, film->def.height);
    snprintf(rate, sizeof rate, "%.6g", film->def.fps);
    command(&film->def, size, rate, words);
    if (pipe(data) != 0) return sand_fail(error, "no pipe for ffmpeg: %s", strerror(errno));
    if (pipe(report) != 0) {
        close(data[0]);
        close(data[1]);
        return sand_fail(error, "no pipe for ffmpeg: %s", strerror(errno));
    }
    fcntl(data[1], F_SETFD, FD_CLOEXEC);
    fcntl(report[1], F_SETFD, FD_CLOEXEC);
    film->child = fork();
    if (film->child == 0) {
        close(data[1]);
        close(report[0]);
        exec_ffmpeg(data[0], fileno(film->messages), words, report[1]);
    }
    close(data[0]);
    close(report[1]);
    if (film->child < 0) {
        close(data[1]);
        close(report[0]);
        return sand_fail(error, "ffmpeg could not be started: %s", strerror(errno));
    }
    ssize_t got = read(report[0], &why, sizeof why);
    close(report[0]);
    if (got == (ssize_t)sizeof why) {
        close(data[1]);
        waitpid(film->child, NULL, 0);
        if (why == ENOENT)
            return sand_fail(error,
                             "ffmpeg is not installed (the Debian package is ffmpeg); PNG frames with --out DIR need none");
        return sand_fail(error, "ffmpeg could not be started: %s", strerror(why));
    }
    film->pipe = data[1];
    return true;
}

Film *film_open(const FilmDef *def, SandError *error) {
    if (!film_check(def, error)) return NULL;
    Film *film = calloc(1, sizeof *film);
    if (!film) return sand_fail(error, "out of memory for a film"), NULL;
    film->def = *def;
    snprintf(film->path, sizeof film->path, "%s", def->path);
    film->def.path = film->path;
    film->pipe = -1;
    film->messages = tmpfile();
    // Writing to a pipe that ffmpeg closed must be an error, not SIGPIPE.
    signal(SIGPIPE, SIG_IGN);
    // Fail now rather than in ffmpeg after the first frames.
    bool there = access(film->path, F_OK) == 0;
    FILE *trial = fopen(film->path, "ab");
    bool open = true;
    if (!film->messages)
        open = sand_fail(error, "no temporary file for ffmpeg's messages: %s", strerror(errno));
    else if (!trial)
        open = sand_fail(error, "%.300s: %s", film->path, strerror(errno));
    if (trial) fclose(trial);
    if (open && start(film, error)) return film;
    if (trial && !there) unlink(film->path);
    if (film->messages) fclose(film->messages);
    free(film);
    return NULL;
}

bool film_write(Film *film, const unsigned char *pixels, SandError *error) {
    size_t left = (size_t)film->def.width * (size_t)film->def.height * 4;
    while (left) {
        ssize_t n = write(film->pipe, pixels, left);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return sand_fail(error, "%.300s: ffmpeg takes no more frames: %s", film->path, strerror(errno));
        pixels += n;
        left -= (size_t)n;
    }
    return true;
}

// The last line of the standard error of ffmpeg.
static void last_message(FILE *file, char *line, size_t size) {
    char next[512];
    line[0] = '\0';
    rewind(file);
    while (fgets(next, sizeof next, file)) {
        next[strcspn(next, "\r\n")] = '\0';
        if (*next) snprintf(line, size, "%s", next);
    }
}

bool film_close(Film *film, SandError *error) {
    int status = 0;
    char line[512];
    if (film->pipe >= 0) close(film->pipe);
    while (waitpid(film->child, &status, 0) < 0 && errno == EINTR) {}
    last_message(film->messages, line, sizeof line);
    bool done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!done) sand_fail(error, "%.150s: ffmpeg failed: %.250s", film->path, *line ? line : "it did not say why");
    fclose(film->messages);
    free(film);
    return done;
}
