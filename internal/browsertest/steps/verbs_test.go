package steps

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated files anew")

const (
	text   = `{"$ref": "#/$defs/text"}`
	texts  = `{"anyOf": [{"$ref": "#/$defs/text"}, {"type": "array", "items": {"$ref": "#/$defs/text"}}]}`
	target = `{"anyOf": [{"type": "string"}, {"$ref": "#/$defs/target"}]}`
)

// schemas describe for editors what stands behind the key of a verb.
var schemas = map[*argument]string{
	nothingMore:   `{"type": ["null", "boolean", "string"]}`,
	aText:         text,
	anAddress:     text,
	anElement:     elementOr(text),
	aTextFor:      elementOr(text, "value", text, "text", text),
	options:       elementOr(text, "value", texts, "values", texts),
	twoElements:   elementOr(text, "to", target),
	aVariableFrom: elementOr(text, "as", `{"type": "string"}`),
	aKey:          elementOr(text, "key", text),
	files:         elementOr(texts, "file", texts, "files", texts, "value", texts),
	aDirection:    elementOr(text),
	aWait: `{"anyOf": [{"$ref": "#/$defs/duration"}, {"type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": 1,
		"properties": {"time": {"$ref": "#/$defs/duration"}, "timeout": {"type": "string", "pattern": "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$",` +
		` "description": "The same as time; it needs its unit"}, "text": ` + text + `, "gone": ` + text + `, "url": ` + text + `}}]}`,
	aDialog: `{"anyOf": [{"enum": ["accept", "dismiss"]}, {"type": "object", "additionalProperties": false,
		"properties": {"accept": {"type": "boolean"}, "text": ` + text + `}}]}`,
	aTab: `{"anyOf": [{"enum": ["new", "close"]}, {"type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": 1,
		"properties": {"new": {"type": ["string", "boolean"]}, "select": {"type": ["integer", "string"]}, "close": {"type": "boolean"}}}]}`,
	expected:  `{"$ref": "#/$defs/expect"}`,
	variables: `{"$ref": "#/$defs/vars"}`,
	aCall: `{"type": "object", "additionalProperties": false, "required": ["name"],
		"properties": {"name": {"type": "string"}, "arguments": {"type": "object"}}}`,
}

// elementOr is an element by words, or a mapping that says which one is meant and the rest.
func elementOr(plain string, more ...string) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, `{"anyOf": [%s, {"type": "object", "additionalProperties": false, "properties": {"target": {"anyOf": [{"type": `+
		`"string"}, {"$ref": "#/$defs/target"}],`+
		` "description": "Words that say which element is meant, or a selector"},`, plain)
	for _, key := range strings.Fields("selector css xpath role name label placeholder testid") {
		fmt.Fprintf(b, `%q: {"type": "string"},`, key)
	}
	b.WriteString(`"within": {"type": "string", "description": "What holds the element: a row, a dialog, a group, a heading"},` +
		`"row": {"type": "string"}, "frame": {"$ref": "#/$defs/text"}, "nth": {"$ref": "#/$defs/nth"}`)
	for i := 0; i < len(more); i += 2 {
		fmt.Fprintf(b, `, %q: %s`, more[i], more[i+1])
	}
	return b.String() + `}}]}`
}

// actionSchema is the schema of a step that is a mapping: one verb, and what is said about it.
func actionSchema() string {
	properties := `"id": {"$ref": "#/$defs/text"}, "timeout": {"$ref": "#/$defs/duration"}, "retries": {"type": "integer", "minimum": 0},` +
		`"optional": {"type": "boolean"}, "idempotent": {"type": "boolean"}, "within": {"type": "string"}, "frame": {"$ref": "#/$defs/text"},` +
		`"nth": {"$ref": "#/$defs/nth"}, "fallback": {"$ref": "#/$defs/steps"}`
	var others []string
	for _, v := range verbs {
		properties += fmt.Sprintf(`, %q: %s`, v.action, schemas[v.takes])
		if v.action != Expect { // which may stand beside another
			others = append(others, fmt.Sprintf(`{"required": [%q]}`, v.action))
		}
	}
	list := strings.Join(others, ",")
	return `{"type": "object", "additionalProperties": false, "properties": {` + properties + `}, "oneOf": [` + list +
		`, {"required": ["expect"], "not": {"anyOf": [` + list + `]}}]}`
}

// generated compares a part of a file with what it is generated from, or writes it anew.
func generated(t *testing.T, path string, part *regexp.Regexp, want string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := part.FindSubmatchIndex(data)
	if at == nil {
		t.Fatalf("%s has no part for it", path)
	}
	if string(data[at[2]:at[3]]) == want {
		return
	}
	if !*update {
		t.Fatalf("%s is not what the verbs say; run go test ./internal/browsertest/steps -update", path)
	}
	if err := os.WriteFile(path, []byte(string(data[:at[2]])+want+string(data[at[3]:])), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTheSchemaIsGeneratedFromTheVerbs(t *testing.T) {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(actionSchema()), "  ", " "); err != nil {
		t.Fatal(err)
	}
	generated(t, "steps.schema.json", regexp.MustCompile(`(?s)\n  "action": (\{.*?\n  \})`), b.String())
}

func TestTheListOfTheGuideIsGeneratedFromTheVerbs(t *testing.T) {
	var b strings.Builder
	for _, v := range verbs {
		var said []string
		for _, english := range []bool{false, true} {
			for _, x := range v.rules {
				if x.english == english {
					said = append(said, x.form)
					break
				}
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", v.action, strings.Join(said, "; "), v.meaning)
	}
	generated(t, "../../../docs/steps.md", regexp.MustCompile(`\| key of a step \| in a sentence \| meaning `+
		`\|\n\|---\|---\|---\|\n((?:\|.*\n)*?)\| .timeout., `), b.String())
}

func TestEveryVerbHasItsArgumentAndItsMeaning(t *testing.T) {
	seen := map[Action]bool{}
	for _, v := range verbs {
		if seen[v.action] || v.takes == nil || schemas[v.takes] == "" || v.meaning == "" {
			t.Errorf("%s: %+v", v.action, v)
		}
		seen[v.action] = true
		if (len(v.rules) > 0) != (v.zh != "" && v.en != "") {
			t.Errorf("%s has sentences without words or words without sentences", v.action)
		}
	}
}

// TestEveryFormIsReadAsItsVerb holds that the forms that people are shown are sentences of their verbs.
func TestEveryFormIsReadAsItsVerb(t *testing.T) {
	either := regexp.MustCompile(` (?:或|or) .*`)
	for _, x := range rules {
		read, err := ParseSentence(either.ReplaceAllString(x.form, ""))
		if err != nil || read[0].Action != x.action {
			t.Errorf("%s: %q is read as %v, %v", x.action, x.form, read, err)
		}
	}
}
