package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Listing is what a server offers. Everything in it is as the server wrote it.
type Listing struct {
	Era          mcp.Era         // protocol era
	Info         json.RawMessage // serverInfo; may be nil
	Capabilities json.RawMessage
	Instructions string
	Tools        []tool.Definition
	Prompts      []tool.Definition
	Resources    []json.RawMessage
	Templates    []json.RawMessage
	Skills       []json.RawMessage
	Hosts        []string      // origins that the remote description of an API sends calls and credentials to, in order
	TTL          time.Duration // how long the lists are fresh; negative: the server does not say
	Private      bool          // the lists are valid only for our credentials
	Notes        []string      // what was left out, and why; at most maxNotes and the number of the rest
	dropped      int           // notes beyond maxNotes
	bytes        int           // total size
}

// Limits of a listing. What exceeds them is left out, with a note.
const (
	maxPages  = 1000     // of each kind
	maxItems  = 20_000   // of each kind
	maxItem   = 1 << 20  // bytes of one
	maxListed = 64 << 20 // bytes of all
	maxAbout  = 64 << 10 // bytes of serverInfo, capabilities and instructions each
	maxCursor = 16 << 10 // bytes
	maxNote   = 300      // bytes of one note
)

// note adds why something is left out. There may be one for every tool.
func (l *Listing) note(format string, args ...any) {
	if len(l.Notes) == maxNotes {
		l.dropped++
		return
	}
	text := fmt.Sprintf(format, args...)
	if len(text) > maxNote {
		text = strings.ToValidUTF8(text[:maxNote], "") + "…"
	}
	l.Notes = append(l.Notes, text)
}

