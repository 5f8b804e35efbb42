//go:build unix

package console_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

// BenchmarkTalkPages measures what the pages of chats, sessions, logs and runs cost where
// there are many of each: 5,000 sessions, a chat of 5,000 messages, 1,000 runs, one of them
// with 3,000 steps and 40 pictures, 50,000 entries of the log.
//
//	go test -run '^$' -bench TalkPages -benchtime 20x -cpu 1 ./internal/entrance/console
func BenchmarkTalkPages(b *testing.B) {
	w := newWorld(b, demoConfig)
	for i := range 5000 {
		w.chat(fmt.Sprint("ses_", i), fmt.Sprint("question ", i))
	}
	result, _ := json.Marshal(`{"orders":[` + strings.Repeat(`{"id":10000000007,"status":"paid","amount":129.5},`,
		80) + `{}]}`) // a string can be
	var messages []string
	for range 5000 / 4 {
		messages = append(messages, `{"role":"user","content":"How are the orders?"}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"shop__list_orders","arguments":"{\"status\":\"PAID\"}"}}]}`,
			`{"role":"tool","tool_call_id":"1","content":`+string(result)+`,"toolfit":{"status":"success","call":"c_1"}}`, `{"role":"assistant","content":"Fine."}`)
	}
	w.chat("ses_long", "long", messages...)
	for i := range 1000 {
		w.saveRun(store.Run{ID: fmt.Sprint("run_", i), Name: "shop", Outcome: "passed", Duration: time.Second},
			`"principal":"local","profile":"default","files":["a.yaml"],"cases":8,"totals":{"tests":8,"passed":8}`)
	}
	w.saveRun(bigRun(), `"principal":"local","files":["a"],"cases":300,"totals":{"tests":300,"passed":260,"failed":40}`)
	for i := range 50_000 {
		c := store.Call{ID: w.app.Records.NewID(), At: time.Now(), Principal: "local", Profile: "default", Server: "cloud",
			Tool: "cloud__envQuery", Agent: fmt.Sprint("a", i%7), Session: fmt.Sprint("ses_", i%5000), Outcome: "ok", Level: "info"}
		if err := w.app.Records.Add(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
	for _, path := range []string{
		"/chat", "/chat/ses_long", "/environments", "/environments/sessions", "/environments/sessions?agent=helper", "/environments/sessions/ses_long",
		"/environments/logs", "/environments/logs?limit=1000", "/environments/logs?agent=nobody", "/runs", "/runs/run_big", "/runs/run_big?page=5", "/runs/run_big/pictures/10",
	} {
		b.Run(path, func(b *testing.B) {
			b.ReportAllocs()
			measure(b, func() { get(b, w, path) })
		})
	}
}

// bigRun is a run of 300 cases, of which 40 failed, with a picture each.
func bigRun() store.Run {
	step := `{"text":"click Order","action":"click","status":"passed","duration_ms":1,"calls":[{"tool":"browser_click","before":{"ref":"e1"},"after":{"ref":"e1"},"duration_ms":1}]}`
	steps := strings.Repeat(step+",", 9)
	r := store.Run{ID: "run_big", Name: "big", Outcome: "failed", Duration: time.Second}
	var cases []string
	for i := range 300 {
		if i%8 != 0 || len(r.Pictures) == 40 {
			cases = append(cases, `{"name":"fine","status":"passed","attempts":1,"duration_ms":1,"steps":[`+steps+step+`]}`)
			continue
		}
		r.Pictures = append(r.Pictures, store.RunPicture{Step: i*10 + 10, Type: "image/png", Data: []byte(strings.Repeat("picture..", 12_000))})
		cases = append(cases, `{"name":"bad","status":"failed","attempts":1,"duration_ms":1,"error":{"message":"no"},"steps":[`+steps+`{"text":"click","action":"click","status":"failed","duration_ms":1,"screenshot":{"type":"image/png","size":108000}}]}`)
	}
	r.Report = []byte(`{"results":[{"name":"big","cases":[` + strings.Join(cases, ",") + `]}]}`)
	return r
}
