package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// eras is the part of a view that differs between the protocol eras.
type eras struct {
	modern  bool            // some server is of the modern era
	mirrors bool            // some tool has arguments that headers repeat
	tasks   bool            // some tool runs only as a task
	ttl     time.Duration   // how long a client may keep a list
	self    json.RawMessage // who we are
}

// keepFor is how long a client may cache a list if no server says; clients that need changes at once can subscribe.
const keepFor = time.Minute

// Mirrors tells whether any tool has arguments that are repeated in headers.
func (v *View) Mirrors() bool { return v.eras.mirrors }

// Mirror says which arguments of a tool are repeated in headers; nil: none.
func (v *View) Mirror(e *Entry) *mcp.Mirror {
	if e.of == nil {
		return nil
	}
	return e.of.mirror
}

// inEra writes tools as an era has them. Legacy clients cannot handle mirrored arguments and output schemas that are not objects,
// and no tool needs a task for them: we follow it. Modern ones know no execution.
func (v *View) inEra(era mcp.Era, items []item) {
	if era != mcp.Modern && !v.eras.modern && !v.eras.tasks {
		return
	}
	for i := range items {
		e := items[i].e
		if e == nil {
			continue
		}
		modern := e.of != nil && e.of.from.modern
		def := json.RawMessage(items[i].raw)
		if era == mcp.Modern {
			def = mcp.Without(def, "execution")
		} else if e.of != nil && e.of.tasks == "required" {
			def = taskOptional(def)
		}
		if era != mcp.Modern && modern {
			if out := rawjson.Get(def, "outputSchema"); out != nil && string(rawjson.Get(out, "type")) != `"object"` {
				def = mcp.Without(def, "outputSchema")
			}
		}
		if modern != (era == mcp.Modern) {
			def = withoutMirror(def)
		}
		items[i].raw = def
	}
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

// freshFor is how long a server's list stays fresh. A TTL counts only without change notifications, and is at least a minute.
func (k *known) freshFor() time.Duration {
	if k.offer.Era != mcp.Modern || k.offer.TTL < 0 || string(rawjson.Get(k.offer.Capabilities, "tools", "listChanged")) == "true" {
		return k.cfg.Refresh
	}
	return min(k.cfg.Refresh, max(k.offer.TTL, time.Minute))
}
