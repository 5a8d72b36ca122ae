// SPDX-License-Identifier: MIT
// The part of cimgui that the panel uses, under cimgui's own names and signatures (Dear ImGui 1.86). app/ui/cimgui.cpp
// implements them with libimgui; where an installed cimgui is found, its own header and library take their place.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#ifdef SAND_CIMGUI
#define CIMGUI_DEFINE_ENUMS_AND_STRUCTS
#include <cimgui.h>
#else

// The enumerators in use; cimgui.cpp checks that they equal those of libimgui.
#define CIMGUI_VALUES(X) \
    X(ImGuiWindowFlags_NoTitleBar, 1 << 0) \
    X(ImGuiWindowFlags_NoResize, 1 << 1) \
    X(ImGuiWindowFlags_NoMove, 1 << 2) \
    X(ImGuiWindowFlags_NoScrollbar, 1 << 3) \
    X(ImGuiWindowFlags_NoCollapse, 1 << 5) \
    X(ImGuiWindowFlags_NoSavedSettings, 1 << 8) \
    X(ImGuiWindowFlags_NoFocusOnAppearing, 1 << 12) \
    X(ImGuiCond_Always, 1 << 0) \
    X(ImGuiTreeNodeFlags_DefaultOpen, 1 << 5) \
    X(ImGuiSliderFlags_AlwaysClamp, 1 << 4) \
    X(ImGuiSliderFlags_Logarithmic, 1 << 5) \
    X(ImGuiSliderFlags_NoRoundToFormat, 1 << 6) \
    X(ImGuiHoveredFlags_AllowWhenDisabled, 1 << 9) \
    X(ImGuiTableFlags_RowBg, 1 << 6) \
    X(ImGuiTableFlags_SizingStretchProp, 3 << 13) \
    X(ImGuiTableColumnFlags_WidthStretch, 1 << 3) \
    X(ImGuiTableColumnFlags_WidthFixed, 1 << 4) \
    X(ImGuiDataType_S64, 6) \
    X(ImGuiDataType_Double, 9) \
    X(ImGuiCol_Text, 0) \
    X(ImGuiComboFlags_HeightLargest, 1 << 4) \
    X(ImGuiStyleVar_Alpha, 0) \
    X(ImGuiStyleVar_FramePadding, 11) \
    X(ImGuiStyleVar_ItemSpacing, 14)
#ifndef __cplusplus
#define CIMGUI_VALUE(name, value) name = (value),
enum { CIMGUI_VALUES(CIMGUI_VALUE) };
#endif

