// Prints the manual page from the tables that --help uses, so that it is always up to date.
#include "app.h"

#include <stdio.h>
#include <string.h>

// ---- Text for troff ----

// The next character of UTF-8 text; invalid text yields its bytes.
static unsigned next_character(const char **text) {
  const unsigned char *at = (const unsigned char *)*text;
  int n_more = at[0] >= 0xf0 ? 3 : at[0] >= 0xe0 ? 2 : at[0] >= 0xc0 ? 1 : 0;
  unsigned character = n_more ? at[0] & (0x3fu >> n_more) : at[0];
  for (int k = 1; k <= n_more; k++) {
    if ((at[k] & 0xc0) != 0x80) return ++*text, at[0];
    character = character << 6 | (at[k] & 0x3f);
  }
  *text += 1 + n_more;
  return character;
}

// Prints plain text for troff: a hyphen must stay one that can be copied into a shell, and a dot at the start
// of a line must not become a request.
static void print_text(const char *text) {
  for (bool is_start = true; *text;) {
    unsigned character = next_character(&text);
    if (is_start && (character == '.' || character == '\'')) fputs("\\&", stdout);
    if (character == '\\')
      fputs("\\e", stdout);
    else if (character == '-')
      fputs("\\-", stdout);
    else if (character >= 0x80)
      printf("\\[u%04X]", character);
    else
      putchar((int)character);
    is_start = character == '\n';
  }
}

static void print_line(const char *text, size_t length) {
  char line[512];
  snprintf(line, sizeof line, "%.*s", (int)length, text);
  print_text(line);
  putchar('\n');
}

// Lines of a paragraph are joined. The exit codes begin a new paragraph.
static void print_paragraphs(const char *text) {
  while (*text) {
    size_t length = strcspn(text, "\n");
    if (strncmp(text, "Exit codes:", 11) == 0) puts(".PP");
    print_line(text, length);
    text += length + (text[length] != 0);
  }
}

static void print_example(const char *text) {
  puts(".PP\n.EX");
  print_text(text);
  puts(".EE");
}

// ---- Commands ----

static void print_option(const char *name, const char *value, const char *help) {
  printf(".TP\n\\fB");
  print_text(name);
  printf("\\fR");
  if (value) {
    printf(" \\fI");
    print_text(value);
    printf("\\fR");
  }
  putchar('\n');
  print_line(help, strlen(help));
}

static void print_command(const AppUsage *usage, const AppOption *options, void *context) {
  (void)context;
  printf(".SS \"flotsam %s%s", usage->command, usage->arguments[0] ? " " : "");
  print_text(usage->arguments);
  puts(" [options]\"");
  print_paragraphs(usage->about);
  for (; options->name; options++) print_option(options->name, options->value, options->help);
  print_option("--help", NULL, "print this text");
  print_example(usage->examples);
}

static void print_summary(const AppCommand *commands, size_t count) {
  for (size_t k = 0; k < count; k++) {
    printf(".TP\n\\fB%s\\fR\n", commands[k].name);
    print_line(commands[k].about, strlen(commands[k].about));
  }
}

// ---- The page ----

static const char head[] = ".SH NAME\n"
                           "flotsam \\- simulates fluids and solids that push each other\n"
                           ".SH SYNOPSIS\n"
                           ".B flotsam\n"
                           ".I COMMAND\n"
                           ".RI [ arguments ]\n"
                           ".RI [ options ]\n"
                           ".SH DESCRIPTION\n"
                           "Reads a scene file and writes a folder of measurements, particles and pictures.\n"
                           ".B flotsam run\n"
                           "writes the folder; the other commands read it:\n";

static const char tail[] =
    ".SH EXIT STATUS\n"
    ".TP\n0\ndone\n"
    ".TP\n1\nthe run failed or was interrupted, or something could not be written\n"
    ".TP\n2\nbad input: a mistake on the command line, in a scene or in a file that was read\n"
    ".TP\n3\nan expectation of the scene was not met\n"
    ".SH ENVIRONMENT\n"
    ".TP\n.B OMP_WAIT_POLICY\n"
    "what threads do while they wait; the default,\n.BR passive ,\nlets them sleep\n"
    ".SH FILES\n"
    "A run's folder holds\n"
    ".IR scene.json ,\n.IR series.csv ,\n.IR summary.json ,\n.IR log.txt ,\n"
    ".IR particles_NNNN.vtp ,\n.I run.pvd\nand pictures.\n"
    "Units are SI throughout.\n";

void app_print_manual(void) {
  size_t count;
  const AppCommand *commands = app_commands(&count);
  printf(".\\\" Printed by 'flotsam help --man'.\n"
         ".TH FLOTSAM 1 \"\" \"flotsam %s\" \"User Commands\"\n",
         flo_version());
  fputs(head, stdout);
  print_summary(commands, count);
  puts(".SH COMMANDS");
  for (size_t k = 0; k < count; k++) app_describe(&commands[k], print_command, NULL);
  fputs(tail, stdout);
}
