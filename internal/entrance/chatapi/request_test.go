package chatapi

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestWhatIsNotOursGoesToTheModel(t *testing.T) {
	req, err := parse([]byte(`{"model":"a","temperature":0.10,"stop":["x"],"user":null,"metadata":{"session":"ses_1","k":"v"},"store":true,"stream":true,"tool_choice":"none","messages":[{"role":"user","content":"hi","toolfit":{"status":"success"}}],"enable_thinking":{"deep":[1e400]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(req.Params), `{"temperature":0.10,"stop":["x"],"enable_thinking":{"deep":[1e400]}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if req.Session != "ses_1" || req.Unkept || !req.stream || !req.NoTools || req.Messages[0].Note != nil {
		t.Errorf("%+v", req)
	}
}

func TestWhatIsWrongIsSaidInTheCallersWords(t *testing.T) {
	for body, want := range map[string]string{
		`{"model":"a","messages":{}}`:                                "in messages: want a list, got an object",
		`{"model":"a","messages":[],"stream":"yes"}`:                 "in stream: want true or false, got a string",
		`{"model":"a","store":false,"metadata":{"session":"ses_1"}}`: "store must not be false with metadata.session",
		`{"model":5}`:  "in model: want a string, got a number",
		`{"model":"a"`: "the JSON ends too early",
		``:             "the JSON ends too early",
	} {
		if _, err := parse([]byte(body)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "agent.") {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestNamesInAnotherSpellingAreRefused(t *testing.T) {
	for _, body := range []string{
		`{"model":"a","Model":"b","messages":[]}`,
		`{"MODEL":"a","messages":[]}`,
		`{"model":"a","Stream":true}`,
		"{\"model\":\"a\",\"\u017ftream\":true}", // a long s, which readers of JSON fold
	} {
		if _, err := parse([]byte(body)); err == nil || !strings.Contains(err.Error(), "must be written") {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"model":"a","messages":[{"role":"user","content":"hi"}]}`))
	f.Add([]byte(`{"model":"a","messages":null,"x":[1,{"y":null}],"metadata":{"session":5}}`))
	f.Add([]byte(`{"model":"a","Model":"b","tool_choice":"auto","n":1}`))
	f.Add([]byte(`{"model":"a","stop":["。"],"stop":[],"tool_choice":"none","stream_options":{"include_usage":true}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		req, err := parse(data)
		if err != nil {
			return
		}
		var params map[string]json.RawMessage
		if req.Agent == "" || json.Unmarshal(req.Params, &params) != nil {
			t.Fatalf("%+v", req)
		}
		for name := range params {
			if ours[strings.ToLower(name)] {
				t.Errorf("%s is ours, and went to the model", name)
			}
		}
	})
}
