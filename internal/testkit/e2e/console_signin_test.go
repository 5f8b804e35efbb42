package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// TestPeopleSignInToTheConsole at a real provider, with a real browser, in the middle of which pages of another site
// are. Who is disabled is out soon, and reads why.
func TestPeopleSignInToTheConsole(t *testing.T) {
	l := listen(t)
	at := strings.Replace("http://"+l.Addr().String(), "127.0.0.1", "localhost", 1) // another site than the provider's
	client, _ := json.Marshal([]map[string]any{{                                    // texts only
		"client_id": "page", "client_secret": "page+secret", "redirect_uris": []string{at + "/sign-in/callback"},
	}})
	issuer := identityProvider(t, "张伟", "0", string(client))
	db := filepath.Join(t.TempDir(), "toolfit.db")
	serveOn(t, l, write(t, lines("publicURL: "+at, "store: "+db, "identity:", "- issuer: "+issuer, "  login: {clientId: page, clientSecret: page+secret}",
		"  map: [{groups: [eng], profile: default}]")))
	b := testparts.NewBrowser(t, "zh-CN")
	signIn := func() {
		t.Helper()
		b.Do(chromedp.Navigate(at + "/calls"))
		b.Until(`document.querySelector("a.go")?.textContent.includes("` + strings.TrimPrefix(issuer, "http://") + `")`)
		b.Do(chromedp.Click(`a.go`))
	}
	signIn()
	for range 2 { // who it is, and whether we may know it
		b.Until(`document.title === "Provider"`)
		b.Read(`document.title = "seen", document.querySelector("button").click()`)
	}
	b.Until(`location.pathname === "/calls" && document.querySelector(".who")?.textContent === "张伟"`)
	b.Do(chromedp.Click(`form[action="/sign-out"] button`))
	b.Until(`document.querySelector("a.go") && !document.querySelector(".who")`)
	signIn() // the provider still knows the person
	b.Until(`location.pathname === "/calls" && document.querySelector(".who")?.textContent === "张伟"`)
	b.Begin(t) // a browser complains of the pages before
	b.Do(chromedp.Navigate(at + "/calls"))
	b.Until(`document.querySelector(".who")?.textContent === "张伟"`)
	b.CheckConsole()

	st, err := store.Open(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if _, err := st.DisablePerson(t.Context(), "张伟", time.Now()); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	eventually(t, "the person is out", func() bool {
		b.Do(chromedp.Navigate(at + "/calls"))
		return strings.Contains(b.Read("document.body.innerText"), "张伟 在此已被停用")
	})
	if took := time.Since(began); took > 11*time.Second {
		t.Errorf("it took %v", took)
	}
}
