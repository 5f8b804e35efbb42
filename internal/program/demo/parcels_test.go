package demo

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestParcelsAnswerAsTheirDescriptionSays(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(ParcelsSpec, &doc); err != nil {
		t.Fatal(err)
	}
	api := Parcels()
	for path, methods := range doc.Paths {
		for method := range methods {
			r := httptest.NewRequest(strings.ToUpper(method), strings.ReplaceAll(path, "{id}", "P-1002")+"?notify=true",
				strings.NewReader(`{"street":"Quay 7","city":"Porto"}`))
			w := httptest.NewRecorder()
			api.ServeHTTP(w, r)
			var got parcel
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK || got.ID != "P-1002" {
				t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
			}
			if method == "put" && (got.Address.City != "Porto" || !got.Told) {
				t.Errorf("not moved: %+v", got)
			}
		}
	}
}

func TestParcelsRefuseWhatIsNotThere(t *testing.T) {
	api := Parcels()
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/parcels/none", "", 404},
		{"PUT", "/parcels/none/address", `{"street":"a","city":"b"}`, 404},
		{"PUT", "/parcels/P-1001/address", `{"street":"a"}`, 400},
		{"PUT", "/parcels/P-1001/address", `{"street":"` + strings.Repeat("a", maxParcelBody) + `"}`, 400},
		{"PUT", "/parcels/P-1001/address", `[`, 400},
		{"DELETE", "/parcels/P-1001", "", 405},
	} {
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequest(c.method, c.path, strings.NewReader(c.body)))
		if w.Code != c.want {
			t.Errorf("%s %s: %d %s", c.method, c.path, w.Code, w.Body)
		}
	}
}
