package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func key(t testing.TB, text string) store.SecretKey {
	t.Helper()
	k, err := store.ParseSecretKey(text)
	check(t, err)
	return k
}

const ourKey = "the key of this test"

// write makes a backup of the store in a folder.
func write(t testing.TB, folder, to string, secrets bool) *Manifest {
	t.Helper()
	f, err := os.Create(to)
	check(t, err)
	m, err := Write(t.Context(), f, Source{
		Store: filepath.Join(folder, "toolfit.db"), Config: filepath.Join(folder, "toolfit.yaml"), Secrets: secrets, Key: key(t, ourKey),
		Scratch: to + "-store", Now: time.Now(), Left: func(string, bool) {},
	})
	check(t, errors.Join(err, f.Close()))
	return m
}

// fill makes a store with a configuration beside it, and calls and results until stop is closed; n counts them.
func fill(t testing.TB, folder string, least int, stop <-chan struct{}, n func(int)) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Join(folder, "secrets"), 0o700))
	check(t, os.WriteFile(filepath.Join(folder, "toolfit.yaml"), []byte("# ${file:PATH} names a file\ntoken: ${file:secrets/密}\n"), 0o600))
	check(t, os.WriteFile(filepath.Join(folder, "secrets", "密"), []byte("hunter22"), 0o600))
	s, err := store.Open(context.Background(), filepath.Join(folder, "toolfit.db"), &store.Options{SecretKey: key(t, ourKey)})
	check(t, err)
	defer s.Close()
	check(t, s.SaveServerConfig(context.Background(), "notes", []byte(`{"secret":"hunter2"}`), true))
	for i := 0; ; i++ {
		select {
		case <-stop:
			if i >= least {
				return
			}
		default:
		}
		at := time.Now()
		id := string(store.AppendCallTime(nil, at)) + fmt.Sprintf("%08d", i)
		ref := fmt.Sprintf("r_%06d", i)
		check(t, s.SaveResult(context.Background(), store.Result{Ref: ref, Owner: "ann", Call: id, At: at, Body: bytes.Repeat([]byte{'x'}, 5000)}))
		check(t, s.AppendCalls(context.Background(), []store.Call{{ID: id, At: at, Principal: "ann", Ref: ref, Outcome: "ok", Level: "info"}}))
		n(i + 1)
	}
}

// holds wants the first n calls and results in the store of a folder.
func holds(t *testing.T, folder string, n int) {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(folder, "toolfit.db"), &store.Options{SecretKey: key(t, ourKey)})
	check(t, err)
	defer s.Close()
	refs := map[string]bool{}
	for before := ""; ; {
		calls, err := s.Calls(t.Context(), store.CallFilter{Limit: 1000, Before: before})
		check(t, err)
		if len(calls) == 0 {
			break
		}
		for _, c := range calls {
			refs[c.Ref] = true
			before = c.ID
		}
	}
	for ref := range refs { // each call of the copy has its result
		if r, err := s.Result(t.Context(), "ann", ref); err != nil || r.Err != nil || len(r.Body) != 5000 {
			t.Fatalf("result %s: %v %v", ref, err, r.Err)
		}
	}
	for i := range n {
		if !refs[fmt.Sprintf("r_%06d", i)] {
			t.Fatalf("call %d of %d is not there", i, n)
		}
	}
	configs, err := s.ServerConfigs(t.Context())
	check(t, err)
	if len(configs) != 1 || configs[0].Err != nil {
		t.Fatalf("servers: %v", configs)
	}
}

func target(folder string) Target {
	return Target{Store: filepath.Join(folder, "toolfit.db"), Config: filepath.Join(folder, "toolfit.yaml"), Aside: ".before"}
}

