#include "io/page.h"

#include "base/core.h"
#include "io/shown.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// ---- How it looks ----

// Plots have colours for white paper. The rules for [fill=...] replace the colours of render/plot.c by those
// of the page, so that they suit dark screens too.
static const char frame[] =
    ":root{color-scheme:light dark;--paper:#f4f6f8;--card:#fff;--ink:#1c2733;--soft:#586675;--line:#dfe5eb;"
    "--faint:#f0f3f6;--link:#1a62a3;--good:#176b43;--good-back:#dff3e8;--bad:#a12a25;--bad-back:#fbe4e2;"
    "--wait-back:#e9edf1}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#10151b;--card:#19212a;--ink:#e3e9ef;--soft:#9aa8b6;"
    "--line:#2d3843;--faint:#212b35;--link:#79b8f3;--good:#7fd6a8;--good-back:#163a2a;--bad:#f4a09a;"
    "--bad-back:#46211f;--wait-back:#27313b}}\n"
    "*{box-sizing:border-box}\n"
    "html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}\n"
    "body{margin:0 auto;max-width:76rem;padding:1.5rem clamp(.75rem,3vw,2rem) 4rem;background:var(--paper);"
    "color:var(--ink);font:1rem/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,"
    "sans-serif}\n"
    "h1{font-size:1.9rem;line-height:1.2;margin:.4rem 0 .3rem;letter-spacing:-.015em}\n"
    "h2{font-size:1.35rem;line-height:1.25;margin:0;letter-spacing:-.01em}\n"
    "h3{font-size:.8rem;margin:1.6rem 0 .5rem;color:var(--soft);text-transform:uppercase;"
    "letter-spacing:.06em}\n"
    "p{margin:.4rem 0}a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}\n"
    ".lead{color:var(--soft);max-width:46rem}.soft{color:var(--soft)}.shows{max-width:46rem}\n"
    ".card{background:var(--card);border:1px solid var(--line);border-radius:12px;"
    "padding:clamp(.9rem,2.5vw,1.6rem);margin:1.5rem 0;scroll-margin-top:1rem}\n"
    ".head{display:flex;flex-wrap:wrap;gap:.3rem .8rem;align-items:center}\n"
    ".badge{font-size:.8rem;font-weight:600;border-radius:99px;padding:.1rem .65rem;white-space:nowrap;"
    "background:var(--wait-back);color:var(--soft)}\n"
    ".badge.good{background:var(--good-back);color:var(--good)}"
    ".badge.bad{background:var(--bad-back);color:var(--bad)}\n"
    ".media{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:1rem;"
    "margin:1rem 0}\n"
    ".sides{display:grid;gap:1rem;margin:1rem 0}"
    "@media(min-width:44rem){.sides.two{grid-template-columns:1fr 1fr}"
    ".sides.many{grid-template-columns:repeat(auto-fit,minmax(18rem,1fr))}}\n"
    "figure{margin:0;min-width:0}figcaption{font-size:.85rem;color:var(--soft);margin-top:.35rem}\n"
    "img,video{display:block;width:100%;height:auto;border-radius:8px;background:var(--faint)}\n"
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,19rem),1fr));"
    "gap:.9rem 1.2rem}\n"
    ".plot svg{display:block;width:100%;height:auto;max-width:34rem}\n"
    ".plot [fill='#ffffff']{fill:none}.plot [fill='#223040']{fill:var(--ink)}"
    ".plot [fill='#5c6a7a']{fill:var(--soft)}.plot [fill='#8c98a6']{fill:var(--soft)}"
    ".plot [fill='#e5e9ee']{fill:var(--line)}.plot [fill='#f4f6f8']{fill:var(--faint)}\n";
