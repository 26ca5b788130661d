// flotsam completion: scripts that let a shell complete commands, options and names. The scripts are made
// from the tables that --help prints, and ask the program for the names of scenes, methods and shapes. So
// they always agree with the program.
#include "app.h"
#include "base/core.h"

#include <stdio.h>
#include <string.h>

static const AppUsage usage = {
    .command = "completion",
    .arguments = "[bash | zsh]",
    .about = "Prints the script that completes flotsam's commands, options and names in bash or zsh. An\n"
             "installed flotsam needs no setup: its scripts are where shells look for them. Without an\n"
             "installation, see the examples.",
    .examples = "  eval \"$(flotsam completion bash)\"                        (in ~/.bashrc)\n"
                "  flotsam completion zsh >~/.zsh/completions/_flotsam     (a folder of zsh's fpath)\n"
                "  flotsam completion --list SCENE\n",
    .min_words = 0,
    .max_words = 1,
};

// ---- Alternatives such as "methods | method METHOD | DIR" ----

enum { MAX_ALTERNATIVES = 24 };

// The permitted first arguments of a command, or values of an option, and what may follow each.
typedef struct Alternative {
  char first[32], second[32];
} Alternative;

static bool is_separator(char c) { return c == '|' || c == '[' || c == ']'; }

static size_t skip_word(const char *at) {
  size_t n = 0;
  while (at[n] && at[n] != ' ' && !is_separator(at[n])) n++;
  return n;
}

// Reads the next word before a separator; "" if there is none.
static const char *take_word(const char *at, char word[32]) {
  while (*at == ' ') at++;
  size_t length = skip_word(at);
  snprintf(word, 32, "%.*s", (int)flo_min_size(length, 31), at);
  return at + length;
}

static size_t read_alternatives(const char *text, Alternative list[MAX_ALTERNATIVES]) {
  size_t n = 0;
  while (*text && n < MAX_ALTERNATIVES) {
    text = take_word(text, list[n].first);
    text = take_word(text, list[n].second);
    if (list[n].first[0]) n++;
    while (*text && !is_separator(*text)) text++;
    while (*text && is_separator(*text)) text++;
  }
  return n;
}

// Translates a word for the script's function _flotsam_offer: words in lower case stay as they are;
// "FILE.png" becomes FILE.
static void print_offers(const char *text) {
  Alternative list[MAX_ALTERNATIVES];
  size_t n = read_alternatives(text, list);
  for (size_t k = 0; k < n; k++) printf(" %.*s", (int)strcspn(list[k].first, ".,="), list[k].first);
}

// ---- bash ----

static const char bash_head[] =
    "# Completion of flotsam in bash, printed by 'flotsam completion bash'.\n"
    "\n"
    "# Adds the lines on standard input that begin like the current word.\n"
    "_flotsam_add() {\n"
    "  local line\n"
    "  while IFS= read -r line; do\n"
    "    [[ $line == \"$current\"* ]] && COMPREPLY+=(\"$line\")\n"
    "  done\n"
    "}\n"
    "\n"
    "# Adds files: _flotsam_files FLAGS of compgen.\n"
    "_flotsam_files() {\n"
    "  local line\n"
    "  compopt -o filenames 2>/dev/null\n"
    "  while IFS= read -r line; do COMPREPLY+=(\"$line\"); done < <(compgen \"$@\" -- \"$current\")\n"
    "}\n"
    "\n"
    "# _flotsam_offer WORD...: upper case names a kind of thing; other words are offered as they are.\n"
    "_flotsam_offer() {\n"
    "  local word\n"
    "  for word; do\n"
    "    case $word in\n"
    "    DIR) _flotsam_files -d ;;\n"
    "    FILE) _flotsam_files -f ;;\n"
    "    SCENE | METHOD | SHAPE | COMMAND)\n"
    "      _flotsam_add < <(\"${COMP_WORDS[0]}\" completion --list \"$word\" 2>/dev/null)\n"
    "      [[ $word == SCENE ]] && { _flotsam_files -d; _flotsam_files -f -X '!*.json'; }\n"
    "      ;;\n"
    "    *[A-Z]*) ;;\n"
    "    *) _flotsam_add <<<\"$word\" ;;\n"
    "    esac\n"
    "  done\n"
    "}\n"
    "\n"
    "# Counts the arguments before the current word and stores the first one in `first`.\n"
    "_flotsam_count() {\n"
    "  local k word\n"
    "  n_arguments=0 first=''\n"
    "  for ((k = 2; k < COMP_CWORD; k++)); do\n"
    "    word=${COMP_WORDS[k]}\n"
    "    if [[ $word == -* ]]; then\n"
    "      [[ ${COMP_WORDS[k + 1]} == = ]] && ((k++))\n"
    "      [[ $with_value == *\" $word \"* ]] && ((k++))\n"
    "      continue\n"
    "    fi\n"
    "    ((n_arguments++)) || first=$word\n"
    "  done\n"
    "}\n"
    "\n"
    "_flotsam() {\n"
    "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "  local -a options=()\n"
    "  local with_value=' ' n_arguments first\n"
    "  COMPREPLY=()\n"
    "  # bash splits --name=value into three words.\n"
    "  if [[ $current == = ]]; then\n"
    "    current=''\n"
    "  elif [[ $previous == = ]]; then\n"
    "    previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "  fi\n"
    "  if ((COMP_CWORD == 1)); then\n"
    "    _flotsam_offer COMMAND\n"
    "    return\n"
    "  fi\n"
    "  case ${COMP_WORDS[1]} in\n";

