package project_test

import (
	"context"
	"errors"
	"testing"

	"github.com/toolfit/toolfit/internal/core/project"
)

func TestJQ(t *testing.T) {
	for _, c := range []struct{ name, program, in, want string }{
		{"digits are kept", ".", `{"b":9007199254740993,"a":1.0,"c":1e400}`, `{"a":1.0,"b":9007199254740993,"c":1e400}`},
		{"several outputs are an array", ".[]", `[1,2]`, `[1,2]`},
		{"one output is itself", ".[0]", `[null]`, `null`},
		{"the environment is empty", "env", `{}`, `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := jq(t, c.program).Run(context.Background(), []byte(c.in))
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
	if _, err := jq(t, "empty").Run(context.Background(), []byte("1")); !errors.Is(err, project.ErrNoOutput) {
		t.Errorf("no output: %v", err)
	}
	for _, src := range []string{"input", "inputs", "debug", "import \"a\" as a; .", "include \"a\"; .", "input_filename", "stderr",
		"$__loc__ | getpath", "{"} {
		if p, err := project.CompileJQ(src); err == nil {
			t.Errorf("%q compiles: %v", src, p)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := jq(t, "last(range(1e12))").Run(ctx, []byte("1")); err == nil {
		t.Error("a canceled program went on")
	}
}
