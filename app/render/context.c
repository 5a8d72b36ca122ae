// SPDX-License-Identifier: MIT
// Off-screen contexts through EGL, what all contexts share, and the debug output of the driver, whose errors are counted and
// kept. Nothing here needs a window system: window_context.c does.
#include "app/render/context_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <EGL/egl.h>
#include <EGL/eglext.h>

ContextDef context_default(void) {
    return (ContextDef){.width = 1280, .height = 720, .title = "Sandglass", .visible = true};
}

// --- messages of the driver -----------------------------------------------------------------------------

static void GLAD_API_PTR on_debug(GLenum source, GLenum type, GLuint id, GLenum severity, GLsizei length, const GLchar *text,
                                  const void *user) {
    (void)source, (void)id, (void)severity, (void)length;
    Context *context = (Context *)user;
    if (type != GL_DEBUG_TYPE_ERROR && type != GL_DEBUG_TYPE_UNDEFINED_BEHAVIOR) return;
    if (context->error_count++ == 0) snprintf(context->first_error, sizeof context->first_error, "%s", text);
}

bool context_load(Context *context, GLADloadfunc find, SandError *error) {
    if (!gladLoadGL(find)) return sand_fail(error, "the OpenGL functions could not be loaded");
    if (!GLAD_GL_VERSION_4_5) return sand_fail(error, "the driver has no OpenGL 4.5");
    snprintf(context->renderer, sizeof context->renderer, "%s", (const char *)glGetString(GL_RENDERER));
    glEnable(GL_DEBUG_OUTPUT);
    glEnable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
    glDebugMessageCallback(on_debug, context);
    return true;
}

// --- off-screen ---------------------------------------------------------------------------------------------

static bool has_word(const char *words, const char *word) { return words && strstr(words, word); }

// The EGL displays to try, best first: CUDA device 0, which takes the steps; other NVIDIA devices; other devices; then
// Mesa's surfaceless platform.
enum { MOST_DEVICES = 16 };

static int rank_of(EGLDeviceEXT device) {
    PFNEGLQUERYDEVICESTRINGEXTPROC get_string = (PFNEGLQUERYDEVICESTRINGEXTPROC)eglGetProcAddress("eglQueryDeviceStringEXT");
    PFNEGLQUERYDEVICEATTRIBEXTPROC get_number = (PFNEGLQUERYDEVICEATTRIBEXTPROC)eglGetProcAddress("eglQueryDeviceAttribEXT");
    EGLAttrib number = -1;
    if (!get_string || !has_word(get_string(device, EGL_EXTENSIONS), "EGL_NV_device_cuda")) return 2;
    return get_number && get_number(device, EGL_CUDA_DEVICE_NV, &number) && number == 0 ? 0 : 1;
}

static int list_displays(EGLDisplay *displays, bool software) {
    const char *extensions = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
    PFNEGLGETPLATFORMDISPLAYEXTPROC get_display =
        (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    PFNEGLQUERYDEVICESEXTPROC get_devices = (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
    int count = 0;
    if (!get_display) return 0;

    EGLDeviceEXT devices[MOST_DEVICES];
    EGLint device_count = 0;
    if (!software && get_devices && has_word(extensions, "EGL_EXT_platform_device") &&
        get_devices(MOST_DEVICES, devices, &device_count)) {
        for (int rank = 0; rank < 3; rank++)
            for (int i = 0; i < device_count; i++)
                if (rank_of(devices[i]) == rank) displays[count++] = get_display(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL);
    }
    if (has_word(extensions, "EGL_MESA_platform_surfaceless"))
        displays[count++] = get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    return count;
}

static void close_off_screen(Context *context) {
    eglMakeCurrent(context->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(context->display, context->egl);
    eglTerminate(context->display);
}

static bool open_display(Context *context, EGLDisplay display) {
    static const EGLint config_wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE, EGL_DONT_CARE, EGL_NONE};
    static const EGLint context_wanted[] = {EGL_CONTEXT_MAJOR_VERSION,
                                            4,
                                            EGL_CONTEXT_MINOR_VERSION,
                                            5,
                                            EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                            EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                            EGL_CONTEXT_OPENGL_DEBUG,
                                            EGL_TRUE,
                                            EGL_NONE};
    EGLConfig config = EGL_NO_CONFIG_KHR;
    EGLint count = 0;
    if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL)) return false;
    if (eglBindAPI(EGL_OPENGL_API)) {
        if (!eglChooseConfig(display, config_wanted, &config, 1, &count) || count == 0) config = EGL_NO_CONFIG_KHR;
        EGLContext egl = eglCreateContext(display, config, EGL_NO_CONTEXT, context_wanted);
        if (egl != EGL_NO_CONTEXT) {
            if (eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, egl)) {
                context->display = display;
                context->egl = egl;
                context->close = close_off_screen;
                return true;
            }
            eglDestroyContext(display, egl);
        }
    }
    eglTerminate(display);
    return false;
}

static bool open_off_screen(Context *context, const ContextDef *def, SandError *error) {
    EGLDisplay displays[MOST_DEVICES + 1];
    int count = list_displays(displays, def->software);
    for (int i = 0; i < count; i++)
        if (open_display(context, displays[i])) return context_load(context, (GLADloadfunc)eglGetProcAddress, error);
    return sand_fail(error,
                     "no off-screen OpenGL 4.5 through EGL; on Debian it comes with libegl-mesa0 and libgl1-mesa-dri");
}

bool context_bind(const Context *context, bool current, SandError *error) {
    EGLContext egl = current ? context->egl : EGL_NO_CONTEXT;
    return eglMakeCurrent(context->display, EGL_NO_SURFACE, EGL_NO_SURFACE, egl) ||
           sand_fail(error, "the off-screen context cannot be used from this thread");
}

// --- all contexts -------------------------------------------------------------------------------------------

Context *context_create_by(ContextOpener *open, const ContextDef *def, SandError *error) {
    Context *context = calloc(1, sizeof *context);
    if (!context) return sand_fail(error, "out of memory for a context"), NULL;
    context->width = def->width;
    context->height = def->height;
    if (open(context, def, error)) return context;
    context_free(context);
    return NULL;
}

Context *context_create(const ContextDef *def, SandError *error) { return context_create_by(open_off_screen, def, error); }

void context_free(Context *context) {
    if (!context) return;
    if (context->close) context->close(context);
    free(context);
}

void context_finish(const Context *context) {
    (void)context; // it is current
    glFinish();
}

bool context_is_software(void) { return has_word((const char *)glGetString(GL_RENDERER), "llvmpipe"); }
const char *context_renderer(const Context *context) { return context->renderer; }
int context_error_count(const Context *context) { return context->error_count; }
const char *context_error(const Context *context) { return context->first_error; }
