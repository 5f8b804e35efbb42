package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/schema"
)

// A longer list is given in pages.
const (
	pageItems = 1000
	pageBytes = 1 << 20
)

// item is one thing of a list.
type item struct {
	key string // stays the same for as long as the thing is there
	raw []byte
	e   *Entry // the tool; nil for other things
}

// members are the names under which the results of list requests have their items.
var members = map[Kind]string{
	ToolKind: "tools", PromptKind: "prompts", ResourceKind: "resources", TemplateKind: "resourceTemplates", SkillKind: "skills",
}

// eraList is a list as one protocol era writes it.
type eraList struct {
	once  sync.Once
	items []item      // in the order of their keys if there are several pages
	pages []*listPage // at least one
}

// listPage is a page of a list.
type listPage struct {
	after string // the key of the last item before it; "" on the first page
	items []item
	last  bool

	once sync.Once
	raw  []byte
}

// listsOfEra are the lists that clients of one protocol era have asked for.
type listsOfEra struct{ tools, prompts, resources, templates, skills eraList }

func (l *listsOfEra) of(kind Kind) *eraList {
	switch kind {
	case PromptKind:
		return &l.prompts
	case ResourceKind:
		return &l.resources
	case TemplateKind:
		return &l.templates
	case SkillKind:
		return &l.skills
	}
	return &l.tools
}

// Page is the result of a list request: all of the list, or a page of a long one. The first page has the cursor "". Pages are in
// the order of names that never change, so what is there all the time is on exactly one page, whatever else comes and goes.
// A nil may means all tools.
func (v *View) Page(era mcp.Era, kind Kind, cursor string, may func(*Entry) bool) (json.RawMessage, error) {
	after, err := v.readCursor(kind, cursor)
	if err != nil {
		return nil, err
	}
	l := v.listIn(era, kind)
	if may == nil {
		if p := l.pageAfter(after); p != nil {
			return v.rendered(p, era, kind), nil
		}
	}
	items := l.items
	if may != nil {
		items = slices.DeleteFunc(slices.Clone(items), func(i item) bool { return i.e != nil && !may(i.e) })
	}
	if cursor == "" && onePage(items) {
		return v.write(era, kind, items, "", true), nil
	}
	if len(l.pages) == 1 {
		items = sorted(items)
	}
	from, found := slices.BinarySearchFunc(items, after, func(i item, key string) int { return strings.Compare(i.key, key) })
	if found {
		from++
	}
	items = items[from:]
	if n := firstPage(items); n < len(items) {
		return v.write(era, kind, items[:n], v.cursor(kind, items[n-1].key), cursor == ""), nil
	}
	return v.write(era, kind, items, "", cursor == ""), nil
}

func (v *View) listIn(era mcp.Era, kind Kind) *eraList {
	l := v.lists[0].of(kind)
	if era == mcp.Modern {
		l = v.lists[1].of(kind)
	}
	l.once.Do(func() {
		l.items = v.items(kind)
		v.inEra(era, l.items)
		if !onePage(l.items) {
			l.items = sorted(l.items)
		}
		rest, after := l.items, ""
		for first := true; first || len(rest) > 0; first = false {
			n := firstPage(rest)
			l.pages = append(l.pages, &listPage{after: after, items: rest[:n], last: n == len(rest)})
			if n > 0 {
				after = rest[n-1].key
			}
			rest = rest[n:]
		}
	})
	return l
}

// pageAfter is the page that begins after a key; nil if none does.
func (l *eraList) pageAfter(key string) *listPage {
	i, found := slices.BinarySearchFunc(l.pages, key, func(p *listPage, key string) int { return strings.Compare(p.after, key) })
	if !found {
		return nil
	}
	return l.pages[i]
}

// rendered is the result of a request for a page, which is written once.
func (v *View) rendered(p *listPage, era mcp.Era, kind Kind) []byte {
	p.once.Do(func() {
		next := ""
		if !p.last {
			next = v.cursor(kind, p.items[len(p.items)-1].key)
		}
		p.raw = closed(v.write(era, kind, p.items, next, p.after == ""))
	})
	return p.raw
}

// closed puts the brace that ends an answer behind its result, so that both are sent in one piece.
func closed(result []byte) []byte { return append(result, '}')[:len(result)] }

// firstPage is how many of the items the first page has: at least one.
func firstPage(items []item) int {
	size := 0
	for i, one := range items {
		size += len(one.raw)
		if i > 0 && (i == pageItems || size > pageBytes) {
			return i
		}
	}
	return len(items)
}

func onePage(items []item) bool { return firstPage(items) == len(items) }

func sorted(items []item) []item {
	return slices.SortedFunc(slices.Values(items), func(a, b item) int { return strings.Compare(a.key, b.key) })
}

// cursor is the cursor of the page that begins after a key.
func (v *View) cursor(kind Kind, key string) string {
	return base64.RawURLEncoding.EncodeToString(append(v.cursorMark(kind), key...))
}

// cursorMark tells the cursors of a profile's list from others.
func (v *View) cursorMark(kind Kind) []byte {
	sum := sha256.Sum256([]byte(string(kind) + "\x00" + v.Profile))
	return sum[:8]
}

