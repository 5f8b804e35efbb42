package fit

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
)

// optionalKeys lists the members that an open object does not require.
func optionalKeys(t *tape, all []site, r *rand.Rand, least int) []*site {
	var out []*site
	for n := range all {
		s := &all[n]
		parent := t.tokens[s.i].parent
		if parent < 0 || t.tokens[parent].kind != isObject || s.required || len(fold(t.name(s.i))) < least {
			continue
		}
		at := slices.IndexFunc(all, func(p site) bool { return p.i == parent })
		place, known, excluded := under(plenty(), all[at].flat, "zzUnknown")
		if _, declared, _ := under(plenty(), all[at].flat, t.name(s.i)); declared && !known && !excluded && len(place) == 0 {
			out = append(out, s)
		}
	}
	r.Shuffle(len(out), func(a, b int) { out[a], out[b] = out[b], out[a] })
	return out
}

// renames damages the name of an optional key; change returns "" when it has no idea.
func renames(least int, change func(name string, r *rand.Rand) string) func(*keyTool, *tape, []site, *rand.Rand) (string, string) {
	return func(_ *keyTool, t *tape, all []site, r *rand.Rand) (string, string) {
		for _, s := range optionalKeys(t, all, r, least) {
			name := t.name(s.i)
			to := change(name, r)
			parent := t.tokens[s.i].parent
			at := slices.IndexFunc(all, func(p site) bool { return p.i == parent })
			if to == "" || to == name || t.get(parent, to) >= 0 || isKnown(plenty(), all[at].flat, to) {
				continue
			}
			return string(splice(t, 0, []edit{{t.tokens[s.i].key, t.tokens[s.i].keyEnd, []byte(quoted(to))}})), name
		}
		return "", ""
	}
}

// parts splits a name into its words, as the lab sees them.
func parts(name string) []string {
	var out []string
	word := ""
	flush := func() {
		if word != "" {
			out = append(out, strings.ToLower(word))
		}
		word = ""
	}
	for _, r := range name {
		if r == '_' || r == '-' || r == ' ' || r == '.' {
			flush()
			continue
		}
		if unicode.IsUpper(r) && word != "" && !unicode.IsUpper(rune(word[len(word)-1])) {
			flush()
		}
		word += string(r)
	}
	flush()
	return out
}

func restyle(name string, r *rand.Rand) string {
	words := parts(name)
	title := func(w string) string { return strings.ToUpper(w[:1]) + w[1:] }
	camel := ""
	spaced := ""
	for n, w := range words {
		if w[0] >= 0x80 {
			return ""
		}
		if n > 0 {
			camel += title(w)
			spaced += " "
		} else {
			camel = w
		}
		spaced += title(w)
	}
	if camel == "" {
		return ""
	}
	return []string{camel, strings.Join(words, "_"), strings.Join(words, "-"), spaced, title(camel), strings.ToUpper(strings.Join(words, "_")),
		strings.Join(words, "")}[r.IntN(7)]
}

func misspell(name string, r *rand.Rand) string {
	for range 8 {
		i := r.IntN(len(name) - 1)
		if name[i] >= 0x80 || name[i+1] >= 0x80 || !unicode.IsLower(rune(name[i])) || !unicode.IsLower(rune(name[i+1])) {
			continue
		}
		switch r.IntN(3) {
		case 0:
			if name[i] != name[i+1] {
				return name[:i] + name[i+1:i+2] + name[i:i+1] + name[i+2:]
			}
		case 1:
			if i > 0 {
				return name[:i] + name[i+1:]
			}
		default:
			return name[:i] + name[i:i+1] + name[i:]
		}
	}
	return ""
}

func mistype(name string, r *rand.Rand) string {
	i := 1 + r.IntN(len(name)-1)
	if !unicode.IsLower(rune(name[i])) || name[i] >= 0x80 {
		return ""
	}
	return name[:i] + string(rune('a'+(int(name[i]-'a')+1+r.IntN(24))%26)) + name[i+1:]
}

