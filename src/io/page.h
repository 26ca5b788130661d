// Web pages in a single file with pictures, movies and plots. A page needs no network and no scripts, suits
// light, dark, wide and narrow screens, and appears when it is complete.
#ifndef FLO_IO_PAGE_H
#define FLO_IO_PAGE_H

#include "io/files.h"

typedef struct FloPage {
  FloNewFile file;
} FloPage;

// Starts the page with its header, which names the command that made it. Write errors are reported by
// flo_page_end.
FloStatus flo_page_begin(FloPage *page, const char *path, const char *command, const char *title,
                         FloError *error);
// Fails with FLO_BAD_INPUT if the file exists and was not made by the same command.
FloStatus flo_page_check(const char *path, const char *command, FloError *error);
FloStatus flo_page_end(FloPage *page, FloError *error);

// Writes markup unchanged; only for text of the program itself.
__attribute__((format(printf, 2, 3))) void flo_page_markup(FloPage *page, const char *format, ...);
// Writes any text as text: markup in it is escaped; control characters and invalid UTF-8 become \xNN.
void flo_page_text(FloPage *page, const char *text);
// <tag class="class_name">text</tag>; class_name may be NULL.
void flo_page_element(FloPage *page, const char *tag, const char *class_name, const char *text);
// Makes a unique element id from any name.
void flo_page_id(const char *name, char *id, size_t size);
// A link within the page, to the element with the id of `name`.
void flo_page_link(FloPage *page, const char *name, const char *text);

// ---- Tables ----

// Columns whose title begins with '#' hold numbers and are right-aligned.
void flo_page_table_begin(FloPage *page, const char *const *titles, size_t n_titles);
void flo_page_table_end(FloPage *page);
// A cell of a row; class_name "n" for a number, NULL for text.
void flo_page_cell(FloPage *page, const char *class_name, const char *text);

// ---- Figures ----

// A PNG picture or an MP4 movie inside the page. If the file cannot be read, a sentence says so.
void flo_page_picture(FloPage *page, const char *path, const char *caption);
void flo_page_movie(FloPage *page, const char *path, const char *caption);
// A plot made by flo_plot_sheet_svg_text; `about` describes it for screen readers.
void flo_page_plot(FloPage *page, const char *svg, const char *about);

#endif
