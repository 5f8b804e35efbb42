package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"
)

// component is a module in a bill of materials, in the words of CycloneDX.
type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	Scope   string `json:"scope,omitempty"`
}

func module(name, version string) component {
	purl := fmt.Sprintf("pkg:golang/%s@%s", name, version)
	return component{Type: "library", Ref: purl, Name: name, Version: version, PURL: purl, Scope: "required"}
}

// bill writes the bill of materials of a program: the modules that Go has built into it, as go version -m shows them.
func (r *release) bill(p platform) error {
	data := r.programs[p].data
	info, err := buildinfo.Read(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("read what the program is made of: %w", err)
	}
	text, err := json.MarshalIndent(r.bom(info, sha256.Sum256(data)), "", "  ")
	if err != nil {
		return err
	}
	return r.write(r.Folder(p)+".cdx.json", text)
}

func (r *release) bom(info *debug.BuildInfo, sum [32]byte) any {
	main := module(info.Main.Path, r.Tag)
	main.Type, main.Scope = "application", ""
	parts := []component{module("std", info.GoVersion)}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		parts = append(parts, module(dep.Path, dep.Version))
	}
	refs := []string{}
	for _, part := range parts {
		refs = append(refs, part.Ref)
	}
	// The number is derived from the program, so that the same program has the same bill.
	sum[6] = sum[6]&0x0f | 0x80 // a UUID of version 8, which is free to choose
	sum[8] = sum[8]&0x3f | 0x80
	serial := fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	return map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": serial, "version": 1,
		"metadata":     map[string]any{"timestamp": r.Time.Format(time.RFC3339), "component": main},
		"components":   parts,
		"dependencies": []any{map[string]any{"ref": main.Ref, "dependsOn": refs}},
	}
}
