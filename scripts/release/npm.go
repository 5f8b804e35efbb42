package main

import (
	"context"
	_ "embed"
	"encoding/json"
)

const (
	home    = "https://github.com/toolfit/toolfit"
	summary = "Fit any tool to any model: one gateway between AI agents and their tools"
)

//go:embed npm/toolfit.js
var launcher []byte

// manifest is a package.json.
type manifest struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Description  string            `json:"description"`
	License      string            `json:"license"`
	Homepage     string            `json:"homepage"`
	Repository   map[string]string `json:"repository"`
	MCPName      string            `json:"mcpName,omitempty"` // by which the MCP registry knows whose package it is
	Bin          map[string]string `json:"bin,omitempty"`
	OS           []string          `json:"os,omitempty"`
	CPU          []string          `json:"cpu,omitempty"`
	Engines      map[string]string `json:"engines,omitempty"`
	Dependencies map[string]string `json:"optionalDependencies,omitempty"`
}

// nodeName is a platform as Node names it.
func nodeName(p platform) (system, cpu string) {
	system, cpu = p.OS, p.Arch
	if system == "windows" {
		system = "win32"
	}
	if cpu == "amd64" {
		cpu = "x64"
	}
	return system, cpu
}

// npm writes a package for each platform with its program, and one that depends on them and starts the one that npm has
// chosen. None of them runs anything when it is installed.
func (r *release) npm(context.Context) error {
	about := manifest{Version: r.Version, Description: summary, License: "Apache-2.0", Homepage: home,
		Repository: map[string]string{"type": "git", "url": "git+" + home + ".git"}}
	wrapper := about
	wrapper.Name, wrapper.MCPName = "toolfit", registryName
	wrapper.Bin = map[string]string{"toolfit": "bin/toolfit.js"}
	wrapper.Engines = map[string]string{"node": ">=18"}
	wrapper.Dependencies = map[string]string{}
	for _, p := range allPlatforms { // also those that are not built this time: the wrapper is the same
		system, cpu := nodeName(p)
		wrapper.Dependencies["@toolfit/"+system+"-"+cpu] = r.Version
	}
	for _, p := range r.platforms {
		system, cpu := nodeName(p)
		own := about
		own.Name, own.OS, own.CPU = "@toolfit/"+system+"-"+cpu, []string{system}, []string{cpu}
		program := *r.programs[p]
		program.name = "bin/" + program.name
		if err := r.npmPackage("toolfit-"+system+"-"+cpu, own, program); err != nil {
			return err
		}
	}
	return r.npmPackage("toolfit", wrapper, file{name: "bin/toolfit.js", mode: 0o755, data: launcher})
}

func (r *release) npmPackage(name string, m manifest, files ...file) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	files = append(files, file{name: "package.json", mode: 0o644, data: text})
	for _, f := range r.extras {
		if f.name == "LICENSE" || f.name == "NOTICE" || f.name == "README.md" {
			files = append(files, f)
		}
	}
	data, err := tarGz(under("package", files...), r.Time)
	if err != nil {
		return err
	}
	return r.write("npm-"+name+"-"+r.Version+".tgz", data)
}
