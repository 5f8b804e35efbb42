package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const pets = `{"openapi":"3.0.3","info":{"title":"Pets","version":"2"},
"servers":[{"url":"/v2"}],
"paths":{
 "/pets/{id}":{"get":{"operationId":"getPet","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}}],"responses":{"200":{"description":"ok"}}},
  "put":{"operationId":"putPet","security":[{"key":[]}],"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}}],
   "requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"name":{"type":"string"}}}}}},"responses":{"200":{"description":"ok"}}}},
 "/keyed":{"get":{"operationId":"keyed","security":[{"key":[]}],"responses":{"200":{"description":"ok"}}}},
 "/secret":{"get":{"operationId":"secret","security":[{"oauth":["read"]}],"responses":{"200":{"description":"ok"}}}},
 "/broken":{"get":{"operationId":"broken","parameters":[{"$ref":"#/components/parameters/None"}],"responses":{}}}},
"components":{"securitySchemes":{"key":{"type":"apiKey","in":"header","name":"X-Key"},
 "oauth":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"TOKEN","scopes":{"read":"r"}}}}}}}`

// world is an HTTP API and what serves its description.
type world struct {
	*httptest.Server
	mux *http.ServeMux
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{mux: http.NewServeMux()}
	w.Server = httptest.NewServer(w.mux)
	t.Cleanup(w.Close)
	return w
}

