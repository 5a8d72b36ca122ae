// SPDX-License-Identifier: MIT
// The Dear ImGui context. C++ because ImGuiIO, ImGuiStyle and the backends are: their layouts differ between versions, so no
// other file touches them.
#include "app/ui/interface.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>

#include <glad/gl.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>

#include "sim/core/hash.h"

extern "C" {
#include "app/io/caption.h"
#include "app/io/png.h"
#include "app/render/shader.h"
}

struct Interface {
    GLFWwindow *window;
    ImGuiContext *context, *outer; // its own, and the one that is current outside of its frames
    double scale;                  // of the current font
    ImDrawList *sheet;
    int sheet_width, sheet_height;
    ImVec2 mouse;
    bool mouse_down;
    // The panel of the window is drawn into a layer of its own, only when it changed: the software renderer is slow at it.
    GLuint layer, layer_pass, program, empty_array;
    int layer_width, layer_height;
    uint64_t drawn;     // hash of the draw lists in the layer
    double since_drawn; // s
};

// Makes the context of an interface current for the lifetime of this object.
struct Current {
    ImGuiContext *outer;
    explicit Current(const Interface *interface) : outer(ImGui::GetCurrentContext()) {
        ImGui::SetCurrentContext(interface->context);
    }
    ~Current() { ImGui::SetCurrentContext(outer); }
};

static const double REFRESH = 0.1; // s, refresh interval of an untouched panel

// Capitals of DejaVu Sans are 0.626 of ImGui's font size: 15 gives 9.4 pixels.
static const float FONT_SIZE = 15, TITLE = 48.f / 28, CAP_HEIGHT = 1493.f / 2384.f;

// --- style --------------------------------------------------------------------------------------------------

static ImVec4 color(unsigned rgb, float alpha = 1) {
    return ImVec4((rgb >> 16 & 255) / 255.f, (rgb >> 8 & 255) / 255.f, (rgb & 255) / 255.f, alpha);
}

static void set_style(float scale) {
    ImGuiStyle &style = ImGui::GetStyle();
    style = ImGuiStyle();
    ImGui::StyleColorsDark(&style);
    style.WindowPadding = ImVec2(10, 10);
    style.FramePadding = ImVec2(8, 3);
    style.ItemSpacing = ImVec2(7, 5);
    style.ItemInnerSpacing = ImVec2(6, 4);
    style.CellPadding = ImVec2(4, 2);
    style.ScrollbarSize = 11;
    style.GrabMinSize = 5;
    style.WindowRounding = 7;
    style.ChildRounding = 5;
    style.FrameRounding = 4;
    style.PopupRounding = 5;
    style.GrabRounding = 4;
    style.ScrollbarRounding = 6;
    style.WindowBorderSize = 1;
    style.PopupBorderSize = 1;
    style.DisabledAlpha = 0.5f;
    style.WindowTitleAlign = ImVec2(0.5f, 0.5f);
    style.ScaleAllSizes(scale);

    ImVec4 *c = style.Colors;
    c[ImGuiCol_Text] = color(0xe9ecf1);
    c[ImGuiCol_TextDisabled] = color(0xa4adba);
    c[ImGuiCol_WindowBg] = color(0x14181e, 0.95f);
    c[ImGuiCol_ChildBg] = color(0x14181e, 0);
    c[ImGuiCol_PopupBg] = color(0x1b2028, 0.98f);
    c[ImGuiCol_Border] = color(0x3a424f);
    c[ImGuiCol_FrameBg] = color(0x262d38);
    c[ImGuiCol_FrameBgHovered] = color(0x323b49);
    c[ImGuiCol_FrameBgActive] = color(0x3a4556);
    c[ImGuiCol_TitleBg] = c[ImGuiCol_TitleBgActive] = c[ImGuiCol_TitleBgCollapsed] = color(0x1b2028);
    c[ImGuiCol_ScrollbarBg] = color(0x14181e, 0);
    c[ImGuiCol_ScrollbarGrab] = color(0x3f4958);
    c[ImGuiCol_ScrollbarGrabHovered] = color(0x566275);
    c[ImGuiCol_ScrollbarGrabActive] = color(0x6b7a92);
    c[ImGuiCol_CheckMark] = color(0xf2b134);
    c[ImGuiCol_SliderGrab] = color(0x4f5f78);
    c[ImGuiCol_SliderGrabActive] = color(0x80590f);
    c[ImGuiCol_Button] = color(0x303947);
    c[ImGuiCol_ButtonHovered] = color(0x3f4b5e);
    c[ImGuiCol_ButtonActive] = color(0x4d5b72);
    c[ImGuiCol_Header] = color(0x232a35);
    c[ImGuiCol_HeaderHovered] = color(0x2f3846);
    c[ImGuiCol_HeaderActive] = color(0x3a4556);
    c[ImGuiCol_Separator] = color(0x333b47);
    c[ImGuiCol_TableRowBg] = color(0xffffff, 0);
    c[ImGuiCol_TableRowBgAlt] = color(0xffffff, 0.035f);
    c[ImGuiCol_TextSelectedBg] = color(0x2f5f8f);
    c[ImGuiCol_NavHighlight] = color(0xf2b134);
}

