package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	pages "github.com/toolfit/toolfit/docs/errors"
	"github.com/toolfit/toolfit/internal/base/locale"
)

func TestEveryCommandHasExamplesThatParse(t *testing.T) {
	for path, cmd := range tree(t) {
		if !cmd.Runnable() || cmd.Hidden {
			continue
		}
		own := 0
		for line := range strings.Lines(cmd.Example) {
			if !strings.HasPrefix(line, "  ") {
				t.Errorf("%s: an example is indented by two spaces: %q", path, line)
			}
			for _, words := range invocations(line) {
				own++
				parses(t, path, words)
			}
		}
		if own == 0 {
			t.Errorf("%s has no example", path)
		}
	}
}

func TestCommandsOfErrorPagesParse(t *testing.T) {
	for _, page := range pages.All(locale.English) {
		for _, m := range regexp.MustCompile("(?m)^    (toolfit .*)$|`(toolfit [^`]*)`").FindAllStringSubmatch(page.Text, -1) {
			for _, words := range invocations(m[1] + m[2]) {
				parses(t, string(page.Code), words)
			}
		}
	}
}

var shellWord = regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`)

// invocations are the words of each toolfit in a line of a shell.
func invocations(line string) (all [][]string) {
	for part := range strings.SplitSeq(line, " | ") {
		words := shellWord.FindAllString(part, -1)
		if len(words) == 0 || words[0] != "toolfit" {
			continue
		}
		var args []string
		for _, word := range words[1:] {
			if word == "<" || word == ">" || word == "#" {
				break
			}
			args = append(args, strings.Trim(word, `'"`))
		}
		all = append(all, args)
	}
	return all
}

// parses reports words that are no command, or have flags or arguments that it does not take.
func parses(t *testing.T, where string, words []string) {
	t.Helper()
	root := (&command{env: &Env{}}).root()
	root.InitDefaultCompletionCmd()
	cmd, rest, err := root.Find(words)
	helps := slices.Contains(words, "--help")
	if err == nil && !helps {
		err = cmd.ParseFlags(rest)
	}
	if err == nil && !helps && cmd.Args != nil {
		err = cmd.Args(cmd, cmd.Flags().Args())
	}
	if err != nil {
		t.Errorf("%s: toolfit %s: %v", where, strings.Join(words, " "), err)
	}
}
