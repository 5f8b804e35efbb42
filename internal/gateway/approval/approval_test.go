package approval

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

func TestWhoMayDecide(t *testing.T) {
	person := func(id string, role access.Role, page bool, groups ...string) Decider {
		p := access.Principal{ID: id, Name: "Ann", Kind: access.KindUser, Role: role, Profile: "default", Token: &access.Identity{Groups: groups}}
		return Decider{p, page}
	}
	key := func(id string, role access.Role, profile string) Decider {
		return Decider{access.Principal{ID: id, Kind: access.KindKey, Role: role, Profile: profile}, false}
	}
	service := person("u_bot", access.Admin, true)
	service.Kind = access.KindService
	own := []Rule{{Name: "own"}}
	leads := []Rule{{Name: "leads", Approvers: &policy.Approver{Groups: []string{"leads"}, People: []string{"u_eve"}}}}
	for _, tc := range []struct {
		rule  string
		who   Decider
		rules []Rule
		want  bool
	}{
		{"who asks, signed in on a page", person("u_ann", access.Caller, true), own, true},
		{"not with the token that its agent has", person("u_ann", access.Caller, false), own, false},
		{"nobody else", person("u_bob", access.Caller, true), own, false},
		{"an administrator on a page", person("u_bob", access.Admin, true), own, true},
		{"not with an administrator's token", person("u_bob", access.Admin, false), own, false},
		{"no service, whatever its role", service, own, false},
		{"a key of an administrator", key("k1", access.Admin, "*"), own, true},
		{"not the key that asks", key("u_ann", access.Admin, "*"), own, false},
		{"not for another profile", key("k1", access.Admin, "ops"), own, false},
		{"no key of a caller", key("k1", access.Caller, "*"), own, false},
		{"the local owner", Decider{access.Owner(), false}, own, true},
		{"no program without the local secret", Decider{access.Local(), false}, own, false},
		{"approvers by group", person("u_bob", access.Caller, true, "leads"), leads, true},
		{"approvers by id", person("u_eve", access.Caller, true), leads, true},
		{"not an approver's token", person("u_bob", access.Caller, false, "leads"), leads, false},
		{"who asks is no approver", person("u_ann", access.Caller, true), leads, false},
		{"all rules that ask have to accept", person("u_eve", access.Caller, true), append(own, leads...), false},
		{"a viewer only looks", person("u_bob", access.Viewer, true), own, false},
	} {
		a := &store.Approval{Principal: "u_ann", Profile: "default"}
		if got := May(tc.who, a, &About{Rules: tc.rules}); got != tc.want {
			t.Errorf("%s: %t", tc.rule, got)
		}
	}
}

