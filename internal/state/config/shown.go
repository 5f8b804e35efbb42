package config

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/base/origin"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// Mask stands for a secret in settings that are shown. In settings that come back it stands for
// what was there before.
const Mask = "•••"

// Shown returns the settings of a server, a JSON object, without what is secret or may be: values
// of variables, headers and credentials, and whatever looks like a key. References such as ${NAME}
// are shown. What redact still finds is replaced by it.
func Shown(text []byte, redact func(string) string) (json.RawMessage, error) {
	root, err := readObject("the server", text)
	if err != nil {
		return nil, err
	}
	return masked(root, redact).MarshalJSON()
}

// ShownServer is Shown for a server that was read.
func ShownServer(s Server, redact func(string) string) (json.RawMessage, error) {
	return masked(encode(s), redact).MarshalJSON()
}

// ShownInFile is Shown for a server of the file at path, as the file is now, with its lines there.
func ShownInFile(path string, id tool.ServerID, redact func(string) string) (json.RawMessage, []doctree.Line, error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	src, found := readSource(path, data)
	if len(found) > 0 {
		return nil, nil, found.Err(path)
	}
	_, servers := sectionOf(src, string(id))
	if servers == nil || servers.Find(string(id)).Kind != doctree.Mapping {
		return nil, nil, unknownServer(path, string(id), src)
	}
	at := slices.IndexFunc(servers.Entries, func(e entry) bool { return e.Key == string(id) })
	e := servers.Entries[at]
	e.Value = masked(e.Value, redact)
	shown, err := e.Value.MarshalJSON()
	return shown, src.Lines(e), err
}

// Switched returns the settings of a server, a JSON object, switched on or off.
func Switched(text []byte, on bool) ([]byte, error) {
	root, err := readObject("the server", text)
	if err != nil {
		return nil, err
	}
	out := *root
	out.Entries = slices.DeleteFunc(slices.Clone(root.Entries), func(e entry) bool { return e.Key == "disabled" })
	if !on {
		out.Add("disabled", doctree.NewBool(true))
	}
	return out.MarshalJSON()
}

// Named returns the settings of a server, a JSON object, with another name.
func Named(text []byte, id tool.ServerID) ([]byte, error) {
	root, err := readObject("the server", text)
	if err != nil {
		return nil, err
	}
	_, rest := nameIn(root)
	out := &node{Kind: doctree.Mapping}
	out.Add("name", doctree.NewText(string(id)))
	out.Entries = append(out.Entries, rest.Entries...)
	return out.MarshalJSON()
}

// Restored returns changed settings of a server with the secrets of the old ones wherever they
// still have what Shown put there. A secret is not sent to another host than before, unless it is
// given anew.
func Restored(text, old []byte, redact func(string) string) ([]byte, error) {
	root, err := readObject("the server", text)
	if err != nil {
		return nil, err
	}
	was, err := readObject("the server", old)
	if err != nil {
		return nil, err
	}
	r := &restorer{}
	out := r.restore(place{}, root, was, masked(was, redact))
	if elsewhere(out, was) {
		for _, field := range r.kept {
			r.fail(place{Field: field}, "was for another host; write its value again, so that it is meant for the new one")
		}
	}
	if len(r.problems) > 0 {
		return nil, r.problems.Err("server")
	}
	return out.MarshalJSON()
}

// restorer puts secrets back.
type restorer struct {
	decoder
	kept []string // credentials that were put back
}

func (r *restorer) restore(at place, n, was, shown *node) *node {
	if was == nil {
		was, shown = &node{}, &node{}
	}
	out := *n
	switch n.Kind {
	case doctree.Mapping:
		out.Entries = slices.Clone(n.Entries)
		for i, e := range out.Entries {
			out.Entries[i].Value = r.restore(at.Key(e.Key, 0), e.Value, was.Find(e.Key), shown.Find(e.Key))
		}
	case doctree.List:
		out.Items = slices.Clone(n.Items)
		used := map[int]bool{}
		for i, item := range out.Items {
			same := sameItem(n.Items[:i], item, was, shown, used)
			if same < 0 {
				out.Items[i] = r.restore(at.Index(i, 0), item, nil, nil)
				continue
			}
			used[same] = true
			out.Items[i] = was.Items[same]
		}
	case doctree.Text:
		switch {
		case n.Text == shown.Text && was.Text != shown.Text && was.IsScalar():
			if first, _, _ := strings.Cut(at.Field, "."); slices.Contains([]string{"headers", "auth", "oauth"}, first) {
				r.kept = append(r.kept, at.Field)
			}
			return was
		case strings.Contains(n.Text, Mask):
			r.fail(at, "has %s in it, which stands for a value that is not shown; write the whole value, or ${NAME}", Mask)
		}
	}
	return &out
}

// sameItem finds the masked item of a list that an item was before, -1 for none: the one behind the same text or, unless that
// text names it, the first one that is not used. Others may have been added or removed before it.
func sameItem(before []*node, item, was, shown *node, used map[int]bool) int {
	last := textsBefore(before)
	named := item.Text == Mask && len(last) > 0 && strings.HasPrefix(last[0], "-")
	same := -1
	for j, s := range shown.Items {
		switch {
		case used[j] || s.Text != item.Text || was.Items[j].Text == s.Text:
		case slices.Equal(last, textsBefore(shown.Items[:j])):
			return j
		case same < 0 && !named:
			same = j
		}
	}
	return same
}