// anySlip makes one of the usual slips at any letter.
func anySlip(name string, r *rand.Rand) string {
	for range 8 {
		i := r.IntN(len(name))
		if name[i] < 'a' || name[i] > 'z' {
			continue
		}
		letter := string(rune('a' + r.IntN(26)))
		switch r.IntN(6) {
		case 0:
			return name[:i] + name[i+1:]
		case 1:
			return name[:i+1] + name[i:]
		case 2:
			if i+1 < len(name) && unicode.IsLower(rune(name[i+1])) {
				return name[:i] + name[i+1:i+2] + name[i:i+1] + name[i+2:]
			}
		case 3:
			return name[:i] + letter + name[i+1:]
		case 4:
			row := []string{"qwertyuiop", "asdfghjkl", "zxcvbnm"}
			for _, keys := range row {
				if at := strings.IndexByte(keys, name[i]); at >= 0 {
					return name[:i] + keys[max(0, at-1):][:1] + name[i+1:]
				}
			}
		default:
			at := i + r.IntN(2)
			return name[:at] + letter + name[at:]
		}
	}
	return ""
}

func number(name string, _ *rand.Rand) string {
	switch {
	case strings.HasSuffix(name, "ies"):
		return name[:len(name)-3] + "y"
	case strings.HasSuffix(name, "ss") || strings.HasSuffix(name, "us"):
		return ""
	case strings.HasSuffix(name, "s"):
		return name[:len(name)-1]
	case strings.HasSuffix(name, "y") || !unicode.IsLower(rune(name[len(name)-1])):
		return ""
	}
	return name + "s"
}

// otherWords are names that people use for the same thing.
var otherWords = map[string][]string{
	"query": {"q", "search_query", "searchTerm", "query_string", "search"}, "search_query": {"query", "q"}, "q": {"query"},
	"url": {"uri", "link", "href"}, "uri": {"url"}, "link": {"url"},
	"limit": {"max_results", "maxResults", "num_results", "count", "max"}, "max_results": {"limit", "num_results", "maxCount"},
	"maxResults": {"limit", "numResults"}, "num_results": {"limit", "max_results"}, "numResults": {"limit"}, "count": {"limit"},
	"path": {"file_path", "filePath", "filepath", "filename"}, "file_path": {"path", "file", "filename"}, "filePath": {"path"},
	"description": {"desc"}, "message": {"msg"}, "lang": {"language"}, "language": {"lang"}, "latitude": {"lat"},
	"longitude": {"lon", "lng"},
	"lat":       {"latitude"}, "lon": {"longitude"}, "repo": {"repository"}, "repository": {"repo"}, "org": {"organization"},
	"organization": {"org", "organisation"}, "directory": {"dir", "folder"}, "color": {"colour"}, "timezone": {"tz", "time_zone"},
	"text": {"content", "txt"}, "content": {"text", "body"}, "body": {"content"}, "address": {"addr"}, "number": {"num"}, "password": {"pwd"},
	"image_url": {"image_link", "img_url"}, "start_date": {"startdt", "from_date"}, "page_size": {"per_page", "pageLimit"},
	"max_tokens": {"maximum_tokens"}, "config": {"configuration"}, "database": {"db"}, "params": {"parameters"}, "id": {"identifier"},
}

func synonym(name string, r *rand.Rand) string {
	list := otherWords[name]
	if list == nil {
		return ""
	}
	return list[r.IntN(len(list))]
}

// wrapped puts the arguments into one more object.
func wrapped(key func(k *keyTool) string, text bool) func(*keyTool, *tape, []site, *rand.Rand) (string, string) {
	return func(k *keyTool, t *tape, all []site, _ *rand.Rand) (string, string) {
		name := key(k)
		if t.tokens[0].size == 0 || isKnown(plenty(), all[0].flat, name) || !slices.ContainsFunc(all[0].flat, func(s *shape) bool {
			return len(s.props) > 0
		}) {
			return "", ""
		}
		inner := string(t.raw(0))
		if text {
			inner = quoted(inner)
		}
		return "{" + quoted(name) + ":" + inner + "}", t.name(t.first(0))
	}
}

