package cli

import (
	"bufio"
	"fmt"
	"strings"
	"testing"
)

func TestOnATerminalImportAsksOnceWhereSecretsGo(t *testing.T) {
	for answer, want := range map[string]string{
		"\n": "abcdefgh", "k\n": "abcdefgh", "f\n": "${file:secrets/two.API_TOKEN}", "what?\nF\n": "${file:secrets/two.API_TOKEN}", "v\n": "${API_TOKEN}",
	} {
		w := newWorld(t)
		put(t, "c.json", `{"mcpServers": {"one": {"command": "x", "env": {"PASSWORD": "s3cr3t00"}}, "two": {"command": "x", "env": {"API_TOKEN": "abcdefgh"}}}}`)
		program, person := openTerminal(t, 80)
		if _, err := person.WriteString(answer); err != nil { // the terminal keeps it until it is read
			t.Fatal(err)
		}
		var out safeBuffer
		code := Run(t.Context(), []string{"import", "c.json"},
			&Env{In: program, Out: &out, Err: program, Lookup: w.lookup, Home: w.home, Version: "test"})
		fmt.Fprintln(program, "END")
		var said strings.Builder
		for lines := bufio.NewScanner(person); lines.Scan() && !strings.HasSuffix(lines.Text(), "END"); {
			said.WriteString(lines.Text() + "\n")
		}
		asked := strings.Count(said.String(), "2 values look like secrets: one: env.PASSWORD, two: env.API_TOKEN")
		if text := read(t, "toolfit.yaml"); code != 0 || asked != 1 || !strings.Contains(text, want) {
			t.Errorf("%q: exit code %d, asked %d times; the file is\n%s\nsaid\n%s", answer, code, asked, text, said.String())
		}
	}
}

func TestImportDoesNotAskWhereThereIsNothingToAsk(t *testing.T) {
	w := newWorld(t)
	put(t, "c.json", `{"mcpServers": {"one": {"command": "x", "env": {"PASSWORD": "s3cr3t00"}}}}`)
	program, _ := openTerminal(t, 80) // nobody answers
	for _, args := range [][]string{{"--secrets", "keep"}, {"--json"}, {}} {
		var out safeBuffer
		Run(t.Context(), append([]string{"import", "c.json"}, args...),
			&Env{In: program, Out: &out, Err: program, Lookup: w.lookup, Home: w.home, Version: "test"})
	}
}