static const char bash_tail[] = "  esac\n"
                                "}\n"
                                "\n"
                                "complete -F _flotsam flotsam\n";

static void print_bash_values(const AppOption *options) {
  printf("    with_value='");
  for (const AppOption *o = options; o->name; o++)
    if (o->kind != APP_FLAG) printf(" %s", o->name);
  printf(" '\n    case $previous in\n");
  for (const AppOption *o = options; o->name; o++) {
    if (o->kind == APP_FLAG) continue;
    printf("    %s) _flotsam_offer", o->name);
    print_offers(o->value);
    printf("; return ;;\n");
  }
  printf("    esac\n");
}

static void print_bash_arguments(const char *arguments) {
  Alternative list[MAX_ALTERNATIVES];
  size_t n = read_alternatives(arguments, list);
  printf("    _flotsam_count\n    case $n_arguments:$first in\n    0:) _flotsam_offer");
  print_offers(arguments);
  printf(" ;;\n");
  for (size_t k = 0; k < n; k++)
    if (list[k].second[0]) printf("    1:%s) _flotsam_offer %s ;;\n", list[k].first, list[k].second);
  printf("    esac\n");
}

static void print_bash_command(const AppUsage *about, const AppOption *options, void *context) {
  (void)context;
  printf("  %s)\n    options=(", about->command);
  for (const AppOption *o = options; o->name; o++) printf("%s ", o->name);
  printf("--help)\n");
  print_bash_values(options);
  printf("    if [[ $current == -* ]]; then\n"
         "      _flotsam_offer \"${options[@]}\"\n"
         "      return\n"
         "    fi\n");
  print_bash_arguments(about->arguments);
  printf("    ;;\n");
}

// ---- zsh ----

static const char zsh_head[] =
    "#compdef flotsam\n"
    "# Completion of flotsam in zsh, printed by 'flotsam completion zsh'.\n"
    "\n"
    "_flotsam_names() {\n"
    "  local -a names\n"
    "  names=(${(f)\"$(_call_program names ${(q)program} completion --list $1 2>/dev/null)\"})\n"
    "  compadd -a names\n"
    "}\n"
    "\n"
    "# _flotsam_offer WORD...: upper case names a kind of thing; other words are offered as they are.\n"
    "_flotsam_offer() {\n"
    "  local word found=1\n"
    "  for word; do\n"
    "    case $word in\n"
    "    DIR) _files -/ && found=0 ;;\n"
    "    FILE) _files && found=0 ;;\n"
    "    SCENE) _flotsam_names SCENE && found=0; _files -g '*.json' && found=0 ;;\n"
    "    METHOD | SHAPE | COMMAND) _flotsam_names $word && found=0 ;;\n"
    "    *[A-Z]*) ;;\n"
    "    *) compadd -- $word && found=0 ;;\n"
    "    esac\n"
    "  done\n"
    "  return found\n"
    "}\n"
    "\n"
    "_flotsam() {\n"
    "  local program=$words[1] state line\n"
    "  local -a commands\n"
    "  typeset -A opt_args\n"
    "  _arguments -C '1: :->command' '*:: :->argument' && return\n"
    "  if [[ $state == command ]]; then\n"
    "    commands=(\n";

