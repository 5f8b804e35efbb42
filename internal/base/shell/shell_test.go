package shell

import (
	"slices"
	"testing"
	"unicode/utf8"
)

func TestALineIsReadAsAShellReadsIt(t *testing.T) {
	tests := []struct {
		name, line string
		want       []string
	}{
		{"words", "npx  -y\tpkg ", []string{"npx", "-y", "pkg"}},
		{"quotes hold words together", `a "b c" 'd "e"' f"g"'h'`, []string{"a", "b c", `d "e"`, "fgh"}},
		{"an empty word counts", `a "" ''`, []string{"a", "", ""}},
		{"lines are joined", "docker run \\\n  -i \\\r\n  mcp/git", []string{"docker", "run", "-i", "mcp/git"}},
		{"variables keep their name", `-e A=$A "B=$B" 'C=$C' ${D} $1 $`, []string{"-e", "A=${A}", "B=${B}", "C=$C", "${D}", "$1", "$"}},
		{"escapes", `a\ b \"c\" "d\"e" 'f\'`, []string{"a b", `"c"`, `d"e`, `f\`}},
		{"paths of Windows stay", `C:\Tools\x.exe "C:\My Files"`, []string{`C:\Tools\x.exe`, `C:\My Files`}},
		{"other languages", `"我的 文件" 世界`, []string{"我的 文件", "世界"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := Split(tt.line); err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
	for _, line := range []string{`a 'b`, `a "b`, "a | b", "a && b", "a; b", "a > b", "a `b`"} {
		if got, err := Split(line); err == nil {
			t.Errorf("%s: got %q, want an error", line, got)
		}
	}
}

func FuzzJoin(f *testing.F) {
	f.Add("npx", "a b", `C:\x`)
	f.Add("", "it's", "${A}\n")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		words := []string{a, b, c}
		if !utf8.ValidString(a + b + c) {
			return
		}
		if got, err := Split(Join(words)); err != nil || !slices.Equal(got, words) {
			t.Errorf("%q became %q, %v", words, got, err)
		}
	})
}
