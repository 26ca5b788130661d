// Web pages that stand alone: pictures, movies and plots are part of the one file, which needs neither a
// network nor scripts, suits light and dark screens, wide and narrow ones, and appears when it is complete.
#ifndef FLO_IO_PAGE_H
#define FLO_IO_PAGE_H

#include "io/files.h"

typedef struct FloPage {
  FloNewFile file;
} FloPage;

// Starts the page with its head. What fails to be written on the way is told by flo_page_end. The page says
// by which command it was made.
FloStatus flo_page_begin(FloPage *page, const char *path, const char *command, const char *title,
                         FloError *error);
// FLO_BAD_INPUT if there is a file that the same command has not made, which must not be lost.
FloStatus flo_page_check(const char *path, const char *command, FloError *error);
FloStatus flo_page_end(FloPage *page, FloError *error);

// Markup as it is; only for what does not come from outside.
__attribute__((format(printf, 2, 3))) void flo_page_markup(FloPage *page, const char *format, ...);
// Text of any kind, as text: markup in it is shown, not obeyed; what is no plain text is shown as \xNN.
void flo_page_text(FloPage *page, const char *text);
// <tag class="class_name">text</tag>; class_name may be NULL.
void flo_page_element(FloPage *page, const char *tag, const char *class_name, const char *text);
// Turns any name into one that elements may be called, another one for each.
void flo_page_id(const char *name, char *id, size_t size);
// A link within the page, to the element that flo_page_id calls after `name`.
void flo_page_link(FloPage *page, const char *name, const char *text);

// ---- Tables ----

// Columns whose title begins with '#' hold numbers, and stand to the right.
void flo_page_table_begin(FloPage *page, const char *const *titles, size_t n_titles);
void flo_page_table_end(FloPage *page);
// A cell of a row; class_name "n" for a number, NULL for text.
void flo_page_cell(FloPage *page, const char *class_name, const char *text);

// ---- Figures ----

// A PNG, or an MP4 movie, inside the page. A file that cannot be read leaves a sentence that says so.
void flo_page_picture(FloPage *page, const char *path, const char *caption);
void flo_page_movie(FloPage *page, const char *path, const char *caption);
// A plot that flo_plot_sheet_svg_text made; `about` is for those who cannot see it.
void flo_page_plot(FloPage *page, const char *svg, const char *about);

#endif