static const char details[] =
    "@media(prefers-color-scheme:dark){.plot [stroke='#1f6fb4']{stroke:#62aef0}"
    ".plot [stroke='#8a5fb5']{stroke:#b692e6}.plot [stroke='#96684a']{stroke:#c99a77}}\n"
    ".card>:first-child{margin-top:0}.card>:last-child{margin-bottom:0}\n"
    ".wide{overflow-x:auto;margin:.5rem 0}\n"
    "table{border-collapse:collapse;width:100%;font-size:.92rem}.tight table{width:auto}\n"
    "th,td{text-align:left;padding:.42rem .9rem .42rem 0;border-bottom:1px solid var(--line);"
    "vertical-align:baseline;white-space:nowrap}\n"
    "th{font-weight:600;font-size:.8rem;color:var(--soft)}"
    "th:last-child,td:last-child{padding-right:0}tr:last-child>td{border-bottom:0}\n"
    ".n{text-align:right;font-variant-numeric:tabular-nums}.name{font-weight:600}"
    "td.long{white-space:normal;min-width:12rem}\n"
    ".good{color:var(--good)}.bad{color:var(--bad)}td.good,td.bad{font-weight:600}\n"
    "dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,10.5rem),1fr));gap:.7rem 1.2rem;"
    "margin:1rem 0}\n"
    "dl div{min-width:0}dt{font-size:.8rem;color:var(--soft)}dd{margin:0;overflow-wrap:anywhere;"
    "font-variant-numeric:tabular-nums}\n"
    ".error{background:var(--bad-back);color:var(--bad);border-radius:8px;padding:.7rem .9rem;"
    "overflow-wrap:anywhere;white-space:pre-wrap}\n"
    "pre{background:var(--faint);border-radius:8px;padding:.65rem .9rem;margin:.4rem 0 0;overflow-x:auto}\n"
    "code{font:.88rem/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}\n"
    ".none{aspect-ratio:16/9;display:grid;place-items:center;margin:0;border-radius:8px;"
    "background:var(--faint);color:var(--soft)}\n"
    "details{margin:1rem 0}summary{cursor:pointer;color:var(--link)}"
    "dl.long{grid-template-columns:repeat(auto-fit,minmax(min(100%,18rem),1fr))}\n"
    ".note{font-size:.88rem;color:var(--soft)}.up{font-size:.85rem;margin-left:auto}\n"
    "@media(max-width:30rem){body{padding-top:.75rem}h1{font-size:1.5rem}h2{font-size:1.2rem}"
    "table{font-size:.84rem}th,td{padding-right:.6rem}dl{grid-template-columns:1fr "
    "1fr}dl.long{grid-template-columns:1fr}}\n"
    "@media print{.card{break-inside:avoid}video{display:none}}\n";

static const char generator[] = "<meta name=\"generator\" content=\"flotsam %s\">\n";

FloStatus flo_page_check(const char *path, const char *command, FloError *error) {
  char head[1024] = "", mark[128];
  FILE *stream = fopen(path, "rb");
  if (!stream) return FLO_OK; // the error is reported when the file is written
  size_t n = fread(head, 1, sizeof head - 1, stream);
  bool is_file = !ferror(stream);
  fclose(stream);
  if (!is_file) return FLO_OK;
  snprintf(mark, sizeof mark, generator, command);
  head[n] = 0;
  if (strstr(head, mark)) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "%s: exists, and is not a page that 'flotsam %s' wrote; name another folder with --out",
                  path, command);
}

FloStatus flo_page_begin(FloPage *page, const char *path, const char *command, const char *title,
                         FloError *error) {
  FLO_TRY(flo_new_file_begin(&page->file, path, error));
  flo_page_markup(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                        "<meta name=\"color-scheme\" content=\"light dark\">\n");
  flo_page_markup(page, generator, command);
  flo_page_element(page, "title", NULL, title);
  // An empty icon, so that browsers do not request one.
  flo_page_markup(page, "\n<link rel=\"icon\" href=\"data:,\">\n<style>\n");
  fputs(frame, page->file.stream);
  fputs(details, page->file.stream);
  flo_page_markup(page, "</style>\n</head>\n<body>\n");
  return FLO_OK;
}

FloStatus flo_page_end(FloPage *page, FloError *error) {
  flo_page_markup(page, "</body>\n</html>\n");
  return flo_new_file_finish(&page->file, error);
}

// ---- Text ----

void flo_page_markup(FloPage *page, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(page->file.stream, format, arguments);
  va_end(arguments);
}

static void write_plain(FILE *stream, const char *text) {
  for (; *text; text++) {
    switch (*text) {
    case '<':
      fputs("&lt;", stream);
      break;
    case '>':
      fputs("&gt;", stream);
      break;
    case '&':
      fputs("&amp;", stream);
      break;
    case '"':
      fputs("&quot;", stream);
      break;
    case '\'':
      fputs("&#39;", stream);
      break;
    default:
      fputc(*text, stream);
    }
  }
}

// One line of text. Control characters and invalid UTF-8 become \xNN, which needs four times the room.
static void write_line(FloPage *page, const char *text, size_t length) {
  char *line = malloc(5 * length + 8);
  if (!line) {
    fputs("(no memory)", page->file.stream);
    return;
  }
  char *shown = line + length + 1;
  memcpy(line, text, length);
  line[length] = 0;
  write_plain(page->file.stream, flo_shown_escape(line, shown, 4 * length + 4));
  free(line);
}

void flo_page_text(FloPage *page, const char *text) {
  for (;;) {
    size_t length = strcspn(text, "\n");
    write_line(page, text, length);
    if (!text[length]) return;
    fputc('\n', page->file.stream);
    text += length + 1;
  }
}

