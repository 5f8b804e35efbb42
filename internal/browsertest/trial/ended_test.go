package trial_test

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestAGatewayThatEndsLetsTheTeardownOfItsRunsWork(t *testing.T) {
	looking := make(chan struct{})
	var once sync.Once
	var typed atomic.Bool
	f := &fakeBrowsers{fail: func(tool string) string {
		switch tool {
		case "browser_snapshot":
			once.Do(func() { close(looking) })
		case "browser_type":
			typed.Store(true)
		}
		return ""
	}}
	a := openApp(t, f.start(t), "")
	text := "teardown: [type \"bye\" into User name]\nsteps:\n  - open http://127.0.0.1:1/\n  - {expect: {text: never}, timeout: 5m}\n"
	if _, err := a.StartTests(t.Context(), order(parsed(t, text))); err != nil {
		t.Fatal(err)
	}
	<-looking
	if err := a.Close(); err != nil || !typed.Load() {
		t.Errorf("the teardown did its work: %t, %v", typed.Load(), err)
	}
}