static double linear(double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); }
static double luminance(ImVec4 c) { return 0.2126 * linear(c.x) + 0.7152 * linear(c.y) + 0.0722 * linear(c.z); }
static ImVec4 over(ImVec4 a, ImVec4 b) {
    return ImVec4(a.x * a.w + b.x * (1 - a.w), a.y * a.w + b.y * (1 - a.w), a.z * a.w + b.z * (1 - a.w), 1);
}

double interface_least_contrast(void) {
    static const ImGuiCol behind[] = {
        ImGuiCol_ChildBg,       ImGuiCol_FrameBg,        ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive,
        ImGuiCol_Button,        ImGuiCol_ButtonHovered,  ImGuiCol_ButtonActive,   ImGuiCol_Header,
        ImGuiCol_HeaderHovered, ImGuiCol_HeaderActive,   ImGuiCol_TableRowBgAlt,  ImGuiCol_PopupBg,
        ImGuiCol_TitleBg,       ImGuiCol_TextSelectedBg, ImGuiCol_SliderGrab,     ImGuiCol_SliderGrabActive};
    const ImVec4 *c = ImGui::GetStyle().Colors;
    ImVec4 window = over(c[ImGuiCol_WindowBg], ImVec4(1, 1, 1, 1));
    double least = (luminance(c[ImGuiCol_TextDisabled]) + 0.05) / (luminance(window) + 0.05); // disabled text has no frame
    for (ImGuiCol b : behind)
        least = std::min(least, (luminance(c[ImGuiCol_Text]) + 0.05) / (luminance(over(c[b], window)) + 0.05));
    return least;
}

static bool set_scale(Interface *interface, double scale) {
    static const ImWchar ranges[] = {0x20,   0xff,   0x370,  0x3ff,  0x2010, 0x2027, 0x2032, 0x2033,
                                     0x2070, 0x209f, 0x2190, 0x21ff, 0x2200, 0x22ff, 0};
    ImGuiIO &io = ImGui::GetIO();
    ImFontConfig config;
    size_t size;
    const unsigned char *bytes = caption_font(&size);
    config.FontDataOwnedByAtlas = false;
    config.OversampleH = 2;
    config.PixelSnapH = true;
    io.Fonts->Clear();
    static const ImWchar letters[] = {0x20, 0x17f, 0x2010, 0x2027, 0};
    float pixels = std::round(FONT_SIZE * (float)scale);
    if (!io.Fonts->AddFontFromMemoryTTF((void *)bytes, (int)size, pixels, &config, ranges) ||
        !io.Fonts->AddFontFromMemoryTTF((void *)bytes, (int)size, std::round(TITLE * pixels), &config, letters))
        return false;
    ImGui_ImplOpenGL3_DestroyFontsTexture();
    set_style((float)scale);
    interface->scale = scale;
    return ImGui_ImplOpenGL3_CreateFontsTexture();
}

// --- creation ---------------------------------------------------------------------------------------------------

Interface *interface_create(void *window, SandError *error) {
    if (!IMGUI_CHECKVERSION()) return sand_fail(error, "Dear ImGui's library and header differ in version"), nullptr;
    Interface *interface = new (std::nothrow) Interface();
    if (!interface) return sand_fail(error, "out of memory for the panel"), nullptr;
    interface->window = (GLFWwindow *)window;
    interface->mouse = ImVec2(-1e6f, -1e6f);
    interface->context = ImGui::CreateContext(); // the first one stays current
    Current current(interface);
    ImGui::GetIO().IniFilename = nullptr; // the program has its own settings file
    bool made = ImGui_ImplOpenGL3_Init("#version 450 core");
    if (made && window) made = ImGui_ImplGlfw_InitForOpenGL(interface->window, true);
    if (made && window) {
        interface->program = shader_make("screen", "layer", nullptr, error);
        glCreateVertexArrays(1, &interface->empty_array);
        if (!interface->program) return interface_free(interface), nullptr;
    }
    if (made && set_scale(interface, 1)) return interface;
    interface_free(interface);
    return sand_fail(error, "the panel could not be set up on this OpenGL"), nullptr;
}

