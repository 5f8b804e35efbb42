package store

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
)

const sealedByFirst = "010f175316a1aaec7cb2a0f36aae3757910d6670691676f2d1c3fb844ec1ad8a39e668485575fcf246e258379d6f3bf6"

func TestSecretKeyFromText(t *testing.T) {
	raw := []byte("\x00\x01 thirty-two bytes of all sort\xff")
	if len(raw) != 32 {
		t.Fatal(len(raw))
	}
	first, err := ParseSecretKey(hex.EncodeToString(raw))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"upper case hex":    strings.ToUpper(hex.EncodeToString(raw)),
		"base64":            base64.StdEncoding.EncodeToString(raw),
		"base64 for URLs":   base64.RawURLEncoding.EncodeToString(raw),
		"space around it":   " " + hex.EncodeToString(raw) + "\n",
		"unpadded base64":   base64.RawStdEncoding.EncodeToString(raw),
		"padded URL base64": base64.URLEncoding.EncodeToString(raw),
	} {
		k, err := ParseSecretKey(text)
		if err != nil || k.id != first.id {
			t.Errorf("%s: another key than that of hex, %v", name, err)
			continue
		}
		if text, err := k.open("server x", "row", first.seal("row", []byte("text"))); err != nil || string(text) != "text" {
			t.Errorf("%s: got %q, %v", name, text, err)
		}
	}
	for _, text := range []string{"", "fifteen letters", strings.Repeat(" ", 40), "\n"} {
		if k, err := ParseSecretKey(text); !fault.Is(err, fault.BadConfig) || !k.IsZero() ||
			!strings.Contains(err.Error(), "TOOLFIT_SECRET_KEY") {
			t.Errorf("%q: got %v", text, err)
		}
	}
	if _, err := ParseSecretKey("密钥密钥密钥密钥密钥密钥密钥密钥"); err != nil {
		t.Errorf("sixteen characters of any language: %v", err)
	}
}

// Stored rows must stay readable: this one was sealed by the first version.
func TestSealedByTheFirstVersionStaysReadable(t *testing.T) {
	k, err := ParseSecretKey("correct horse battery staple")
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := hex.DecodeString(sealedByFirst)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := k.open("server x", configRow("files"), sealed); err != nil || string(text) != `{"command":"x"}` {
		t.Fatalf("got %q, %v", text, err)
	}
}

func TestEveryChangedByteIsNoticed(t *testing.T) {
	k, err := ParseSecretKey("correct horse battery staple")
	if err != nil {
		t.Fatal(err)
	}
	sealed := k.seal("row", []byte("text"))
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 0x80
		if text, err := k.open("server x", "row", changed); !fault.Is(err, fault.BadConfig) || text != nil {
			t.Errorf("byte %d changed: got %q, %v", i, text, err)
		}
		if text, err := k.open("server x", "row", sealed[:i]); !fault.Is(err, fault.BadConfig) || text != nil {
			t.Errorf("cut at %d: got %q, %v", i, text, err)
		}
	}
	if _, err := k.open("server x", "another row", sealed); !fault.Is(err, fault.BadConfig) {
		t.Errorf("another row: got %v", err)
	}
}

func TestSecretKeyIsNeverPrinted(t *testing.T) {
	k, err := ParseSecretKey("correct horse battery staple")
	if err != nil {
		t.Fatal(err)
	}
	opts := Options{SecretKey: k}
	for _, verb := range []string{"%v", "%+v", "%s", "%x", "%d", "%q"} {
		if got := fmt.Sprintf(verb, k); got != "[secret key]" {
			t.Errorf("%s prints %s", verb, got)
		}
		if got := fmt.Sprintf(verb, opts); !strings.Contains(got, "[secret key]") {
			t.Errorf("options with %s print %s", verb, got)
		}
	}
	if got, err := json.Marshal([]SecretKey{k}); err != nil || string(got) != "[{}]" {
		t.Errorf("as JSON: %s, %v", got, err)
	}
}

func TestSeveralKeysInOneText(t *testing.T) {
	const a, b, words = "0123456789abcdef", "fedcba9876543210", "correct horse battery staple"
	for text, want := range map[string][]string{
		a:                           {a},
		words:                       {words},
		" " + words + "\n":          {words},
		"hello, my dear old friend": {"hello, my dear old friend"},
		a + "," + b:                 {a, b, a + "," + b},
		a + " " + b:                 {a, b, a + " " + b},
		a + ",":                     {a, a + ","},
		a + " ,\n" + b + "\n":       {a, b, a + " ,\n" + b},
		a + ", " + words:            {a, words, a + ", " + words},
		words + "\n" + a:            {words, a, words + "\n" + a},
		",":                         {","},
		"密钥密钥密钥密钥密钥密钥密钥密钥　" + a: {"密钥密钥密钥密钥密钥密钥密钥密钥", a, "密钥密钥密钥密钥密钥密钥密钥密钥　" + a},
	} {
		if got := SplitKeys(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
