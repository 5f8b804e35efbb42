package cloudbase

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/project/mask"
	"github.com/toolfit/toolfit/internal/rawjson"
)

// callOf splits the params of tools/call.
func callOf(params json.RawMessage) (name string, arguments json.RawMessage, err error) {
	name, ok := rawjson.String(rawjson.Get(params, "name"))
	if rawjson.Check(params) != nil || !ok {
		return "", nil, mcp.Errorf(mcp.CodeInvalidParams, "tools/call needs an object with name and arguments")
	}
	return name, rawjson.Get(params, "arguments"), nil
}

// query is what one call of envQuery or queryEnv asks for.
type query struct {
	action, envID, alias, region string
	aliasExact                   bool
	limit, offset                int // limit 0: all
	fields                       *mask.Mask
	metric, startTime, endTime   string
}

// onlyFor says which actions take a field. Others would ignore it, and their caller would
// not know.
var onlyFor = map[string][]string{
	"alias": {"list"}, "aliasExact": {"list"}, "region": {"list"}, "limit": {"list"}, "offset": {"list"}, "fields": {"list"},
	"metric": {"usage", "metrics"}, "startTime": {"metrics"}, "endTime": {"metrics"},
}

// readQuery reads the arguments of a tool with these actions. With one action alone it need
// not be named.
func readQuery(raw json.RawMessage, actions []string) (query, error) {
	r := readObject(raw, "action", "envId", "alias", "aliasExact", "region", "limit", "offset", "fields", "metric", "startTime", "endTime")
	q := query{
		action: r.choice("action", actions), envID: r.text("envId", 64), alias: r.text("alias", 128), region: r.text("region", 64),
		aliasExact: r.flag("aliasExact"), limit: r.whole("limit", 1, 1000, 0), offset: r.whole("offset", 0, 1_000_000, 0),
		fields: r.fields("fields"), metric: r.text("metric", 64), startTime: r.moment("startTime"), endTime: r.moment("endTime"),
	}
	for _, name := range slices.Sorted(maps.Keys(onlyFor)) {
		if r.has(name) && !slices.Contains(onlyFor[name], q.action) {
			r.refuse(name, "nothing for action "+q.action)
		}
	}
	if q.metric == "" && slices.Contains(onlyFor["metric"], q.action) {
		r.refuse("metric", "the name of a metric for action "+q.action)
	}
	if q.aliasExact && q.alias == "" {
		r.refuse("alias", "a text beside aliasExact")
	}
	return q, r.done()
}

// choose is what one call of envPick asks for.
type choose struct {
	message, wait string
	timeout       time.Duration
}

func readPick(raw json.RawMessage) (choose, error) {
	r := readObject(raw, "message", "timeout", "wait")
	c := choose{message: r.text("message", 500), wait: r.text("wait", 64)}
	c.timeout = time.Duration(r.whole("timeout", 1, int(MaxWait/time.Second), 600)) * time.Second
	if c.wait != "" && (r.has("message") || r.has("timeout")) {
		r.refuse("wait", "no other argument beside it")
	}
	return c, r.done()
}

// reader reads arguments. The first refusal is kept, and later reads give zero values.
type reader struct {
	values map[string]json.RawMessage // those that are there and not null
	err    error
}

// readObject takes an object with these members at most, each once, in their exact spelling.
func readObject(raw json.RawMessage, names ...string) *reader {
	r := &reader{values: map[string]json.RawMessage{}}
	if rawjson.IsNull(raw) {
		return r
	}
	seen := map[string]bool{}
	w := rawjson.Object(raw)
	for w.Next() {
		key := string(w.Key)
		switch {
		case !slices.Contains(names, key):
			r.fail("%s: there is no such argument; there are %s", cut(key, 60), strings.Join(names, ", "))
		case seen[key]:
			r.fail("%s: stands there twice", key)
		case !rawjson.IsNull(w.Value):
			r.values[key] = w.Value
		}
		seen[key] = true
	}
	if w.Err() != nil || !utf8.Valid(raw) {
		r.err = nil
		r.fail("arguments: expected an object, got %s", describe(raw))
	}
	return r
}

func (r *reader) done() error { return r.err }

func (r *reader) has(name string) bool { return r.values[name] != nil }

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = &failure{Code: fault.BadArguments, Message: fmt.Sprintf(format, args...)}
	}
}

func (r *reader) refuse(name, expected string) {
	r.fail("%s: expected %s, got %s", name, expected, describe(r.values[name]))
}

func (r *reader) text(name string, most int) string {
	if !r.has(name) {
		return ""
	}
	s, ok := rawjson.String(r.values[name])
	if !ok || s == "" || utf8.RuneCountInString(s) > most {
		r.refuse(name, fmt.Sprintf("a string of 1 to %d characters", most))
		return ""
	}
	return s
}

// moment reads a time as the API writes it.
func (r *reader) moment(name string) string {
	s := r.text(name, 64)
	if _, err := time.Parse(time.DateTime, s); s != "" && err != nil {
		r.refuse(name, "a time such as 2026-01-02 15:04:05")
	}
	return s
}

func (r *reader) choice(name string, options []string) string {
	if !r.has(name) && len(options) == 1 {
		return options[0]
	}
	s, ok := rawjson.String(r.values[name])
	if !ok || !slices.Contains(options, s) {
		r.refuse(name, "one of "+strings.Join(options, ", "))
	}
	return s
}

func (r *reader) flag(name string) bool {
	switch string(r.values[name]) {
	case "true":
		return true
	case "", "false":
		return false
	}
	r.refuse(name, "true or false")
	return false
}

func (r *reader) whole(name string, least, most, otherwise int) int {
	if !r.has(name) {
		return otherwise
	}
	n, err := strconv.Atoi(string(r.values[name]))
	if err != nil {
		// JSON Schema calls 3.0 and 3e2 integers too.
		f, wrong := strconv.ParseFloat(string(r.values[name]), 64)
		if n = int(f); wrong == nil && float64(n) == f {
			err = nil
		}
	}
	if err != nil || n < least || n > most {
		r.refuse(name, fmt.Sprintf("an integer from %d to %d", least, most))
		return otherwise
	}
	return n
}

// fields reads the mask that a list of fields makes for the rows of a list.
func (r *reader) fields(name string) *mask.Mask {
	if !r.has(name) {
		return nil
	}
	var list []string
	w := rawjson.Array(r.values[name])
	for w.Next() {
		s, ok := rawjson.String(w.Value)
		if _, err := mask.Parse(s); !ok || err != nil {
			r.fail("%s[%d]: expected the name of a field, got %s", name, len(list), describe(w.Value))
			return nil
		}
		list = append(list, s)
	}
	m, err := mask.Parse("EnvList(" + strings.Join(list, ",") + ")")
	if w.Err() != nil || err != nil {
		r.refuse(name, `a list of names of fields, such as ["EnvId","PackageId"]`)
	}
	return m
}

// describe names a value that came, short enough for a sentence.
func describe(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "the string " + cut(strings.ToValidUTF8(string(raw), "\uFFFD"), 60)
	case 't', 'f':
		return "the boolean " + string(raw)
	case 'n':
		return "null"
	}
	return "the number " + cut(string(raw), 60)
}
