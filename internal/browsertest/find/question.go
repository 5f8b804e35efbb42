package find

import (
	"errors"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// Question is what a snapshot does not show and the page can answer.
type Question struct {
	Ref   string // of the element that it is about
	About Topic
	Label string // the text, where it is about a label
}

// Topic is what a Question is about.
type Topic uint8

const (
	FrameNames Topic = iota // what the frame is called
	ModalKind               // whether the dialog is modal
	LabelOwner              // whether the text beside the field is the label of another
	InputType               // what type of input the field is
)

// Answer is that of the page.
type Answer struct {
	Names  []string `json:"names"`  // of a frame
	Modal  bool     `json:"modal"`  // what stands before the dialog lies behind it
	Inert  bool     `json:"inert"`  // so does all the rest of the page
	Others bool     `json:"others"` // the label is not the field's
	Type   string   `json:"type"`   // of an input, or textarea; "" for another element
}

// Questions are the questions that an answer depends on: the names of frames, whether it is behind a
// dialog, and whether its label belongs to another element. Each is asked once.
func (x *Index) Questions(q Query, hit *Hit, err error) (list []Question) {
	add := func(d Question) {
		if _, told := x.told[d]; !told && d.Ref != "" {
			list = append(list, d)
		}
	}
	if x.namesFrame(q) {
		for _, n := range x.frames {
			add(Question{Ref: n.Ref, About: FrameNames})
		}
	}
	var noMatch *Error
	several := errors.As(err, &noMatch) && noMatch.Code == snapshot.Ambiguous
	inside := func(d *snapshot.Node) bool { return hit != nil && d.Holds(hit.Node) }
	if q.Action != Any && (several || hit != nil && !slices.ContainsFunc(x.dialogs, inside)) {
		for _, n := range x.dialogs {
			add(Question{Ref: n.Ref, About: ModalKind})
		}
	}
	for _, n := range x.untyped(q, hit) {
		add(Question{Ref: n.Ref, About: InputType})
	}
	if hit != nil && hit.label != "" {
		add(Question{Ref: hit.Node.Ref, About: LabelOwner, Label: hit.label})
	}
	return list
}

// untyped are the fields whose input type an answer depends on: the one that was found by a word for a
// type, or all of them where such a word is all that was said. Large forms are not asked about.
func (x *Index) untyped(q Query, hit *Hit) (list []*snapshot.Node) {
	if hit != nil {
		if hit.typed {
			list = append(list, hit.Node)
		}
		return list
	}
	for _, r := range describe(q.Text, x.syn).readings() {
		if r.role == nil || len(r.role.types) == 0 || !r.name.empty() {
			continue
		}
		for _, n := range x.serving(q.Action) {
			if r.role.accepts(n) > 0 && is(n, field|pressable) && !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
	}
	if len(list) > maxAsked {
		return nil
	}
	return list
}

// maxAsked is how many fields the page is asked about: each is a call.
const maxAsked = 12

// SetAnswer adds the page's answer to the index.
func (x *Index) SetAnswer(d Question, t Answer) {
	x.told[d] = t
	clear(x.labels)
	clear(x.names)
	clear(x.usable)
	clear(x.known)
	x.all = ""
}

// Told is what the page has answered to a question; false when it was not asked.
func (x *Index) Told(d Question) (Answer, bool) {
	t, told := x.told[d]
	return t, told
}

// namesFrame tells whether a query has a frame in it.
func (x *Index) namesFrame(q Query) bool {
	if len(x.frames) == 0 {
		return false
	}
	if q.Frame != "" {
		return true
	}
	text := strings.ToLower(q.Text + " " + q.Within)
	return slices.ContainsFunc(frameWords.words, func(w string) bool { return strings.Contains(text, w) })
}

// toldNames are what the page says that its frames are called.
func (x *Index) toldNames(n *snapshot.Node) []string {
	return x.told[Question{Ref: n.Ref, About: FrameNames}].Names
}

// isModal tells whether the page has said that a dialog is modal.
func (x *Index) isModal(d *snapshot.Node) bool {
	t := x.told[Question{Ref: d.Ref, About: ModalKind}]
	return t.Modal || t.Inert
}

// behind tells whether an element is behind a modal dialog. What comes after it is drawn over it.
func (x *Index) behind(n *snapshot.Node) bool {
	covered := false
	for _, d := range x.dialogs {
		switch {
		case !x.isModal(d):
		case d.Holds(n):
			return false
		default:
			covered = covered || n.Index < d.Index || x.told[Question{Ref: d.Ref, About: ModalKind}].Inert
		}
	}
	return covered
}