void interface_free(Interface *interface) {
    if (!interface) return;
    delete interface->sheet;
    glDeleteTextures(1, &interface->layer);
    glDeleteFramebuffers(1, &interface->layer_pass);
    glDeleteVertexArrays(1, &interface->empty_array);
    glDeleteProgram(interface->program);
    {
        Current current(interface);
        if (interface->window && ImGui::GetIO().BackendPlatformUserData) ImGui_ImplGlfw_Shutdown();
        if (ImGui::GetIO().BackendRendererUserData) ImGui_ImplOpenGL3_Shutdown();
    }
    ImGui::DestroyContext(interface->context);
    delete interface;
}

void interface_begin(Interface *interface, int width, int height, double scale, double seconds) {
    interface->outer = ImGui::GetCurrentContext();
    ImGui::SetCurrentContext(interface->context);
    ImGuiIO &io = ImGui::GetIO();
    if (scale != interface->scale) set_scale(interface, scale);
    ImGui_ImplOpenGL3_NewFrame();
    if (interface->window) {
        ImGui_ImplGlfw_NewFrame();
        // GLFW reports screen units; the panel is laid out in pixels.
        int w, h;
        glfwGetWindowSize(interface->window, &w, &h);
        if (w > 0 && h > 0 && io.MousePos.x > -1e6f)
            io.MousePos = ImVec2(io.MousePos.x * width / w, io.MousePos.y * height / h);
    } else {
        io.MousePos = interface->mouse;
        io.MouseDown[0] = interface->mouse_down;
    }
    io.DisplaySize = ImVec2((float)width, (float)height);
    io.DisplayFramebufferScale = ImVec2(1, 1);
    io.DeltaTime = seconds > 1e-6 ? (float)seconds : 1e-6f;
    ImGui::NewFrame();
}

// ImGui buffers are multiples of four bytes.
static uint64_t mix(uint64_t hash, const void *data, size_t bytes) {
    const uint32_t *words = (const uint32_t *)data;
    for (size_t i = 0; i < bytes / sizeof *words; i++) hash = sand_hash(hash, words[i]);
    return hash;
}

static uint64_t hash_of(const ImDrawData *data) {
    uint64_t hash = SAND_HASH_BEGIN;
    for (int i = 0; i < data->CmdListsCount; i++) {
        const ImDrawList *list = data->CmdLists[i];
        hash = mix(hash, list->VtxBuffer.Data, (size_t)list->VtxBuffer.Size * sizeof(ImDrawVert));
        hash = mix(hash, list->IdxBuffer.Data, (size_t)list->IdxBuffer.Size * sizeof(ImDrawIdx) & ~(size_t)3);
        for (const ImDrawCmd &command : list->CmdBuffer) hash = mix(hash, &command.ClipRect, sizeof command.ClipRect);
    }
    return hash;
}

static bool is_touched(const ImGuiIO &io) {
    bool touched = io.MouseDelta.x != 0 || io.MouseDelta.y != 0 || io.MouseWheel != 0 || io.InputQueueCharacters.Size > 0;
    for (bool down : io.MouseDown) touched = touched || down;
    for (bool down : io.KeysDown) touched = touched || down;
    for (bool released : io.MouseReleased) touched = touched || released;
    return touched;
}

// Redraws the layer of the panel when it changed or a refresh is due.
static void draw_layer(Interface *interface, ImDrawData *data) {
    const ImGuiIO &io = ImGui::GetIO();
    int width = (int)io.DisplaySize.x, height = (int)io.DisplaySize.y;
    bool resized = width != interface->layer_width || height != interface->layer_height;
    interface->since_drawn += io.DeltaTime;
    if (!resized && !is_touched(io) && interface->since_drawn < REFRESH) return;
    uint64_t hash = hash_of(data);
    if (!resized && hash == interface->drawn) return;
    if (resized) {
        glDeleteTextures(1, &interface->layer);
        glCreateTextures(GL_TEXTURE_2D, 1, &interface->layer);
        glTextureStorage2D(interface->layer, 1, GL_RGBA8, width, height);
        if (!interface->layer_pass) glCreateFramebuffers(1, &interface->layer_pass);
        glNamedFramebufferTexture(interface->layer_pass, GL_COLOR_ATTACHMENT0, interface->layer, 0);
        interface->layer_width = width;
        interface->layer_height = height;
    }
    const GLfloat nothing[4] = {0, 0, 0, 0};
    glBindFramebuffer(GL_FRAMEBUFFER, interface->layer_pass);
    glClearNamedFramebufferfv(interface->layer_pass, GL_COLOR, 0, nothing);
    ImGui_ImplOpenGL3_RenderDrawData(data);
    interface->drawn = hash;
    interface->since_drawn = 0;
}

