package locale

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestSentencesOfOursAreSaidInChinese(t *testing.T) {
	for _, c := range []struct{ name, english, want string }{
		{"a name in it", "there is no server 云 x", "没有服务器 云 x"},
		{"with a hint", `server lost cannot be started: command "no such" does not exist (install it, or correct the command of lost)`,
			`服务器 lost 无法启动：命令 "no such" 不存在（请安装它，或更正 lost 的命令）`},
		{"a hole that could hold words of ours", "the configuration file has a server shop already", "配置文件中已有服务器 shop"},
		{"another one", "server st is stored encrypted", "服务器 st 已加密存储"},
		{"holes in another order", "server a did not answer tools/call within 30s", "服务器 a 未在 30s 内应答 tools/call"},
		{"several lines", "the arguments do not fit:\n/id: missing, expected integer\n/order: unknown argument; there are: id",
			"参数不符合要求：\n/id：缺少，应为 integer\n/order：未知参数；可用：id"},
		{"one in another", "made again: server a closed its output", "已重试：服务器 a 关闭了输出"},
		{"why an element", "is called so by its text beside it, number 2 of 3", "名称相同（依据旁边的文字，第 2 个，共 3 个）"},
		{"an element with a hint", `"删除" means 2 elements: row 张三 > button 删除; row 李四 > button 删除 (add the row: 张三)`,
			`"删除" 对应 2 个元素：row 张三 > button 删除; row 李四 > button 删除（请加上所在的行：张三）`},
		{"a model", "model qwen cannot be reached at http://127.0.0.1:1: connection refused",
			"无法连接模型 qwen（http://127.0.0.1:1）：连接被拒绝"},
		{"a host that nobody knows", "server dns cannot be reached: its host name is not known (check the host in the url of dns)",
			"无法连接服务器 dns：无法解析主机名（请检查 dns 的 url 中的主机）"},
		{"no message", "server junk sent something that is not a message: invalid JSON at byte 5: expected a value (code -32700) (check that its URL is an MCP endpoint)",
			"服务器 junk 发送的内容不是 MCP 消息：第 5 字节处 JSON 无效：应为一个值（代码 -32700）（请确认其网址是 MCP 端点）"},
		{"a process that has ended", "server x ended with exit status 3: fatal: no such repository", "服务器 x 已退出，退出码 3：fatal: no such repository"},
		{"a variable", "server x is out of service: mcpServers.x.env.A: environment variable T is not set; set it, or write the value here",
			"服务器 x 已停用：mcpServers.x.env.A：环境变量 T 未设置；请设置它，或在此处直接写值"},
		{"a name", `key name "a b" may not have ' ' there (use letters, digits, ".", "_" and "-")`,
			`密钥名称 "a b" 的这个位置不能使用 ' '（请使用字母、数字、“.”、“_”和“-”）`},
		{"a mask", "the rule: keep: at byte 2: it ends too early; a name is missing here", "规则：keep：第 2 字节处：提前结束；此处缺少名称"},
		{"what was pasted", "pasted:1: the JSON ends too early", "粘贴的内容第 1 行：JSON 不完整"},
		{"what was pasted, with a place", "pasted:3: it is not JSON: unexpected '}' at byte 38", "粘贴的内容第 3 行：不是 JSON：第 38 字节处出现意外的 '}'"},
		{"a step", `steps.yaml:1:1: cannot read the step "bla"; write a verb first, such as: 点击 登录`, `steps.yaml:1:1：无法理解步骤 "bla"；请以动词开头，例如：点击 登录`},
		{"a sign-in", "server x needs sign-in, and that is not possible: http://as refused to register a client (HTTP 404 without a reason)",
			"服务器 x 需要登录，但无法登录：http://as 拒绝注册客户端（HTTP 404，未说明原因）"},
		{"a limit", "the policy permits no more than 5 such calls per hour", "策略只允许每小时进行 5 次此类调用"},
		{"a question with what its rule says", "this call of shop__pay needs a person's approval: Ask first.", "对 shop__pay 的这次调用需要由人批准：Ask first."},
		{"what others say", "Something went wrong (again)", "Something went wrong (again)"},
		{"nothing", "", ""},
	} {
		if got := Chinese.Translate(c.english); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
		if got := English.Translate(c.english); got != c.english {
			t.Errorf("%s in English: %s", c.name, got)
		}
	}
}

// sources are the files of the program, by their paths.
func sources(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, folder := range []string{"../..", "../../../schema"} {
		root := os.DirFS(folder)
		err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			all[folder+"/"+path], err = fs.ReadFile(root, path)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestEverySentenceIsReadWhole holds that all of the files is read, and that no sentence is said
// in two ways, of which only one would count.
func TestEverySentenceIsReadWhole(t *testing.T) {
	seen := map[string]string{}
	eachText(t, "sentences*.zh.json", func(name, english, _ string) {
		if in := seen[english]; in != "" {
			t.Errorf("%q is in %s and in %s", english, in, name)
		}
		seen[english] = name
	})
}

// eachText visits the texts of files as they are written, also one that is there twice.
func eachText(t *testing.T, pattern string, visit func(name, english, chinese string)) {
	t.Helper()
	names, err := fs.Glob(files, pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &map[string]string{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		words := json.NewDecoder(bytes.NewReader(data))
		words.Token() // the brace
		for words.More() {
			english, _ := words.Token()
			chinese, _ := words.Token()
			visit(name, english.(string), chinese.(string))
		}
	}
}

// TestEverySentenceIsSaidSomewhere holds that no translation is left over when a message
// changes. A sentence that is put together from parts is found by its words around the holes.
func TestEverySentenceIsSaidSomewhere(t *testing.T) {
	var source strings.Builder
	for _, text := range sources(t) {
		source.Write(text)
	}
	lexicon, err := os.ReadFile("../../core/scan/lexicon.txt") // which has the sentences of findings
	if err != nil {
		t.Fatal(err)
	}
	source.Write(lexicon)
	joined := regexp.MustCompile("[\"`]\\s*\\+\n\\s*[\"`]").ReplaceAllString(source.String(), "") // literals over several lines
	said := regexp.MustCompile(`%[-+# 0-9.]*[a-z]`).ReplaceAllString(joined, hole)
	said = strings.NewReplacer("%%", "%", `\"`, `"`).Replace(said)
	composed := map[string]string{} // of parts, or said by the library for flags and by the system
	data, err := files.ReadFile("sentences-composed.zh.json")
	if err := errors.Join(err, json.Unmarshal(data, &composed)); err != nil {
		t.Fatal(err)
	}
	for english, chinese := range sentenceTexts() {
		parts := strings.Split(english, hole)
		if _, ok := composed[english]; ok {
			parts = nil
		}
		for _, part := range parts {
			if !strings.Contains(said, strings.TrimSpace(strings.Trim(part, ":;, "))) {
				t.Errorf("nobody says %q: %q", english, part)
			}
		}
		filled := newSentence(english, chinese).order
		slices.Sort(filled)
		for i := range max(len(filled), strings.Count(english, hole)) {
			if i >= len(filled) || filled[i] != i {
				t.Errorf("%q and %q have other holes", english, chinese)
				break
			}
		}
	}
}

func FuzzSay(f *testing.F) {
	f.Add("server a cannot be started: server b cannot be started: x (try again later)")
	f.Add("made again: made again: made again: made again: made again: (((")
	f.Add("{}{1}$1\\\xff：")
	f.Fuzz(func(t *testing.T, text string) {
		if got := Chinese.Translate(text); text != "" && got == "" {
			t.Errorf("%q is lost", text)
		}
	})
}
