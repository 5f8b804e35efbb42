package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// file is a file in a package. A name that ends in / is a folder.
type file struct {
	name  string
	mode  fs.FileMode // permissions; with fs.ModeSticky for /tmp
	data  []byte
	link  string // of a symbolic link
	owner int    // user and group
}

// under puts files into a folder.
func under(folder string, files ...file) []file {
	var moved []file
	for _, f := range files {
		f.name = folder + "/" + f.name
		moved = append(moved, f)
	}
	return moved
}

// writeTar writes files in the order of their names, with one time and without names of users.
func writeTar(to io.Writer, files []file, at time.Time) error {
	w := tar.NewWriter(to)
	for _, f := range sorted(files) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: int64(f.mode.Perm()), Size: int64(len(f.data)), ModTime: at,
			Uid: f.owner, Gid: f.owner}
		if f.mode&fs.ModeSticky != 0 {
			h.Mode |= 0o1000
		}
		switch {
		case f.link != "":
			h.Typeflag, h.Linkname = tar.TypeSymlink, f.link
		case f.name[len(f.name)-1] == '/':
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.Write(f.data); err != nil {
			return err
		}
	}
	return w.Close()
}

// sorted keeps files of the same name in their order: of those, the last one is unpacked.
func sorted(files []file) []file {
	return slices.SortedStableFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
}

func tarGz(files []file, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if err := writeTar(z, files, at); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func zipped(files []file, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range sorted(files) {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at.UTC()}
		h.SetMode(f.mode)
		part, err := w.CreateHeader(h)
		if err == nil {
			_, err = part.Write(f.data)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Folder is the folder in an archive, and the beginning of its name.
func (r *release) Folder(p platform) string {
	return fmt.Sprintf("toolfit-%s-%s-%s", r.Version, p.OS, p.Arch)
}

// Archive is the name of a platform's archive.
func (r *release) Archive(p platform) string {
	if p.OS == "windows" {
		return r.Folder(p) + ".zip"
	}
	return r.Folder(p) + ".tar.gz"
}

// archive writes what people download and unpack themselves.
func (r *release) archive(p platform) error {
	files := under(r.Folder(p), append([]file{*r.programs[p]}, r.extras...)...)
	pack := tarGz
	if p.OS == "windows" {
		pack = zipped
	}
	data, err := pack(files, r.Time)
	if err != nil {
		return err
	}
	return r.write(r.Archive(p), data)
}

// extras are the files beside the program.
func extras(version string, at time.Time) ([]file, error) {
	var files []file
	for _, name := range []string{"LICENSE", "NOTICE", "README.md"} {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("run this in the root of the repository: %w", err)
		}
		files = append(files, file{name: name, mode: 0o644, data: data})
	}
	pages, err := manual(version, at)
	if err != nil {
		return nil, err
	}
	shells, err := completions()
	return append(append(files, under("man", pages...)...), under("completions", shells...)...), err
}

// write puts a file into dist, and says so.
func (r *release) write(name string, data []byte) error {
	fmt.Printf("%-45s %6.1f MB\n", name, float64(len(data))/1e6)
	return os.WriteFile(filepath.Join(r.dist, name), data, 0o644)
}

// sum is the SHA-256 of a file in dist.
func (r *release) sum(name string) (string, error) {
	data, err := os.ReadFile(filepath.Join(r.dist, name))
	if err != nil {
		return "", err
	}
	return hexSum(data), nil
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// readTar reads the files of an archive that are to be kept.
func readTar(from io.Reader, keep func(name string) bool) (files []file, err error) {
	r := tar.NewReader(from)
	for {
		h, err := r.Next()
		if err == io.EOF {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		f := file{name: path.Clean("/" + h.Name)[1:], mode: fs.FileMode(h.Mode).Perm(), owner: h.Uid}
		if f.name == "" || !keep(f.name) {
			continue
		}
		if h.Mode&0o1000 != 0 {
			f.mode |= fs.ModeSticky
		}
		switch h.Typeflag {
		case tar.TypeDir:
			f.name += "/"
		case tar.TypeSymlink:
			f.link = h.Linkname
		case tar.TypeReg:
			if f.data, err = io.ReadAll(r); err != nil {
				return nil, err
			}
		case tar.TypeLink:
			target := path.Clean("/" + h.Linkname)[1:]
			at := slices.IndexFunc(files, func(other file) bool { return other.name == target })
			if at < 0 {
				return nil, fmt.Errorf("%s is a link to %s, which is not there", f.name, target)
			}
			f.data = files[at].data
		default:
			continue // devices
		}
		files = append(files, f)
	}
}