#ifdef __cplusplus
extern "C" {
#else
// In C++ these come from imgui.h.
typedef struct ImVec2 {
    float x, y;
} ImVec2;
typedef struct ImDrawList ImDrawList;
typedef unsigned int ImU32, ImGuiID;
typedef void *ImTextureID;
typedef int ImGuiWindowFlags, ImGuiCond, ImGuiCol, ImGuiStyleVar, ImGuiTreeNodeFlags, ImGuiComboFlags, ImGuiSelectableFlags,
    ImGuiSliderFlags, ImGuiInputTextFlags, ImGuiHoveredFlags, ImGuiButtonFlags, ImGuiTableFlags, ImGuiTableColumnFlags,
    ImGuiTableRowFlags, ImDrawFlags, ImGuiDataType, ImGuiMouseButton;
typedef int (*ImGuiInputTextCallback)(void *data);

#endif

void igProgressBar(float fraction, const ImVec2 size_arg, const char *overlay);
void igSeparator(void);
bool igBegin(const char *name, bool *p_open, ImGuiWindowFlags flags);
void igEnd(void);
void igSetNextWindowPos(const ImVec2 pos, ImGuiCond cond, const ImVec2 pivot);
void igSetNextWindowSize(const ImVec2 size, ImGuiCond cond);

void igPushStyleColor_U32(ImGuiCol idx, ImU32 col);
void igPopStyleColor(int count);
void igPushStyleVar_Float(ImGuiStyleVar idx, float val);
void igPushStyleVar_Vec2(ImGuiStyleVar idx, const ImVec2 val);
void igPopStyleVar(int count);
void igPushID_Str(const char *str_id);
void igPushID_Int(int int_id);
void igPopID(void);
void igSetNextItemWidth(float item_width);
void igSetNextItemOpen(bool is_open, ImGuiCond cond);
void igPushTextWrapPos(float wrap_local_pos_x);
void igPopTextWrapPos(void);
void igBeginDisabled(bool disabled);
void igEndDisabled(void);

void igSameLine(float offset_from_start_x, float spacing);
void igSpacing(void);
void igAlignTextToFramePadding(void);
void igDummy(const ImVec2 size);
float igGetCursorPosX(void);
float igGetCursorPosY(void);
void igSetCursorPosY(float local_y);
void igSetCursorPosX(float local_x);
void igGetCursorScreenPos(ImVec2 *pOut);
void igGetContentRegionAvail(ImVec2 *pOut);
float igGetFontSize(void);
float igGetFrameHeight(void);
float igGetFrameHeightWithSpacing(void);
void igCalcTextSize(ImVec2 *pOut, const char *text, const char *text_end, bool hide_text_after_double_hash,
                    float wrap_width);

void igTextUnformatted(const char *text, const char *text_end);
bool igButton(const char *label, const ImVec2 size);
bool igSmallButton(const char *label);
bool igInvisibleButton(const char *str_id, const ImVec2 size, ImGuiButtonFlags flags);
bool igCheckbox(const char *label, bool *v);
bool igBeginCombo(const char *label, const char *preview_value, ImGuiComboFlags flags);
void igEndCombo(void);
bool igSelectable_Bool(const char *label, bool selected, ImGuiSelectableFlags flags, const ImVec2 size);
bool igSliderInt(const char *label, int *v, int v_min, int v_max, const char *format, ImGuiSliderFlags flags);
bool igSliderScalar(const char *label, ImGuiDataType data_type, void *p_data, const void *p_min, const void *p_max,
                    const char *format, ImGuiSliderFlags flags);
bool igInputText(const char *label, char *buf, size_t buf_size, ImGuiInputTextFlags flags, ImGuiInputTextCallback callback,
                 void *user_data);
bool igCollapsingHeader_TreeNodeFlags(const char *label, ImGuiTreeNodeFlags flags);
bool igIsAnyItemHovered(void);
bool igIsWindowHovered(ImGuiHoveredFlags flags);
bool igIsMouseClicked_Bool(ImGuiMouseButton button, bool repeat);
void igBeginTooltip(void);
void igEndTooltip(void);
bool igBeginTable(const char *str_id, int column, ImGuiTableFlags flags, const ImVec2 outer_size, float inner_width);
void igEndTable(void);
void igTableNextRow(ImGuiTableRowFlags row_flags, float min_row_height);
bool igTableNextColumn(void);
void igTableSetupColumn(const char *label, ImGuiTableColumnFlags flags, float init_width_or_weight, ImGuiID user_id);

bool igIsItemHovered(ImGuiHoveredFlags flags);
bool igIsItemVisible(void);
bool igIsItemActive(void);
int igGetFrameCount(void);
bool igIsItemDeactivatedAfterEdit(void);
void igGetItemRectMin(ImVec2 *pOut);
void igGetItemRectMax(ImVec2 *pOut);
void igGetMousePos(ImVec2 *pOut);
void igSetClipboardText(const char *text);
const char *igGetClipboardText(void);

ImDrawList *igGetWindowDrawList(void);
float igGetWindowHeight(void);
ImDrawList *igGetBackgroundDrawList_Nil(void);
ImDrawList *igGetForegroundDrawList_Nil(void);
void ImDrawList_PushClipRect(ImDrawList *self, ImVec2 clip_rect_min, ImVec2 clip_rect_max,
                             bool intersect_with_current_clip_rect);
void ImDrawList_PopClipRect(ImDrawList *self);
void ImDrawList_AddLine(ImDrawList *self, const ImVec2 p1, const ImVec2 p2, ImU32 col, float thickness);
void ImDrawList_AddRect(ImDrawList *self, const ImVec2 p_min, const ImVec2 p_max, ImU32 col, float rounding,
                        ImDrawFlags flags, float thickness);
void ImDrawList_AddRectFilled(ImDrawList *self, const ImVec2 p_min, const ImVec2 p_max, ImU32 col, float rounding,
                              ImDrawFlags flags);
void ImDrawList_AddImage(ImDrawList *self, ImTextureID user_texture_id, const ImVec2 p_min, const ImVec2 p_max,
                         const ImVec2 uv_min, const ImVec2 uv_max, ImU32 col);
void ImDrawList_AddTriangleFilled(ImDrawList *self, const ImVec2 p1, const ImVec2 p2, const ImVec2 p3, ImU32 col);
void ImDrawList_AddCircleFilled(ImDrawList *self, const ImVec2 center, float radius, ImU32 col, int num_segments);
void ImDrawList_AddPolyline(ImDrawList *self, const ImVec2 *points, int num_points, ImU32 col, ImDrawFlags flags,
                            float thickness);
void ImDrawList_AddText_Vec2(ImDrawList *self, const ImVec2 pos, ImU32 col, const char *text_begin, const char *text_end);

#ifdef __cplusplus
}
#endif
#endif
