package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Lists are the results of list requests as one protocol era writes them.
type Lists struct{ Tools, Prompts, Resources, Templates []byte }

// eras is the part of a view that differs between the protocol eras.
type eras struct {
	modern  map[tool.ServerID]bool // the servers of the modern era
	mirrors map[*Entry]*mcp.Mirror // whose arguments headers repeat
	tasks   bool                   // some tool runs only as a task
	ttl     time.Duration          // how long a client may keep a list
	self    json.RawMessage        // who we are
}

// keepFor is how long a client may cache a list if no server says; clients that need changes at once can subscribe.
const keepFor = time.Minute

// addEras notes which of the profile's servers are modern and what follows.
func (v *View) addEras(p config.Profile, servers []*known, self json.RawMessage) {
	v.eras.modern = map[tool.ServerID]bool{}
	v.eras.mirrors = map[*Entry]*mcp.Mirror{}
	v.eras.ttl = keepFor
	v.eras.self = self
	for _, s := range servers {
		if s.offer.Era != mcp.Modern || !access.SeesServer(p, s.cfg.ID) {
			continue
		}
		v.eras.modern[s.cfg.ID] = true
		if s.offer.TTL >= 0 {
			v.eras.ttl = min(v.eras.ttl, s.offer.TTL)
		}
	}
	for _, e := range v.Entries {
		v.eras.tasks = v.eras.tasks || e.Definition.NeedsTask()
		if !v.eras.modern[e.Server] {
			continue
		}
		if m, err := mcp.ParseMirror(e.Definition.InputSchema()); err == nil && m != nil {
			v.eras.mirrors[e] = m
		}
	}
}

// Mirrors tells whether any tool has arguments that are repeated in headers.
func (v *View) Mirrors() bool { return len(v.eras.mirrors) > 0 }

// Mirror says which arguments of a tool are repeated in headers; nil: none.
func (v *View) Mirror(e *Entry) *mcp.Mirror { return v.eras.mirrors[e] }

// Lists are the view's lists in an era. They are rendered once.
func (v *View) Lists(era mcp.Era) *Lists {
	if era == mcp.Modern {
		v.modernOnce.Do(func() { v.modernLists = v.inModern() })
		return &v.modernLists
	}
	v.legacyOnce.Do(func() { v.legacyLists = v.inLegacy() })
	return &v.legacyLists
}

// inLegacy removes from modern definitions what legacy clients cannot handle: mirrored arguments, and output schemas that are not objects.
// No tool needs a task: for clients that cannot follow one, we do.
func (v *View) inLegacy() Lists {
	l := Lists{v.List, v.PromptList, v.ResourceList, v.TemplateList}
	if len(v.eras.modern) > 0 || v.eras.tasks {
		l.Tools = v.eachTool(v.List, func(e *Entry, def json.RawMessage) json.RawMessage {
			if e.Definition.NeedsTask() {
				def = taskOptional(def)
			}
			if !v.eras.modern[e.Server] {
				return def
			}
			if out := rawjson.Get(def, "outputSchema"); out != nil && string(rawjson.Get(out, "type")) != `"object"` {
				def = mcp.Without(def, "outputSchema")
			}
			return withoutMirror(def)
		})
	}
	return l
}

// inModern adds what every modern list has, and removes what only legacy tools have.
func (v *View) inModern() Lists {
	tools := v.eachTool(v.List, func(e *Entry, def json.RawMessage) json.RawMessage {
		def = mcp.Without(def, "execution")
		if !v.eras.modern[e.Server] {
			def = withoutMirror(def)
		}
		return def
	})
	return Lists{v.complete(tools), v.complete(v.PromptList), v.complete(v.ResourceList), v.complete(v.TemplateList)}
}

// complete makes a list a complete result. It depends on who asks, so it must not be cached for others.
func (v *View) complete(list []byte) []byte {
	meta := rawjson.Get(list, "_meta")
	if meta == nil {
		meta = []byte("{}")
	}
	if v.eras.self != nil {
		meta = mcp.With(meta, mcp.MetaServer, v.eras.self)
	}
	b := mcp.With(mcp.Without(list, "_meta"), "resultType", []byte(`"complete"`))
	b = append(b[:len(b)-1], `,"ttlMs":`...)
	b = strconv.AppendInt(b, v.eras.ttl.Milliseconds(), 10)
	b = append(b, `,"cacheScope":"private","_meta":`...)
	return append(append(b, meta...), '}')
}

// eachTool renders a list of tools again, with each changed by f; nil leaves one out.
func (v *View) eachTool(list []byte, f func(*Entry, json.RawMessage) json.RawMessage) []byte {
	return mcp.Edit(list, "tools", func(tools []byte) []byte {
		out := []byte{'['}
		for t := rawjson.Array(tools); t.Next(); {
			def := json.RawMessage(t.Value)
			if e := v.byShown[textOf(def, "name")]; e != nil {
				def = f(e, def)
			}
			if def != nil {
				out = append(mcp.Comma(out), def...)
			}
		}
		return append(out, ']')
	})
}

// ToolsFor is the list of tools in an era, of those that an agent may use.
func (v *View) ToolsFor(era mcp.Era, may func(*Entry) bool) []byte {
	return v.eachTool(v.Lists(era).Tools, func(e *Entry, def json.RawMessage) json.RawMessage {
		if may(e) {
			return def
		}
		return nil
	})
}

func taskOptional(def json.RawMessage) json.RawMessage {
	return mcp.Edit(def, "execution", func(execution []byte) []byte {
		return mcp.Edit(execution, "taskSupport", func([]byte) []byte { return []byte(`"optional"`) })
	})
}

func withoutMirror(def json.RawMessage) json.RawMessage {
	return mcp.Edit(def, "inputSchema", func(schema []byte) []byte { return mcp.WithoutMirror(schema) })
}

// credentials is a digest of who we are to a server: a private list must not be served once that changes.
func credentials(cfg config.Server) string {
	who, _ := json.Marshal([]any{cfg.URL, cfg.Headers, cfg.Command, cfg.Args, cfg.Env}) // strings only
	sum := sha256.Sum256(who)
	return hex.EncodeToString(sum[:8])
}

// foreign tells whether the lists are private to credentials that are no longer configured.
func (k *known) foreign() bool { return k.offer.Private && k.privateTo != credentials(k.cfg) }

// checkOwner makes clients wait for a new listing if the lists belong to other credentials. The caller holds mu.
func (k *known) checkOwner() {
	if k.foreign() && isClosed(k.tried) {
		k.tried = make(chan struct{}) // clients wait until it is listed again
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// servable are the servers whose lists may be served.
func servable(servers []*known) []*known {
	return slices.DeleteFunc(servers, (*known).foreign)
}

// freshFor is how long a server's list stays fresh. A TTL counts only without change notifications, and is at least a minute.
func (k *known) freshFor() time.Duration {
	if k.offer.Era != mcp.Modern || k.offer.TTL < 0 || string(rawjson.Get(k.offer.Capabilities, "tools", "listChanged")) == "true" {
		return k.cfg.Refresh
	}
	return min(k.cfg.Refresh, max(k.offer.TTL, time.Minute))
}
