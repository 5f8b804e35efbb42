package console_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"regexp"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

// furnishTalk stores chats and runs of browser tests, so that there is something to see. It
// gives the ids of a chat, of a run that failed and of one that is under way.
func (w *world) furnishTalk() (chat, failed, running string) {
	w.t.Helper()
	chat = w.chat("ses_orders", "How are the paid orders?",
		`{"role":"user","content":"How are the paid orders? 已付款的订单怎么样？"}`,
		`{"role":"assistant","content":"Let me look at the orders.","tool_calls":[{"id":"call_001","type":"function","function":{"name":"shop__list_orders","arguments":"{\"status\":\"PAID\",\"limit\":\"2\"}"}},{"id":"call_002","type":"function","function":{"name":"shop__refund","arguments":"{\"order\":7}"}},{"id":"call_003","type":"function","function":{"name":"cloud__envQuery","arguments":"{\"action\":\"list\"}"}}],"toolfit":{"agent":"helper"}}`,
		`{"role":"tool","tool_call_id":"call_001","content":"{\"orders\":[{\"id\":10000000007,\"status\":\"paid\",\"amount\":129.5}],\"total\":12}","toolfit":{"tool":"shop__list_orders","status":"success","call":"c_1","duration_ms":12}}`,
		`{"role":"tool","tool_call_id":"call_002","content":"there is no tool \"shop__refund\"; did you mean shop__get_order?","toolfit":{"tool":"shop__refund","status":"failed"}}`,
		`{"role":"tool","tool_call_id":"call_003","content":"not called: the limit of 2 calls for one answer is reached","toolfit":{"tool":"cloud__envQuery","status":"skipped"}}`,
		`{"role":"assistant","content":"12 orders are paid. The newest, 10000000007, is from 王小明: 129.5 CNY.\n\nA refund is not possible from here: there is no tool for it.","toolfit":{"agent":"helper"}}`,
		`{"role":"user","content":"And what did the last week bring?"}`,
		`{"role":"assistant","content":"In the last week the shop","tool_calls":[{"id":"call_001","type":"function","function":{"name":"shop__sales_report","arguments":"{\"days\":7}"}}],"toolfit":{"agent":"helper","stopped":"the caller has left"}}`)
	for i, title := range []string{"部署到上海的环境有哪些？", "A rather long question about many things that does not fit into one line of a narrow list", "Which tools do you have?"} {
		w.chat(fmt.Sprint("ses_", i), title, `{"role":"user","content":"`+title+`"}`,
			`{"role":"assistant","content":"…","toolfit":{"agent":"helper"}}`)
	}
	return chat, w.failedRun("run_failed", "Sign in and order"), w.runningRun()
}