// api makes an API of the description, whose base is the world.
func (w *world) api(t *testing.T, change func(*config.Server)) *API {
	t.Helper()
	spec := filepath.Join(t.TempDir(), "pets.json")
	if err := os.WriteFile(spec, []byte(strings.ReplaceAll(pets, "TOKEN", w.URL+"/token")), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := config.Server{ID: "pets", API: &config.API{Spec: spec, Base: w.URL + "/v2", Layout: "flat"}}
	if change != nil {
		change(&cfg)
	}
	a, err := New(cfg, &Options{MaxAnswer: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

func call(t *testing.T, a *API, tool, args string) (string, error) {
	t.Helper()
	raw, err := a.Serve(t.Context(), &mcp.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"` + tool + `","arguments":` + args + `}`)})
	return string(raw), err
}

func TestOperationsAreListedAndUnsoundOnesToldOf(t *testing.T) {
	a := newWorld(t).api(t, nil)
	raw, err := a.Serve(t.Context(), &mcp.Request{Method: "tools/list"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"getPet", "putPet", "secret"} {
		if !strings.Contains(string(raw), `"name":"`+name+`"`) {
			t.Errorf("%s is missing: %s", name, raw)
		}
	}
	if strings.Contains(string(raw), "X-Key") {
		t.Errorf("a credential is an argument: %s", raw)
	}
	if len(a.Problems()) == 0 {
		t.Error("nothing tells of the missing parameter")
	}
}

func TestCallIsOneRequest(t *testing.T) {
	w := newWorld(t)
	var seen atomic.Int32
	w.mux.HandleFunc("PUT /v2/pets/{id}", func(rw http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		body, _ := io.ReadAll(r.Body)
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(rw, `{"id":%s,"key":%q,"team":%q,"body":%s}`, r.PathValue("id"), r.Header.Get("X-Key"), r.Header.Get("X-Team"), body)
	})
	a := w.api(t, func(s *config.Server) {
		s.API.Auth = map[string]config.Credential{"key": {Value: "s3cret"}}
		s.Headers = map[string]string{"X-Team": "blue"}
	})
	got, err := call(t, a, "putPet", `{"id":7,"name":"Rex"}`)
	if err != nil || !strings.Contains(got, `"structuredContent":{"id":7,"key":"s3cret","team":"blue","body":{"name":"Rex"}}`) {
		t.Errorf("got %s, %v", got, err)
	}
	if seen.Load() != 1 {
		t.Errorf("%d requests", seen.Load())
	}
	curl, err := a.Curl(t.Context(), json.RawMessage(`{"name":"putPet","arguments":{"id":7,"name":"Rex"}}`))
	if err != nil || strings.Contains(curl, "s3cret") || strings.Contains(curl, "blue") || !strings.Contains(curl, "X-Key") {
		t.Errorf("got %s, %v", curl, err)
	}
	if seen.Load() != 1 {
		t.Error("showing a request has sent it")
	}
}

// renewed are credentials that can be renewed once.
type renewed struct {
	header  http.Header
	refused int
}

func (r *renewed) Header(context.Context, string) (*http.Header, error) { return &r.header, nil }

func (r *renewed) Refused(context.Context, string, *http.Header, http.Header) bool {
	r.refused++
	r.header = http.Header{"X-Team": {fmt.Sprint("renewed ", r.refused)}}
	return true
}

func TestCredentialsThatAreRefusedAreRenewedAndTheCallSentOnceMore(t *testing.T) {
	for accepted, want := range map[string]struct {
		status   string
		requests int32
	}{
		"renewed 1": {`"structuredContent":{"id":7}`, 2},
		"nothing":   {`"isError":true`, 2},
	} {
		t.Run(accepted, func(t *testing.T) {
			w := newWorld(t)
			var seen atomic.Int32
			w.mux.HandleFunc("GET /v2/pets/{id}", func(rw http.ResponseWriter, r *http.Request) {
				seen.Add(1)
				if r.Header.Get("X-Team") != accepted {
					rw.WriteHeader(http.StatusUnauthorized)
					return
				}
				rw.Header().Set("Content-Type", "application/json")
				fmt.Fprint(rw, `{"id":7}`)
			})
			a := w.api(t, nil)
			a.opts.Credentials = &renewed{header: http.Header{"X-Team": {"old"}}}
			got, err := call(t, a, "getPet", `{"id":7}`)
			if err != nil || !strings.Contains(got, want.status) || seen.Load() != want.requests {
				t.Errorf("got %s after %d requests, %v", got, seen.Load(), err)
			}
		})
	}
}

func TestCredentialThatIsMissingIsNamed(t *testing.T) {
	_, err := call(t, newWorld(t).api(t, nil), "putPet", `{"id":7}`)
	if !fault.Is(err, fault.BadConfig) || !strings.Contains(err.Error(), "credential for key") {
		t.Errorf("got %v", err)
	}
}

func TestTokenIsAskedForOnceAndAgainWhenItIsOld(t *testing.T) {
	w := newWorld(t)
	var given atomic.Int32
	w.mux.HandleFunc("POST /token", func(rw http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if r.FormValue("grant_type") != "client_credentials" || r.FormValue("scope") != "read" || user != "me" || password != "p%3Aw" {
			rw.WriteHeader(401)
			fmt.Fprint(rw, `{"error":"invalid_client"}`)
			return
		}
		fmt.Fprintf(rw, `{"access_token":"t%d","expires_in":100}`, given.Add(1))
	})
	w.mux.HandleFunc("GET /v2/secret", func(rw http.ResponseWriter, r *http.Request) { fmt.Fprint(rw, r.Header.Get("Authorization")) })
	now := time.Now()
	a := w.api(t, func(s *config.Server) {
		s.API.Auth = map[string]config.Credential{"oauth": {ClientID: "me", ClientSecret: "p:w"}}
	})
	a.wallet.now = func() time.Time { return now }
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			if got, err := call(t, a, "secret", `{}`); err != nil || !strings.Contains(got, "Bearer t1") {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
	work.Wait()
	now = now.Add(80 * time.Second)
	if got, err := call(t, a, "secret", `{}`); err != nil || !strings.Contains(got, "Bearer t2") {
		t.Errorf("near its end a token is replaced: %s, %v", got, err)
	}
	a.wallet.held["oauth"] = config.Credential{ClientID: "me", ClientSecret: "wrong"}
	a.wallet.forget()
	if _, err := call(t, a, "secret", `{}`); !fault.Is(err, fault.Unauthorized) || !strings.Contains(err.Error(), "invalid_client") {
		t.Errorf("got %v", err)
	}
}

func TestAnswersThatAreNotWhatWasPromised(t *testing.T) {
	w := newWorld(t)
	big := strings.Repeat("x", 1<<20+1)
	answers := map[int]func(http.ResponseWriter){
		1: func(rw http.ResponseWriter) { rw.WriteHeader(404); fmt.Fprint(rw, `{"message":"no such pet"}`) },
		2: func(rw http.ResponseWriter) { fmt.Fprint(rw, big) },
		3: func(rw http.ResponseWriter) {
			rw.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(rw)
			for range 64 {
				z.Write(make([]byte, 1<<20))
			}
			z.Close()
		},
		4: func(rw http.ResponseWriter) {
			rw.Header().Set("Content-Type", "application/json")
			fmt.Fprint(rw, `{"id":`)
		},
		5: func(rw http.ResponseWriter) { panic(http.ErrAbortHandler) },
		6: func(rw http.ResponseWriter) { rw.Header().Set("Location", "/v2/pets/6"); rw.WriteHeader(302) },
		7: func(rw http.ResponseWriter) {
			rw.Header().Set("Location", "http://169.254.169.254/latest/meta-data")
			rw.WriteHeader(302)
		},
		8: func(rw http.ResponseWriter) { rw.WriteHeader(204) },
	}
	w.mux.HandleFunc("GET /v2/pets/{id}", func(rw http.ResponseWriter, r *http.Request) {
		var n int
		fmt.Sscan(r.PathValue("id"), &n)
		answers[n](rw)
	})
	a := w.api(t, nil)
	for id, want := range map[int]string{
		1: `no such pet`, 2: string(fault.TooLarge), 3: string(fault.TooLarge), 4: `{\"id\":`, 5: string(fault.UpstreamDown),
		6: "redirects", 7: "not public", 8: `"content":[`,
	} {
		got, err := call(t, a, "getPet", fmt.Sprintf(`{"id":%d}`, id))
		if err != nil {
			got = string(fault.As(err).Code) + ": " + err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%d: got %.300s, want %s", id, got, want)
		}
	}
	if got, err := call(t, a, "getPet", `{"id":1}`); err != nil || !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "404") {
		t.Errorf("an HTTP error is a tool's error with its status: %s, %v", got, err)
	}
}

func TestCredentialDoesNotFollowARedirectToAnotherHost(t *testing.T) {
	w, other := newWorld(t), newWorld(t) // one address, two ports
	elsewhere := func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, other.URL+"/x", http.StatusTemporaryRedirect)
	}
	for _, route := range []string{"GET /v2/secret", "GET /v2/keyed", "GET /openapi.json", "POST /token"} {
		w.mux.HandleFunc(route, elsewhere)
	}
	var reached int
	other.mux.HandleFunc("/x", func(rw http.ResponseWriter, r *http.Request) {
		reached++
		for name := range r.Header {
			if name != "Accept" && name != "User-Agent" && name != "Accept-Encoding" { // the last is the transport's own
				t.Errorf("%s carries %s", r.Method, name)
			}
		}
		io.WriteString(rw, pets)
	})
	a := w.api(t, func(s *config.Server) {
		s.API.Auth = map[string]config.Credential{"oauth": {Value: "t0ken"}, "key": {Value: "s3cret"}}
		s.Headers = map[string]string{"X-Team": "blue"}
		s.API.Spec = w.URL + "/openapi.json"
	})
	for _, name := range []string{"secret", "keyed"} {
		if _, err := call(t, a, name, `{}`); err != nil {
			t.Error(err)
		}
	}
	if reached != 3 {
		t.Errorf("%d requests came, want the description and two calls", reached)
	}
	asking := w.api(t, func(s *config.Server) {
		s.API.Auth = map[string]config.Credential{"oauth": {ClientID: "me", ClientSecret: "s3cret"}}
	})
	if _, err := call(t, asking, "secret", `{}`); !fault.Is(err, fault.Unauthorized) || reached != 3 {
		t.Errorf("a token is asked for elsewhere: %v, %d requests", err, reached)
	}
}

func TestBaseThatIsDownIsSaid(t *testing.T) {
	w := newWorld(t)
	a := w.api(t, nil)
	w.Close()
	_, err := call(t, a, "getPet", `{"id":1}`)
	if !fault.Is(err, fault.UpstreamDown) || strings.Contains(err.Error(), "/v2/pets") {
		t.Errorf("got %v", err)
	}
}

func TestDescriptionIsReadAgainOnlyWhenItHasChanged(t *testing.T) {
	w := newWorld(t)
	text, tag := pets, `"1"`
	var whole atomic.Int32
	w.mux.HandleFunc("GET /openapi.json", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
		whole.Add(1)
		io.Copy(rw, bytes.NewReader([]byte(text)))
	})
	a := w.api(t, func(s *config.Server) { s.API.Spec = w.URL + "/openapi.json" })
	list := func() string {
		raw, err := a.Serve(t.Context(), &mcp.Request{Method: "tools/list"})
		if err != nil {
			return err.Error()
		}
		return string(raw)
	}
	first := list()
	if again := list(); again != first || whole.Load() != 1 {
		t.Errorf("the same description was read %d times", whole.Load())
	}
	text, tag = strings.ReplaceAll(pets, "getPet", "readPet"), `"2"`
	if got := list(); !strings.Contains(got, "readPet") {
		t.Errorf("got %s", got)
	}
	text, tag = "<html>", `"3"`
	if got := list(); !strings.Contains(got, "API pets") {
		t.Errorf("a description that is none is said: %s", got)
	}
	if _, err := call(t, a, "getPet", `{"id":1}`); err == nil || !strings.Contains(err.Error(), "getPet") {
		t.Errorf("an operation that is gone is said: %v", err)
	}
	text, tag = pets, `"4"`
	if got := list(); got != first {
		t.Errorf("got %s", got)
	}
}

func TestDescriptionThatCannotBeHad(t *testing.T) {
	w := newWorld(t)
	for spec, want := range map[string]string{
		filepath.Join(t.TempDir(), "none.json"): "there is no file",
		w.URL + "/none.json":                    "HTTP 404",
		"http://127.0.0.1:1/openapi.json":       "cannot be reached",
	} {
		a := w.api(t, func(s *config.Server) { s.API.Spec = spec })
		if _, err := a.Hello(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", spec, err, want)
		}
	}
}

func TestNothingIsSentToAHostThatARemoteDescriptionChoseAndNobodyApproved(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	w.mux.HandleFunc("GET /openapi.json", func(rw http.ResponseWriter, _ *http.Request) {
		io.WriteString(rw, strings.NewReplacer("TOKEN", other.URL+"/token", `"/v2"`, `"`+w.URL+`/v2"`).Replace(pets))
	})
	w.mux.HandleFunc("/v2/", func(http.ResponseWriter, *http.Request) {})
	other.mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) { t.Error("a host that nobody approved is reached") })
	var approved []string
	remote := func(change func(*config.API)) *API {
		cfg := config.Server{ID: "pets", API: &config.API{Spec: w.URL + "/openapi.json", Layout: "flat"}}
		cfg.API.Auth = map[string]config.Credential{"oauth": {ClientID: "me", ClientSecret: "s3cret"}}
		change(cfg.API)
		a, err := New(cfg, &Options{Trusted: func(host string) bool { return slices.Contains(approved, host) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(a.Close)
		if _, err := a.Count(t.Context()); err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := remote(func(*config.API) {})
	want := []string{w.URL, other.URL}
	slices.Sort(want)
	if got := a.Hosts(); !slices.Equal(got, want) {
		t.Errorf("hosts %v, want %v", got, want)
	}
	if _, err := call(t, a, "getPet", `{"id":1}`); !fault.Is(err, fault.Forbidden) || !fault.NotActed(err) || !strings.Contains(fault.As(err).Hint, "toolfit servers approve pets") {
		t.Errorf("got %v", err)
	}
	approved = []string{w.URL}
	if _, err := call(t, a, "getPet", `{"id":1}`); err != nil {
		t.Errorf("got %v", err)
	}
	if _, err := call(t, a, "secret", `{}`); !fault.Is(err, fault.Forbidden) || !strings.Contains(err.Error(), other.URL) {
		t.Errorf("the token: got %v", err)
	}
	approved = nil
	own := remote(func(cfg *config.API) {
		cfg.Base, cfg.Auth["oauth"] = w.URL+"/v2", config.Credential{ClientID: "me", ClientSecret: "s3cret", TokenURL: w.URL + "/token"}
	})
	if _, err := call(t, own, "getPet", `{"id":1}`); err != nil || own.Hosts() != nil {
		t.Errorf("what the configuration names is asked about: %v, %v", own.Hosts(), err)
	}
}

func TestAPathsOwnServerIsCalledBesideABase(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	document := strings.Replace(pets, `"/keyed":{`, `"/keyed":{"servers":[{"url":"`+other.URL+`/up"}],`, 1)
	w.mux.HandleFunc("GET /openapi.json", func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, document) })
	w.mux.HandleFunc("/v2/", func(http.ResponseWriter, *http.Request) {})
	other.mux.HandleFunc("GET /up/keyed", func(rw http.ResponseWriter, r *http.Request) { io.WriteString(rw, r.Header.Get("X-Key")) })
	file := filepath.Join(t.TempDir(), "pets.json")
	if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	for spec, asked := range map[string]bool{file: false, w.URL + "/openapi.json": true} {
		approved := false
		cfg := config.Server{ID: "pets", API: &config.API{Spec: spec, Base: w.URL + "/v2", Layout: "flat", Auth: map[string]config.Credential{"key": {Value: "s3cret"}}}}
		a, err := New(cfg, &Options{Trusted: func(host string) bool { return approved && host == other.URL }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(a.Close)
		if _, err := call(t, a, "getPet", `{"id":1}`); err != nil {
			t.Errorf("base itself is asked about: %v", err)
		}
		got, err := call(t, a, "keyed", `{}`)
		if asked {
			if !slices.Equal(a.Hosts(), []string{other.URL}) || !fault.Is(err, fault.Forbidden) {
				t.Errorf("a remote description sends credentials elsewhere: %v, %s, %v", a.Hosts(), got, err)
			}
			approved = true
			got, err = call(t, a, "keyed", `{}`)
		}
		if err != nil || !strings.Contains(got, "s3cret") {
			t.Errorf("%s: got %s, %v", spec, got, err)
		}
	}
}