func TestWhatWasStoredBeforeABackupUnderLoadIsThereAfterwards(t *testing.T) {
	from, file := filepath.Join(t.TempDir(), "源 a"), filepath.Join(t.TempDir(), "a.backup")
	stop := make(chan struct{})
	var mu sync.Mutex
	stored := 0
	enough := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		fill(t, from, 0, stop, func(n int) {
			mu.Lock()
			defer mu.Unlock()
			stored = n
			if n == 300 {
				close(enough)
			}
		})
	})
	<-enough
	mu.Lock()
	before := stored
	mu.Unlock()
	m := write(t, from, file, true)
	close(stop)
	writing.Wait()
	verified, err := Verify(t.Context(), file)
	check(t, err)
	if got := strings.Join(verified.Files(), " "); got != "toolfit.yaml secrets/密" || len(m.Keys) != 1 {
		t.Errorf("files %q, keys %v", got, m.Keys)
	}
	check(t, m.CheckKey(key(t, ourKey)))
	for _, other := range []store.SecretKey{{}, key(t, "another key of this test")} {
		if err := m.CheckKey(other); !fault.Is(err, fault.BadConfig) {
			t.Errorf("another key: %v", err)
		}
	}
	to := filepath.Join(t.TempDir(), "new", "place")
	done, err := Restore(t.Context(), file, verified, target(to))
	check(t, err)
	if len(done.Aside) != 0 || len(done.Restored) != 4 {
		t.Errorf("done: %+v", done)
	}
	holds(t, to, before)
	secret, err := os.ReadFile(filepath.Join(to, "secrets", "密"))
	check(t, err)
	if string(secret) != "hunter22" {
		t.Errorf("secret %q", secret)
	}
}

func TestWhatIsThereIsPutAsideAndAStoreInUseIsLeftAlone(t *testing.T) {
	from, file := t.TempDir(), filepath.Join(t.TempDir(), "a.backup")
	stop := make(chan struct{})
	close(stop)
	fill(t, from, 20, stop, func(int) {})
	m := write(t, from, file, false)
	open, err := store.Open(t.Context(), filepath.Join(from, "toolfit.db"), nil)
	check(t, err)
	if _, err := Restore(t.Context(), file, m, target(from)); !fault.Is(err, fault.Conflict) {
		t.Fatalf("in use: %v", err)
	}
	check(t, open.Writable(t.Context()))
	check(t, open.Close())
	check(t, os.WriteFile(filepath.Join(from, "toolfit.yaml"), []byte("changed"), 0o600))
	done, err := Restore(t.Context(), file, m, target(from))
	check(t, err)
	holds(t, from, 20)
	if len(done.Aside) != 3 {
		t.Errorf("aside: %v", done.Aside)
	}
	for _, path := range done.Aside {
		_, err := os.Stat(path)
		check(t, err)
	}
	if left, _ := filepath.Glob(from + "/*.restoring"); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// pack makes an archive of entries, and of a manifest that change may falsify.
func pack(t testing.TB, entries []tar.Header, bodies []string, change func(*Manifest)) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := &writer{ctx: context.Background(), tar: tar.NewWriter(z), manifest: &Manifest{Format: format, Schema: 1, Store: "toolfit.db"}}
	for i, h := range entries {
		if h.Typeflag != 0 && h.Typeflag != tar.TypeReg {
			check(t, w.tar.WriteHeader(&h))
			continue
		}
		check(t, w.add(h.Name, strings.NewReader(bodies[i]), int64(len(bodies[i]))))
	}
	change(w.manifest)
	text, err := json.Marshal(w.manifest)
	check(t, err)
	_, err = w.put(manifestName, bytes.NewReader(text), int64(len(text)))
	check(t, err)
	check(t, errors.Join(w.tar.Close(), z.Close()))
	return out.Bytes()
}

// sparse is a backup whose store is one hole, of a size that nobody can read to its end.
func sparse(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := func(flag byte, name, text string) {
		h := make([]byte, 512)
		copy(h, name)
		copy(h[100:], "0000600\x000000000\x000000000\x00"+fmt.Sprintf("%011o\x00", len(text))+"00000000000\x00        "+string(flag))
		copy(h[257:], "ustar\x0000")
		sum := 0
		for _, b := range h {
			sum += int(b)
		}
		copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
		z.Write(append(h, text+strings.Repeat("\x00", (512-len(text)%512)%512)...))
	}
	w('x', "pax", "22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n30 GNU.sparse.name=toolfit.db\n43 GNU.sparse.realsize=1152921504606846976\n")
	w('0', "toolfit.db", "1\n1152921504606846976\n0\n"+strings.Repeat("\x00", 488))
	check(t, z.Close())
	return out.Bytes()
}

