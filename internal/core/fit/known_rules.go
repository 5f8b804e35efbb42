package fit

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// ruled is an object to which a rule is applied.
type ruled struct {
	*applier
	*objectEdit
	flat []*shape
	at   string
}

func (o *ruled) changed() bool {
	return len(o.added) > 0 || slices.ContainsFunc(o.members, func(c member) bool {
		return c.to != "" || c.raw != nil || c.drop && !o.t.tokens[c.token].dead
	})
}

func (o *ruled) field(name string) string { return o.at + "/" + jsonschema.EscapeToken(name) }

// knows reports whether the tool has the key.
func (o *ruled) knows(key string) bool { return isKnown(&o.m.budget, o.flat, key) }

// wrong reports a problem with a member, or with the object when c is nil.
func (o *ruled) wrong(p Problem, c *member) {
	if c != nil {
		p.Got = got(o.t, c.token)
	}
	o.found.problems = append(o.found.problems, p)
}

// value returns the current value of a member.
func (o *ruled) value(c *member) []byte {
	if c.raw != nil {
		return c.raw
	}
	return o.t.raw(c.token)
}

// alias renames the first key that means the same as one of the tool's.
func (o *ruled) alias(r *AliasRule) {
	if !o.knows(r.To) || !o.m.may(Alias) {
		return
	}
	for _, from := range r.From {
		c := o.find(from)
		if c == nil || c.to != "" || o.knows(from) && !o.proves(r, c) {
			continue
		}
		if r.Match != "" && (r.match == nil || !r.match.MatchString(o.t.text(c.token))) {
			o.found.hints[o.field(from)] = r.Hint
			o.found.hints[o.field(r.To)] = r.Hint
			continue
		}
		given := o.find(r.To)
		switch {
		case given == nil:
			o.m.record(o.field(from), Alias, []byte(from), []byte(r.To))
			c.to = r.To
		case samePlain(o.value(given), o.value(c)): // the same value twice
			o.m.record(o.field(from), Drop, o.t.raw(c.token), nil)
			c.drop = true
		default:
			p := Problem{Code: Conflict, Field: o.field(from), Expected: "the same value as " + r.To, Hint: "give " + r.To + " alone"}
			o.wrong(p, c)
		}
	}
}

// proves reports whether a value's form shows that it belongs under another key, which is required and
// missing.
func (o *ruled) proves(r *AliasRule, c *member) bool {
	return r.match != nil && r.match.MatchString(o.t.text(c.token)) && o.find(r.To) == nil && slices.Contains(requiredNames(o.flat), r.To)
}

// unit converts a number to the unit that the tool takes.
func (o *ruled) unit(r *UnitRule) {
	if !o.knows(r.To) || !o.m.may(Unit) {
		return
	}
	for _, from := range r.From {
		c := o.find(from)
		if c == nil || c.to != "" || o.knows(from) || o.find(r.To) != nil {
			continue
		}
		raw := o.t.raw(c.token)
		if o.t.tokens[c.token].kind == isString {
			raw = readText(o.t.text(c.token))
		}
		if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
			continue
		}
		c.to = r.To
		c.raw = []byte(parseDecimal(raw).times(parseDecimal([]byte(r.Times))).String())
		o.m.record(o.field(from), Unit, slices.Concat([]byte(from+": "), raw), slices.Concat([]byte(r.To+": "), c.raw))
	}
}

// word replaces a value that the server would misunderstand.
func (o *ruled) word(r *WordRule) {
	c := o.find(r.Key)
	if c == nil || !o.knows(r.Key) || !o.m.may(Word) || !o.when(r.When) {
		return
	}
	said := strings.ToLower(strings.TrimSpace(o.say(c)))
	var allowed []string
	for to, words := range r.Words {
		allowed = append(allowed, to)
		if !slices.Contains(words, said) && said != to {
			continue
		}
		raw := rawjson.AppendString(nil, to)
		if string(raw) != string(o.value(c)) {
			o.m.record(o.field(r.Key), Word, o.value(c), raw)
			c.raw = raw
		}
		return
	}
	if r.Only {
		slices.Sort(allowed)
		o.wrong(Problem{Code: NotListed, Field: o.field(r.Key), Expected: orList(allowed)}, c)
	}
}

// say returns the text of a string, or another scalar as written.
func (o *ruled) say(c *member) string {
	raw := o.value(c)
	if s, ok := rawjson.String(raw); ok {
		return s
	}
	return string(raw)
}

func (o *ruled) when(want map[string][]string) bool {
	for key, values := range want {
		c := o.find(key)
		if c == nil || !slices.Contains(values, strings.ToLower(o.say(c))) {
			return false
		}
	}
	return true
}

// toText converts a number or boolean to text where the tool only accepts text.
func (o *ruled) toText(key string) {
	c := o.find(key)
	if c == nil || c.raw != nil || !o.m.may(Word) {
		return
	}
	place, known, _ := under(&o.m.budget, o.flat, key)
	if k := o.t.tokens[c.token].kind; !known || k != isNumber && k != isBoolean || o.m.fits(place, o.t, c.token, true) {
		return
	}
	raw := rawjson.AppendString(nil, string(o.t.raw(c.token)))
	if _, ok := o.m.fitsRaw(place, raw, true); ok {
		o.m.record(o.field(key), Word, o.t.raw(c.token), raw)
		c.raw = raw
	}
}

// fill sets a missing required text from another argument.
func (o *ruled) fill(r *FillRule) {
	if o.find(r.To) != nil || !o.m.may(Fill) || !slices.Contains(requiredNames(o.flat), r.To) {
		return
	}
	for _, from := range r.From {
		c := o.find(from)
		if c == nil {
			continue
		}
		if s, ok := rawjson.String(o.value(c)); !ok || s == "" {
			continue
		}
		o.m.record(o.field(r.To), Fill, []byte(from), o.value(c))
		o.add(r.To, o.value(c))
		return
	}
}

// demand reports empty texts and groups of keys of which none is given.
func (o *ruled) demand() {
	for _, key := range o.rule.Filled {
		c := o.find(key)
		if c == nil || !o.knows(key) {
			continue
		}
		if s, ok := rawjson.String(o.value(c)); ok && strings.TrimSpace(s) == "" {
			o.wrong(Problem{Code: WrongLength, Field: o.field(key), Expected: "text that is not empty"}, c)
		}
	}
	for _, group := range o.rule.Needs {
		given := func(key string) bool {
			c := o.find(key)
			return c != nil && string(o.value(c)) != "null"
		}
		if slices.ContainsFunc(group, o.knows) && !slices.ContainsFunc(group, given) {
			o.wrong(Problem{Code: Missing, Field: o.at, Expected: "at least one of " + orList(group)}, nil)
		}
	}
}
