package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// install gets every gateway, and says of which it could not.
func (l *lab) install(ctx context.Context, r *report) error {
	if err := os.MkdirAll(l.tools, 0o755); err != nil {
		return err
	}
	if err := l.buildToolfit(ctx); err != nil {
		return err
	}
	// The page and this module are no part of what is built.
	r.Commit = commit(ctx, l.opts.root, "cmd", "internal", "schema", "env", "go.mod", ":!internal/bench")
	noNPM := l.installNPM(ctx)
	r.Node = l.version(ctx, l.nodeProgram())
	for _, p := range peers {
		one := reportPeer{Name: p.name, Does: p.does, How: p.how, Modern: p.modern}
		var err error
		switch {
		case l.opts.programs[p.name] != "":
			if one.Version, err = l.useNamed(ctx, p); err != nil {
				one.Missing = err.Error()
			}
		case p.way != "" && l.where[p.way] != "":
			one.Version = "the same"
		case p.launch == nil || p.why != "":
			one.Missing = p.why
			if p.way != "" {
				continue // said once
			}
		case p.npm != "":
			one.Version = "npm " + p.npm
			if noNPM != nil {
				one.Missing = noNPM.Error()
			}
		case p.module != "":
			one.Version = p.module
			if err = l.installGo(ctx, p); err != nil {
				one.Missing = err.Error()
			}
		case p.name != peers[0].name:
			one.Version = "commit " + r.Commit
		}
		if one.Missing == "" {
			l.have = append(l.have, p)
		}
		r.Peers = append(r.Peers, one)
	}
	return nil
}

// useNamed takes the program that PEERS names, or builds it from the source that PEERS names, and says what it is.
func (l *lab) useNamed(ctx context.Context, p *peer) (string, error) {
	path := l.opts.programs[p.name]
	l.where[p.name] = path
	if !isModule(path) {
		return "a program named by PEERS: " + l.version(ctx, path), nil
	}
	program := filepath.Join(l.dir, filepath.Base(p.name)+"-built")
	l.where[p.name] = program
	fmt.Fprintf(os.Stderr, "== build %s, which may take minutes\n", p.name)
	if err := goBuild(ctx, path, program, p.source); err != nil {
		return "", err
	}
	return fmt.Sprintf("source named by PEERS, commit %s: %s", commit(ctx, path, "."), l.version(ctx, program)), nil
}

// commit names what a folder holds, as far as the paths go: the commit, and whether there are changes.
func commit(ctx context.Context, dir string, paths ...string) string {
	git := func(args ...string) string {
		text, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...).Output()
		if err != nil {
			return "unknown" // a tree without a repository
		}
		return strings.TrimSpace(string(text))
	}
	if git("rev-parse", "--show-prefix") != "" {
		return "unknown" // the repository around it is another's
	}
	name := git("rev-parse", "--short=12", "HEAD")
	if changes := git(append([]string{"status", "--porcelain", "--"}, paths...)...); changes != "" {
		return name + ", changed"
	}
	return name
}

// version is what a program says of itself.
func (l *lab) version(ctx context.Context, program string) string {
	text, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return "version unknown"
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return first
}

func (l *lab) buildToolfit(ctx context.Context) error {
	l.program = filepath.Join(l.dir, "toolfit")
	return goBuild(ctx, l.opts.root, l.program, "./cmd/toolfit")
}

// goBuild builds a package of the module in a folder.
func goBuild(ctx context.Context, dir, program, pkg string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return said(cmd, fmt.Sprintf("go could not build %s of %s", pkg, filepath.Base(dir)))
}

// installNPM installs the pinned packages, unless they are there.
func (l *lab) installNPM(ctx context.Context) error {
	dir := filepath.Join(l.tools, "npm")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var pinned []byte
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(l.opts.root, "internal/bench/npm", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			return err
		}
		pinned = append(pinned, text...)
	}
	stamp := filepath.Join(dir, "stamp")
	if have, err := os.ReadFile(stamp); err == nil && bytes.Equal(have, pinned) {
		return nil
	}
	// No package's own scripts are run: none of these needs one.
	cmd := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	cmd.Dir = dir
	if err := said(cmd, "npm could not install the packages"); err != nil {
		return err
	}
	return os.WriteFile(stamp, pinned, 0o644)
}

// nodeProgram is the pinned Node, or the system's where there is none for it.
func (l *lab) nodeProgram() string {
	pinned, _ := filepath.Glob(filepath.Join(l.tools, "npm", "node_modules", "node-*", "bin", "node")) // the pattern is well formed
	if len(pinned) > 0 {
		return pinned[0]
	}
	return "node"
}

// node is the command line of a package's program.
func (l *lab) node(p *peer, args ...string) []string {
	name, _, _ := strings.Cut(p.npm, "@")
	program := filepath.Join(l.tools, "npm", "node_modules", ".bin", name)
	return append([]string{l.nodeProgram(), "--require", l.shim(), program}, args...)
}

// installGo builds a module's program, unless it is there.
func (l *lab) installGo(ctx context.Context, p *peer) error {
	path, version, _ := strings.Cut(p.module, "@")
	bin := filepath.Join(l.tools, "go", strings.ReplaceAll(path, "/", "_")+"@"+version)
	program := filepath.Join(bin, filepath.Base(path))
	l.where[p.name] = program
	if _, err := os.Stat(program); err == nil {
		return nil
	}
	// go install would ask for newer versions first, which not every module proxy answers.
	text, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", p.module).Output()
	var module struct{ Dir, Error string }
	if json.Unmarshal(text, &module) != nil || module.Dir == "" {
		return fmt.Errorf("go could not download %s: %w: %s", p.module, err, module.Error)
	}
	return goBuild(ctx, module.Dir, program, p.source)
}

// said runs a command; if it fails, the error has the last line that it said.
func said(cmd *exec.Cmd, what string) error {
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	all := strings.Split(strings.TrimSpace(string(out)), "\n")
	if last := all[len(all)-1]; last != "" {
		return fmt.Errorf("%s: %w: %s", what, err, last)
	}
	return fmt.Errorf("%s: %w", what, err)
}
