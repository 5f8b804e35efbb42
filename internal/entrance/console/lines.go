package console

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/shell"
	"github.com/toolfit/toolfit/internal/base/visible"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// line is a call in another language.
type line struct{ Kind, Text string }

// elsewhere is the call that lines make.
type elsewhere struct {
	base    string // the address of the gateway
	tool    string
	query   url.Values
	schema  *jsonschema.Node // of the arguments; nil: not known
	profile string
}

// maxLine is how many bytes of arguments stand in a line. More are read from a file.
const maxLine = 2000

// linesOf are the ways to make the call of the form elsewhere; nil: the arguments are no JSON object.
func (c *Console) linesOf(v *visit, p *toolPage, args json.RawMessage) []line {
	if rawjson.Check(args) != nil || bytes.TrimSpace(args)[0] != '{' {
		return nil
	}
	e := elsewhere{base: c.base(v), tool: p.Name, query: url.Values{}, profile: p.Profile}
	e.schema, _ = jsonschema.Parse(p.InputSchema)
	if p.Profile != "" {
		e.query.Set("profile", p.Profile)
	}
	if p.View == "model" {
		e.query.Set("view", "model")
	}
	lines := e.lines(args)
	if s, err := c.Servers.SeenServer(v.who, p.Server); err == nil && s.Kind == "api" && len(args) <= maxLine {
		if own, err := c.ToolCaller.CurlTool(v.Context(), v.who, p.Name, args, url.Values{"profile": {p.Profile}}); err == nil {
			lines = append(lines, line{"http", own})
		}
	}
	return lines
}

func (e *elsewhere) lines(args json.RawMessage) []line {
	one := []byte(visible.Text(string(rawjson.OneLine(bytes.TrimSpace(args)))))
	return []line{
		{"curl", e.curl(one)}, {"cli", e.cli(one)}, {"python", e.python(one)}, {"typescript", e.typeScript(one)}, {"mcp", e.mcp(one)},
	}
}

func (e *elsewhere) address() string {
	at := e.base + "/api/v1/tools/" + url.PathEscape(e.tool) + "/call"
	if len(e.query) > 0 {
		at += "?" + e.query.Encode()
	}
	return at
}

