package console_test

import (
	"net/url"
	"strings"
	"testing"
)

func TestTheFirstKeyIsAnAdminsOrThePageSaysWhatToDo(t *testing.T) {
	w := newPlainWorld(t)
	_, body := w.person().ask("GET", "/keys", nil)
	if !strings.Contains(body, `value="admin" selected`) {
		t.Error("an admin's key is not proposed first")
	}
	_, body = w.person().ask("POST", "/keys", url.Values{"name": {"root"}, "role": {"admin"}})
	if !strings.Contains(body, "this one signs you in here") || !strings.Contains(body, `href="/sign-in"`) {
		t.Errorf("nobody is told that the sign-in has ended: %s", body)
	}

	w = newPlainWorld(t)
	_, body = w.person().ask("POST", "/keys", url.Values{"name": {"agent"}, "role": {"caller"}})
	if !strings.Contains(body, "toolfit keys create NAME --role admin") || strings.Contains(body, "this one signs you in here") {
		t.Errorf("nobody is told how to become an admin: %s", body)
	}
}
