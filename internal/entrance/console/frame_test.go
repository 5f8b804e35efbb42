package console

import "testing"

func TestEveryPageHasALetterOfItsOwn(t *testing.T) {
	taken := map[string]string{}
	for _, s := range New(Parts{}).sections {
		if len(s.key) != 1 || s.key == "g" || taken[s.key] != "" {
			t.Errorf("g %s leads to %s, and to %q", s.key, s.name, taken[s.key])
		}
		taken[s.key] = s.name
	}
}
