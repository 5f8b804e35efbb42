package main

import (
	"archive/zip"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolfit/toolfit/internal/testkit/authserver"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"toolfit": main, "toolfit-impatient": impatient})
}

// impatient is the program with little time to end.
func impatient() {
	endWithin = 100 * time.Millisecond
	main()
}

func TestScripts(t *testing.T) {
	readme, err := filepath.Abs("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	tracker := authserver.New(t)
	tracker.Pending = 1
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("README", readme)
			env.Setenv("TRACKER", tracker.MCP)
			if err := os.WriteFile(filepath.Join(env.WorkDir, "personal"), []byte("Bearer "+tracker.Token("ann")), 0o600); err != nil {
				return err
			}
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else every command takes a second longer under -race
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"bundle":    pack,
			"completes": completes,
			"exits":     exits,
			"gateway":   gateway,
			"tryit":     tryIt,
			"setkey":    setKey,
			"sqlite":    runSQL,
			"waitfor":   waitFor,
		},
	})
}

// patience is how long a script waits for what must happen. All scripts run at once.
const patience = 2 * time.Minute

// pack FILE FOLDER packs the files of a folder as a bundle.
func pack(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: bundle FILE FOLDER")
	}
	out, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	w := zip.NewWriter(out)
	ts.Check(w.AddFS(os.DirFS(ts.MkAbs(args[1]))))
	ts.Check(errors.Join(w.Close(), out.Close()))
}

// completes EXPRESSION ARG… completes the last argument until a line matches: on a busy machine there may be no answer in
// the time that a shell waits.
func completes(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: completes EXPRESSION ARG…")
	}
	wanted := regexp.MustCompile("(?m)" + args[0])
	for late := time.Now().Add(patience); ; {
		ts.Check(ts.Exec("toolfit", append([]string{"__complete"}, args[1:]...)...))
		if wanted.MatchString(ts.ReadFile("stdout")) {
			return
		}
		if time.Now().After(late) {
			ts.Fatalf("nothing matches %q", args[0])
		}
	}
}

// exits N COMMAND… runs a command that must end with exit code N.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits N COMMAND…")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// gateway ARG… runs toolfit with the arguments on a free port until the script ends, and
// sets $URL. What it prints is in the file gateway.out.
func gateway(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs("gateway.out")
	out, err := os.Create(path)
	ts.Check(err)
	program, err := exec.LookPath("toolfit")
	ts.Check(err)
	cmd := exec.Command(program, append(args, "--listen", "127.0.0.1:0")...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Stdout = out
	cmd.Stderr = out
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "XDG_STATE_HOME="+ts.Getenv("XDG_STATE_HOME"))
	for _, name := range []string{"TRACKER", "TOOLFIT_SECRET_KEY"} {
		if value := ts.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	ts.Check(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	ts.Defer(func() {
		cmd.Process.Signal(os.Interrupt)
		if err := <-ended; err != nil {
			ts.Fatalf("toolfit %v did not end well: %v\n%s", args, err, ts.ReadFile("gateway.out"))
		}
		out.Close()
	})
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for {
		if m := regexp.MustCompile(`agents\s+(http://\S+)/mcp`).FindStringSubmatch(ts.ReadFile("gateway.out")); m != nil {
			ts.Setenv("URL", m[1])
			return
		}
		select {
		case <-tick.C:
		case <-late:
			ts.Fatalf("toolfit %v does not say where it listens: %s", args, ts.ReadFile("gateway.out"))
		}
	}
}

// sqlite FILE STATEMENTS runs statements on a store, as somebody who can write its file.
func runSQL(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: sqlite FILE STATEMENTS")
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0])+"?_pragma=busy_timeout(5000)")
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(args[1])
	ts.Check(err)
}

// tryIt FILE runs every command that the file shows for the running gateway: lines that
// begin with toolfit or curl, and name the gateway's URL or the usual one.
func tryIt(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: tryit FILE")
	}
	url := ts.Getenv("URL")
	ran := 0
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		line = strings.TrimSpace(line)
		line = strings.ReplaceAll(line, "http://127.0.0.1:8420", url)
		if strings.HasPrefix(line, "curl ") {
			if _, err := exec.LookPath("curl"); err != nil {
				continue
			}
			line = strings.Replace(line, "curl -s", "curl -sSf", 1) // an HTTP error is one
		}
		if !strings.Contains(line, url) || !strings.HasPrefix(line, "toolfit ") && !strings.HasPrefix(line, "curl ") {
			continue
		}
		ran++
		if err := ts.Exec("sh", "-c", line); err != nil {
			ts.Fatalf("%s: %v", line, err)
		}
		if strings.Contains(line, "PAID") && !strings.Contains(ts.ReadFile("stdout"), "paid") {
			ts.Fatalf("%s: no paid order in the answer", line)
		}
	}
	if ran < 2 {
		ts.Fatalf("%s shows only %d commands to try", args[0], ran)
	}
}

// setKey NAME sets a variable to what the last command printed.
func setKey(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: setkey NAME")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// waitFor FILE EXPRESSION waits until the file has a line that matches.
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: waitfor FILE EXPRESSION")
	}
	line := regexp.MustCompile("(?m)" + args[1])
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for !line.MatchString(ts.ReadFile(args[0])) {
		select {
		case <-tick.C:
		case <-late:
			ts.Fatalf("%s has no line like %q: %s", args[0], args[1], ts.ReadFile(args[0]))
		}
	}
}
