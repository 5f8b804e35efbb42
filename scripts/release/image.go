package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io/fs"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// Media types of the OCI image specification.
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// nobody is the user of the images.
const nobody = 65532

// descriptor names a blob of an image.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    map[string]string `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// layout collects the blobs of an image for several platforms: an OCI image layout, which skopeo and podman read.
type layout struct {
	at    time.Time
	blobs map[string]file // by name: several platforms may share one
}

func (l *layout) add(mediaType string, data []byte) descriptor {
	sum := hexSum(data)
	l.blobs[sum] = file{name: "blobs/sha256/" + sum, mode: 0o644, data: data}
	return descriptor{MediaType: mediaType, Digest: "sha256:" + sum, Size: len(data)}
}

func (l *layout) addJSON(mediaType string, value any) (descriptor, error) {
	data, err := json.Marshal(value)
	return l.add(mediaType, data), err
}

// spec is how a container is started.
type spec struct {
	User       string              `json:"User"`
	Env        []string            `json:"Env"`
	Entrypoint []string            `json:"Entrypoint"`
	Cmd        []string            `json:"Cmd"`
	WorkingDir string              `json:"WorkingDir"`
	Ports      map[string]struct{} `json:"ExposedPorts"`
	Volumes    map[string]struct{} `json:"Volumes"`
	Labels     map[string]string   `json:"Labels"`
}

// addImage adds the image of a platform, the lowest layer first.
func (l *layout) addImage(arch string, start spec, layers ...[]file) (descriptor, error) {
	var sums []string
	var blobs []descriptor
	for _, files := range layers {
		var plain, packed bytes.Buffer
		if err := writeTar(&plain, files, l.at); err != nil {
			return descriptor{}, err
		}
		z := gzip.NewWriter(&packed)
		z.Write(plain.Bytes()) // to memory
		z.Close()
		sums = append(sums, "sha256:"+hexSum(plain.Bytes()))
		blobs = append(blobs, l.add(typeLayer, packed.Bytes()))
	}
	config, err := l.addJSON(typeConfig, map[string]any{
		"created": l.at.Format(time.RFC3339), "architecture": arch, "os": "linux", "config": start,
		"rootfs": map[string]any{"type": "layers", "diff_ids": sums},
	})
	if err != nil {
		return descriptor{}, err
	}
	d, err := l.addJSON(typeManifest, map[string]any{"schemaVersion": 2, "mediaType": typeManifest, "config": config, "layers": blobs})
	d.Platform = map[string]string{"os": "linux", "architecture": arch}
	return d, err
}

// pack writes the layout: one index for all platforms, under a name.
func (l *layout) pack(name string, images []descriptor) ([]byte, error) {
	index := map[string]any{"schemaVersion": 2, "mediaType": typeIndex, "manifests": images}
	all, err := l.addJSON(typeIndex, index)
	if err != nil {
		return nil, err
	}
	// Podman reads one, Docker the other.
	all.Annotations = map[string]string{"org.opencontainers.image.ref.name": name, "io.containerd.image.name": name}
	top, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": typeIndex, "manifests": []descriptor{all}})
	if err != nil {
		return nil, err
	}
	files := []file{
		{name: "index.json", mode: 0o644, data: top},
		{name: "oci-layout", mode: 0o644, data: []byte(`{"imageLayoutVersion":"1.0.0"}`)},
	}
	for _, blob := range l.blobs {
		files = append(files, blob)
	}
	var out bytes.Buffer
	err = writeTar(&out, files, l.at)
	return out.Bytes(), err
}

// image writes the image for servers that are reached by HTTP: the program, certificates, and nothing else.
func (r *release) image(context.Context) error {
	return r.images("toolfit-"+r.Version+"-image.tar", "toolfit:"+r.Version, func(p platform) (spec, [][]file, error) {
		base := append(basics(), file{name: "tmp/", mode: 0o777 | fs.ModeSticky})
		return r.start(), [][]file{base, r.placed(p)}, nil
	})
}

// images writes one image for all platforms that are Linux.
func (r *release) images(name, tag string, make func(platform) (spec, [][]file, error)) error {
	l := &layout{at: r.Time, blobs: map[string]file{}}
	var images []descriptor
	for _, p := range r.platforms {
		if p.OS != "linux" {
			continue
		}
		start, layers, err := make(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		d, err := l.addImage(p.Arch, start, layers...)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		images = append(images, d)
	}
	data, err := l.pack(tag, images)
	if err != nil {
		return err
	}
	return r.write(name, data)
}

// placed is the program where images have it.
func (r *release) placed(p platform) []file {
	program := *r.programs[p]
	program.name = "usr/bin/toolfit"
	return []file{program}
}

// basics are what every image has beside programs: certificates, users, and the place for data. The certificates are those that
// Mozilla trusts, not those of the machine that builds the image, which may trust more.
func basics() []file {
	var certificates bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil { // a plain file cannot say that one is trusted in part
			pem.Encode(&certificates, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // to memory
		}
	}
	return []file{
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: certificates.Bytes()},
		{name: "etc/passwd", mode: 0o644, data: []byte("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/data:/sbin/nologin\n")},
		{name: "etc/group", mode: 0o644, data: []byte("root:x:0:\nnonroot:x:65532:\n")},
		{name: "etc/toolfit/", mode: 0o755},
		{name: "etc/toolfit/toolfit.yaml", mode: 0o644, data: []byte("listen: 0.0.0.0:8420\nstore: /data/toolfit.db\nmcpServers: {}\n")},
		{name: "data/", mode: 0o700, owner: nobody},
	}
}

// start is how both images start.
func (r *release) start(env ...string) spec {
	return spec{
		User: fmt.Sprintf("%d:%d", nobody, nobody), WorkingDir: "/data",
		Env:        append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/data"}, env...),
		Entrypoint: []string{"/usr/bin/toolfit"}, Cmd: []string{"serve", "--config", "/etc/toolfit/toolfit.yaml"},
		Ports: map[string]struct{}{"8420/tcp": {}}, Volumes: map[string]struct{}{"/data": {}},
		Labels: map[string]string{
			"org.opencontainers.image.source": home, "org.opencontainers.image.licenses": "Apache-2.0",
			"org.opencontainers.image.title": "toolfit", "org.opencontainers.image.description": summary,
			"org.opencontainers.image.version": r.Version, "io.modelcontextprotocol.server.name": registryName,
		},
	}
}
