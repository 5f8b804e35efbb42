package clean

import "bytes"

const redacted = "[redacted]"

// form is the form of a well-known kind of key: a prefix, then at least so many characters.
type form struct {
	prefix string
	least  int
	exact  bool // no more than least
	word   bool // letters and digits alone; else also - and _
}

// forms are those that are told from ordinary words by their first characters.
var forms = []form{
	{prefix: "sk-", least: 20}, {prefix: "sk_live_", least: 16}, {prefix: "rk_live_", least: 16},
	{prefix: "ghp_", least: 30, word: true}, {prefix: "gho_", least: 30, word: true}, {prefix: "ghu_", least: 30, word: true},
	{prefix: "ghs_", least: 30, word: true}, {prefix: "ghr_", least: 30, word: true}, {prefix: "github_pat_", least: 20},
	{prefix: "glpat-", least: 20}, {prefix: "xoxb-", least: 10}, {prefix: "xoxp-", least: 10}, {prefix: "xoxa-", least: 10},
	{prefix: "xoxr-", least: 10}, {prefix: "xoxs-", least: 10}, {prefix: "AKIA", least: 16, exact: true, word: true},
	{prefix: "ASIA", least: 16, exact: true, word: true}, {prefix: "AIza", least: 35}, {prefix: "AKID", least: 32, word: true},
	{prefix: "LTAI", least: 16, word: true}, {prefix: "npm_", least: 30, word: true}, {prefix: "hf_", least: 30, word: true},
	{prefix: "pypi-", least: 40}, {prefix: "Bearer ", least: 20},
}

// firsts marks the bytes that a form, a signed token or a private key starts with.
var firsts = func() (t [256]bool) {
	for _, f := range forms {
		t[f.prefix[0]] = true
	}
	t['e'] = true
	t['-'] = true
	t[':'] = true
	return t
}()

// redactTokens redacts what looks like a key.
func redactTokens(w *rewrite, count *Count) {
	text := w.text
	for i := 0; i < len(text); {
		if !firsts[text[i]] || i > 0 && isKeyByte(text[i-1]) && text[i] != ':' {
			i++
			continue
		}
		from, to := secretAt(text[i:])
		if to == 0 {
			i++
			continue
		}
		if w.replace(i+from, i+to, redacted) {
			count.Secrets++
		}
		i += to
	}
}

// secretAt returns the range of a secret that starts here; to is 0 if there is none.
func secretAt(text []byte) (from, to int) {
	for _, f := range forms {
		if text[0] != f.prefix[0] || !bytes.HasPrefix(text, []byte(f.prefix)) {
			continue
		}
		n := keyLength(text[len(f.prefix):], f.word) // without a digit, it is words joined by hyphens
		if n >= f.least && (!f.exact || n == f.least) && bytes.ContainsAny(text[len(f.prefix):len(f.prefix)+n], "0123456789") {
			return 0, len(f.prefix) + n
		}
	}
	switch {
	case bytes.HasPrefix(text, []byte("eyJ")):
		return 0, signedLength(text)
	case bytes.HasPrefix(text, []byte("-----BEGIN ")):
		return 0, privateLength(text)
	case bytes.HasPrefix(text, []byte("://")):
		return passwordIn(text)
	}
	return 0, 0
}

func isKeyByte(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b == '-'
}

func keyLength(text []byte, word bool) int {
	n := 0
	for n < len(text) && isKeyByte(text[n]) && !(word && (text[n] == '_' || text[n] == '-')) {
		n++
	}
	return n
}

// signedLength returns the length of a token of three parts joined by dots, or 0.
func signedLength(text []byte) int {
	n := 0
	for part := range 3 {
		length := keyLength(text[n:], false)
		n += length
		if length < 10 || part < 2 && (n >= len(text) || text[n] != '.') {
			return 0
		}
		n++ // the dot
	}
	return n - 1
}

// privateLength returns the length of a private key in PEM form; one without an end extends to
// the end of the text.
func privateLength(text []byte) int {
	line, _, _ := bytes.Cut(text[:min(len(text), 64)], []byte("\n"))
	if !bytes.Contains(line, []byte("PRIVATE KEY-----")) {
		return 0
	}
	end := bytes.Index(text, []byte("-----END "))
	if end < 0 {
		return len(text)
	}
	if close := bytes.Index(text[end+9:], []byte("-----")); close >= 0 {
		return end + 9 + close + 5
	}
	return len(text)
}

// passwordIn finds the password in a URL, as in scheme://user:password@host.
func passwordIn(text []byte) (from, to int) {
	colon := 0
	for i := 3; i < len(text) && i < 512; i++ {
		switch c := text[i]; {
		case c == '@' && colon > 0 && i > colon+1:
			return colon + 1, i
		case c == ':' && colon == 0:
			colon = i
		case c <= ' ' || c == '/' || c == '"' || c == '?' || c == '#':
			return 0, 0
		}
	}
	return 0, 0
}
