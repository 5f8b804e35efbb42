package chatapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/openai/openai-go/v3"

	"github.com/toolfit/toolfit/internal/agent/script"
	"github.com/toolfit/toolfit/internal/entrance/chatapi"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

func ask(model string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("订单呢？")}}
}

// extra is what an answer says beside the API's own.
func extra(t testing.TB, raw string) chatapi.Extra {
	t.Helper()
	var in struct{ Toolfit chatapi.Extra }
	if err := json.Unmarshal([]byte(raw), &in); err != nil {
		t.Fatal(err)
	}
	return in.Toolfit
}

func TestTheOfficialGoClientGetsAnAnswer(t *testing.T) {
	g := newGateway(t)
	c := g.client("")
	got, err := c.Chat.Completions.New(t.Context(), ask("helper"))
	if err != nil {
		t.Fatal(err)
	}
	if m := got.Choices[0]; m.Message.Content != "我来看看。\n\n有订单。" || m.FinishReason != "stop" || got.Model != "helper" ||
		got.Usage.TotalTokens == 0 ||
		!strings.Contains(got.RawJSON(), `"reasoning_content":"thinking"`) {
		t.Errorf("%s", got.RawJSON())
	}
	x := extra(t, got.RawJSON())
	if len(x.Calls) != 1 || x.Calls[0].Status != "success" || x.Calls[0].Call == "" || x.Rounds != 2 {
		t.Errorf("%+v", x)
	}
	rows, err := g.app.Store.Messages(t.Context(), x.Session, 0, 0)
	if err != nil || len(rows) != 4 {
		t.Errorf("%d messages are stored, %v", len(rows), err)
	}
}