// elsewhere tells whether settings lead to another host than before.
func elsewhere(now, was *node) bool {
	paths := [][]string{{"url"}, {"base"}, {"spec"}, {"proxy"}, {"oauth", "issuer"}}
	if auth := now.Find("auth"); auth != nil {
		for _, e := range auth.Entries {
			paths = append(paths, []string{"auth", e.Key, "tokenUrl"})
		}
	}
	for _, path := range paths {
		before, after := was.Find(path...), now.Find(path...)
		switch {
		case after == nil && before != nil && path[0] == "base": // then the description says where
			return true
		case after != nil && (before == nil || before.Text != after.Text && !sameHost(before.Text, after.Text)):
			return true
		}
	}
	return false
}

func sameHost(a, b string) bool {
	before, err := url.Parse(a)
	after, wrong := url.Parse(b)
	return err == nil && wrong == nil && before.Host != "" && origin.Same(before, after)
}

// credentials are the keys below which every value is a secret, whatever it looks like.
var credentials = []string{"env", "headers", "value", "password", "clientSecret", "privateKey"}

// masked returns the settings of a server without secrets.
func masked(n *node, redact func(string) string) *node {
	m := masker{redact}
	return m.value(n, "", false)
}

type masker struct{ redact func(string) string }

// value masks what stands under a key; all is set where everything is secret.
func (m masker) value(n *node, key string, all bool) *node {
	out := *n
	switch {
	case n.Kind == doctree.Mapping:
		out.Entries = slices.Clone(n.Entries)
		for i, e := range out.Entries {
			secret := all || slices.Contains(credentials, e.Key) || key == "auth" && e.Value.IsScalar()
			out.Entries[i].Value = m.value(e.Value, e.Key, secret)
		}
	case n.Kind == doctree.List:
		out.Items = slices.Clone(n.Items)
		for i, item := range out.Items {
			out.Items[i] = m.value(item, key, all)
			if item.Kind == doctree.Text && !all {
				out.Items[i].Text = m.redact(maskedArg(textsBefore(n.Items[:i]), item.Text))
			}
		}
	case n.IsScalar() && all:
		out.Kind = doctree.Text
		out.Text = hidden(n.Text)
	case n.Kind == doctree.Text:
		out.Text = m.redact(maskedText(key, n.Text))
	}
	return &out
}

// textsBefore is the text before an item, which may name it.
func textsBefore(items []*node) []string {
	if len(items) == 0 {
		return nil
	}
	return []string{items[len(items)-1].Text}
}

// maskedArg is an argument without a secret. One may be within another: --env=TOKEN=x.
func maskedArg(before []string, arg string) string {
	prefix, name, value := splitArg(before, arg)
	if prefix != "" && namedArg.MatchString(value) {
		inner, innerName, rest := splitArg(nil, value)
		if IsSecretName(innerName) || !IsSecretName(name) {
			return prefix + inner + maskedText(innerName, rest)
		}
	}
	return prefix + maskedText(name, value)
}

// maskedText is a named value without what looks like a secret.
func maskedText(name, text string) string {
	switch u, err := url.Parse(text); {
	case strings.HasPrefix(text, inlinePrefix):
		return inlinePrefix + Mask
	case err == nil && u.Scheme != "" && u.Host != "":
		return maskedAddress(text)
	}
	for _, part := range slices.Backward(secretParts(name, text)) {
		text = text[:part.from] + Mask + text[part.to:]
	}
	return withDefault.ReplaceAllStringFunc(text, func(ref string) string {
		m := withDefault.FindStringSubmatch(ref)
		if looksSecret(name, m[2]) || looksSecret(m[1], m[2]) {
			return "${" + m[1] + ":-" + Mask + "}"
		}
		return ref
	})
}

// withDefault is a reference with the value that it falls back to.
var withDefault = regexp.MustCompile(`\$\{([^}:]*):-([^}]*)\}`)

// maskedAddress is an address without passwords, tokens, and values of its query that are not
// plain words.
func maskedAddress(text string) string {
	parts := addressParts(text, func(name, value string) bool {
		value = reference.ReplaceAllString(value, "")
		return value != "" && (IsSecretName(name) || !isPlain(value))
	})
	for _, part := range slices.Backward(parts) {
		text = text[:part.from] + Mask + text[part.to:]
	}
	head, rest, _ := strings.Cut(text, "://")
	path, query := rest, ""
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		path, query = rest[:i], rest[i:]
	}
	segments := strings.Split(path, "/")
	for i := range segments {
		if i > 0 && looksSecret("", segments[i]) { // some servers have the key in their address
			segments[i] = Mask
		}
	}
	return head + "://" + strings.Join(segments, "/") + query
}

// plainReference is a ${} of which nothing needs hiding but the value that it falls back to.
var plainReference = regexp.MustCompile(`^\$\{((?:env:|file:|user:|input:)?[\pL\pN_./ ~-]+)(:-[^}]*)?\}$`)

// hidden is a value that is secret as a whole: its references are shown, and the word before a
// token that says what it is.
func hidden(text string) string {
	var out strings.Builder
	at := 0
	for _, span := range reference.FindAllStringIndex(text, -1) {
		m := plainReference.FindStringSubmatch(text[span[0]:span[1]])
		if m == nil || span[0] > 0 && text[span[0]-1] == '$' { // "$${" is no reference
			continue
		}
		out.WriteString(hiddenPart(text[at:span[0]]))
		out.WriteString("${" + m[1])
		if m[2] != "" {
			out.WriteString(":-" + Mask)
		}
		out.WriteString("}")
		at = span[1]
	}
	out.WriteString(hiddenPart(text[at:]))
	return out.String()
}

var says = regexp.MustCompile(`[\pL\pN]`)

func hiddenPart(text string) string {
	prefix := scheme.FindString(text)
	if !says.MatchString(text[len(prefix):]) {
		return text
	}
	return prefix + Mask
}
