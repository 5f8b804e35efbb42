package locale

import (
	"encoding/json"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestSentencesOfOursAreSaidInChinese(t *testing.T) {
	for _, c := range []struct{ name, english, want string }{
		{"a name in it", "there is no server 云 x", "没有服务器 云 x"},
		{"with a hint", `server lost cannot be started: command "no such" does not exist (install it, or correct the command of lost)`,
			`服务器 lost 无法启动：命令 "no such" 不存在（请安装它，或更正 lost 的命令）`},
		{"holes in another order", "server a did not answer tools/call within 30s", "服务器 a 未在 30s 内应答 tools/call"},
		{"several lines", "the arguments do not fit:\n/id: missing, expected integer\n/order: unknown argument; there are: id",
			"参数不符合要求：\n/id：缺少，应为 integer\n/order：未知参数；可用：id"},
		{"one in another", "made again: server a closed its output", "已重试：服务器 a 关闭了输出"},
		{"what others say", "Something went wrong (again)", "Something went wrong (again)"},
		{"nothing", "", ""},
	} {
		if got := Chinese.Say(c.english); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
		if got := English.Say(c.english); got != c.english {
			t.Errorf("%s in English: %s", c.name, got)
		}
	}
}

// TestEverySentenceIsSaidSomewhere holds that no translation is left over when a message
// changes. A sentence that is put together from parts is found by its words around the holes.
func TestEverySentenceIsSaidSomewhere(t *testing.T) {
	data, err := files.ReadFile("sentences.zh.json")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	if err := json.Unmarshal(data, &texts); err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, folder := range []string{"..", "../../schema"} {
		root := os.DirFS(folder)
		err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := fs.ReadFile(root, path)
			source.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	said := regexp.MustCompile(`%[-+# 0-9.]*[a-z]`).ReplaceAllString(source.String(), hole)
	for english, chinese := range texts {
		for _, part := range strings.Split(english, hole) {
			if !strings.Contains(said, strings.TrimSpace(strings.Trim(part, ":;, "))) {
				t.Errorf("nobody says %q: %q", english, part)
			}
		}
		if strings.Count(english, hole) != len(chineseHole.FindAllString(chinese, -1)) {
			t.Errorf("%q and %q have other holes", english, chinese)
		}
	}
}

func FuzzSay(f *testing.F) {
	f.Add("server a cannot be started: server b cannot be started: x (try again later)")
	f.Add("made again: made again: made again: made again: made again: (((")
	f.Add("{}{1}$1\\\xff：")
	f.Fuzz(func(t *testing.T, text string) {
		if got := Chinese.Say(text); text != "" && got == "" {
			t.Errorf("%q is lost", text)
		}
	})
}