// readCursor returns the key after which a page begins.
func (v *View) readCursor(kind Kind, cursor string) (string, error) {
	if cursor == "" {
		return "", nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	key, ours := bytes.CutPrefix(raw, v.cursorMark(kind))
	if err != nil || !ours {
		return "", fault.New(fault.BadRequest, "unknown cursor")
	}
	return string(key), nil
}

// List is the list of tools as the profile's configuration writes it, whatever the era, and all of it.
func (v *View) List() []byte {
	v.listOnce.Do(func() { v.list = v.write(mcp.Legacy, ToolKind, v.items(ToolKind), "", true) })
	return v.list
}

// items are the things of a list.
func (v *View) items(kind Kind) (list []item) {
	switch kind {
	case ToolKind:
		return v.itemsOf(v.Entries)
	case PromptKind:
		for _, e := range v.Prompts {
			list = append(list, item{key: string(e.Name), raw: e.Raw()})
		}
	case ResourceKind:
		for _, r := range v.beside.resources {
			list = append(list, item{key: r.uri, raw: r.raw})
		}
	case TemplateKind:
		for _, t := range v.beside.templates {
			list = append(list, item{key: t.text + "\x00" + string(t.server), raw: t.raw})
		}
	case SkillKind:
		for _, s := range v.beside.skills {
			list = append(list, item{key: s.uri, raw: s.raw})
		}
	}
	return list
}

// itemsOf are those of some tools that are listed, with input schemas in the profile's dialect if it has one. Where the dialect
// counts tools, they must be all.
func (v *View) itemsOf(tools []*Entry) []item {
	list := make([]item, 0, len(tools))
	var fitted []schema.Fitted
	switch {
	case v.Dialect == "":
	case len(tools) == len(v.Entries):
		fitting, err := v.For(v.Dialect)
		if err != nil {
			return nil // the configuration was checked: there is such a dialect
		}
		fitted = fitting.Tools
	default:
		fitted = v.fitAll(tools, v.Dialect)
	}
	for i, e := range tools {
		if !v.hasListed(e) || fitted != nil && fitted[i].Plan == nil {
			continue
		}
		var raw []byte
		if fitted == nil {
			raw = e.Raw()
		} else {
			raw = e.withSchema(fitted[i].Plan.Parameters)
		}
		list = append(list, item{e.Key(), v.withApp(e, v.promised(e, raw)), e})
	}
	return list
}

// Key is the tool's place in the order of pages. It stays the same for as long as the tool is there.
func (e *Entry) Key() string {
	if e.Own {
		return e.Shown // a tool of the environment protocol has two
	}
	return string(e.Name)
}

// After are the tools after a key, in the order of keys; "": all.
func (v *View) After(key string) []*Entry {
	v.byKeyOnce.Do(func() {
		v.byKey = slices.Clone(v.Entries)
		slices.SortFunc(v.byKey, func(a, b *Entry) int { return strings.Compare(a.Key(), b.Key()) })
	})
	at, found := slices.BinarySearchFunc(v.byKey, key, func(e *Entry, key string) int { return strings.Compare(e.Key(), key) })
	if found {
		at++
	}
	return v.byKey[at:]
}

func sameItems(a, b []item) bool {
	return slices.EqualFunc(a, b, func(a, b item) bool { return bytes.Equal(a.raw, b.raw) })
}

// joined is the result of a list request without anything else.
func joined(member string, items []item) []byte {
	size := 0
	for _, i := range items {
		size += len(i.raw) + 1
	}
	b := make([]byte, 0, size+256)
	b = append(b, `{"`+member+`":[`...)
	for _, i := range items {
		b = append(mcp.Comma(b), i.raw...)
	}
	return append(b, "]}"...)
}

// write writes the result of a list request. The first page of the tools says what is missing. A modern result depends on who
// asks, so it must not be cached for others.
func (v *View) write(era mcp.Era, kind Kind, items []item, next string, first bool) []byte {
	b := joined(members[kind], items)
	if era == mcp.Modern {
		b = mcp.With(b, "resultType", []byte(`"complete"`))
	}
	b = b[:len(b)-1]
	if next != "" {
		b = append(b, `,"nextCursor":"`+next+`"`...)
	}
	var meta json.RawMessage
	if kind == ToolKind && first {
		meta = notes(v.missing, v.setAside())
	}
	if era == mcp.Modern {
		b = append(b, `,"ttlMs":`...)
		b = strconv.AppendInt(b, v.eras.ttl.Milliseconds(), 10)
		b = append(b, `,"cacheScope":"private"`...)
		if meta == nil {
			meta = json.RawMessage("{}")
		}
		if v.eras.self != nil {
			meta = mcp.With(meta, mcp.MetaServer, v.eras.self)
		}
	}
	if meta != nil {
		b = append(append(b, `,"_meta":`...), meta...)
	}
	return append(b, '}')
}

// notes are the servers that were unavailable and the tools that were left out of a list, with the reasons; nil: none.
func notes(missing, aside map[string]string) json.RawMessage {
	notes := map[string]map[string]string{}
	if len(missing) > 0 {
		notes["toolfit/unavailable"] = missing
	}
	if len(aside) > 0 {
		notes["toolfit/setAside"] = aside
	}
	if len(notes) == 0 {
		return nil
	}
	meta, _ := json.Marshal(notes) // strings only
	return meta
}
