package restapi

import "testing"

func TestWrongBodiesAreToldInWordsOfTheirOwn(t *testing.T) {
	type inner struct {
		Times int `json:"times"`
	}
	for in, want := range map[string]string{
		`{"name": 5}`:               "in name: want a string, got a number",
		`{"list": {}}`:              "in list: want a list, got an object",
		`{"list": ["a", true]}`:     "in list: want a string, got true or false",
		`{"on": "yes"}`:             "in on: want true or false, got a string",
		`{"inner": []}`:             "in inner: want an object, got a list",
		`{"inner": {"times": 1.5}}`: "in inner.times: want a whole number in plain digits, got 1.5",
		`[]`:                        "want an object, got a list",
		`{"nmae": "x"}`:             `there is no member "nmae"`,
		`{"name": "x"`:              "the JSON ends too early",
		``:                          "the JSON ends too early",
		`{name: 1}`:                 "it is not JSON: unexpected 'n' at byte 2",
		`{} {}`:                     "something follows the object",
	} {
		var into struct {
			Name  string   `json:"name"`
			List  []string `json:"list"`
			On    *bool    `json:"on"`
			Inner inner    `json:"inner"`
		}
		if err := decode([]byte(in), &into); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
}
