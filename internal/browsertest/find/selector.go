package find

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// Selector is a text that addresses an element by form. A snapshot can resolve some; the browser all.
type Selector struct {
	Text        string
	readable    bool
	roles       []string // any of these; none: any role
	name        string   // the accessible name
	text        string   // what is written in it
	placeholder string
	exact       bool
	nth         int // from 1; -1 the last; 0 must be the only one
}

var (
	selectorForm = regexp.MustCompile(`^(?:#[A-Za-z_-][\w-]*|\.[A-Za-z_-][\w-]*|\[[A-Za-z_][\w-]*(?:[~^$*|]?=|\])|\(?//` +
		`|css=|xpath=|text=|id=|role=|data-testid=|data-test=|getBy[A-Z]\w*\(|locator\(|frameLocator\(` +
		`|[a-z][a-z0-9-]*(?:\[[\w-]+|\.[A-Za-z_-][\w-]*(?:$|[ .:#\[>])|#[A-Za-z_-]|:(?:has-text|text|nth-|not|first|last)))`)
	cssChild = regexp.MustCompile(`^(?:` + htmlTags + `|[a-z][a-z0-9]*-[\w-]+|[a-z]\w*[.#\[:]\S*)(?:[.#\[:]\S*)? > [a-z.#\[*]`)
	fileForm = regexp.MustCompile(`^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)*\.(?:pdf|png|jpe?g|gif|svg|webp|mp[34]|txt|md|csv|tsv|xlsx?|docx?` +
		`|pptx?|zip|t?gz|tar|json|ya?ml|xml|html?|css|js|ts|go|py|log|sql|exe|dmg|apk|com|cn|org|net|io)(?:$|\s)`)
	refForm = regexp.MustCompile(`^(?:f\d+)?e\d+$`)
)

// htmlTags are the elements that others may stand in.
const htmlTags = `(?:a|article|aside|body|button|details|dialog|div|dl|fieldset|figure|footer|form|header|h[1-6]|html|iframe|label|li` +
	`|main|menu|nav|ol|p|section|select|span|summary|table|tbody|td|tfoot|th|thead|tr|ul)`

// ParseSelector reads a selector; false when the text is a description.
func ParseSelector(text string) (Selector, bool) {
	text = strings.TrimSpace(text)
	switch {
	case !selectorForm.MatchString(text) && !cssChild.MatchString(text) && !strings.Contains(text, " >> "):
		return Selector{}, false
	case strings.ContainsAny(text[:1], ".#") && !ascii(text): // ".NET 教程"
		return Selector{}, false
	case fileForm.MatchString(text): // "report.pdf"
		return Selector{}, false
	}
	s := Selector{Text: text}
	s.read(text)
	return s, true
}

var (
	nthForm     = regexp.MustCompile(`^(.*?)(?:\.nth\((-?\d+)\)|\.(first|last)\(\)| >> nth=(-?\d+))$`)
	roleCall    = regexp.MustCompile(`^getByRole\(\s*['"]([a-z]+)['"]\s*(?:,\s*\{(.*)\}\s*)?\)$`)
	otherCall   = regexp.MustCompile(`^getBy(Text|Label|Placeholder|AltText|Title)\(\s*(?:'([^']*)'|"([^"]*)")\s*(?:,\s*\{(.*)\}\s*)?\)$`)
	nameOption  = regexp.MustCompile(`name:\s*(?:'([^']*)'|"([^"]*)")`)
	exactOption = regexp.MustCompile(`exact:\s*true`)
	roleEngine  = regexp.MustCompile(`^role=([a-z]+)(?:\[name=(?:"([^"]*)"|'([^']*)')\])?$`)
	textEngine  = regexp.MustCompile(`^text=(.+)$`)
	hasText     = regexp.MustCompile(`^([a-z][a-z0-9-]*):has-text\((?:"([^"]*)"|'([^']*)')\)$`)
)

