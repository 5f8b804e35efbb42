package snapshot

import (
	"encoding/base64"
	"regexp"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Answer is the result of one call to the server, read.
type Answer struct {
	URL, Title string // of the current tab; "" when the answer does not say
	Tabs       []Tab
	Modal      *Modal  // what waits for the user; nil for nothing
	Page       *Page   // the tree; nil when the answer holds none
	Size       int     // bytes that the tree was read from
	Result     string  // what stands under "### Result"
	Images     []Image // inline parts
	Err        *Error  // set exactly when the result is marked as an error
}

// Tab is one open tab.
type Tab struct {
	Index      int
	Current    bool
	Title, URL string
}

// Modal is a dialog of the browser, or its file chooser. While it is open, no element can be used.
type Modal struct {
	Kind    string // alert, confirm, prompt, beforeunload, or file
	Message string
}

// Image is a picture that came with the answer.
type Image struct {
	Type string // such as image/png
	Data []byte
}

// ReadAnswer reads the result of tools/call.
func ReadAnswer(raw []byte) Answer {
	var a Answer
	var texts []string
	parts := rawjson.Array(rawjson.Get(raw, "content"))
	for parts.Next() {
		kind, _ := rawjson.String(rawjson.Get(parts.Value, "type"))
		switch kind {
		case "text":
			text, _ := rawjson.String(rawjson.Get(parts.Value, "text"))
			texts = append(texts, text)
		case "image":
			a.addImage(parts.Value)
		}
	}
	a.readText(strings.Join(texts, "\n"), string(rawjson.Get(raw, "isError")) == "true")
	return a
}

func (a *Answer) addImage(part []byte) {
	kind, _ := rawjson.String(rawjson.Get(part, "mimeType"))
	text, _ := rawjson.String(rawjson.Get(part, "data"))
	if data, err := base64.StdEncoding.DecodeString(text); err == nil {
		a.Images = append(a.Images, Image{kind, data})
	}
}

// ansi are the colors that the browser's own messages carry.
var ansi = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")

func (a *Answer) readText(text string, isError bool) {
	sections := split(ansi.ReplaceAllString(text, ""))
	for _, s := range sections {
		switch s.heading {
		case "Page", "Page state", "Snapshot":
			a.readPage(s)
		case "Modal state":
			a.readModal(s.text)
		case "Open tabs":
			a.readTabs(s.text)
		case "Result":
			a.Result = strings.TrimSpace(s.text)
		}
	}
	if len(a.Tabs) == 0 && strings.HasPrefix(a.Result, "- ") {
		a.readTabs(a.Result) // where newer versions list tabs
	}
	for _, t := range a.Tabs {
		if t.Current && t.URL != "" { // some versions repeat the address of the tab before
			a.URL = t.URL
			a.Title = t.Title
		}
	}
	if isError {
		a.Err = errorOf(sections, a.Modal)
	}
}

func (a *Answer) readPage(s section) {
	for line := range strings.Lines(s.text) {
		if url, found := strings.CutPrefix(line, "- Page URL: "); found {
			a.URL = strings.TrimSpace(url)
		}
		if title, found := strings.CutPrefix(line, "- Page Title: "); found {
			a.Title = strings.TrimSpace(title)
		}
	}
	if strings.TrimSpace(s.yaml) != "" {
		a.Page = Parse(s.yaml)
		a.Size = len(s.yaml)
	}
}

var dialogLine = regexp.MustCompile(`(?s)^- \["([a-z]+)" dialog with message "(.*)"\]`)

func (a *Answer) readModal(text string) {
	text = strings.TrimSpace(text)
	if m := dialogLine.FindStringSubmatch(text); m != nil {
		a.Modal = &Modal{Kind: m[1], Message: m[2]}
	} else if strings.HasPrefix(text, "- [File chooser]") {
		a.Modal = &Modal{Kind: "file"}
	} else if strings.HasPrefix(text, "- [") {
		a.Modal = &Modal{Kind: "other", Message: text}
	}
}

// tabLine is "- 1: (current) [title](url)"; older versions put a space before the address.
var tabLine = regexp.MustCompile(`^- (\d+): (\(current\) )?\[(.*)\] ?\((.*)\)$`)

func (a *Answer) readTabs(text string) {
	for line := range strings.Lines(text) {
		m := tabLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		index, _ := strconv.Atoi(m[1]) // digits
		a.Tabs = append(a.Tabs, Tab{Index: index, Current: m[2] != "", Title: m[3], URL: m[4]})
	}
}

// section is what stands under one heading.
type section struct {
	heading string
	text    string // without its fenced parts
	yaml    string // of its ```yaml fence
}

// split cuts an answer at its headings, but not inside of fences.
func split(text string) []section {
	sections := []section{{}}
	var plain, yaml strings.Builder
	fence := ""
	flush := func() {
		s := &sections[len(sections)-1]
		s.text = plain.String()
		s.yaml = yaml.String()
		plain.Reset()
		yaml.Reset()
	}
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, "\r\n")
		switch {
		case fence != "" && bare == "```":
			fence = ""
		case fence == "```yaml":
			yaml.WriteString(line)
		case fence != "":
		case strings.HasPrefix(bare, "```"):
			fence = bare
		case strings.HasPrefix(bare, "### "):
			flush()
			sections = append(sections, section{heading: bare[4:]})
		default:
			plain.WriteString(line)
		}
	}
	flush()
	return sections
}
