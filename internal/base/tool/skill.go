package tool

import (
	"encoding/json"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// skillFile is the file that every skill has in its directory.
const skillFile = "/SKILL.md"

// Limits of a skill's entry; those of its frontmatter are the Agent Skills specification's.
const (
	maxSkillURI         = 2 << 10 // bytes
	maxSkillName        = 64
	maxSkillDescription = 1024 // characters
)

var (
	skillName   = regexp.MustCompile(`^[0-9a-z]+(-[0-9a-z]+)*$`)
	skillDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	skillSize   = regexp.MustCompile(`^(0|[1-9][0-9]{0,15})$`)
)

// SkillDirectory is the directory of a skill, by the URI of its SKILL.md.
func SkillDirectory(uri string) string { return strings.TrimSuffix(uri, skillFile) }

// CheckSkill returns the URI of a skill's entry, or why the entry is invalid: strict clients refuse a list that has such a one. What
// decides which files a skill has must be there once, so that all readers see the same ones.
func CheckSkill(entry json.RawMessage) (uri string, err error) {
	members, err := once(entry, "uri", "frontmatter", "resources")
	if err != nil {
		return "", err
	}
	uri, _ = rawjson.String(members[0])
	if !isPlain(uri) || !strings.HasSuffix(uri, skillFile) {
		return "", fault.New(fault.BadRequest, "its uri %.200q is not that of a SKILL.md in a directory", uri)
	}
	front, err := once(members[1], "name", "description")
	if err != nil {
		return "", err
	}
	name, _ := rawjson.String(front[0])
	text, _ := rawjson.String(front[1])
	switch {
	case len(name) > maxSkillName || !skillName.MatchString(name):
		return "", fault.New(fault.BadRequest, "its name %.80q is not one of lower case letters, digits and hyphens", name)
	case path.Base(SkillDirectory(uri)) != name:
		return "", fault.New(fault.BadRequest, "its directory %.200q is not named %s", SkillDirectory(uri), name)
	case text == "" || utf8.RuneCountInString(text) > maxSkillDescription:
		return "", fault.New(fault.BadRequest, "its description has not 1 to %d characters", maxSkillDescription)
	}
	return uri, checkSkillFiles(members[2], uri)
}

// isPlain tells whether every reader takes a URI for the same place: nothing in it is resolved.
func isPlain(uri string) bool {
	scheme, rest, found := strings.Cut(uri, "://")
	text, err := url.PathUnescape(rest)
	if !found || scheme == "" || err != nil || len(uri) > maxSkillURI || strings.ContainsAny(uri, "?#\\") ||
		strings.ContainsFunc(uri, unicode.IsControl) {
		return false
	}
	return !slices.ContainsFunc(strings.Split(text, "/"), func(part string) bool { return part == "." || part == ".." })
}

// checkSkillFiles checks the files of a skill: all in its directory, each once, SKILL.md among them.
func checkSkillFiles(files json.RawMessage, uri string) error {
	if string(files) == `"dynamic"` {
		return nil
	}
	seen := map[string]bool{}
	w := rawjson.Array(files)
	for w.Next() {
		file, err := once(w.Value, "uri", "digest", "size")
		if err != nil {
			return err
		}
		at, _ := rawjson.String(file[0])
		digest, _ := rawjson.String(file[1])
		switch {
		case !strings.HasPrefix(at, SkillDirectory(uri)+"/") || !isPlain(at):
			return fault.New(fault.BadRequest, "its file %.200q is not in its directory", at)
		case seen[at]:
			return fault.New(fault.BadRequest, "its file %.200q is listed twice", at)
		case !skillDigest.MatchString(digest) || !skillSize.Match(file[2]):
			return fault.New(fault.BadRequest, "its file %.200q has no valid digest and size", at)
		}
		seen[at] = true
	}
	switch {
	case w.Err() != nil:
		return fault.New(fault.BadRequest, `its resources are neither a list nor "dynamic"`)
	case !seen[uri]:
		return fault.New(fault.BadRequest, "its resources lack its SKILL.md")
	}
	return nil
}

// once returns the members of an object by these names; none may be missing, or there twice.
func once(object json.RawMessage, names ...string) ([]json.RawMessage, error) {
	values := make([]json.RawMessage, len(names))
	w := rawjson.Object(object)
	for w.Next() {
		for i, name := range names {
			switch {
			case string(w.Key) != name:
			case values[i] != nil:
				return nil, fault.New(fault.BadRequest, "member %q is there twice", name)
			default:
				values[i] = w.Value
			}
		}
	}
	for i, name := range names {
		if w.Err() != nil || values[i] == nil {
			return nil, fault.New(fault.BadRequest, "member %q is missing", name)
		}
	}
	return values, nil
}
