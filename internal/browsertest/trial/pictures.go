package trial

import (
	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/state/store"
)

// maxPictures bounds the bytes of all pictures that are kept of one run.
const maxPictures = 32 << 20

// parted separates a report from its pictures, so that most readers need not load them.
func parted(r Report) (data []byte, pictures []store.RunPicture, err error) {
	r.Results = run.Copies(r.Results)
	taken := takePictures(r.Results)
	if data, err = lightened(&r, maxReport); err != nil {
		return nil, nil, err
	}
	for n, s := range run.Steps(r.Results) { // those that are left
		if s.Screenshot != nil {
			pictures = append(pictures, store.RunPicture{Step: n, Type: s.Screenshot.Type, Data: taken[s.Screenshot]})
		}
	}
	return data, pictures, nil
}

// takePictures puts an image without bytes in the place of each picture for which there is room.
func takePictures(results []*run.Result) map[*run.Image][]byte {
	taken := map[*run.Image][]byte{}
	room := maxPictures
	for _, s := range run.Steps(results) {
		picture := s.Screenshot
		if picture == nil {
			continue
		}
		if len(picture.Data) > room {
			s.Screenshot = nil
			s.Warnings = append(s.Warnings[:len(s.Warnings):len(s.Warnings)], "its picture is not kept: the pictures of this run are too large")
			continue
		}
		room -= len(picture.Data)
		s.Screenshot = &run.Image{Type: picture.Kind(), Size: len(picture.Data)}
		taken[s.Screenshot] = picture.Data
	}
	return taken
}

// Fill puts stored pictures back into their steps. Missing ones are left out.
func (k *Run) Fill(pictures []store.RunPicture) {
	data := map[int][]byte{}
	for _, p := range pictures {
		data[p.Step] = p.Data
	}
	for n, s := range run.Steps(k.Results) {
		switch {
		case s.Screenshot == nil || s.Screenshot.Data != nil: // those of older runs are in the report
		case data[n] == nil:
			s.Screenshot = nil
		default:
			s.Screenshot.Data = data[n]
			s.Screenshot.Size = 0
		}
	}
}

// Picture is the picture of a step of a run that has its pictures in its report; nil for none.
func (k *Run) Picture(step int) *run.Image {
	for n, s := range run.Steps(k.Results) {
		if n == step && s.Screenshot != nil && s.Screenshot.Data != nil {
			return s.Screenshot
		}
	}
	return nil
}
