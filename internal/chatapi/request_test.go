package chatapi

import (
	"encoding/json"
	"testing"
)

func TestWhatIsNotOursGoesToTheModel(t *testing.T) {
	req, err := parse([]byte(`{"model":"a","temperature":0.10,"stop":["x"],"user":null,"metadata":{"session":"ses_1","k":"v"},"store":false,"stream":true,"tool_choice":"none","messages":[{"role":"user","content":"hi","toolfit":{"status":"success"}}],"enable_thinking":{"deep":[1e400]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(req.params), `{"temperature":0.10,"stop":["x"],"enable_thinking":{"deep":[1e400]}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if req.session != "ses_1" || !req.unkept || !req.stream || !req.noTools || req.messages[0].Note != nil {
		t.Errorf("%+v", req)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"model":"a","messages":[{"role":"user","content":"hi"}]}`))
	f.Add([]byte(`{"model":"a","messages":null,"x":[1,{"y":null}],"metadata":{"session":5}}`))
	f.Add([]byte(`{"model":"a","Model":"b","tool_choice":"auto","n":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		req, err := parse(data)
		if err == nil && (!json.Valid(req.params) || req.model == "") {
			t.Errorf("%+v", req)
		}
	})
}
