package call

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/waiting"
	"github.com/toolfit/toolfit/internal/state/access"
)

// fiftyKB is a text block with about 50 KB of JSON, of which a reader needs a quarter.
func fiftyKB() string {
	var rows []string
	for i := range 115 {
		rows = append(rows, fmt.Sprintf(`{"EnvId":"env-%05d","Alias":"alias %d","Status":"NORMAL","EnvType":"baas","Region":"ap-shanghai","PackageName":"standard","IsDefault":false,`+
			`"CreateTime":"2026-01-02T08:00:00Z","Storages":[{"Bucket":"b-%d","CdnDomain":"%d.example.com","AppId":"1250000000"}],`+
			`"Functions":[{"Namespace":"env-%05d","Region":"ap-shanghai","Quota":%d}],"LogServices":[{"LogsetName":"logs-%d","TopicId":"t-%d"}],"Tags":["a","b","c"]}`,
			i, i, i, i, i, i*7, i, i))
	}
	return string(rawjson.AppendString([]byte(`{"content":[{"type":"text","text":`), `{"EnvList":[`+strings.Join(rows, ",")+`]}`)) + `}]}`
}

// neverAsked is the front of calls that are quick.
type neverAsked struct{ Front }

// BenchmarkDo is the spine without a network: a little and 50 KB passed through, 50 KB cut, and cut and kept;
// and a little of a call that would be detached if it took long.
func BenchmarkDo(b *testing.B) {
	const rule = "results: [{tool: cloud__env, keep: 'EnvList(EnvId,Alias,Status)'}]\n"
	for _, c := range []struct{ name, config, answer string }{
		{"small", "", rows(3)}, {"small, detachable", "", rows(3)}, {"whole", "", fiftyKB()}, {"cut", rule + "resultStore: none\n", fiftyKB()}, {"cut and kept", rule, fiftyKB()},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := newWorld(b, c.config, nil)
			w.answer = c.answer
			params, err := NewParams("cloud__env", json.RawMessage(`{}`))
			if err != nil {
				b.Fatal(err)
			}
			req := Request{Principal: access.Principal{ID: "ann", Role: access.Caller}, Profile: "default", AsListed: true, Params: params}
			if strings.Contains(c.name, "detachable") {
				w.opts.Waiting = waiting.New(w.store, nil)
				req.Front = neverAsked{}
			}
			b.SetBytes(int64(len(w.answer)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.Do(b.Context(), req); err != nil {
					b.Fatal(err)
				}
				w.sent, w.records = w.sent[:0], w.records[:0]
			}
		})
	}
}