// nestedIn lists declared objects inside declared objects.
func nestedIn(t *tape, all []site) (pairs [][2]*site) {
	for a := range all {
		p := &all[a]
		if t.tokens[p.i].kind != isObject || t.tokens[p.i].parent < 0 {
			continue
		}
		at := slices.IndexFunc(all, func(s site) bool { return s.i == t.tokens[p.i].parent })
		if t.tokens[all[at].i].kind == isObject && slices.ContainsFunc(p.flat, func(s *shape) bool { return len(s.props) > 0 }) &&
			isKnown(plenty(), all[at].flat, t.name(p.i)) {
			pairs = append(pairs, [2]*site{&all[at], p})
		}
	}
	return pairs
}

// move takes member c out of its object and puts it into another.
func move(t *tape, c, to int32) string {
	text := quoted(t.name(c)) + ":" + string(t.raw(c))
	var build func(i int32) string
	build = func(i int32) string {
		if t.tokens[i].kind != isObject {
			return string(t.raw(i))
		}
		var out []string
		for m := t.first(i); m >= 0; m = t.after(m) {
			if m != c {
				out = append(out, quoted(t.name(m))+":"+build(m))
			}
		}
		if i == to {
			out = append(out, text)
		}
		return "{" + strings.Join(out, ",") + "}"
	}
	return build(0)
}

func tooLow(_ *keyTool, t *tape, all []site, r *rand.Rand) (string, string) {
	pairs := nestedIn(t, all)
	for _, n := range r.Perm(len(pairs)) {
		outer, inner := pairs[n][0], pairs[n][1]
		for c := t.first(outer.i); c >= 0; c = t.after(c) {
			if c != inner.i && isKnown(plenty(), outer.flat, t.name(c)) && !isKnown(plenty(), inner.flat, t.name(c)) {
				return move(t, c, inner.i), t.name(c)
			}
		}
	}
	return "", ""
}

func tooHigh(_ *keyTool, t *tape, all []site, r *rand.Rand) (string, string) {
	pairs := nestedIn(t, all)
	for _, n := range r.Perm(len(pairs)) {
		outer, inner := pairs[n][0], pairs[n][1]
		if t.tokens[inner.i].size < 2 {
			continue
		}
		for c := t.first(inner.i); c >= 0; c = t.after(c) {
			if isKnown(plenty(), inner.flat, t.name(c)) && !isKnown(plenty(), outer.flat, t.name(c)) {
				return move(t, c, outer.i), t.name(c)
			}
		}
	}
	return "", ""
}

func flatForNested(_ *keyTool, t *tape, all []site, r *rand.Rand) (string, string) {
	pairs := nestedIn(t, all)
	for _, n := range r.Perm(len(pairs)) {
		outer, inner := pairs[n][0], pairs[n][1]
		if outer.i != 0 || t.tokens[inner.i].size == 0 {
			continue
		}
		var out []string
		clash := false
		for c := t.first(0); c >= 0; c = t.after(c) {
			if c != inner.i {
				out = append(out, quoted(t.name(c))+":"+string(t.raw(c)))
			}
		}
		for c := t.first(inner.i); c >= 0; c = t.after(c) {
			clash = clash || isKnown(plenty(), outer.flat, t.name(c)) || !isKnown(plenty(), inner.flat, t.name(c))
			out = append(out, quoted(t.name(c))+":"+string(t.raw(c)))
		}
		if !clash {
			return "{" + strings.Join(out, ",") + "}", t.name(inner.i)
		}
	}
	return "", ""
}

func literally(name string) func(*keyTool) string { return func(*keyTool) string { return name } }

const extraRow = "extra key of another tool (repaired: left alone)"