static const char zsh_middle[] = "    )\n"
                                 "    _describe command commands\n"
                                 "    return\n"
                                 "  fi\n"
                                 "  case $words[1] in\n";

static const char zsh_tail[] = "  esac\n"
                               "}\n"
                               "\n"
                               "_flotsam \"$@\"\n";

// Escapes text for single quotes and, inside them, for an argument of _arguments or _describe.
static void print_zsh_text(const char *text) {
  for (; *text; text++) {
    if (*text == '\'')
      fputs("'\\''", stdout);
    else if (strchr(":[]\\", *text))
      printf("\\%c", *text);
    else
      putchar(*text);
  }
}

static void print_zsh_option(const AppOption *option) {
  // An option with a list may be repeated. Other options are offered only once.
  printf("      '%s%s%s[", option->kind == APP_LIST ? "*" : "", option->name, option->value ? "=" : "");
  print_zsh_text(option->help);
  printf("]");
  if (option->value) {
    printf(":");
    print_zsh_text(option->value);
    printf(":{_flotsam_offer");
    print_offers(option->value);
    printf("}");
  }
  printf("' \\\n");
}

// Prints the permitted first arguments, and the second ones for each first one.
static void print_zsh_arguments(const char *arguments) {
  Alternative list[MAX_ALTERNATIVES];
  size_t n = read_alternatives(arguments, list), n_second = 0;
  if (n == 0) return;
  printf("      '1:argument:{_flotsam_offer");
  print_offers(arguments);
  printf("}' \\\n");
  for (size_t k = 0; k < n; k++) {
    if (!list[k].second[0]) continue;
    if (n_second++ == 0) printf("      '2:name:{case $words[2] in");
    printf(" (%s) _flotsam_offer %s ;;", list[k].first, list[k].second);
  }
  if (n_second > 0) printf(" esac}' \\\n");
}

static void print_zsh_command(const AppUsage *about, const AppOption *options, void *context) {
  (void)context;
  printf("  %s)\n    _arguments \\\n", about->command);
  for (; options->name; options++) print_zsh_option(options);
  print_zsh_arguments(about->arguments);
  printf("      '--help[print the help of the command]'\n    ;;\n");
}

static void print_zsh_names(const AppCommand *commands, size_t count) {
  for (size_t k = 0; k < count; k++) {
    printf("      '%s:", commands[k].name);
    print_zsh_text(commands[k].about);
    printf("'\n");
  }
}

// ---- Command ----

static void describe_all(AppVisitFn visit) {
  size_t count;
  const AppCommand *commands = app_commands(&count);
  for (size_t k = 0; k < count; k++) app_describe(&commands[k], visit, NULL);
}

static void print_bash(void) {
  fputs(bash_head, stdout);
  describe_all(print_bash_command);
  fputs(bash_tail, stdout);
}

static void print_zsh(void) {
  size_t count;
  const AppCommand *commands = app_commands(&count);
  fputs(zsh_head, stdout);
  print_zsh_names(commands, count);
  fputs(zsh_middle, stdout);
  describe_all(print_zsh_command);
  fputs(zsh_tail, stdout);
}

static void print_name(const char *name, void *context) {
  (void)context;
  puts(name);
}

int cmd_completion(int argc, char **argv) {
  AppList words = {0};
  const char *kind = NULL;
  int exit_code;
  AppOption options[] = {
      {"--list", "KIND", APP_TEXT, &kind, "print all names of a kind: SCENE, METHOD, SHAPE or COMMAND", 0, 0},
      {0},
  };
  if (!app_parse(&usage, options, argc, argv, &words, &exit_code)) return exit_code;
  if (kind) {
    if (app_list_names(kind, print_name, NULL)) return APP_OK;
    return app_fail(APP_BAD_INPUT, "completion: --list needs SCENE, METHOD, SHAPE or COMMAND, not '%s'",
                    kind);
  }
  const char *shell = words.count ? words.items[0] : "";
  if (strcmp(shell, "bash") == 0) return print_bash(), APP_OK;
  if (strcmp(shell, "zsh") == 0) return print_zsh(), APP_OK;
  return app_fail(APP_BAD_INPUT, "completion: the shell must be named: give bash or zsh%s%s%s",
                  shell[0] ? ", not '" : "", shell, shell[0] ? "'" : "");
}