// Composites the layer over this framebuffer.
static void show_layer(const Interface *interface, unsigned framebuffer) {
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glViewport(0, 0, interface->layer_width, interface->layer_height);
    glDisable(GL_DEPTH_TEST);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    glBindTextureUnit(0, interface->layer);
    glUseProgram(interface->program);
    glBindVertexArray(interface->empty_array);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glDisable(GL_BLEND);
}

void interface_end(Interface *interface, unsigned framebuffer) {
    ImGui::Render();
    ImDrawData *data = ImGui::GetDrawData();
    if (interface->program) {
        draw_layer(interface, data);
        show_layer(interface, framebuffer);
    } else {
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
        ImGui_ImplOpenGL3_RenderDrawData(data);
    }
    ImGui::SetCurrentContext(interface->outer);
}

void interface_begin_title(void) { ImGui::PushFont(ImGui::GetIO().Fonts->Fonts[1]); }
void interface_end_title(void) { ImGui::PopFont(); }

bool interface_wants_mouse(const Interface *interface) {
    Current current(interface);
    return ImGui::GetIO().WantCaptureMouse;
}
bool interface_wants_keyboard(const Interface *interface) {
    Current current(interface);
    return ImGui::GetIO().WantTextInput;
}
bool interface_close_list(Interface *interface) {
    Current current(interface);
    if (!ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup)) return false;
    ImGui::ClosePopupToLevel(0, true);
    return true;
}
double interface_cap_height(const Interface *interface) {
    Current current(interface);
    return CAP_HEIGHT * ImGui::GetIO().Fonts->Fonts[0]->FontSize;
}

void interface_mouse(Interface *interface, double x, double y, bool down) {
    interface->mouse = ImVec2((float)x, (float)y);
    interface->mouse_down = down;
}

// --- a sheet ------------------------------------------------------------------------------------------------

ImDrawList *interface_sheet(Interface *interface, int width, int height) {
    if (!interface->sheet) interface->sheet = new ImDrawList(ImGui::GetDrawListSharedData());
    interface->sheet_width = width;
    interface->sheet_height = height;
    interface->sheet->_ResetForNewFrame();
    interface->sheet->PushTextureID(ImGui::GetIO().Fonts->TexID);
    interface->sheet->PushClipRect(ImVec2(0, 0), ImVec2((float)width, (float)height));
    return interface->sheet;
}

bool interface_sheet_save(Interface *interface, const char *path, unsigned paper, SandError *error) {
    int width = interface->sheet_width, height = interface->sheet_height;
    size_t row = 4 * (size_t)width;
    unsigned char *pixels = (unsigned char *)std::malloc(row * (size_t)height);
    if (!pixels) return sand_fail(error, "out of memory for a picture of %d x %d", width, height);
    ImDrawData data;
    data.Valid = true;
    data.CmdLists = &interface->sheet;
    data.CmdListsCount = 1;
    data.TotalVtxCount = interface->sheet->VtxBuffer.Size;
    data.TotalIdxCount = interface->sheet->IdxBuffer.Size;
    data.DisplaySize = ImVec2((float)width, (float)height);
    data.FramebufferScale = ImVec2(1, 1);

    GLint before;
    GLuint texture, framebuffer;
    const GLfloat clear[4] = {(paper & 255) / 255.f, (paper >> 8 & 255) / 255.f, (paper >> 16 & 255) / 255.f, 1};
    glGetIntegerv(GL_FRAMEBUFFER_BINDING, &before);
    glCreateTextures(GL_TEXTURE_2D, 1, &texture);
    glTextureStorage2D(texture, 1, GL_RGBA8, width, height);
    glCreateFramebuffers(1, &framebuffer);
    glNamedFramebufferTexture(framebuffer, GL_COLOR_ATTACHMENT0, texture, 0);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glClearNamedFramebufferfv(framebuffer, GL_COLOR, 0, clear);
    ImGui_ImplOpenGL3_RenderDrawData(&data);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glBindFramebuffer(GL_FRAMEBUFFER, (GLuint)before);
    glDeleteFramebuffers(1, &framebuffer);
    glDeleteTextures(1, &texture);

    // GL gives the bottom row first; the saved picture is opaque.
    for (int y = 0; y < height / 2; y++)
        std::swap_ranges(pixels + row * (size_t)y, pixels + row * (size_t)(y + 1), pixels + row * (size_t)(height - 1 - y));
    for (size_t i = 3; i < row * (size_t)height; i += 4) pixels[i] = 255;
    bool written = png_write(path, width, height, 4, pixels, error);
    std::free(pixels);
    return written;
}
