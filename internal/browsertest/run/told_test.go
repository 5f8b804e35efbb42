package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/report"
	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

const twoRows = `- table [ref=e1]:
  - row [ref=e2]:
    - cell "SO-1" [ref=e3]
    - cell "Ann Lee" [ref=e4]
    - button "Delete" [ref=e5]
  - row [ref=e6]:
    - cell "SO-2" [ref=e7]
    - cell "Bob Ray" [ref=e8]
    - button "Delete" [ref=e9]
`

func TestFailuresSpeakTheLanguageOfTheTest(t *testing.T) {
	for step, words := range map[string][]string{
		`click Delete`:                        {`"Delete" means 2 elements`, "add the row: SO-1 Ann Lee"},
		`点击 Delete`:                           {`"Delete" 对应 2 个元素`, "请加上所在的行：SO-1 Ann Lee"},
		`click "打印"`:                          {"no element is"},
		`{click: 打印, timeout: 1ms}`:           {"没有元素是"},
		`{expect: {visible: 打印按钮}}`:           {"应为 可见 打印按钮；实际为 没有元素是"},
		`{expect: {hidden: Ann's row}}`:       {"expected hidden Ann's row; got it is there: "},
		`{expect: {text: 完成, target: SO-1行}}`: {`应为 文字 SO-1行 包含 "完成"`},
	} {
		c, res := one(&fakeBrowser{tree: page(twoRows)}, run.Options{Screenshots: "off", Timeout: 1}, "- "+step+"\n")
		if c.Error == nil {
			t.Errorf("%s passed", step)
			continue
		}
		for _, w := range words {
			if !strings.Contains(c.Error.Message, w) {
				t.Errorf("%s: %s, want %s", step, c.Error.Message, w)
			}
		}
		var html, xml bytes.Buffer
		if report.HTML(&html, []*run.Result{res}) != nil || report.JUnit(&xml, []*run.Result{res}) != nil {
			t.Fatal("no reports")
		}
		if zh := strings.ContainsAny(words[0], "对没应"); zh && !strings.Contains(html.String(), "<dt>代码</dt>") || !zh &&
			strings.Contains(html.String(), "代码") {
			t.Errorf("%s: the words of the HTML report are of another language", step)
		}
	}
}

func TestAFailureIsToldOnceAndAsThePageWritesIt(t *testing.T) {
	c, res := one(&fakeBrowser{tree: page(twoRows)}, run.Options{Screenshots: "off", Timeout: 1}, "- click Delete\n")
	s := c.Steps[0]
	if len(s.Candidates) != 2 || strings.Contains(s.Error.Message, "button Delete") {
		t.Errorf("%s beside %+v", s.Error.Message, s.Candidates)
	}
	if path := s.Candidates[0].Path; !strings.Contains(path, "SO-1 Ann Lee") {
		t.Errorf("the page does not write %s", path)
	}
	var xml, html bytes.Buffer
	if err := report.JUnit(&xml, []*run.Result{res}); err != nil {
		t.Fatal(err)
	}
	if err := report.HTML(&html, []*run.Result{res}); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"JUnit": xml.String(), "HTML": html.String()} {
		for _, part := range []string{"means 2 elements", "row SO-2 Bob Ray &gt; button Delete"} {
			if n := strings.Count(text, part); n != 1 {
				t.Errorf("%s says %q %d times:\n%s", name, part, n, text)
			}
		}
	}
	_, res = one(&fakeBrowser{tree: page(twoRows)}, run.Options{Screenshots: "off", Timeout: 1}, "- expect: {visible: Print}\n")
	html.Reset()
	if err := report.HTML(&html, []*run.Result{res}); err != nil || strings.Count(html.String(), "no element is") != 1 {
		t.Errorf("%v: an expectation is told %d times", err, strings.Count(html.String(), "no element is"))
	}
}

func TestThePictureOfAFailureMarksWhereTheStepWas(t *testing.T) {
	var blank bytes.Buffer
	if err := png.Encode(&blank, image.NewRGBA(image.Rect(0, 0, 100, 100))); err != nil {
		t.Fatal(err)
	}
	picture, _ := json.Marshal(blank.Bytes()) // base64
	b := &pictureBrowser{fakeBrowser: fakeBrowser{tree: page(twoRows)},
		picture: json.RawMessage(`{"content":[{"type":"image","mimeType":"image/png","data":` + string(picture) + `}]}`)}
	b.on = map[string]func(map[string]any) (string, bool){
		"browser_evaluate": func(args map[string]any) (string, bool) {
			return map[string]string{"e5": "### Result\n{\"x\":10,\"y\":10,\"w\":20,\"h\":10}\n",
				"e9": "### Result\n{\"x\":10,\"y\":60,\"w\":20,\"h\":10}\n"}[args["target"].(string)], false
		},
	}
	c := suiteOn(t, b, run.Options{Timeout: 1}, "- click Delete\n")
	shot, err := png.Decode(bytes.NewReader(c.Steps[0].Screenshot.Data))
	if err != nil {
		t.Fatal(err)
	}
	red := func(x, y int) bool {
		r, g, _, _ := shot.At(x, y).RGBA()
		return color.RGBA{R: uint8(r >> 8), G: uint8(g >> 8)}.R > 0xc0 && g>>8 < 0x60
	}
	if !red(15, 6) || !red(15, 56) || !red(6, 15) || red(15, 15) || red(80, 80) {
		t.Error("the elements are not marked, or something else is")
	}
}

// pictureBrowser has a picture of its page.
type pictureBrowser struct {
	fakeBrowser
	picture json.RawMessage
}

func (b *pictureBrowser) Call(ctx context.Context, asked, fitted run.Call) (json.RawMessage, error) {
	if fitted.Tool == "browser_take_screenshot" {
		return b.picture, nil
	}
	return b.fakeBrowser.Call(ctx, asked, fitted)
}

func suiteOn(t *testing.T, b run.Browser, opts run.Options, yaml string) run.CaseResult {
	t.Helper()
	suite, err := steps.Parse("t.yaml", []byte(yaml), nil)
	if err != nil {
		t.Fatal(err)
	}
	return run.New(b, &opts).Suite(t.Context(), suite).Cases[0]
}
