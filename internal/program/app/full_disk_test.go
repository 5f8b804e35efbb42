package app

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

const shop = "mcpServers: {shop: {builtin: demo-shop}}\n"

// probe is the answer of /readyz.
func probe(a *App) string {
	r := httptest.NewRequest("GET", "http://127.0.0.1/readyz", nil)
	r.RemoteAddr = "127.0.0.1:1"
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, r)
	return fmt.Sprint(w.Code, " ", strings.TrimSpace(w.Body.String()))
}

// probed waits for an answer: one counts for a second.
func probed(t *testing.T, a *App, want string) {
	t.Helper()
	late := time.Now().Add(patience)
	for probe(a) != want {
		if time.Now().After(late) {
			t.Fatalf("/readyz says %q, want %q", probe(a), want)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// use calls a tool as a model does.
func use(t *testing.T, a *App, tool, args string) (*call.Result, error) {
	t.Helper()
	params, err := call.NewParams(tool, []byte(args))
	if err != nil {
		t.Fatal(err)
	}
	return a.Caller.Do(t.Context(), call.Request{Principal: access.Local(), Profile: "default", AsListed: true, Params: params})
}

const notKept = "The tool has run, its result could not be kept"

// anOrder is the id of one.
func anOrder(t *testing.T, a *App) string {
	t.Helper()
	res, err := use(t, a, "shop__list_orders", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`"id":(\d{16})`).FindSubmatch(res.Raw)
	if found == nil {
		t.Fatalf("no order in %.300s", res.Raw)
	}
	return string(found[1])
}

// notes is how many notes an order has.
func notes(t *testing.T, a *App, order string) int {
	t.Helper()
	res, err := use(t, a, "shop__get_order", `{"id":`+order+`}`)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(rawjson.Get(res.Raw, "structuredContent")), "said here")
}

func TestFullDiskIsSaidInEveryAnswerAndNothingThatChangesSomethingIsCalled(t *testing.T) {
	disk := testparts.SmallDisk(t, 8192)
	a, log := start(t, shop+"records: {durable: true}\nstore: "+filepath.Join(disk.Dir, "toolfit.db")+"\n")
	order := anOrder(t, a)
	note := `{"orderId":` + order + `,"text":"said here"}`
	if res, err := use(t, a, "shop__add_note", note); err != nil || strings.Contains(string(res.Raw), notKept) {
		t.Fatalf("%v, %v", res, err)
	}
	probed(t, a, "200 ready")
	disk.Fill(t)
	probed(t, a, "503 not ready: the store cannot grow: its disk is full")
	before := notes(t, a, order)
	_, err := use(t, a, "shop__add_note", note)
	if !fault.Is(err, fault.StoreDown) || !fault.NotActed(err) || notes(t, a, order) != before {
		t.Errorf("a call that changes something: %v; %d notes became %d", err, before, notes(t, a, order))
	}
	res, err := use(t, a, "shop__list_orders", `{}`)
	if err != nil {
		t.Fatalf("a call that only reads: %v", err)
	}
	for n := 0; !strings.Contains(string(res.Raw), notKept); n++ { // the journal may have some room to spare
		if n == 10_000 {
			t.Fatal("every call is on record, though the disk is full")
		}
		if res, err = use(t, a, "shop__list_orders", `{}`); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(string(res.Raw), `"structuredContent"`) {
		t.Errorf("without its result: %s", res.Raw)
	}
	if _, err := use(t, a, "shop__add_note", note); !fault.Is(err, fault.StoreDown) {
		t.Errorf("got %v", err)
	}
	disk.Free(t)
	probed(t, a, "200 ready")
	if res, err := use(t, a, "shop__add_note", note); err != nil || strings.Contains(string(res.Raw), notKept) {
		t.Errorf("with space again: %v, %v", res, err)
	}
	if got := notes(t, a, order); got != before+1 {
		t.Errorf("%d notes, want %d", got, before+1)
	}
	if !strings.Contains(log.String(), "disk is full") {
		t.Errorf("the log does not say so:\n%s", log)
	}
}

func TestFullDiskDegradesAGatewayWhoseRecordsMayBeLost(t *testing.T) {
	disk := testparts.SmallDisk(t, 8192)
	a, _ := start(t, shop+"results: [{tool: shop__list_orders, keep: 'orders(id)'}]\nstore: "+filepath.Join(disk.Dir, "toolfit.db")+"\n")
	whole, err := use(t, a, "shop__list_orders", `{}`)
	if err != nil || whole.Ref == "" {
		t.Fatalf("%+v, %v", whole, err)
	}
	disk.Fill(t)
	probed(t, a, "200 degraded: the store cannot grow: its disk is full")
	if _, err := use(t, a, "shop__add_note", `{"orderId":1,"text":"said here"}`); err != nil {
		t.Error(err)
	}
	for n := 0; ; n++ { // the last page of the file may have some room to spare
		res, err := use(t, a, "shop__list_orders", `{}`)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(res.Raw), notKept) {
			if res.Ref != "" || len(res.Raw) < 2*len(whole.Raw) {
				t.Errorf("ref %q, got %.300s", res.Ref, res.Raw)
			}
			break
		}
		if n == 10_000 {
			t.Fatal("every result is kept, though the disk is full")
		}
	}
	disk.Free(t)
	probed(t, a, "200 ready")
}

func TestAStoreFileThatVanishedIsSaidAndTakesNothing(t *testing.T) {
	for _, durable := range []string{"true", "false"} {
		t.Run("durable: "+durable, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "toolfit.db")
			a, log := start(t, shop+"records: {durable: "+durable+"}\nstore: "+path+"\n")
			if _, err := use(t, a, "shop__list_orders", `{}`); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(path, path+".away"); err != nil {
				t.Fatal(err)
			}
			status := map[string]string{"true": "503 not ready: ", "false": "200 degraded: "}[durable]
			probed(t, a, status+"the file of the store has vanished or was replaced")
			log.wait(t, "vanished", 1)
			_, err := use(t, a, "shop__add_note", `{"orderId":1,"text":"said here"}`)
			if refused := fault.Is(err, fault.StoreDown); refused != (durable == "true") {
				t.Errorf("a call that changes something: %v", err)
			}
			if err := os.Rename(path+".away", path); err != nil {
				t.Fatal(err)
			}
			probed(t, a, "200 ready")
			if _, err := use(t, a, "shop__add_note", `{"orderId":1,"text":"said here"}`); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRecordsOverTheirSizeAreDroppedWithoutWaitingForTheMinute(t *testing.T) {
	a, _ := start(t, "records: {maxSize: 1MB}\n")
	message := strings.Repeat("x", 4000)
	for n := range 2000 {
		if err := a.Store.AppendCalls(t.Context(),
			[]store.Call{{ID: fmt.Sprintf("c_%09d", n), At: time.Now(), Message: message, Outcome: "ok"}}); err != nil {
			t.Fatal(err)
		}
	}
	late := time.Now().Add(patience / 2) // the next minute has not come
	for {
		calls, err := a.Store.Calls(t.Context(), store.CallFilter{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if len(calls) < 300 {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("%d calls of 4 kB are there", len(calls))
		}
		time.Sleep(20 * time.Millisecond)
	}
}
