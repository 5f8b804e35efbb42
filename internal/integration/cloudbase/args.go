package cloudbase

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/arguments"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/mcp"
)

func callOf(params json.RawMessage) (name string, arguments json.RawMessage, err error) {
	name, ok := rawjson.String(rawjson.Get(params, "name"))
	if rawjson.Check(params) != nil || !ok {
		return "", nil, mcp.Errorf(mcp.CodeInvalidParams, "tools/call needs an object with name and arguments")
	}
	return name, rawjson.Get(params, "arguments"), nil
}

// query is a call of envQuery or queryEnv.
type query struct {
	action, envID, alias, region string
	aliasExact                   bool
	limit, offset                int // limit 0: all
	fields                       *mask.Mask
	metric, startTime, endTime   string
}

// onlyFor lists the actions that take an argument. Others reject it.
var onlyFor = map[string][]string{
	"alias": {"list"}, "aliasExact": {"list"}, "region": {"list"}, "limit": {"list"}, "offset": {"list"}, "fields": {"list"},
	"metric": {"usage", "metrics"}, "startTime": {"metrics"}, "endTime": {"metrics"},
}

// readQuery reads the arguments of a tool with these actions. A single action need not be named.
func readQuery(raw json.RawMessage, actions []string) (query, error) {
	r := readObject(raw, "action", "envId", "alias", "aliasExact", "region", "limit", "offset", "fields", "metric", "startTime", "endTime")
	q := query{
		action: r.action(actions), envID: r.TextIf("envId", 64), alias: r.TextIf("alias", 128), region: r.TextIf("region", 64),
		aliasExact: r.flag("aliasExact"), limit: int(r.WholeOr("limit", 1, 1000, 0)), offset: int(r.WholeOr("offset", 0, 1_000_000, 0)),
		fields: r.fields("fields"), metric: r.TextIf("metric", 64), startTime: r.moment("startTime"), endTime: r.moment("endTime"),
	}
	for _, name := range slices.Sorted(maps.Keys(onlyFor)) {
		if r.Has(name) && !slices.Contains(onlyFor[name], q.action) {
			r.Refuse(name, "nothing for action "+q.action)
		}
	}
	if q.metric == "" && slices.Contains(onlyFor["metric"], q.action) {
		r.Refuse("metric", "the name of a metric for action "+q.action)
	}
	if q.aliasExact && q.alias == "" {
		r.Refuse("alias", "a text beside aliasExact")
	}
	return q, r.done()
}

// choose is a call of envPick.
type choose struct {
	message, wait string
	timeout       time.Duration
}

func readPick(raw json.RawMessage) (choose, error) {
	r := readObject(raw, "message", "timeout", "wait")
	c := choose{message: r.TextIf("message", 500), wait: r.TextIf("wait", 64)}
	c.timeout = time.Duration(r.WholeOr("timeout", 1, int64(MaxWait/time.Second), 600)) * time.Second
	if c.wait != "" && (r.Has("message") || r.Has("timeout")) {
		r.Refuse("wait", "no other argument beside it")
	}
	return c, r.done()
}

type reader struct{ arguments.Reader }

// readObject reads an object with at most these members, each once and exactly spelled. Nulls are
// dropped.
func readObject(raw json.RawMessage, names ...string) *reader {
	r := &reader{arguments.Reader{Values: map[string]json.RawMessage{}}}
	if rawjson.IsNull(raw) {
		return r
	}
	seen := map[string]bool{}
	w := rawjson.Object(raw)
	for w.Next() {
		key := string(w.Key)
		switch {
		case !slices.Contains(names, key):
			r.Failf("%s: there is no such argument; there are %s", arguments.Cut(key, arguments.MaxShown), strings.Join(names, ", "))
		case seen[key]:
			r.Failf("%s: stands there twice", key)
		case !rawjson.IsNull(w.Value):
			r.Values[key] = w.Value
		}
		seen[key] = true
	}
	if w.Err() != nil || !utf8.Valid(raw) {
		r.Err = nil
		r.Failf("arguments: expected an object, got %s", arguments.Describe(raw))
	}
	return r
}

func (r *reader) done() error {
	if r.Err == nil {
		return nil
	}
	return fault.New(fault.BadArguments, "%w", r.Err)
}

// moment reads a time in the API's format.
func (r *reader) moment(name string) string {
	s := r.TextIf(name, 64)
	if _, err := time.Parse(time.DateTime, s); s != "" && err != nil {
		r.Refuse(name, "a time such as 2026-01-02 15:04:05")
	}
	return s
}

func (r *reader) action(actions []string) string {
	if len(actions) == 1 && !r.Has("action") {
		return actions[0]
	}
	return r.Choice("action", actions...)
}

func (r *reader) flag(name string) bool {
	switch string(r.Values[name]) {
	case "true":
		return true
	case "", "false":
		return false
	}
	r.Refuse(name, "true or false")
	return false
}

// fields reads a list of fields as a mask for rows.
func (r *reader) fields(name string) *mask.Mask {
	if !r.Has(name) {
		return nil
	}
	var list []string
	w := rawjson.Array(r.Values[name])
	for w.Next() {
		s, ok := rawjson.String(w.Value)
		if _, err := mask.Parse(s); !ok || err != nil {
			r.Failf("%s[%d]: expected the name of a field, got %s", name, len(list), arguments.Describe(w.Value))
			return nil
		}
		list = append(list, s)
	}
	m, err := mask.Parse("EnvList(" + strings.Join(list, ",") + ")")
	if w.Err() != nil || err != nil {
		r.Refuse(name, `a list of names of fields, such as ["EnvId","PackageId"]`)
	}
	return m
}
