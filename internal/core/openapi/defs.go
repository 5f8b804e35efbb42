package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// definitions are the referenced schemas, each written once per direction and shared by all
// operations.
type definitions struct {
	mu    sync.Mutex
	all   map[definitionKey]*definition
	known map[string]*about
}

type definitionKey struct {
	pointer string
	way     way
}

// definition is a schema under $defs.
type definition struct {
	name  string
	at    place
	way   way
	once  sync.Once
	raw   []byte        // "name":{…}
	refs  []*definition // the definitions it refers to
	wrong []Problem
}

// define returns the definition of a place. It is written on first use, so cycles need no care
// here.
func (d *Document) define(p place, way way) *definition {
	d.defs.mu.Lock()
	defer d.defs.mu.Unlock()
	key := definitionKey{p.pointer, way}
	if def := d.defs.all[key]; def != nil {
		return def
	}
	def := &definition{name: definitionName(p.pointer), at: p, way: way}
	d.defs.all[key] = def
	return def
}

// definitionName is the schema's own name if it is usable and in the usual place. Others get a
// hash, so that no two places share a name.
func definitionName(pointer string) string {
	own := jsonschema.UnescapeToken(pointer[strings.LastIndexByte(pointer, '/')+1:])
	name := clean(own)
	usual := pointer == "/components/schemas/"+own || pointer == "/definitions/"+own
	if usual && name == own && len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(pointer))
	return strings.TrimRight(name[:min(len(name), maxName-9)], "_") + "_" + hex.EncodeToString(sum[:4])
}

func (def *definition) write(d *Document) {
	def.once.Do(func() {
		var bad problems
		w := schemaWriter{d: d, way: def.way, bad: &bad, self: def.at.pointer, here: true}
		raw := append(rawjson.AppendString(nil, def.name), ':')
		def.raw = slices.Clip(w.schema(raw, d.node(def.at)))
		def.refs = slices.Clip(w.refs)
		def.wrong = bad.list
	})
}

// tooLarge replaces a definition that exceeds the limit.
const tooLarge = `{"description":"(too large to show)"}`

// appendDefs appends the definitions that refs lead to as $defs, nearest first. Beyond the
// limit, definitions accept anything.
func (d *Document) appendDefs(dst []byte, refs []*definition, room int, bad *problems) []byte {
	if len(refs) == 0 {
		return dst
	}
	dst = append(name(dst, "$defs"), '{')
	seen := make(map[*definition]bool, len(refs))
	queue := slices.Clone(refs)
	var cut []string
	for len(queue) > 0 {
		def := queue[0]
		queue = queue[1:]
		if seen[def] {
			continue
		}
		seen[def] = true
		def.write(d)
		dst = comma(dst)
		if len(def.raw) > room {
			dst = append(append(rawjson.AppendString(dst, def.name), ':'), tooLarge...)
			cut = append(cut, def.at.pointer)
			room -= len(tooLarge)
			continue
		}
		room -= len(def.raw)
		bad.addAll(def)
		dst = append(dst, def.raw...)
		queue = append(queue, def.refs...)
	}
	if len(cut) > 0 {
		bad.add(cut[0], fmt.Sprintf("too large to show, with %d others; they accept anything", len(cut)-1))
	}
	return append(dst, '}')
}
