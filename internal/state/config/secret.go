package config

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// secret adds a value to redact, unless it is so short that it occurs everywhere.
func (d *decoder) secret(value string) {
	if len(value) >= MinSecret && !d.raw && !slices.Contains(d.secrets, value) {
		d.secrets = append(d.secrets, value)
	}
}

// guarded redacts the value of a variable, unless it is plain text such as true or production:
// that occurs everywhere, and redacting it would hide more than it protects.
func (d *decoder) guarded(name, value string) {
	if IsSecretName(name) || !isPlain(value) {
		d.secret(value)
	}
	d.secretsIn(value)
}

// secretsIn redacts the secrets of an address: its password and query values.
func (d *decoder) secretsIn(address string) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return
	}
	password, given := u.User.Password()
	d.secret(password)
	if !given && !isPlain(u.User.Username()) { // a token in place of a user name
		d.secret(u.User.Username())
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, found := strings.Cut(pair, "=")
		if !found {
			name = ""
			value = pair
		}
		if read, err := url.QueryUnescape(value); err == nil {
			value = read
		}
		if IsSecretName(name) || !isPlain(value) {
			d.secret(value)
		}
	}
}

// IsSecretName reports whether a variable or a parameter has the name of a credential.
func IsSecretName(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"token", "passw", "passphrase", "secret", "credential", "auth"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return slices.ContainsFunc(Words(name), func(w string) bool {
		return slices.Contains([]string{"key", "apikey", "pass", "pwd", "pin", "otp", "sig", "signature"}, w)
	})
}

// Words returns the runs of letters and digits of a text, in lower case.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// plainText is what people write into a setting: words such as production, us-east-1 or UTF-8;
// numbers, dates and versions.
var plainText = regexp.MustCompile(`^(\pL+([-_., :/]+(\pL+|\d{1,2}))*|[\d.,:/ -]+)$`)

var isPath = regexp.MustCompile(`^(\.{0,2}/|~|[A-Za-z]:[\\/]|[a-z][a-z0-9+.-]*://)`)

const (
	shortText = 8  // shorter texts are not keys
	longText  = 24 // longer texts are not settings
)

// isPlain reports whether a value is ordinary text, which occurs everywhere.
func isPlain(value string) bool {
	return len(value) < shortText || isPath.MatchString(value) || len(value) <= longText && plainText.MatchString(value)
}
