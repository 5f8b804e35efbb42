package catalog

import (
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/mcp"
)

// source is what all profiles share of a server's list. It is made when the list has changed.
type source struct {
	id     tool.ServerID
	like   *fit.Server // the known server that it was recognized as; nil: none
	about  string      // its description of itself
	modern bool
	ttl    time.Duration // how long a client may keep the list; negative: it does not say
	tools  []*sourceTool // parallel to the tools of the offer
}

// sourceTool is what all profiles share of a tool.
type sourceTool struct {
	from   *source
	name   tool.Name
	def    tool.Definition
	twin   string // the slash form of an environment protocol tool's name; "": not such a tool
	names  claim  // without a preferred one
	fits   *fit.Tool
	err    error // why it cannot be fitted
	output *fit.Tool
	taken  *fit.Taken
	tasks  string
	mirror *mcp.Mirror // which arguments headers repeat; nil: none
	app    app
	hash   string // of the definition; "": not needed yet
}

// newSource makes the source of a server. The caller holds mu.
func (k *known) newSource(kinds []*fit.Known, own map[string]bool) *source {
	s := &source{id: k.cfg.ID, about: about(k), modern: k.offer.Era == mcp.Modern, ttl: k.offer.TTL}
	names := make([]string, len(k.offer.Tools))
	for i, def := range k.offer.Tools {
		names[i] = def.Name
	}
	s.like = fit.Recognize(kinds, names)
	protocol := k.protocol(own)
	for _, def := range k.offer.Tools {
		t := &sourceTool{from: s, name: tool.Canonical(s.id, def.Name), def: def, twin: protocol.twin(def.Name), tasks: def.TaskSupport(), app: readApp(def.Raw)}
		t.names.prefixed = tool.Shown(string(tool.Canonical(s.id, t.listedAs())), s.id, def.Name)
		t.names.prefixedHash = hashOf(t.names.prefixed)
		t.taken = k.takenBy(def)
		t.fits, t.err = fit.Compile(def.InputSchema(), &fit.Options{Name: def.Name, Known: s.like.Tool(def.Name)})
		if output := def.OutputSchema(); output != nil {
			t.output, _ = fit.Compile(output, nil) // never fails without options
		}
		if s.modern {
			t.mirror, _ = mcp.ParseMirror(def.InputSchema()) // nil with an error
		}
		s.tools = append(s.tools, t)
	}
	return s
}

// listedAs is the server's name for the tool; of the two names in the environment protocol, the one that every provider accepts.
func (t *sourceTool) listedAs() string {
	if t.twin != "" {
		return envPrefix + strings.TrimPrefix(t.twin, envSlash)
	}
	return t.def.Name
}
