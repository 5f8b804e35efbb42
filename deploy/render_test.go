package deploy_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"go.yaml.in/yaml/v3"
)

// objects are what the chart makes, by kind; NOTES is its text for people.
type objects map[string]map[string]any

// releaseName and namespace are those of every release here.
const releaseName, namespace = "x", "default"

// render fills in the chart's templates with the few functions of Helm that they use, so that they are checked where Helm is
// not at hand. Another test compares it with Helm. The error is that of the template function fail.
func render(t *testing.T, values map[string]any) (made objects, notes string, err error) {
	t.Helper()
	chart := readYAML[map[string]any](t, "chart/Chart.yaml")
	data := map[string]any{
		"Values": values, "Release": map[string]any{"Name": releaseName, "Namespace": namespace, "Service": "Helm"},
		"Chart": map[string]any{"Name": chart["name"], "Version": chart["version"], "AppVersion": chart["appVersion"]},
	}
	root := template.New("")
	root.Funcs(helmFunctions(root))
	files, err := filepath.Glob("chart/templates/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no templates: %v", err)
	}
	for _, file := range files {
		if _, err := root.New(filepath.Base(file)).Parse(string(read(t, file))); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	for _, file := range files {
		if filepath.Ext(file) == ".yaml" {
			out.WriteString("\n---\n")
			if err := root.ExecuteTemplate(&out, filepath.Base(file), data); err != nil {
				return nil, "", err
			}
		}
	}
	var said strings.Builder
	if err := root.ExecuteTemplate(&said, "NOTES.txt", data); err != nil {
		t.Fatal(err)
	}
	if text := out.String() + said.String(); strings.Contains(text, "<no value>") {
		t.Errorf("a value is missing:\n%s", text)
	}
	return readObjects(t, out.Bytes()), said.String(), nil
}

// mustRender is render of values that the chart accepts.
func mustRender(t *testing.T, values map[string]any) objects {
	t.Helper()
	made, _, err := render(t, values)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// helmFunctions are the functions that the chart uses, as Helm defines them where there is no cluster.
func helmFunctions(root *template.Template) template.FuncMap {
	return template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var out bytes.Buffer
			err := root.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"toYaml": func(v any) (string, error) {
			out, err := yaml.Marshal(v)
			return strings.TrimSuffix(string(out), "\n"), err
		},
		"fromYaml": func(s string) (m map[string]any, err error) {
			err = yaml.Unmarshal([]byte(s), &m)
			return m, err
		},
		"nindent": func(n int, s string) string {
			pad := "\n" + strings.Repeat(" ", n)
			return pad + strings.ReplaceAll(s, "\n", pad)
		},
		"default": func(usual any, given ...any) any {
			if len(given) == 0 {
				return usual
			}
			if is, _ := template.IsTrue(given[0]); !is {
				return usual
			}
			return given[0]
		},
		"dict": func(pairs ...any) map[string]any {
			m := map[string]any{}
			for i := 0; i < len(pairs); i += 2 {
				m[pairs[i].(string)] = pairs[i+1]
			}
			return m
		},
		"merge": func(into map[string]any, others ...map[string]any) map[string]any {
			all := append([]map[string]any{maps.Clone(into)}, others...)
			for _, m := range slices.Backward(all) {
				maps.Copy(into, m) // the first one has the last word
			}
			return into
		},
		"get": func(m map[string]any, key string) any {
			if v, ok := m[key]; ok {
				return v
			}
			return ""
		},
		"list":   func(items ...any) []any { return items },
		"concat": func(lists ...[]any) []any { return slices.Concat(lists...) },
		"uniq": func(items []any) (out []any) {
			for _, v := range items {
				if !slices.Contains(out, v) {
					out = append(out, v)
				}
			}
			return out
		},
		"int": func(v any) (n int, err error) {
			_, err = fmt.Sscan(fmt.Sprint(v), &n)
			return n, err
		},
		"ternary": func(yes, no string, is bool) string {
			if is {
				return yes
			}
			return no
		},
		"fail":         func(message string) (string, error) { return "", errors.New(message) },
		"lookup":       func(...string) map[string]any { return map[string]any{} },
		"randAlphaNum": func(n int) string { return strings.Repeat("Random0123", n)[:n] },
		"b64enc":       func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"quote":        strconv.Quote,
		"lower":        strings.ToLower,
		"trunc":        func(n int, s string) string { return s[:min(n, len(s))] },
		"trimSuffix":   func(suffix, s string) string { return strings.TrimSuffix(s, suffix) },
		"sha256sum":    func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) },
	}
}

// readObjects reads a stream of Kubernetes objects.
func readObjects(t *testing.T, text []byte) objects {
	t.Helper()
	all := objects{}
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var doc map[string]any
		err := d.Decode(&doc)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if doc == nil {
			continue
		}
		kind, _ := doc["kind"].(string)
		if kind == "" || all[kind] != nil {
			t.Fatalf("no kind, or one twice: %v", doc)
		}
		all[kind] = doc
	}
}