func TestSignedDecisions(t *testing.T) {
	ctx := t.Context()
	st, err := store.Open(ctx, filepath.Join(t.TempDir(), "t.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	secret := "0123456789abcdef0123456789abcdef"
	d := New(Options{
		Store: st, Config: func() config.Approvals {
			return config.Approvals{Expire: time.Minute, Webhook: config.Webhook{Secret: secret}}
		},
		Redact: func(s string) string { return s }, Logger: slog.New(slog.DiscardHandler),
	})
	for _, id := range []string{"a", "b"} {
		q := store.Approval{ID: id, Principal: "p", Tool: "t", Digest: id, About: []byte("{}"), Expires: time.Now().Add(time.Minute)}
		if _, _, err := st.AskApproval(ctx, q, 9); err != nil {
			t.Fatal(err)
		}
	}
	const yes = `{"decision":"approve","by":"Ann","reason":"ok"}`
	now := strconv.FormatInt(time.Now().Unix(), 10)
	old := strconv.FormatInt(time.Now().Add(-6*time.Minute).Unix(), 10)
	for _, tc := range []struct {
		rule, id, at, body, signature string
		want                          fault.Code
	}{
		{"without a signature", "a", now, yes, "", fault.Unauthorized},
		{"of another secret", "a", now, yes, sign("another", now, "a", []byte(yes)), fault.Unauthorized},
		{"for another question", "a", now, yes, sign(secret, now, "b", []byte(yes)), fault.Unauthorized},
		{"of another body", "a", now, yes, sign(secret, now, "a", []byte(`{}`)), fault.Unauthorized},
		{"that is old", "a", old, yes, sign(secret, old, "a", []byte(yes)), fault.Unauthorized},
		{"without a name", "a", now, `{"decision":"approve"}`, sign(secret, now, "a", []byte(`{"decision":"approve"}`)), fault.BadRequest},
		{"that is good", "a", now, yes, sign(secret, now, "a", []byte(yes)), ""},
		{"that comes again", "a", now, yes, sign(secret, now, "a", []byte(yes)), fault.Conflict},
	} {
		header := http.Header{}
		header.Set(TimeHeader, tc.at)
		header.Set(SignatureHeader, tc.signature)
		got, err := d.DecideSigned(context.Background(), tc.id, header, []byte(tc.body))
		if tc.want == "" && (err != nil || fmt.Sprint(got.State, " ", got.By, " ", got.Reason) != "approved Ann (webhook) ok") ||
			tc.want != "" && !fault.Is(err, tc.want) {
			t.Errorf("a message %s: %+v, %v", tc.rule, got, err)
		}
	}
}

// TestWhatAYesIsFor has calls beside one that was approved: which of them are the same.
func TestWhatAYesIsFor(t *testing.T) {
	d := New(Options{Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }})
	rules := []*policy.Rule{{Name: "r", Say: "s"}}
	digest := func(profile, args string, rules []*policy.Rule) string {
		t.Helper()
		p := &call.Permission{Request: &call.Request{Profile: profile}, Args: json.RawMessage(args), Decision: &policy.Decision{Asks: rules}}
		about, digest, err := d.describe(p)
		if err != nil || strings.Contains(string(about.Arguments), "hunter2") || !json.Valid(about.Arguments) {
			t.Fatalf("%s, %v", about.Arguments, err)
		}
		return digest
	}
	const args = `{"env":"dev","pass":"hunter2"}`
	for _, tc := range []struct {
		rule, profile, args string
		rules               []*policy.Rule
		same                bool
	}{
		{"members in another order, escaped", "ops", ` {"pass":"hunter\u0032", "env":"dev"}`, rules, true},
		{"other arguments", "ops", `{"env":"prod","pass":"hunter2"}`, rules, false},
		{"another secret, which looks the same", "ops", `{"env":"dev","pass":"***"}`, rules, false},
		{"one argument more", "ops", `{"env":"dev","pass":"hunter2","force":true}`, rules, false},
		{"a member twice", "ops", `{"env":"dev","env":"dev","pass":"hunter2"}`, rules, false},
		{"another profile, which has other administrators", "dev", args, rules, false},
		{"one rule more", "ops", args, append(rules, &policy.Rule{Name: "r2"}), false},
		{"other approvers", "ops", args, []*policy.Rule{{Name: "r", Say: "s", Approvers: &policy.Approver{People: []string{"eve"}}}}, false},
	} {
		if got := digest("ops", args, rules) == digest(tc.profile, tc.args, tc.rules); got != tc.same {
			t.Errorf("%s: same is %t", tc.rule, got)
		}
	}
	_, _, err := d.describe(&call.Permission{Request: &call.Request{}, Args: make([]byte, maxArguments+1), Decision: &policy.Decision{}})
	if !fault.Is(err, fault.TooLarge) {
		t.Errorf("arguments that nobody can read: %v", err)
	}
}

// roundTrip is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestTheWebhookIsToldOnceOrAFewTimes: until it answers, with a signature that it can check.
func TestTheWebhookIsToldOnceOrAFewTimes(t *testing.T) {
	const secret = "0123456789abcdef0123456789abcdef"
	for status, want := range map[int]struct {
		tries int
		took  time.Duration
	}{200: {1, 0}, 302: {4, 42 * time.Second}, 500: {4, 42 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			tries := 0
			answer := func(r *http.Request) (*http.Response, error) {
				tries++
				body, err := io.ReadAll(r.Body)
				at := r.Header.Get(TimeHeader)
				mac := hmac.New(sha256.New, []byte(secret))
				fmt.Fprintf(mac, "%s.q1.%s", at, body)
				if err != nil || at != fmt.Sprint(time.Now().Unix()) || r.Header.Get(SignatureHeader) != fmt.Sprintf("v1=%x", mac.Sum(nil)) {
					t.Errorf("%v, %v", r.Header, err)
				}
				const says = `{"id":"q1","url":"https://x/q1","tool":"shop__refund","server":"shop","who":"Ann",` +
					`"rules":[{"name":"r"}],"arguments":{"客户":1},"expires_at":"2026-11-16T12:00:00Z"}`
				if string(body) != says {
					t.Errorf("%s", body)
				}
				return &http.Response{StatusCode: status, Body: http.NoBody, Header: http.Header{"Location": {"https://elsewhere/"}}}, nil
			}
			d := New(Options{
				Page: func(id string) string { return "https://x/" + id }, Redact: func(s string) string { return s },
				Logger: slog.New(slog.DiscardHandler), HTTP: &http.Client{
					Transport: roundTrip(answer), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
				},
			})
			began := time.Now()
			d.tell(t.Context(), config.Webhook{URL: "https://bot/", Secret: secret},
				store.Approval{ID: "q1", Tool: "shop__refund", Server: "shop", Expires: time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)},
				About{Name: "Ann", Rules: []Rule{{Name: "r"}}, Arguments: json.RawMessage(`{"客户":1}`)})
			if took := time.Since(began); tries != want.tries || took != want.took {
				t.Errorf("HTTP %d: tried %d times within %s", status, tries, took)
			}
		})
	}
}

func FuzzSignedDecision(f *testing.F) {
	f.Add("1763300000", "v1=00", []byte(`{"decision":"approve","by":"a"}`))
	d := New(Options{Config: func() config.Approvals {
		return config.Approvals{Webhook: config.Webhook{Secret: "0123456789abcdef0123456789abcdef"}}
	}})
	f.Fuzz(func(t *testing.T, at, signature string, body []byte) {
		header := http.Header{TimeHeader: {at}, SignatureHeader: {signature}}
		if _, err := d.DecideSigned(context.Background(), "x", header, body); !fault.Is(err, fault.Unauthorized) {
			t.Fatal(err)
		}
	})
}
