package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// CompletionCmd is sightline completion.
type CompletionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script of a shell.
func (c *CompletionCmd) Run(parsed *kong.Context, term *terminal) error {
	places := completionsOf(parsed.Model.Node, "")
	var script strings.Builder
	map[string]func(io.Writer, []completions){"bash": writeBash, "zsh": writeZsh, "fish": writeFish}[c.Shell](&script, places)
	_, err := io.WriteString(term.stdout, script.String())
	return err
}

// completions are what can follow a command.
type completions struct {
	at    string   // the command, such as /websites/list; empty: the program itself
	words []choice // commands below it, or the values of its argument
	flags []choice
}

// A choice is a word that can be completed.
type choice struct {
	word, help string
	valued     bool // it is a flag that takes a value
}

// completionsOf lists the completions of a command and of all below it.
func completionsOf(node *kong.Node, at string) []completions {
	place := completions{at: at}
	for _, group := range node.AllFlags(true) {
		for _, flag := range group {
			place.flags = append(place.flags, choice{"--" + flag.Name, brief(flag.Help), !flag.IsBool()})
		}
	}
	for _, argument := range node.Positional {
		if argument.Enum == "" {
			continue
		}
		for _, value := range argument.EnumSlice() {
			place.words = append(place.words, choice{word: value})
		}
	}
	places := []completions{place}
	for _, child := range node.Children {
		if !child.Hidden {
			places[0].words = append(places[0].words, choice{word: child.Name, help: brief(child.Help)})
			places = append(places, completionsOf(child, at+"/"+child.Name)...)
		}
	}
	return places
}

// brief is the first sentence of a help text.
func brief(help string) string {
	first, _, _ := strings.Cut(help, ". ")
	return strings.TrimSuffix(first, ".")
}

// commandPaths lists the places other than the program itself.
func commandPaths(places []completions) []string {
	var paths []string
	for _, place := range places[1:] {
		paths = append(paths, place.at)
	}
	return paths
}

// valuedFlags lists the flags that take a value.
func valuedFlags(places []completions) []string {
	var names []string
	for _, place := range places {
		for _, flag := range place.flags {
			if flag.valued {
				names = append(names, flag.word)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func words(choices []choice) string {
	var all []string
	for _, c := range choices {
		all = append(all, c.word)
	}
	return strings.Join(all, " ")
}

// writeBash offers files where nothing else is known.
func writeBash(w io.Writer, places []completions) {
	fmt.Fprintf(w, `# Completion for bash. To use it now:  source <(sightline completion bash)
_sightline() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} at= words= flags= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case $at/${COMP_WORDS[i]} in
      %s) at=$at/${COMP_WORDS[i]} ;;
    esac
  done
  case $previous in
    %s) return ;;
  esac
  case $at in
`, strings.Join(commandPaths(places), "|"), strings.Join(valuedFlags(places), "|"))
	for _, place := range places {
		fmt.Fprintf(w, "    '%s') words='%s' flags='%s' ;;\n", place.at, words(place.words), words(place.flags))
	}
	fmt.Fprint(w, `  esac
  [[ $current == -* ]] && words=$flags
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _sightline sightline
`)
}

// writeZsh works as a file _sightline in $fpath and when it is sourced.
func writeZsh(w io.Writer, places []completions) {
	fmt.Fprintf(w, `#compdef sightline
# Completion for zsh. To use it now:  source <(sightline completion zsh)
_sightline() {
  local at= word
  local -a choices flags
  for word in "${(@)words[2,CURRENT-1]}"; do
    case $at/$word in
      %s) at=$at/$word ;;
    esac
  done
  case $words[CURRENT-1] in
    %s) _files; return ;;
  esac
  case $at in
`, strings.Join(commandPaths(places), "|"), strings.Join(valuedFlags(places), "|"))
	for _, place := range places {
		fmt.Fprintf(w, "    '%s') choices=(%s) flags=(%s) ;;\n", place.at, described(place.words), described(place.flags))
	}
	fmt.Fprint(w, `  esac
  if [[ $words[CURRENT] == -* ]]; then
    _describe -o flag flags
  elif (( $#choices )); then
    _describe command choices
  else
    _files
  fi
}
if [[ $funcstack[1] == _sightline ]]; then
  _sightline "$@"
else
  compdef _sightline sightline
fi
`)
}

// described writes choices as zsh's _describe takes them.
func described(choices []choice) string {
	var all []string
	for _, c := range choices {
		all = append(all, "'"+strings.ReplaceAll(c.word+":"+c.help, "'", `'\''`)+"'")
	}
	return strings.Join(all, " ")
}

// writeFish has one line for each choice.
func writeFish(w io.Writer, places []completions) {
	fmt.Fprintf(w, `# Completion for fish. To use it now:  sightline completion fish | source
function __sightline_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        switch "$at/$word"
            case %s
                set at "$at/$word"
        end
    end
    test "$at" = "$argv[1]"
end
`, strings.Join(commandPaths(places), " "))
	escape := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	for _, place := range places {
		for _, c := range place.words {
			fmt.Fprintf(w, "complete -c sightline -n '__sightline_at \"%s\"' -f -a '%s' -d '%s'\n", place.at, c.word, escape.Replace(c.help))
		}
		for _, c := range place.flags {
			needs := ""
			if c.valued {
				needs = " -r"
			}
			fmt.Fprintf(w, "complete -c sightline -n '__sightline_at \"%s\"' -l '%s'%s -d '%s'\n", place.at, strings.TrimPrefix(c.word, "--"), needs, escape.Replace(c.help))
		}
	}
}