// chat stores a chat of the person's.
func (w *world) chat(id, title string, messages ...string) string {
	w.t.Helper()
	_, err := w.app.Store.CreateSession(w.t.Context(),
		store.Session{ID: id, Owner: "local", Title: title, Metadata: map[string]json.RawMessage{"agent": json.RawMessage(`"helper"`)}})
	var bodies []json.RawMessage
	for _, m := range messages {
		bodies = append(bodies, json.RawMessage(m))
	}
	if err == nil {
		err = w.app.Store.AppendMessages(w.t.Context(), id, bodies...)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// pictureText is a picture of a page, in base64.
func pictureText() string {
	img := image.NewRGBA(image.Rect(0, 0, 640, 400))
	for y := range 400 {
		for x := range 640 {
			img.Set(x, y, color.RGBA{250, 250, 250, 255})
			if y < 48 || x > 220 && x < 420 && y > 160 && y < 190 {
				img.Set(x, y, color.RGBA{28, 100, 85, 255})
			}
		}
	}
	var b bytes.Buffer
	png.Encode(&b, img) // a buffer takes all
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// failedRun stores a run that has ended; its case's name is the run's.
func (w *world) failedRun(id, name string) string {
	w.t.Helper()
	quoted, _ := json.Marshal(name) // a string can be
	report := strings.NewReplacer("NAME", string(quoted), "PICTURE", pictureText()).Replace(`{"results":[{"runId":"r","file":"shop.yaml","name":NAME,"started":"2026-01-01T00:00:00Z","duration_ms":4200,
		"metrics":{"calls":{"ok":9,"all":10},"finds":{"ok":3,"all":4}},"cases":[
		{"name":"A visitor sees the list","status":"passed","attempts":1,"duration_ms":900,"tags":["smoke"],"steps":[
			{"text":"open http://127.0.0.1:3000/","action":"navigate","line":3,"status":"passed","duration_ms":400,"calls":[{"tool":"browser_navigate","before":{"url":"/"},"after":{"url":"http://127.0.0.1:3000/"},"duration_ms":390}]},
			{"text":"expect \"Orders\"","action":"expect","line":4,"status":"passed","duration_ms":100}]},
		{"name":NAME,"status":"failed","attempts":2,"duration_ms":3300,"error":{"type":"ELEMENT_NOT_FOUND","message":"\"Order\" means 2 elements","details":{"runId":"r"}},"steps":[
			{"text":"在“姓名”中输入“小明”","action":"type","line":8,"status":"healed","duration_ms":200,"element":{"role":"textbox","name":"姓名","path":"form 登录 > textbox 姓名","score":0.97,"why":"is called so, and of that kind"},"warnings":["found by its label, not by its id"]},
			{"text":"click Order","action":"click","line":9,"status":"failed","duration_ms":2100,"screenshot":{"type":"image/png","data":"PICTURE"},
				"error":{"type":"ELEMENT_NOT_FOUND","message":"\"Order\" means 2 elements: row 1 > button Order; button Order all","details":{"runId":"r","code":"AMBIGUOUS","selector":NAME}},
				"candidates":[{"role":"button","name":"Order","path":"main > row 1 > button Order","score":0.81,"why":"is called so but for small words"},{"role":"button","name":"Order all","path":"main > button Order all","score":0.8,"why":"is called so but for small words"}],
				"calls":[{"tool":"browser_snapshot","before":{},"after":{},"duration_ms":30},{"tool":"browser_snapshot","before":{},"after":{},"duration_ms":30}]},
			{"text":"expect \"Thank you\"","action":"expect","line":10,"status":"skipped","duration_ms":0}]},
		{"name":"Later","status":"skipped","reason":"tagged @later","attempts":0,"duration_ms":0}]}],
		"sources":{"shop.yaml":"- open http://127.0.0.1:3000/\n- expect \"Orders\"\n"},"base":"http://127.0.0.1:3000"}`)
	w.saveRun(store.Run{ID: id, Name: name, Outcome: "failed", Duration: 4200 * time.Millisecond, Report: []byte(report)},
		`"profile":"default","principal":"local","files":["shop.yaml"],"cases":3,"totals":{"tests":3,"passed":1,"failed":1,"skipped":1}`)
	w.saveRun(store.Run{ID: id + "_2", Name: "订单列表", Outcome: "passed", Duration: 12 * time.Second},
		`"profile":"default","principal":"local","files":["a.md"],"cases":8,"totals":{"tests":8,"passed":8,"flaky":1}`)
	return id
}

func (w *world) runningRun() string {
	w.saveRun(store.Run{ID: "run_now", Name: "All of the shop", Outcome: "running", Duration: 3 * time.Second},
		`"profile":"default","principal":"local","files":["b.yaml"],"cases":20,"totals":{"tests":7,"passed":7}`)
	return "run_now"
}

func (w *world) saveRun(r store.Run, summary string) {
	w.t.Helper()
	r.At, r.Summary = time.Now(), json.RawMessage(`{"name":"",`+summary+`}`)
	if err := w.app.Store.SaveRun(w.t.Context(), r); err != nil {
		w.t.Fatal(err)
	}
}

// addresses are those that stand in a page behind a text.
func addresses(page, before string) (list []string) {
	for _, rest := range strings.Split(page, before)[1:] {
		address, _, _ := strings.Cut(rest, `"`)
		list = append(list, html.UnescapeString(address))
	}
	return list
}

// stripValues is a page without the values of its fields, which are what was typed.
func stripValues(page string) string { return fieldValue.ReplaceAllString(page, "") }

var fieldValue = regexp.MustCompile(` value="[^"]*"`)
