package cli

import (
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/locale"
)

// TestAllHelpIsInChinese walks the tree of commands. No translation is left over when a text changes.
func TestAllHelpIsInChinese(t *testing.T) {
	root := (&command{env: &Env{}}).root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	said := map[string]bool{}
	check := func(where, text string) {
		if text = strings.TrimSpace(text); text == "" || said[text] {
			return
		}
		said[text] = true
		if flagHelp(text, locale.Chinese) == text {
			t.Errorf("%s: cli-help.zh.json: %q", where, text)
		}
	}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		check(cmd.CommandPath(), cmd.Short)
		check(cmd.CommandPath(), cmd.Long)
		eachFlag(cmd, func(name string, text *string) { check(cmd.CommandPath()+" --"+name, *text) })
		for _, inner := range cmd.Commands() {
			walk(inner)
		}
	}
	walk(root)
	for _, heading := range append(headings, "(default $1)") {
		check("help", heading)
	}
	said["help for %s"], said["version for %s"] = true, true
	texts := map[string]string{}
	data, err := os.ReadFile("../../base/locale/cli-help.zh.json")
	if err := errors.Join(err, json.Unmarshal(data, &texts)); err != nil {
		t.Fatal(err)
	}
	for english := range texts {
		if !said[english] {
			t.Errorf("nobody says %q", english)
		}
	}
}

func TestTheLanguageIsThatOfTheFlagThenOfTheVariables(t *testing.T) {
	for _, tt := range []struct {
		name string
		args string
		env  map[string]string
		want locale.Language
	}{
		{"nothing set is English", "servers", nil, locale.English},
		{"LANG", "servers", map[string]string{"LANG": "zh_CN.UTF-8"}, locale.Chinese},
		{"LC_MESSAGES before LANG", "servers", map[string]string{"LC_MESSAGES": "zh_TW", "LANG": "en_US.UTF-8"}, locale.Chinese},
		{"LC_ALL before all others", "servers", map[string]string{"LC_ALL": "C", "LC_MESSAGES": "zh_CN", "LANG": "zh_CN"}, locale.English},
		{"an empty variable is not set", "servers", map[string]string{"LC_ALL": "", "LANG": "zh_CN"}, locale.Chinese},
		{"another language is English", "servers", map[string]string{"LANG": "de_DE.UTF-8"}, locale.English},
		{"the flag wins", "servers --lang en", map[string]string{"LC_ALL": "zh_CN"}, locale.English},
		{"the flag with =, after a wrong one", "servers --wrong --lang=zh", nil, locale.Chinese},
		{"what belongs to another program is not ours", "add x -- y --lang zh", nil, locale.English},
		{"a flag without its value", "servers --lang", nil, locale.English},
	} {
		env := &Env{Lookup: func(name string) (string, bool) { v, ok := tt.env[name]; return v, ok }}
		if got := languageOf(env, strings.Fields(tt.args)); got != tt.want {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}

// TestProgramsReadEnglish holds that --json prints the same in every language.
func TestProgramsReadEnglish(t *testing.T) {
	for _, args := range [][]string{
		{"doctor", "--json", "--config", "/no/such/file"}, {"servers", "--json", "--config", "/no/such/file"},
		{"version", "--json"}, {"version", "x", "--json"}, {"calls", "--json", "--limit", "x"},
	} {
		said := map[string]string{}
		for _, lang := range []string{"zh", "en"} {
			var out strings.Builder
			env := &Env{In: strings.NewReader(""), Out: &out, Err: &out, Lookup: func(string) (string, bool) { return "", false }, Home: t.TempDir()}
			Run(t.Context(), append(args, "--lang", lang), env)
			said[lang] = clockTime.ReplaceAllString(out.String(), "TIME")
		}
		if said["zh"] != said["en"] {
			t.Errorf("%v: %s", args, said["zh"])
		}
	}
}

var clockTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:]+Z`)

func TestPeopleReadTheirLanguage(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--help", "可用命令："},
		{"calls wait --help", "全局选项："},
		{"calls --help", "（默认 50）"},
		{"wrong", `未知命令 "wrong"；参见：toolfit --help`},
		{"calls --wrong", "未知选项：--wrong；参见：toolfit calls --help"},
		{"calls --limit x", `选项 "--limit" 的值 "x" 无效："x" 不是整数`},
		{"version x", "version 不接受参数"},
		{"call", "call 的参数应为：工具名称"},
		{"servers --config /no/such/file", "/no/such/file"},
	} {
		var out strings.Builder
		env := &Env{In: strings.NewReader(""), Out: &out, Err: &out, Lookup: func(string) (string, bool) { return "", false }, Home: t.TempDir()}
		Run(t.Context(), append(strings.Fields(tt.args), "--lang", "zh"), env)
		if !strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: %s", tt.args, out.String())
		}
	}
}
