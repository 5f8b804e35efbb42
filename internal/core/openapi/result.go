package openapi

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
	"github.com/toolfit/toolfit/internal/mcp"
)

// Result turns an HTTP response into the tool's result. The content encoding of the body must
// already be decoded.
//
// JSON becomes text and structured content, both byte for byte; a value that is not an object
// is wrapped under "result" in the latter, as the output schema says. Images and audio become
// content of their type, other bytes an embedded resource. A status of 300 or more is a tool
// error with the status, the message from the body, and the body. Further details (the status,
// the next page, problems) are in _meta["toolfit/http"].
func (op *Operation) Result(status int, header http.Header, body []byte) json.RawMessage {
	a := answer{op: op, out: op.plan().output, status: status, header: header}
	a.read(body)
	if status >= 300 {
		return a.toolError()
	}
	return a.success()
}

// answer is a response being converted.
type answer struct {
	op     *Operation
	out    output
	status int
	header http.Header

	media string    // media type without parameters
	kind  mediaKind // detected kind of the body; 0: empty
	text  string    // text or JSON, in UTF-8
	body  []byte    // unchanged
	notes []string
}

// read determines the kind of the body.
func (a *answer) read(body []byte) {
	a.body = body
	if len(body) == 0 {
		return
	}
	declared := a.header.Get("Content-Type")
	_, params, _ := mime.ParseMediaType(declared)
	a.media = mediaType(declared)
	a.kind = kindOfType(a.media)
	if a.kind == formMedia {
		a.kind = textMedia
	}
	if a.kind == 0 && a.media == "" || a.kind == 0 && a.out.json && a.media == "application/octet-stream" {
		a.sniff()
	}
	if a.kind != jsonMedia && a.kind != textMedia {
		a.kind = binaryMedia
		return
	}
	text, note, ok := decodeText(body, params["charset"])
	if !ok {
		a.kind = binaryMedia
		a.note(note)
		return
	}
	a.note(note)
	a.text = text
	if a.kind == jsonMedia || a.out.json {
		a.checkJSON()
	}
}

// sniff guesses the type of a body without a content type.
func (a *answer) sniff() {
	switch {
	case rawjson.Check(a.body) == nil:
		a.kind = jsonMedia
		a.media = "application/json"
	case utf8.Valid(a.body):
		a.kind = textMedia
		a.media = "text/plain"
	default:
		a.media = mediaType(http.DetectContentType(a.body))
	}
}

// checkJSON treats text that is valid JSON as JSON, whatever its type.
func (a *answer) checkJSON() {
	text := strings.TrimSpace(a.text)
	err := rawjson.Check([]byte(text))
	switch {
	case err == nil && (a.kind == jsonMedia || text[0] == '{' || text[0] == '['):
		a.kind = jsonMedia
		a.text = text
		return
	case a.status < 300:
		a.note("the API description promises JSON, but this is not: " + reason(err, a.media))
	}
	a.kind = textMedia
}

func (a *answer) note(s string) {
	if s != "" {
		a.notes = append(a.notes, s)
	}
}

func (a *answer) success() json.RawMessage {
	dst := make([]byte, 0, 2*len(a.text)+len(a.body)*4/3+256)
	dst = a.content(append(dst, `{"content":[`...))
	dst = append(dst, ']')
	switch {
	case a.kind == jsonMedia:
		dst = a.structured(append(dst, `,"structuredContent":`...))
	case a.out.schema != nil:
		dst = append(dst, `,"structuredContent":{}`...) // clients require it if there is an output schema
	}
	return append(a.meta(dst), '}')
}

// structured appends the body as an object, as the output schema declares.
func (a *answer) structured(dst []byte) []byte {
	isObject := a.text[0] == '{'
	if isObject && !a.out.wrap {
		return append(dst, a.text...)
	}
	dst = append(dst, `{"`+wrapped+`":`...)
	if a.out.wrap && !a.hasDeclaredType() {
		a.note("the API description promises another type: " + strings.Join(a.out.types.Names(), " or "))
		return append(dst, "null}"...)
	}
	return append(append(dst, a.text...), '}')
}

