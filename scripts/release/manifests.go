package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"strings"
	"text/template"
)

// registryName is the name of the server in the MCP registry.
const registryName = "io.github.toolfit/toolfit"

//go:embed templates
var templates embed.FS

// manifests are the texts that package managers and the MCP registry want, filled in with checksums. They name files of
// every platform, so that all of them must have been built.
func (r *release) manifests(context.Context) error {
	if len(r.platforms) < len(allPlatforms) {
		return fmt.Errorf("they need every platform: leave -only out, or take manifests out of -parts")
	}
	for name, text := range map[string]string{
		"toolfit.rb": "toolfit.rb", "toolfit.json": "scoop.json", "server.json": "server.json",
		"toolfit.toolfit.yaml": "winget.version.yaml", "toolfit.toolfit.installer.yaml": "winget.installer.yaml",
		"toolfit.toolfit.locale.en-US.yaml": "winget.locale.yaml",
	} {
		data, err := r.fill(text, nil)
		if err != nil {
			return err
		}
		if err := r.write(name, data); err != nil {
			return err
		}
	}
	return nil
}

// fill fills a template in. About is one more value for it.
func (r *release) fill(name string, about any) ([]byte, error) {
	t, err := template.New(name).Funcs(template.FuncMap{
		"archive": func(system, arch string) string { return r.Archive(platform{system, arch}) },
		"folder":  func(system, arch string) string { return r.Folder(platform{system, arch}) },
		"bundle":  func(system, arch string) string { return r.Bundle(platform{system, arch}) },
		"sum":     r.sum,
		"upper":   strings.ToUpper,
		"summary": func() string { return summary },
		"home":    func() string { return home },
		"files":   func() string { return home + "/releases/download/" + r.Tag },
		"server":  func() string { return registryName },
		"date":    func() string { return r.Time.Format("2006-01-02") },
		"about":   func() any { return about },
		"list":    func() []platform { return allPlatforms },
		"systems": func() map[string]string { return map[string]string{"darwin": "macos", "linux": "linux"} }, // as Homebrew names them
		"cpus":    func() map[string]string { return map[string]string{"amd64": "intel", "arm64": "arm"} },
	}).ParseFS(templates, "templates/"+name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.ExecuteTemplate(&b, name, r)
	return b.Bytes(), err
}

// Bundle is the name of a platform's .mcpb.
func (r *release) Bundle(p platform) string { return r.Folder(p) + ".mcpb" }

// bundle writes the .mcpb, which clients install by a double click.
func (r *release) bundle(p platform) error {
	system, _ := nodeName(p)
	manifest, err := r.fill("mcpb.json", map[string]string{"Platform": system, "Program": p.Program()})
	if err != nil {
		return err
	}
	files := []file{{name: "manifest.json", mode: 0o644, data: manifest}, *r.programs[p]}
	for _, f := range r.extras {
		if f.name == "LICENSE" || f.name == "NOTICE" {
			files = append(files, f)
		}
	}
	data, err := zipped(files, r.Time)
	if err != nil {
		return err
	}
	return r.write(r.Bundle(p), data)
}