func TestTheOfficialGoClientGetsAStream(t *testing.T) {
	g := newGateway(t)
	c := g.client("")
	params := ask("helper")
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := c.Chat.Completions.NewStreaming(t.Context(), params)
	defer stream.Close()
	var sum openai.ChatCompletionAccumulator
	var statuses []string
	for stream.Next() {
		chunk := stream.Current()
		if !sum.AddChunk(chunk) {
			t.Fatalf("the client does not take %s", chunk.RawJSON())
		}
		if call := extra(t, chunk.RawJSON()).Call; call != nil {
			statuses = append(statuses, string(call.Status))
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	if sum.Choices[0].Message.Content != "我来看看。\n\n有订单。" || sum.Choices[0].FinishReason != "stop" || sum.Usage.TotalTokens == 0 ||
		strings.Join(statuses, " ") != "running success" {
		t.Errorf("%+v, %v", sum.ChatCompletion, statuses)
	}
}

func TestErrorsHaveTheFormOfThatAPI(t *testing.T) {
	g := newGateway(t)
	ann, eye := g.key(t, "ann", "orders", access.Caller), g.key(t, "eye", "default", access.Viewer)
	root := g.key(t, "root", "*", access.Admin)
	good := `{"model":"helper","messages":[{"role":"user","content":"hi"}]}`
	cases := []struct {
		name, key, body string
		status          int
		code, message   string
	}{
		{"no key", "", good, 401, "invalid_api_key", "key"},
		{"one who may not call", eye, good, 403, "forbidden", "may not use agents"},
		{"an unknown model", root, `{"model":"gpt","messages":[{"role":"user","content":"hi"}]}`, 404, "model_not_found",
			"The model `gpt` does not exist"},
		{"an agent of another profile", ann, good, 404, "model_not_found", "The model `helper`"},
		{"no JSON", root, `{`, 400, "bad_request", "not a chat completion request"},
		{"no model", root, `{"messages":[]}`, 400, "bad_request", "model is missing"},
		{"no messages", root, `{"model":"helper","messages":[]}`, 400, "bad_request", "messages is empty"},
		{"a strange role", root, `{"model":"helper","messages":[{"role":"boss","content":"hi"}]}`, 400, "bad_request",
			`messages[0]: role "boss"`},
		{"content that is none", root, `{"model":"helper","messages":[{"role":"user","content":5}]}`, 400, "bad_request",
			"messages[0]: content must be text"},
		{"tools of the caller's own", root, `{"model":"helper","tools":[{}],"messages":[{"role":"user","content":"hi"}]}`, 400,
			"bad_request", "tools must be left out"},
		{"two answers", root, `{"model":"helper","n":2,"messages":[{"role":"user","content":"hi"}]}`, 400, "bad_request", "n must be 1"},
		{"an unknown session", root, `{"model":"helper","metadata":{"session":"ses_x"},"messages":[{"role":"user","content":"hi"}]}`, 404,
			"not_found", "there is no session"},
		{"bytes that are no text", root, "{\"model\":\"helper\",\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}", 400,
			"bad_request", "not UTF-8"},
		{"a model that refuses", root, `{"model":"broken","messages":[{"role":"user","content":"hi"}]}`, 502, "upstream_error",
			"model down does not accept our key: no such key"},
		{"a body that is too large", root, `{"model":"helper","messages":[{"role":"user","content":"` + strings.Repeat("x", 5<<20) + `"}]}`,
			413, "too_large", "larger than"},
	}
	for _, c := range cases {
		for _, stream := range []string{"false", "true"} {
			t.Run(c.name+", stream "+stream, func(t *testing.T) {
				body := strings.Replace(c.body, `{"model"`, `{"stream":`+stream+`,"model"`, 1)
				status, answer := g.post(t, c.key, body)
				var got struct {
					Error struct{ Message, Type, Code string }
				}
				text := answer
				if status == 200 { // it was begun
					text = strings.TrimPrefix(answer[strings.LastIndex(answer, "data: "):], "data: ")
				} else if status != c.status {
					t.Errorf("HTTP %d", status)
				}
				if err := json.Unmarshal([]byte(text), &got); err != nil || got.Error.Code != c.code ||
					!strings.Contains(got.Error.Message, c.message) || got.Error.Type == "" {
					t.Errorf("HTTP %d, %v: %s", status, err, answer)
				}
			})
		}
	}
}

func (g *gateway) post(t testing.TB, key, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest("POST", g.URL+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

func TestModelsAreTheAgentsThatOneMayUse(t *testing.T) {
	g := newGateway(t)
	client := g.client(g.key(t, "ann", "orders", access.Caller))
	page, err := client.Models.List(t.Context())
	if err != nil || len(page.Data) != 1 || page.Data[0].ID != "clerk" {
		t.Errorf("%+v, %v", page, err)
	}
	if _, err := client.Models.Get(t.Context(), "clerk"); err != nil {
		t.Error(err)
	}
	var refused *openai.Error
	if _, err := client.Models.Get(t.Context(), "helper"); !errors.As(err, &refused) || refused.StatusCode != 404 ||
		refused.Code != "model_not_found" {
		t.Errorf("%v", err)
	}
}

func TestWhatGoesWrongIsNotDoneAgain(t *testing.T) {
	g := newGateway(t)
	g.script(func(r *script.Request) script.Answer {
		if r.Last().Role == "tool" {
			return script.Answer{Status: 500, Message: "out of memory"}
		}
		return readOrders(r)
	})
	client := g.client("") // asks again by itself, unless it is told not to
	_, err := client.Chat.Completions.New(t.Context(), ask("helper"))
	var refused *openai.Error
	if !errors.As(err, &refused) || refused.StatusCode != 502 || !strings.Contains(refused.Message, "out of memory") {
		t.Errorf("%v", err)
	}
	if n := g.asked.Load(); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
}

func TestParametersReachTheModel(t *testing.T) {
	g := newGateway(t)
	var raw []byte
	g.script(func(r *script.Request) script.Answer { raw = r.Raw; return script.Answer{Text: "ok"} })
	params := ask("helper")
	params.Temperature, params.Seed = openai.Float(0.5), openai.Int(7)
	params.ToolChoice.OfAuto = openai.String("none")
	params.Store = openai.Bool(false)
	client := g.client("")
	got, err := client.Chat.Completions.New(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(raw); !strings.Contains(text, `"temperature":0.5`) || !strings.Contains(text, `"seed":7`) ||
		strings.Contains(text, `"tools"`) || strings.Contains(text, `"store"`) || !strings.Contains(text, `"model":"m"`) {
		t.Errorf("%s", text)
	}
	if x := extra(t, got.RawJSON()); x.Session != "" {
		t.Errorf("kept as %s", x.Session)
	}
}

func TestEverythingStopsWhenTheClientLeaves(t *testing.T) {
	g := newGateway(t)
	ended := make(chan struct{})
	g.script(func(*script.Request) script.Answer {
		n := 0
		return script.Answer{Text: strings.Repeat("word ", 1000), Wait: func(done <-chan struct{}) bool {
			if n++; n < 5 {
				return true
			}
			<-done // only the end of the request ends this
			close(ended)
			return false
		}}
	})
	ctx, leave := context.WithCancel(t.Context())
	client := g.client("")
	stream := client.Chat.Completions.NewStreaming(ctx, ask("helper"))
	defer stream.Close()
	if !stream.Next() {
		t.Fatal(stream.Err())
	}
	session := extra(t, stream.Current().RawJSON()).Session
	stream.Next()
	leave()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("the model is still asked")
	}
	deadline := time.Now().Add(patience)
	for {
		rows, err := g.app.Store.Messages(t.Context(), session, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 2 && bytes.Contains(rows[1].Body, []byte(`"stopped":"the caller has left"`)) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d messages are stored", len(rows))
		}
		time.Sleep(5 * time.Millisecond) // until it is stored
	}
}

// listen subscribes to what agents call.
func (g *gateway) listen(t *testing.T, key string) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), g.URL+"/api/v1/events",
		&websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + key}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(`{"type":"subscribe","topics":["agent.call"]}`)); err != nil {
		t.Fatal(err)
	}
	if got := heard(t, conn); !strings.Contains(got, `"subscribed"`) {
		t.Fatal(got)
	}
	return conn
}

