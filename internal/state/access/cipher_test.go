package access

import "testing"

func TestSeveralKeysOpenWhatOneHasSealed(t *testing.T) {
	const older, newer = "the older of two keys", "the-newer-of-two-keys"
	keys := []string{older, older + "," + newer, newer + "\n" + older, newer}
	opens := [][]bool{ // by who sealed, and who opens
		{true, true, true, false}, {true, true, true, false}, {false, true, true, true}, {false, true, true, true},
	}
	for i, by := range keys {
		sealed := NewCipher("purpose", []byte(by)).Seal(nil, nil, []byte("text"), []byte("bound"))
		for j, with := range keys {
			c := NewCipher("purpose", []byte(with))
			text, err := c.Open([]byte("> "), nil, sealed, []byte("bound"))
			if got := err == nil && string(text) == "> text"; got != opens[i][j] {
				t.Errorf("sealed with %q, opened with %q: %q %v", by, with, text, err)
			}
			if _, err := c.Open(nil, nil, sealed, []byte("other")); err == nil {
				t.Errorf("%q opens what is bound to something else", with)
			}
		}
	}
	if _, err := NewCipher("other", []byte(older)).Open(nil, nil, NewCipher("purpose", []byte(older)).Seal(nil, nil, nil, nil), nil); err == nil {
		t.Error("another purpose")
	}
}