func TestHostileBackupsAreRefusedWithOneSentence(t *testing.T) {
	longNames := []tar.Header{{Name: storeName}}
	for i := range 80 {
		longNames = append(longNames, tar.Header{Name: fmt.Sprintf("config/%d", i) + strings.Repeat("/x", 450_000)})
	}
	nothing := func(*Manifest) {}
	one := []tar.Header{{Name: storeName}, {Name: "config/a"}}
	texts := []string{"a", "b"}
	good := pack(t, one, texts, nothing)
	for name, c := range map[string]struct {
		file []byte
		says string
	}{
		"nothing":          {nil, "ends before its manifest"},
		"another file":     {[]byte("PK\x03\x04 something"), "is not a backup"},
		"half of it":       {good[:len(good)/2], "ends before its manifest"},
		"without its end":  {good[:len(good)-200], "ends before its manifest"},
		"a way out":        {pack(t, []tar.Header{{Name: storeName}, {Name: "config/../../x"}}, texts, nothing), "no backup has"},
		"another way out":  {pack(t, []tar.Header{{Name: storeName}, {Name: `config/..\x`}}, texts, nothing), "no backup has"},
		"a drive":          {pack(t, []tar.Header{{Name: storeName}, {Name: `config/c:x`}}, texts, nothing), "no backup has"},
		"an absolute path": {pack(t, []tar.Header{{Name: storeName}, {Name: "/etc/passwd"}}, texts, nothing), "no backup has"},
		"a link":           {pack(t, []tar.Header{{Name: "config/a", Typeflag: tar.TypeSymlink, Linkname: "/etc"}}, texts, nothing), "no backup has"},
		"other results":    {pack(t, []tar.Header{{Name: storeName}, {Name: "results/x.seg"}}, texts, nothing), "no backup has"},
		"the folder":       {pack(t, []tar.Header{{Name: storeName}, {Name: "config/."}}, texts, nothing), "no backup has"},
		"holes":            {sparse(t), "no backup has"},
		"long names":       {pack(t, longNames, make([]string, len(longNames)), nothing), "too many entries"},
		"twice":            {pack(t, []tar.Header{{Name: storeName}, {Name: storeName}}, texts, nothing), "two entries"},
		"no store":         {pack(t, []tar.Header{{Name: "config/a"}}, texts, nothing), "does not have the entries"},
		"a long file":      {pack(t, one, []string{"a", strings.Repeat("x", maxConfig+1)}, nothing), "too much"},
		"another hash":     {pack(t, one, texts, func(m *Manifest) { m.Entries[0].SHA256 = m.Entries[1].SHA256 }), "not as its manifest says"},
		"another size":     {pack(t, one, texts, func(m *Manifest) { m.Entries[0].Size++ }), "not as its manifest says"},
		"one too few":      {pack(t, one, texts, func(m *Manifest) { m.Entries = m.Entries[:1] }), "does not have the entries"},
		"no such config":   {pack(t, one, texts, func(m *Manifest) { m.Config = "config/b" }), "does not have the configuration"},
		"a newer format":   {pack(t, one, texts, func(m *Manifest) { m.Format++ }), "newer toolfit"},
		"a newer schema":   {pack(t, one, texts, func(m *Manifest) { m.Schema, m.Oldest = 1000, 999 }), "schema version 1000"},
	} {
		path := filepath.Join(t.TempDir(), "a.backup")
		check(t, os.WriteFile(path, c.file, 0o600))
		_, err := Verify(t.Context(), path)
		if err == nil || !strings.Contains(err.Error(), c.says) || fault.As(err).Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	path := filepath.Join(t.TempDir(), "a.backup")
	check(t, os.WriteFile(path, good, 0o600))
	m, err := Verify(t.Context(), path)
	check(t, err)
	folder := t.TempDir() // whole, but its store is none
	if _, err := Restore(t.Context(), path, m, target(folder)); !fault.Is(err, fault.BadConfig) {
		t.Errorf("a store that is none: %v", err)
	}
	if left, _ := os.ReadDir(folder); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func FuzzRead(f *testing.F) {
	for _, h := range [][]tar.Header{{{Name: storeName}, {Name: "config/a"}}, {{Name: storeName}, {Name: "results/000001.seg"}}} {
		packed := pack(f, h, []string{"a", "b"}, func(m *Manifest) { m.Config = "config/a" })
		z, err := gzip.NewReader(bytes.NewReader(packed))
		check(f, err)
		plain, err := io.ReadAll(z)
		check(f, err)
		f.Add(plain)
	}
	f.Fuzz(func(t *testing.T, plain []byte) {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		z.Write(plain)
		z.Close()
		const folder = "folder"
		m, err := readFrom(&packed, "x", func(name string, _ io.Reader) error {
			if path := filepath.Join(folder, name); !strings.HasPrefix(path, folder+string(filepath.Separator)) {
				t.Errorf("%q leads out of the folder", name)
			}
			return nil
		})
		if err == nil && (len(m.Entries) == 0 || m.Entries[0].Name != storeName) {
			t.Error("there is no store")
		}
	})
}
