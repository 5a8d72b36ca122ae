// SPDX-License-Identifier: MIT
// Exports the functions of cimgui.h from libimgui: each one passes its arguments on and does nothing else.
#include <imgui.h>

#include "app/ui/cimgui.h"

#define CHECK_VALUE(name, value) static_assert(name == (value), #name " differs from cimgui.h");
CIMGUI_VALUES(CHECK_VALUE)

extern "C" {
bool igBegin(const char *name, bool *p_open, ImGuiWindowFlags flags) { return ImGui::Begin(name, p_open, flags); }
void igProgressBar(float fraction, const ImVec2 size_arg, const char *overlay) {
    ImGui::ProgressBar(fraction, size_arg, overlay);
}
void igSeparator() { ImGui::Separator(); }
void igEnd() { ImGui::End(); }
void igSetNextWindowPos(const ImVec2 pos, ImGuiCond cond, const ImVec2 pivot) { ImGui::SetNextWindowPos(pos, cond, pivot); }
void igSetNextWindowSize(const ImVec2 size, ImGuiCond cond) { ImGui::SetNextWindowSize(size, cond); }
void igPushStyleColor_U32(ImGuiCol idx, ImU32 col) { ImGui::PushStyleColor(idx, col); }
void igPopStyleColor(int count) { ImGui::PopStyleColor(count); }
void igPushStyleVar_Float(ImGuiStyleVar idx, float val) { ImGui::PushStyleVar(idx, val); }
void igPushStyleVar_Vec2(ImGuiStyleVar idx, const ImVec2 val) { ImGui::PushStyleVar(idx, val); }
void igPopStyleVar(int count) { ImGui::PopStyleVar(count); }
void igPushID_Str(const char *str_id) { ImGui::PushID(str_id); }
void igPushID_Int(int int_id) { ImGui::PushID(int_id); }
void igPopID() { ImGui::PopID(); }
void igSetNextItemWidth(float item_width) { ImGui::SetNextItemWidth(item_width); }
void igSetNextItemOpen(bool is_open, ImGuiCond cond) { ImGui::SetNextItemOpen(is_open, cond); }
void igPushTextWrapPos(float wrap_local_pos_x) { ImGui::PushTextWrapPos(wrap_local_pos_x); }
void igPopTextWrapPos() { ImGui::PopTextWrapPos(); }
void igBeginDisabled(bool disabled) { ImGui::BeginDisabled(disabled); }
void igEndDisabled() { ImGui::EndDisabled(); }
void igSameLine(float offset_from_start_x, float spacing) { ImGui::SameLine(offset_from_start_x, spacing); }
void igSpacing() { ImGui::Spacing(); }
void igAlignTextToFramePadding() { ImGui::AlignTextToFramePadding(); }
void igDummy(const ImVec2 size) { ImGui::Dummy(size); }
float igGetCursorPosY() { return ImGui::GetCursorPosY(); }
void igSetCursorPosY(float local_y) { ImGui::SetCursorPosY(local_y); }
float igGetCursorPosX() { return ImGui::GetCursorPosX(); }
void igSetCursorPosX(float local_x) { ImGui::SetCursorPosX(local_x); }
void igGetCursorScreenPos(ImVec2 *pOut) { *pOut = ImGui::GetCursorScreenPos(); }
void igGetContentRegionAvail(ImVec2 *pOut) { *pOut = ImGui::GetContentRegionAvail(); }
float igGetFontSize() { return ImGui::GetFontSize(); }
float igGetFrameHeight() { return ImGui::GetFrameHeight(); }
float igGetFrameHeightWithSpacing() { return ImGui::GetFrameHeightWithSpacing(); }
void igCalcTextSize(ImVec2 *pOut, const char *text, const char *text_end, bool hide_text_after_double_hash,
                    float wrap_width) {
    *pOut = ImGui::CalcTextSize(text, text_end, hide_text_after_double_hash, wrap_width);
}
void igTextUnformatted(const char *text, const char *text_end) { ImGui::TextUnformatted(text, text_end); }
bool igButton(const char *label, const ImVec2 size) { return ImGui::Button(label, size); }
bool igSmallButton(const char *label) { return ImGui::SmallButton(label); }
bool igInvisibleButton(const char *str_id, const ImVec2 size, ImGuiButtonFlags flags) {
    return ImGui::InvisibleButton(str_id, size, flags);
}
bool igCheckbox(const char *label, bool *v) { return ImGui::Checkbox(label, v); }
bool igBeginCombo(const char *label, const char *preview_value, ImGuiComboFlags flags) {
    return ImGui::BeginCombo(label, preview_value, flags);
}
void igEndCombo() { ImGui::EndCombo(); }
bool igSelectable_Bool(const char *label, bool selected, ImGuiSelectableFlags flags, const ImVec2 size) {
    return ImGui::Selectable(label, selected, flags, size);
}
bool igSliderInt(const char *label, int *v, int v_min, int v_max, const char *format, ImGuiSliderFlags flags) {
    return ImGui::SliderInt(label, v, v_min, v_max, format, flags);
}
bool igSliderScalar(const char *label, ImGuiDataType data_type, void *p_data, const void *p_min, const void *p_max,
                    const char *format, ImGuiSliderFlags flags) {
    return ImGui::SliderScalar(label, data_type, p_data, p_min, p_max, format, flags);
}
bool igInputText(const char *label, char *buf, size_t buf_size, ImGuiInputTextFlags flags, ImGuiInputTextCallback callback,
                 void *user_data) {
    return ImGui::InputText(label, buf, buf_size, flags, callback, user_data);
}
bool igCollapsingHeader_TreeNodeFlags(const char *label, ImGuiTreeNodeFlags flags) {
    return ImGui::CollapsingHeader(label, flags);
}
bool igIsAnyItemHovered() { return ImGui::IsAnyItemHovered(); }
bool igIsWindowHovered(ImGuiHoveredFlags flags) { return ImGui::IsWindowHovered(flags); }
bool igIsMouseClicked_Bool(ImGuiMouseButton button, bool repeat) { return ImGui::IsMouseClicked(button, repeat); }
void igBeginTooltip() { ImGui::BeginTooltip(); }
void igEndTooltip() { ImGui::EndTooltip(); }
bool igBeginTable(const char *str_id, int column, ImGuiTableFlags flags, const ImVec2 outer_size, float inner_width) {
    return ImGui::BeginTable(str_id, column, flags, outer_size, inner_width);
}
void igEndTable() { ImGui::EndTable(); }
void igTableNextRow(ImGuiTableRowFlags row_flags, float min_row_height) { ImGui::TableNextRow(row_flags, min_row_height); }
bool igTableNextColumn() { return ImGui::TableNextColumn(); }
void igTableSetupColumn(const char *label, ImGuiTableColumnFlags flags, float init_width_or_weight, ImGuiID user_id) {
    ImGui::TableSetupColumn(label, flags, init_width_or_weight, user_id);
}
bool igIsItemVisible(void) { return ImGui::IsItemVisible(); }
bool igIsItemHovered(ImGuiHoveredFlags flags) { return ImGui::IsItemHovered(flags); }
int igGetFrameCount() { return ImGui::GetFrameCount(); }
bool igIsItemActive() { return ImGui::IsItemActive(); }
bool igIsItemDeactivatedAfterEdit() { return ImGui::IsItemDeactivatedAfterEdit(); }
void igGetItemRectMin(ImVec2 *pOut) { *pOut = ImGui::GetItemRectMin(); }
void igGetItemRectMax(ImVec2 *pOut) { *pOut = ImGui::GetItemRectMax(); }
void igGetMousePos(ImVec2 *pOut) { *pOut = ImGui::GetMousePos(); }
void igSetClipboardText(const char *text) { ImGui::SetClipboardText(text); }
const char *igGetClipboardText() { return ImGui::GetClipboardText(); }
float igGetWindowHeight() { return ImGui::GetWindowHeight(); }
ImDrawList *igGetWindowDrawList() { return ImGui::GetWindowDrawList(); }
ImDrawList *igGetBackgroundDrawList_Nil() { return ImGui::GetBackgroundDrawList(); }
ImDrawList *igGetForegroundDrawList_Nil() { return ImGui::GetForegroundDrawList(); }
void ImDrawList_PushClipRect(ImDrawList *self, ImVec2 clip_rect_min, ImVec2 clip_rect_max,
                             bool intersect_with_current_clip_rect) {
    self->PushClipRect(clip_rect_min, clip_rect_max, intersect_with_current_clip_rect);
}
void ImDrawList_PopClipRect(ImDrawList *self) { self->PopClipRect(); }
void ImDrawList_AddLine(ImDrawList *self, const ImVec2 p1, const ImVec2 p2, ImU32 col, float thickness) {
    self->AddLine(p1, p2, col, thickness);
}
void ImDrawList_AddRect(ImDrawList *self, const ImVec2 p_min, const ImVec2 p_max, ImU32 col, float rounding,
                        ImDrawFlags flags, float thickness) {
    self->AddRect(p_min, p_max, col, rounding, flags, thickness);
}
void ImDrawList_AddRectFilled(ImDrawList *self, const ImVec2 p_min, const ImVec2 p_max, ImU32 col, float rounding,
                              ImDrawFlags flags) {
    self->AddRectFilled(p_min, p_max, col, rounding, flags);
}
void ImDrawList_AddImage(ImDrawList *self, ImTextureID user_texture_id, const ImVec2 p_min, const ImVec2 p_max,
                         const ImVec2 uv_min, const ImVec2 uv_max, ImU32 col) {
    self->AddImage(user_texture_id, p_min, p_max, uv_min, uv_max, col);
}
void ImDrawList_AddTriangleFilled(ImDrawList *self, const ImVec2 p1, const ImVec2 p2, const ImVec2 p3, ImU32 col) {
    self->AddTriangleFilled(p1, p2, p3, col);
}
void ImDrawList_AddCircleFilled(ImDrawList *self, const ImVec2 center, float radius, ImU32 col, int num_segments) {
    self->AddCircleFilled(center, radius, col, num_segments);
}
void ImDrawList_AddPolyline(ImDrawList *self, const ImVec2 *points, int num_points, ImU32 col, ImDrawFlags flags,
                            float thickness) {
    self->AddPolyline(points, num_points, col, flags, thickness);
}
void ImDrawList_AddText_Vec2(ImDrawList *self, const ImVec2 pos, ImU32 col, const char *text_begin, const char *text_end) {
    self->AddText(pos, col, text_begin, text_end);
}
}
