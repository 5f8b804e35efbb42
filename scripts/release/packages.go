package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// folder is where the files lie that only packages of Linux distributions have.
const folder = "deploy/package/"

// nfpmConfig is what nfpm reads: https://nfpm.goreleaser.com/configuration
type nfpmConfig struct {
	Name, Arch, Platform, Version, Maintainer, Description, Homepage, License, Section string
	MTime                                                                              string        `yaml:"mtime"`
	Contents                                                                           []nfpmContent `yaml:"contents"`
	Scripts                                                                            nfpmScripts   `yaml:"scripts"`
}

type nfpmScripts struct {
	PostInstall string `yaml:"postinstall,omitempty"`
	PreRemove   string `yaml:"preremove,omitempty"`
	PostRemove  string `yaml:"postremove,omitempty"`
}

type nfpmContent struct {
	Src  string `yaml:"src"`
	Dst  string `yaml:"dst"`
	Type string `yaml:"type,omitempty"`
	Info struct {
		Mode  os.FileMode `yaml:"mode"`
		MTime string      `yaml:"mtime"`
	} `yaml:"file_info"`
}

// nfpm builds the packages of one format, for every Linux.
func (r *release) nfpm(ctx context.Context, format string) error {
	target, err := filepath.Abs(r.dist)
	if err != nil {
		return err
	}
	for _, p := range r.platforms {
		if p.OS != "linux" {
			continue
		}
		config, err := r.nfpmConfig(p, format)
		if err != nil {
			return err
		}
		path := filepath.Join(r.work, format+"-"+p.Arch+".yaml")
		if err := os.WriteFile(path, config, 0o600); err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, "nfpm", "package", "--config", path, "--packager", format, "--target", target)
		cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.Time.Unix()))
		if err := run(cmd); err != nil {
			return err
		}
		fmt.Printf("%s package for %s\n", format, p)
	}
	return nil
}

// installed are the files of a package, by where they lie. Alpine Linux has no systemd.
func (r *release) installed(p platform, format string) ([]file, error) {
	program := *r.programs[p]
	program.name = "usr/bin/toolfit"
	files := []file{program}
	places := map[string]string{
		"LICENSE": "usr/share/doc/toolfit/LICENSE", "NOTICE": "usr/share/doc/toolfit/NOTICE", "README.md": "usr/share/doc/toolfit/README.md",
		"completions/toolfit.bash": "usr/share/bash-completion/completions/toolfit",
		"completions/toolfit.fish": "usr/share/fish/vendor_completions.d/toolfit.fish",
		"completions/_toolfit":     "usr/share/zsh/site-functions/_toolfit",
	}
	if format == "deb" {
		places["completions/_toolfit"] = "usr/share/zsh/vendor-completions/_toolfit"
	}
	for _, f := range r.extras {
		place := places[f.name]
		if page, is := strings.CutPrefix(f.name, "man/"); is {
			place = "usr/share/man/man1/" + page
		}
		if place != "" {
			f.name = place
			files = append(files, f)
		}
	}
	own := map[string]string{"toolfit.yaml": "etc/toolfit/toolfit.yaml"}
	if format != "apk" {
		own["toolfit.service"] = "usr/lib/systemd/system/toolfit.service"
		own["toolfit.sysusers"] = "usr/lib/sysusers.d/toolfit.conf"
	}
	for name, place := range own {
		data, err := os.ReadFile(folder + name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: place, mode: 0o644, data: data})
	}
	return sorted(files), nil
}

// nfpmConfig lays the files out and describes them.
func (r *release) nfpmConfig(p platform, format string) ([]byte, error) {
	files, err := r.installed(p, format)
	if err != nil {
		return nil, err
	}
	at := r.Time.Format("2006-01-02T15:04:05Z")
	c := nfpmConfig{
		Name: "toolfit", Arch: p.Arch, Platform: "linux", Version: r.Version, MTime: at, License: "Apache-2.0", Section: "net",
		Maintainer: "The toolfit authors", Homepage: home, Description: summary,
	}
	if format != "apk" {
		c.Scripts = nfpmScripts{PostInstall: folder + "postinstall.sh", PreRemove: folder + "preremove.sh", PostRemove: folder + "postremove.sh"}
	}
	stage := filepath.Join(r.work, format+"-"+p.Arch)
	for _, f := range files {
		content := nfpmContent{Src: filepath.Join(stage, f.name), Dst: "/" + f.name}
		content.Info.Mode, content.Info.MTime = f.mode, at
		if strings.HasPrefix(f.name, "etc/") {
			content.Type = "config|noreplace"
		}
		if err := os.MkdirAll(filepath.Dir(content.Src), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(content.Src, f.data, f.mode); err != nil {
			return nil, err
		}
		c.Contents = append(c.Contents, content)
	}
	return yaml.Marshal(c)
}