// List reads everything that the server offers, all pages.
func (p *Pool) List(ctx context.Context, id tool.ServerID) (Listing, error) {
	s, err := p.server(id)
	if err != nil {
		return Listing{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Start+s.cfg.CallTimeout())
	defer cancel()
	l, err := s.list(ctx)
	switch {
	case err == nil:
		s.listed.Store(true)
		if api := s.api(); api != nil {
			l.Notes = append(l.Notes, apiNotes(api)...)
			l.Hosts = api.Hosts()
		}
		if l.dropped > 0 {
			l.Notes = append(l.Notes, fmt.Sprintf("and %d more of that kind", l.dropped))
		}
		s.recognize(l.Tools)
		return l, nil
	case errors.Is(err, context.DeadlineExceeded):
		return Listing{}, fault.New(fault.UpstreamTimeout, "server %s did not list its tools in time", id)
	}
	return Listing{}, p.clean(err)
}

func (s *server) list(ctx context.Context) (Listing, error) {
	l := Listing{TTL: -1}
	if err := s.pages(ctx, &l, "tools/list", "tools", l.definitions(&l.Tools, "tool", s.cfg.URL != "")); err != nil {
		return Listing{}, err
	}
	hello := s.hello()
	l.replaced("greeting", hello)
	l.Info = l.about(hello, "serverInfo")
	l.Capabilities = l.about(hello, "capabilities")
	if l.Era == mcp.Modern {
		l.Info = l.about(hello, "_meta", mcp.MetaServer)
	}
	l.Instructions, _ = rawjson.String(l.about(hello, "instructions"))
	var err error
	if rawjson.Get(l.Capabilities, "prompts") != nil {
		err = l.without("prompts", s.pages(ctx, &l, "prompts/list", "prompts", l.definitions(&l.Prompts, "prompt", false)))
	}
	if err == nil && rawjson.Get(l.Capabilities, "resources") != nil {
		err = l.without("resources", s.pages(ctx, &l, "resources/list", "resources", l.raw(&l.Resources, "resource", "uri")))
		if err == nil {
			add := l.raw(&l.Templates, "resource template", "uriTemplate")
			err = l.without("resource templates", s.pages(ctx, &l, "resources/templates/list", "resourceTemplates", add))
		}
	}
	if err == nil && mcp.Declares(l.Capabilities, mcp.ExtensionSkills) {
		err = l.without("skills", s.pages(ctx, &l, "skills/list", "skills", l.skills()))
	}
	return l, err
}

// about is a part of the server's greeting; nil if it is too long.
func (l *Listing) about(hello json.RawMessage, path ...string) json.RawMessage {
	raw := rawjson.Get(hello, path...)
	if len(raw) > maxAbout {
		l.note("its %s was left out: it has %d bytes, more than %d", path[len(path)-1], len(raw), maxAbout)
		return nil
	}
	return raw
}

// without lets a listing go on if the server fails to list prompts or resources: its tools still work.
func (l *Listing) without(what string, err error) error {
	var rpc *mcp.Error
	if errors.As(err, &rpc) || fault.Is(err, fault.UpstreamProtocol) {
		l.note("%s were left out: %v", what, err)
		return nil
	}
	return err
}

// definitions takes tools or prompts. A modern tool over HTTP with invalid header annotations must be left out.
func (l *Listing) definitions(list *[]tool.Definition, what string, headers bool) func(json.RawMessage) {
	seen := map[string]bool{}
	return func(raw json.RawMessage) {
		def, err := tool.ParseDefinition(raw)
		switch {
		case err != nil:
			l.note("a %s was left out: %v", what, err)
		case what == "tool" && !isObject(def.InputSchema()):
			// Strict clients would refuse the whole list.
			l.note("tool %.100s was left out: its inputSchema is not an object", def.Name)
		case headers && l.Era == mcp.Modern && badMirror(def) != nil:
			l.note("tool %.100s was left out: %v", def.Name, badMirror(def))
		case seen[def.Name]:
			l.note("%s %.100s is listed twice; the first one counts", what, def.Name)
		default:
			seen[def.Name] = true
			*list = append(*list, def)
		}
	}
}

func badMirror(def tool.Definition) error {
	_, err := mcp.ParseMirror(def.InputSchema())
	return err
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// raw takes resources or templates, which are identified by the member key.
func (l *Listing) raw(list *[]json.RawMessage, what, key string) func(json.RawMessage) {
	seen := map[string]bool{}
	return func(raw json.RawMessage) {
		switch uri, _ := rawjson.String(rawjson.Get(raw, key)); {
		case uri == "":
			l.note("a %s was left out: it has no %s", what, key)
		case seen[uri]:
			l.note("%s %.200s is listed twice; the first one counts", what, uri)
		default:
			seen[uri] = true
			*list = append(*list, raw)
		}
	}
}

// skills takes skills, which are identified by their URIs.
func (l *Listing) skills() func(json.RawMessage) {
	take := l.raw(&l.Skills, "skill", "uri")
	return func(raw json.RawMessage) {
		if _, err := tool.CheckSkill(raw); err != nil {
			l.note("skill %.200s was left out: %v", rawjson.Get(raw, "uri"), err)
			return
		}
		take(raw)
	}
}

// pages reads a list to its last page, within the limits. A server that does not know the method has nothing to list.
func (s *server) pages(ctx context.Context, l *Listing, method, member string, take func(json.RawMessage)) error {
	params := json.RawMessage("{}")
	in := intake{l: l, member: member, take: take}
	seen := map[string]bool{} // cursors, one for each page but the last
	for len(seen) < maxPages {
		page, era, err := s.do(ctx, caller{}, own(method, params))
		var rpc *mcp.Error
		if errors.As(err, &rpc) && rpc.Code == mcp.CodeMethodNotFound {
			return nil
		}
		if err != nil {
			return err
		}
		l.fresh(page, era)
		l.replaced(member, page)
		if err := in.page(rawjson.Get(page, member)); err != nil {
			return fault.New(fault.UpstreamProtocol, "server %s sent a list that is none: %w", s.cfg.ID, err)
		}
		next, _ := rawjson.String(rawjson.Get(page, "nextCursor"))
		switch {
		case in.left > 0:
			l.note("%d or more %s were left out: a server may list %d, and %d MB in all", in.left, member, maxItems, maxListed>>20)
			return nil
		case next == "":
			return nil
		case len(next) > maxCursor:
			l.note("further %s were left out: the cursor has %d bytes, more than %d", member, len(next), maxCursor)
			return nil
		case seen[next]:
			l.note("further %s were left out: the server gives the same cursor again", member)
			return nil
		}
		seen[next] = true
		params = append(rawjson.AppendString([]byte(`{"cursor":`), next), '}')
	}
	l.note("further %s were left out: there are more than %d pages", member, maxPages)
	return nil
}

// intake takes the items of one list, within the limits.
type intake struct {
	l       *Listing
	member  string
	take    func(json.RawMessage)
	n, left int
}

func (in *intake) page(list json.RawMessage) error {
	w := rawjson.Array(list)
	for w.Next() {
		switch size := len(w.Value); {
		case size > maxItem:
			name, _ := rawjson.String(rawjson.Get(w.Value, "name"))
			in.l.note("%.100q of its %s was left out: it has %d bytes, more than %d", name, in.member, size, maxItem)
		case in.n >= maxItems || in.l.bytes+size > maxListed:
			in.left++
		default:
			in.n++
			in.l.bytes += size
			in.take(bytes.Clone(w.Value))
		}
	}
	return w.Err()
}

// replaced notes that part of the server's text was not UTF-8.
func (l *Listing) replaced(what string, result json.RawMessage) {
	if n := rawjson.Get(result, "_meta", mcp.MetaReplaced); n != nil {
		l.note("the server's %s: %s bytes were not UTF-8 and have been replaced", what, n)
	}
}

// fresh takes a page's TTL and cache scope.
func (l *Listing) fresh(page json.RawMessage, era mcp.Era) {
	l.Era = era
	if era != mcp.Modern {
		return
	}
	ms, err := strconv.ParseInt(string(rawjson.Get(page, "ttlMs")), 10, 32)
	if ttl := time.Duration(max(ms, 0)) * time.Millisecond; err == nil && (l.TTL < 0 || ttl < l.TTL) {
		l.TTL = ttl
	}
	scope, _ := rawjson.String(rawjson.Get(page, "cacheScope"))
	l.Private = l.Private || scope != "public"
}

// hello is what the server said when our own session with it was opened.
func (s *server) hello() json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sess := s.sessions[""]; sess != nil && sess.isReady() {
		return sess.hello
	}
	return nil
}

// Recognize tells the pool what is known about a server: its era, its tools, which say whether it
// needs isolation, and the approved hosts of an API. Until then no host of a remote description is
// trusted.
func (p *Pool) Recognize(id tool.ServerID, known Listing) {
	s, err := p.server(id)
	if err != nil {
		return
	}
	s.recognize(known.Tools)
	s.trusted.Store(&known.Hosts)
	if s.knownEra() == "" {
		s.learn(known.Era)
	}
}

// recognize isolates the sessions of a server that is known to hold state for one caller, such as a browser.
func (s *server) recognize(tools []tool.Definition) {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	needs := fit.Recognize(knownServers(), names).Session()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.needs = needs
	if s.cfg.Isolation == "" {
		s.isolated = needs != nil
	}
}

// knownServers are read-only.
var knownServers = sync.OnceValue(fit.Builtin)

// process is the server's configuration for one of its processes.
func (s *server) process() config.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	cfg := s.cfg
	if !s.isolated || s.needs == nil {
		return cfg
	}
	cfg.Env = maps.Clone(cfg.Env)
	if cfg.Env == nil {
		cfg.Env = map[string]string{}
	}
	maps.Copy(cfg.Env, s.needs.For(cfg.Args, s.cfg.Env))
	return cfg
}