func heard(t *testing.T, conn *websocket.Conn) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, text, err := conn.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWhatAgentsCallIsToldToThoseWhoMayKnow(t *testing.T) {
	g := newGateway(t)
	ann, bob, eye := g.key(t, "ann", "orders", access.Caller), g.key(t, "bob", "orders", access.Caller), g.key(t, "eye", "default",
		access.Viewer)
	byAnn, byBob, byEye := g.listen(t, ann), g.listen(t, bob), g.listen(t, eye)
	for _, key := range []string{ann, bob} {
		if status, body := g.post(t, key, `{"model":"clerk","messages":[{"role":"user","content":"hi"}]}`); status != 200 {
			t.Fatal(body)
		}
	}
	for name, c := range map[string]struct {
		conn *websocket.Conn
		n    int
	}{"ann": {byAnn, 1}, "bob": {byBob, 1}, "eye": {byEye, 2}} {
		for range c.n {
			for _, want := range []string{`"status":"running"`, `"status":"success"`} {
				got := heard(t, c.conn)
				if !strings.Contains(got, `"type":"agent.call"`) || !strings.Contains(got, `"agent":"clerk"`) ||
					!strings.Contains(got, `"tool":"shop__list_orders"`) ||
					!strings.Contains(got, want) || strings.Contains(got, "arguments") || strings.Contains(got, "result") {
					t.Errorf("%s heard %s, want %s", name, got, want)
				}
			}
		}
	}
	for name, conn := range map[string]*websocket.Conn{"ann": byAnn, "bob": byBob} { // what comes next is the answer to this
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(`{"type":"subscribe","topics":["agent.call"]}`)); err != nil {
			t.Fatal(err)
		}
		if got := heard(t, conn); !strings.Contains(got, `"subscribed"`) {
			t.Errorf("%s hears of another's: %s", name, got)
		}
	}
}

func TestTheOfficialNodeClientTalksWithAnAgent(t *testing.T) {
	node := testparts.Need(t)
	node.NeedPackage(t, "openai")
	g := newGateway(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, node.Program(), "testdata/client.mjs")
	cmd.Env = append(os.Environ(), "PARTS="+node.Dir(), "BASE_URL="+g.URL)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	var got map[string]any
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, want := range map[string]string{
		"models": `["helper","broken","clerk"]`, "streamed": `"我来看看。\n\n有订单。"`, "helper": `"我来看看。\n\n有订单。"`, "calls": `["running","success"]`,
		"finish": `"stop"`, "usage": "true", "continued": "true",
		"unknown": "\"NotFoundError 404 model_not_found 404 The model `nobody` does not exist or you do not have access to it.\"",
	} {
		if text, _ := json.Marshal(got[name]); string(text) != want {
			t.Errorf("%s: got %s, want %s", name, text, want)
		}
	}
	for name, want := range map[string]string{"tools": "BadRequestError 400", "broken": "InternalServerError 502",
		"brokenStream": "model down does not accept our key"} {
		if text, _ := got[name].(string); !strings.Contains(text, want) {
			t.Errorf("%s: got %s, want %s", name, text, want)
		}
	}
}