// atLeast is the share in percent that must be repaired.
var atLeast = map[string]int{
	"optional key, other case or style": 97, "optional key misspelt, 5 letters or more": 93, "wrapped in arguments": 98,
	"wrapped in params": 98,
	"wrapped in input":  98, "wrapped in the tool's name": 98, "wrapped in a word": 98, "wrapped in arguments, as text": 98,
	"wrapped, beside a default": 98, "wrapped, and a key in another style": 95, "one level too deep": 90, "one level too high": 85,
	"flat for nested": 90, extraRow: 99,
}

var blows = []blow{
	{"optional key, other case or style", renames(1, restyle)},
	{"optional key, other number", renames(3, number)},
	{"optional key misspelt, 5 letters or more", renames(5, misspell)},
	{"optional key misspelt, 4 letters", func(k *keyTool, t *tape, all []site, r *rand.Rand) (string, string) {
		return renames(4, func(name string, r *rand.Rand) string {
			if len(name) > 4 {
				return ""
			}
			return misspell(name, r)
		})(k, t, all, r)
	}},
	{"optional key, another letter", renames(5, mistype)},
	{"optional key, any slip, 4 letters or more", renames(4, anySlip)},
	{"optional key, any slip, 8 letters or more", renames(8, anySlip)},
	{"optional key, synonym", renames(1, synonym)},
	{"wrapped in arguments", wrapped(literally("arguments"), false)},
	{"wrapped in params", wrapped(literally("params"), false)},
	{"wrapped in input", wrapped(literally("input"), false)},
	{"wrapped in the tool's name", wrapped(func(k *keyTool) string { return k.name }, false)},
	{"wrapped in a word", wrapped(literally("zwrap"), false)},
	{"wrapped in arguments, as text", wrapped(literally("arguments"), true)},
	{"wrapped, beside a default", func(k *keyTool, t *tape, all []site, r *rand.Rand) (string, string) {
		for n := range all {
			s := &all[n]
			if t.tokens[s.i].parent == 0 && s.required && slices.ContainsFunc(s.flat, func(f *shape) bool {
				return f.fallback != nil && !samePlain(f.fallback, t.raw(s.i))
			}) {
				return wrapped(literally([]string{"params", "zwrap"}[r.IntN(2)]), false)(k, t, all, r)
			}
		}
		return "", ""
	}},
	{"wrapped, and a key in another style", func(k *keyTool, t *tape, all []site, r *rand.Rand) (string, string) {
		bad, key := renames(1, restyle)(k, t, all, r)
		if bad == "" || isKnown(plenty(), all[0].flat, "params") {
			return "", ""
		}
		return `{"params":` + bad + `}`, key
	}},
	{"one level too deep", tooLow},
	{"one level too high", tooHigh},
	{"flat for nested", flatForNested},
}

// traps are mistakes that must stay as they are or be refused.
var traps = []blow{
	{"trap: a value with a unit, a comma, a fraction", func(_ *keyTool, t *tape, all []site, r *rand.Rand) (string, string) {
		for _, n := range r.Perm(len(all)) {
			s := &all[n]
			if t.tokens[s.i].kind == isNumber && s.accepts&(tString|tArray) == 0 {
				text := []string{`"5 km"`, `"1,000"`, `"2.5x"`, `"1 000"`}
				if s.accepts&tNumber == 0 {
					text = append(text, `2.5`, `"2.5"`)
				}
				return string(splice(t, 0, replace(t, s, text[r.IntN(len(text))]))), t.name(s.i)
			}
		}
		return "", ""
	}},
	{"trap: a foreign enum value", func(_ *keyTool, t *tape, all []site, r *rand.Rand) (string, string) {
		for _, n := range r.Perm(len(all)) {
			s := &all[n]
			if t.tokens[s.i].kind == isString && slices.ContainsFunc(s.flat, func(f *shape) bool { return f.listed }) {
				return string(splice(t, 0, replace(t, s, `"`+[]string{"aucun", "升序", "none of these", "zz"}[r.IntN(4)]+`"`))), t.name(s.i)
			}
		}
		return "", ""
	}},
}
