package openapi

import (
	"regexp"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// maxNext limits the reported cursor of the next page; the body has a longer one anyway.
const maxNext = 2 << 10

// next appends where the next page is, from the Link header or the body.
func (a *answer) next(dst []byte) []byte {
	if a.status >= 300 {
		return dst
	}
	if link := nextLink(a.header.Values("Link")); link != "" && len(link) <= maxNext {
		return rawjson.AppendString(name(dst, "next"), link)
	}
	if a.kind != jsonMedia || a.text[0] != '{' {
		return dst
	}
	pointer, raw := nextField([]byte(a.text), "", 0)
	if raw == nil || len(raw) > maxNext {
		return dst
	}
	dst = append(name(dst, "next"), raw...)
	return rawjson.AppendString(name(dst, "nextField"), pointer)
}

// linkForm matches one link of a Link header: its target and parameters.
var linkForm = regexp.MustCompile(`<([^>]*)>((?:[^"<]|"[^"]*"?)*)`)

// nextLink finds the link with rel=next in the values of Link headers.
func nextLink(values []string) string {
	for _, link := range linkForm.FindAllStringSubmatch(strings.Join(values, ","), -1) {
		if isNext(link[2]) {
			return strings.TrimSpace(link[1])
		}
	}
	return ""
}

func isNext(params string) bool {
	for _, p := range strings.Split(params, ";") {
		key, v, _ := strings.Cut(strings.TrimSpace(p), "=")
		if !strings.EqualFold(strings.TrimSpace(key), "rel") {
			continue
		}
		for _, rel := range strings.Fields(strings.Trim(strings.TrimSpace(v), `"',`)) {
			if strings.EqualFold(rel, "next") {
				return true
			}
		}
	}
	return false
}

// nextNames are the names of the next page's link or cursor in common APIs, in lower case
// without punctuation.
var nextNames = map[string]bool{
	"next": true, "nextpage": true, "nextpagetoken": true, "nexttoken": true, "nextcursor": true, "nextlink": true, "nexturl": true,
	"nextpageurl": true, "nexturi": true, "nextpageuri": true, "nextoffset": true, "nextmarker": true, "continuationtoken": true,
	"@odatanextlink": true, "odatanextlink": true, "nexthref": true, "nextpagelink": true, "nextrecordsurl": true, "endcursor": true,
}

// pageNames are the members that contain it.
var pageNames = map[string]bool{
	"meta": true, "pagination": true, "paging": true, "links": true, "responsemetadata": true,
	"page": true, "pageinfo": true, "cursors": true, "metadata": true,
}

var marks = strings.NewReplacer("_", "", "-", "", ".", "", "$", "")

// nextField finds the member that names the next page, and its pointer.
func nextField(raw []byte, at string, depth int) (string, []byte) {
	var inner []member
	for w := rawjson.Object(raw); w.Next(); {
		if len(w.Key) > 32 {
			continue
		}
		key := marks.Replace(strings.ToLower(string(w.Key)))
		switch {
		case nextNames[key]:
			if v := nextValue(w.Value); v != nil {
				return at + "/" + jsonschema.EscapeToken(string(w.Key)), v
			}
		case pageNames[key] && w.Value[0] == '{':
			inner = append(inner, member{string(w.Key), w.Value})
		}
	}
	const most = 2
	for _, m := range inner {
		if depth < most {
			if pointer, v := nextField(m.raw, at+"/"+jsonschema.EscapeToken(m.key), depth+1); v != nil {
				return pointer, v
			}
		}
	}
	return "", nil
}

// nextValue returns a string or number that leads to the next page, also from within a link
// object.
func nextValue(raw []byte) []byte {
	if raw[0] == '{' {
		raw = rawjson.Get(raw, "href")
		if raw == nil {
			return nil
		}
	}
	isText := raw[0] == '"' && len(raw) > 2
	isNumber := raw[0] >= '1' && raw[0] <= '9'
	if isText || isNumber {
		return raw
	}
	return nil
}