func (e *elsewhere) curl(args []byte) string {
	data := "-d " + shell.Quote(string(args))
	if len(args) > maxLine {
		data = "--data-binary @arguments.json"
	}
	return "curl -s " + shell.Word(e.address()) + ` \` + "\n" +
		`  -H "Authorization: Bearer $TOOLFIT_KEY" -H 'Content-Type: application/json' \` + "\n  " + data
}

// cli is the command of our own program. It takes KEY=VALUE as the type in the tool's schema, and KEY:=JSON as it is.
func (e *elsewhere) cli(args []byte) string {
	words := []string{"toolfit call " + shell.Word(e.tool), "--url " + shell.Word(e.base)}
	if e.profile != "" {
		words = append(words, "--profile "+shell.Word(e.profile))
	}
	switch given, ok := e.words(args); {
	case len(args) > maxLine:
		words = append(words, "--args @arguments.json")
	case ok:
		words = append(words, given...)
	default:
		words = append(words, "--args "+shell.Quote(string(args)))
	}
	return strings.Join(words, " ")
}

// words are the arguments one by one; false: the command cannot read them in that way.
func (e *elsewhere) words(args []byte) (words []string, ok bool) {
	properties := e.schema.Get("properties")
	for w := rawjson.Object(args); w.Next(); {
		key := string(w.Key)
		if key == "" || strings.ContainsAny(key, "=\n") || strings.HasSuffix(key, ":") || key[0] == '-' || key[0] == '{' ||
			strings.ContainsFunc(key, visible.Hidden) {
			return nil, false
		}
		value, isText := rawjson.String(w.Value)
		typed := slices.Contains(properties.Get(key).Strings("type"), "string")
		switch {
		case isText && (typed || rawjson.Check([]byte(value)) != nil) && !strings.ContainsFunc(value, visible.Hidden):
			words = append(words, shell.Word(key+"="+value))
		case !isText && !typed:
			words = append(words, shell.Word(key+"="+string(w.Value)))
		default:
			words = append(words, shell.Word(key+":="+string(w.Value)))
		}
	}
	return words, true
}

func (e *elsewhere) python(args []byte) string {
	data := "json.dumps(" + inPython(args) + ").encode()"
	if len(args) > maxLine {
		data = `open("arguments.json", "rb").read()`
	}
	return "import json, os, urllib.request\n\nrequest = urllib.request.Request(\n    " + quoted(e.address()) + ",\n    data=" + data + ",\n" +
		`    headers={"Authorization": "Bearer " + os.environ["TOOLFIT_KEY"], "Content-Type": "application/json"},` + "\n)\n" +
		"with urllib.request.urlopen(request) as response:\n    print(json.load(response)[\"result\"])"
}

// inPython is JSON as Python writes it.
func inPython(raw []byte) string {
	return eachToken(raw, func(token string) string {
		switch token {
		case "true":
			return "True"
		case "false":
			return "False"
		case "null":
			return "None"
		}
		return token
	})
}

func (e *elsewhere) typeScript(args []byte) string {
	body := "JSON.stringify(" + eachToken(args, func(token string) string { return token }) + ")"
	switch {
	case len(args) > maxLine:
		body = `await readFile("arguments.json", "utf8")`
	case changesInJavaScript(args):
		body = quoted(string(args))
	}
	text := "const response = await fetch(" + quoted(e.address()) + ", {\n  method: \"POST\",\n" +
		"  headers: { Authorization: `Bearer ${process.env.TOOLFIT_KEY}`, \"Content-Type\": \"application/json\" },\n  body: " + body + ",\n});\n" +
		"console.log((await response.json()).result);"
	if len(args) > maxLine {
		text = "import { readFile } from \"node:fs/promises\";\n\n" + text
	}
	return text
}

// changesInJavaScript tells whether JSON loses digits as a value of JavaScript, or a name in it means something else there.
func changesInJavaScript(raw []byte) (changes bool) {
	if bytes.Contains(raw, []byte(`"__proto__"`)) || bytes.Contains(raw, []byte(`\u005f`)) {
		return true
	}
	eachToken(raw, func(token string) string {
		if !strings.ContainsAny(token[:1], "-0123456789") {
			return token
		}
		exact, ok := jsonschema.Decimal(token)
		if !ok {
			changes = true
			return token
		}
		near, _ := exact.Float64()
		back, ok := jsonschema.Decimal(strconv.FormatFloat(near, 'g', -1, 64))
		whole := exact.IsInt() && strings.ContainsAny(token, ".eE") // 1.0 would become 1
		changes = changes || whole || !ok || back.Cmp(exact) != 0
		return token
	})
	return changes
}

// mcp is the request of an MCP client.
func (e *elsewhere) mcp(args []byte) string {
	if len(args) > maxLine {
		args = []byte(`{"…":"arguments.json"}`)
	}
	raw := rawjson.AppendString([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":`), e.tool)
	raw = append(append(append(raw, `,"arguments":`...), args...), "}}"...)
	return visible.Text(string(indented(raw, 1<<20)))
}

// eachToken changes the numbers and words of JSON, and writes all strings in the same plain way.
func eachToken(raw []byte, change func(token string) string) string {
	var b []byte
	for i := 0; i < len(raw); {
		end := i + 1
		switch c := raw[i]; {
		case c == '"':
			for end < len(raw) && raw[end] != '"' {
				if raw[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(raw))
			s, _ := rawjson.String(raw[i:end]) // it is valid JSON
			b = rawjson.AppendString(b, s)
		case isWord(c):
			for end < len(raw) && isWord(raw[end]) {
				end++
			}
			b = append(b, change(string(raw[i:end]))...)
		case c == ',' || c == ':':
			b = append(b, c, ' ')
		case c > ' ':
			b = append(b, c)
		}
		i = end
	}
	return visible.Text(string(b))
}

// quoted is a string of JSON, which is one of Python and JavaScript too.
func quoted(s string) string { return visible.Text(string(rawjson.AppendString(nil, s))) }