// hasDeclaredType reports whether the body has one of the declared types.
func (a *answer) hasDeclaredType() bool {
	types := map[byte]jsonschema.Types{
		'{': jsonschema.TObject, '[': jsonschema.TArray, '"': jsonschema.TString,
		't': jsonschema.TBoolean, 'f': jsonschema.TBoolean, 'n': a.out.types,
	}
	is, ok := types[a.text[0]]
	if !ok {
		is = jsonschema.TNumber
		if !strings.ContainsAny(a.text, ".eE") {
			is |= jsonschema.TInteger
		}
	}
	return is&a.out.types != 0
}

// content appends the body as content.
func (a *answer) content(dst []byte) []byte {
	switch {
	case a.kind == 0:
		return appendText(dst, a.withoutBody())
	case a.kind == jsonMedia || a.kind == textMedia:
		return appendText(dst, a.text)
	case strings.HasPrefix(a.media, "image/"), strings.HasPrefix(a.media, "audio/"):
		kind, _, _ := strings.Cut(a.media, "/")
		dst = append(dst, `{"type":"`+kind+`","data":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, a.body)
		return append(rawjson.AppendString(append(dst, `","mimeType":`...), a.media), '}')
	}
	dst = rawjson.AppendString(append(dst, `{"type":"resource","resource":{"uri":`...), "response:///"+url.PathEscape(a.filename()))
	media := cmp.Or(strings.ToValidUTF8(a.header.Get("Content-Type"), "\uFFFD"), a.media, "application/octet-stream")
	dst = rawjson.AppendString(append(dst, `,"mimeType":`...), media)
	dst = base64.StdEncoding.AppendEncode(append(dst, `,"blob":"`...), a.body)
	return append(dst, `"}}`...)
}

func appendText(dst []byte, s string) []byte {
	return append(rawjson.AppendString(append(dst, `{"type":"text","text":`...), s), '}')
}

// filename returns the name that the server gives the body.
func (a *answer) filename() string {
	_, params, err := mime.ParseMediaType(a.header.Get("Content-Disposition"))
	if name := path.Base(params["filename"]); err == nil && name != "." && name != "/" {
		return name
	}
	return a.op.Name
}

// withoutBody describes a response without a body: the location of a new resource, or the headers of
// a HEAD response.
func (a *answer) withoutBody() string {
	lines := []string{a.statusLine()}
	for _, key := range slices.Sorted(maps.Keys(a.header)) {
		if key == "Location" || a.op.Method == "HEAD" && key != "Set-Cookie" {
			lines = append(lines, key+": "+strings.ToValidUTF8(strings.Join(a.header[key], ", "), "\uFFFD"))
		}
	}
	return strings.Join(lines, "\n")
}

// statusLine returns the status statusLine.
func (a *answer) statusLine() string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", a.status, http.StatusText(a.status)))
}

// meta appends _meta.
func (a *answer) meta(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, `,"_meta":{"toolfit/http":{`...)
	empty := len(dst)
	if a.status != http.StatusOK {
		dst = fmt.Appendf(dst, `"status":%d`, a.status)
	}
	for _, h := range []struct{ key, header string }{{"location", "Location"}, {"retryAfter", "Retry-After"}} {
		if v := a.header.Get(h.header); v != "" {
			dst = rawjson.AppendString(name(dst, h.key), v)
		}
	}
	dst = a.next(dst)
	if len(a.notes) > 0 {
		dst = rawjson.AppendString(name(dst, "note"), strings.Join(a.notes, "; "))
	}
	if len(dst) == empty {
		return dst[:start]
	}
	dst = append(dst, '}')
	if slices.Contains(a.notes, notUTF8) {
		_, wrong := rawjson.ToValidUTF8(a.body)
		dst = fmt.Appendf(dst, `,"%s":%d`, mcp.MetaReplaced, wrong)
	}
	return append(dst, '}')
}