// tagRoles are the roles that a tag may show as.
var tagRoles = map[string][]string{
	"button": {"button"}, "a": {"link"}, "textarea": {"textbox"}, "select": {"combobox", "listbox"}, "img": {"img"}, "option": {"option"},
	"input": {"textbox", "searchbox", "spinbutton", "slider", "checkbox", "radio", "button", "combobox"},
	"li":    {"listitem", "option", "menuitem", "treeitem", "tab"}, "h1": {"heading"}, "h2": {"heading"}, "h3": {"heading"},
}

// read fills in what a snapshot can answer.
func (s *Selector) read(text string) {
	if m := nthForm.FindStringSubmatch(text); m != nil {
		text = m[1]
		s.setNth(m[2]+m[4], m[3])
	}
	var m []string
	is := func(form *regexp.Regexp) bool {
		m = form.FindStringSubmatch(text)
		return m != nil
	}
	s.readable = true
	switch {
	case is(roleCall):
		s.roles = m[1:2]
		s.exact = exactOption.MatchString(m[2])
		name := nameOption.FindStringSubmatch(m[2])
		if name != nil {
			s.name = name[1] + name[2]
		}
		s.readable = name != nil || m[2] == "" // else it has options that are not understood
	case is(otherCall):
		s.exact = exactOption.MatchString(m[4])
		switch m[1] {
		case "Text":
			s.text = m[2] + m[3]
		case "Placeholder":
			s.placeholder = m[2] + m[3]
		default:
			s.name = m[2] + m[3]
		}
	case is(roleEngine):
		s.roles = m[1:2]
		s.name = m[2] + m[3]
		s.exact = true
	case is(textEngine):
		s.text = strings.Trim(m[1], `"'`)
		s.exact = s.text != m[1]
	case is(hasText):
		s.roles = tagRoles[m[1]]
		s.text = m[2] + m[3]
		s.readable = s.roles != nil
	default:
		s.readable = false
	}
}

// setNth takes an index from 0, or from -1 backwards.
func (s *Selector) setNth(index, word string) {
	switch n, err := strconv.Atoi(index); {
	case word == "first":
		s.nth = 1
	case word == "last":
		s.nth = -1
	case err == nil && n >= 0:
		s.nth = n + 1
	case err == nil:
		s.nth = n
	}
}

// matches tells whether an element is what the selector addresses.
func (s *Selector) matches(n *snapshot.Node) bool {
	if len(s.roles) > 0 && !slices.Contains(s.roles, n.Role) {
		return false
	}
	placeholder := n.Placeholder
	if placeholder == "" && is(n, field) {
		placeholder = n.Name // a field without a label is named by its placeholder
	}
	return s.says(n.Name, s.name) && s.says(placeholder, s.placeholder) && s.says(cmp.Or(n.Name, n.Text), s.text)
}

func (s *Selector) says(have, want string) bool {
	switch {
	case want == "":
		return true
	case s.exact:
		return have == want
	}
	return strings.Contains(strings.ToLower(have), strings.ToLower(want))
}

// bySelector finds the one element that a selector addresses.
func (x *Index) bySelector(q Query, sel Selector) (*Hit, error) {
	if !sel.readable {
		return nil, &Error{Code: snapshot.NotFound, Query: q.Text, NeedsPage: true, Hint: "only the browser can resolve this selector"}
	}
	s := newSearch(x, q)
	var list []candidate
	for n := range x.page.All() {
		if (q.Action == Any || n.Ref != "" && !x.behind(n)) && n.Role != "text" && sel.matches(n) {
			list = append(list, candidate{node: n, score: isEqual, why: "is what the selector says"})
		}
	}
	list = s.inPlaces(s.innermost(list), &reading{places: description{syn: x.syn}.asked(q)[0]})
	if nth := cmp.Or(sel.nth, q.Nth); nth != 0 {
		list = s.counted(list, &reading{nth: nth})
	}
	return s.pick(list)
}

func (s *search) pick(list []candidate) (*Hit, error) {
	s.found = list
	return s.decide()
}

// IsRef tells whether a text is the ref of a snapshot, which must never be kept.
func IsRef(text string) bool { return refForm.MatchString(strings.TrimSpace(text)) }
