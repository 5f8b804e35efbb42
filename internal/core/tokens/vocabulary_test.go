package tokens

import (
	"bytes"
	"compress/flate"
	"flag"
	"os"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

var update = flag.Bool("update", false, "write the vocabulary anew")

// library is the independent reader of the same vocabulary.
var library = codec.NewO200kBase()

func TestTheVocabularyIsThatOfTheLibrary(t *testing.T) {
	const size = 199_998 // without the special tokens, which are no text
	var raw bytes.Buffer
	for id := range uint(size) {
		token, err := library.Decode([]uint{id})
		if err != nil {
			t.Fatal(err)
		}
		raw.WriteByte(byte(len(token)))
		raw.WriteString(token)
	}
	if *update {
		var out bytes.Buffer
		z, err := flate.NewWriter(&out, flate.BestCompression)
		if err == nil {
			_, err = z.Write(raw.Bytes())
		}
		if err == nil {
			err = z.Close()
		}
		if err == nil {
			err = os.WriteFile("o200k.bin", out.Bytes(), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	w := vocabulary()
	if len(w.ends) != size {
		t.Fatalf("%d tokens, want %d", len(w.ends), size)
	}
	for all := raw.Bytes(); len(all) > 0; {
		token := all[1:][:all[0]]
		all = all[1+len(token):]
		if rank := w.rank(token); rank == noRank || !bytes.Equal(w.token(rank), token) || len(token) > maxToken {
			t.Fatalf("%q has the rank %d", token, rank)
		}
	}
}

func TestEveryCharacterIsSplitAsByTheLibrary(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z) && r > '\u001f' || r == utf8.RuneError {
			continue
		}
		c := string(r)
		text := "a" + c + "b" + c + c + "C " + c + "1 \n" + c + "'s"
		want, err := library.Count(text)
		if got := Count(text); err != nil || got != want {
			t.Fatalf("%q: %d tokens, want %d, %v", text, got, want, err)
		}
	}
}