void flo_page_element(FloPage *page, const char *tag, const char *class_name, const char *text) {
  if (class_name)
    flo_page_markup(page, "<%s class=\"%s\">", tag, class_name);
  else
    flo_page_markup(page, "<%s>", tag);
  flo_page_text(page, text);
  flo_page_markup(page, "</%s>", tag);
}

void flo_page_id(const char *name, char *id, size_t size) {
  size_t used = (size_t)snprintf(id, size, "s-");
  for (; *name && used + 4 < size; name++) {
    unsigned char c = (unsigned char)*name;
    bool is_kept = c < 0x80 && (isalnum(c) || c == '-');
    used += (size_t)snprintf(id + used, size - used, is_kept ? "%c" : "_%02x", c);
  }
}

void flo_page_link(FloPage *page, const char *name, const char *text) {
  char id[256];
  flo_page_id(name, id, sizeof id);
  flo_page_markup(page, "<a href=\"#%s\">", id);
  flo_page_text(page, text);
  flo_page_markup(page, "</a>");
}

// ---- Tables ----

void flo_page_table_begin(FloPage *page, const char *const *titles, size_t n_titles) {
  flo_page_markup(page, "<div class=\"wide\"><table>\n<tr>");
  for (size_t k = 0; k < n_titles; k++) {
    bool is_number = titles[k][0] == '#';
    flo_page_element(page, "th", is_number ? "n" : NULL, titles[k] + is_number);
  }
  flo_page_markup(page, "</tr>\n");
}

void flo_page_table_end(FloPage *page) { flo_page_markup(page, "</table></div>\n"); }

void flo_page_cell(FloPage *page, const char *class_name, const char *text) {
  flo_page_element(page, "td", class_name, text);
}

// ---- Data inside the page ----

// RFC 4648, section 4.
static void write_base64(FILE *stream, const unsigned char *data, size_t size) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t k = 0; k < size; k += 3) {
    size_t n = flo_min_size(size - k, 3);
    uint32_t bits = (uint32_t)data[k] << 16;
    if (n > 1) bits |= (uint32_t)data[k + 1] << 8;
    if (n > 2) bits |= data[k + 2];
    char text[4] = {digits[bits >> 18], digits[bits >> 12 & 63], n > 1 ? digits[bits >> 6 & 63] : '=',
                    n > 2 ? digits[bits & 63] : '='};
    fwrite(text, 1, 4, stream);
  }
}

// Writes a file's content as the value of an attribute. If it cannot be read, writes a sentence and returns
// false.
static bool begin_figure(FloPage *page, const char *path, char **data, size_t *size) {
  FloError error;
  flo_page_markup(page, "<figure>");
  if (flo_file_read(path, data, size, &error) == FLO_OK) return true;
  flo_page_element(page, "p", "note", error.text);
  return false;
}

static void write_data(FloPage *page, const char *type, const char *data, size_t size) {
  flo_page_markup(page, "data:%s;base64,", type);
  write_base64(page->file.stream, (const unsigned char *)data, size);
}

static void end_figure(FloPage *page, const char *caption) {
  if (caption) flo_page_element(page, "figcaption", NULL, caption);
  flo_page_markup(page, "</figure>\n");
}

static uint32_t read_big_endian(const char *bytes) {
  const unsigned char *b = (const unsigned char *)bytes;
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

void flo_page_picture(FloPage *page, const char *path, const char *caption) {
  char *data = NULL;
  size_t size = 0;
  if (begin_figure(page, path, &data, &size)) {
    flo_page_markup(page, "<img");
    // Writes the size of a PNG, so that the page has its final layout before pictures are decoded.
    if (size >= 24)
      flo_page_markup(page, " width=\"%u\" height=\"%u\"", read_big_endian(data + 16),
                      read_big_endian(data + 20));
    flo_page_markup(page, " alt=\"");
    flo_page_text(page, caption ? caption : "");
    flo_page_markup(page, "\" src=\"");
    write_data(page, "image/png", data, size);
    flo_page_markup(page, "\">");
  }
  free(data);
  end_figure(page, caption);
}

void flo_page_movie(FloPage *page, const char *path, const char *caption) {
  char *data = NULL;
  size_t size = 0;
  if (begin_figure(page, path, &data, &size)) {
    flo_page_markup(page, "<video controls loop muted playsinline preload=\"metadata\" src=\"");
    write_data(page, "video/mp4", data, size);
    flo_page_markup(page, "\"></video>");
  }
  free(data);
  end_figure(page, caption);
}

void flo_page_plot(FloPage *page, const char *svg, const char *about) {
  flo_page_markup(page, "<div class=\"plot\" role=\"img\" aria-label=\"");
  flo_page_text(page, about);
  flo_page_markup(page, "\">");
  fputs(svg, page->file.stream);
  flo_page_markup(page, "</div>\n");
}
