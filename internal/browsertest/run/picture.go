package run

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/draw"
	"image/png"
)

// picture takes a screenshot for the report, with a frame around what the step was about.
func (r *Runner) picture(ctx context.Context, out *StepResult) {
	if r.where.modal != nil || ctx.Err() != nil {
		return
	}
	boxes := r.boxes(ctx)
	answer, err := r.call(ctx, "browser_take_screenshot", map[string]any{"type": "png"})
	if err == nil && len(answer.Images) > 0 {
		out.Screenshot = &Image{Type: answer.Images[0].Type, Data: marked(answer.Images[0].Data, boxes)}
	}
}

// boxes are where the elements stand that the step used last, or could not choose from.
func (r *Runner) boxes(ctx context.Context) (list []image.Rectangle) {
	if _, can := r.tools["browser_evaluate"]; !can {
		return nil
	}
	for _, ref := range r.about {
		var box struct{ X, Y, W, H int }
		answer, err := r.call(ctx, "browser_evaluate", map[string]any{"function": script("box"), "element": asked, "target": ref})
		if err == nil && readResult(answer, &box) == nil && box.W > 0 {
			list = append(list, image.Rect(box.X, box.Y, box.X+box.W, box.Y+box.H))
		}
	}
	return list
}

// marked is a picture with frames drawn on it; what is no picture stays as it is.
func marked(data []byte, boxes []image.Rectangle) []byte {
	if len(boxes) == 0 {
		return data
	}
	from, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return data
	}
	to := image.NewRGBA(from.Bounds())
	draw.Draw(to, to.Bounds(), from, from.Bounds().Min, draw.Src)
	red := image.NewUniform(color.RGBA{R: 0xd3, G: 0x2f, B: 0x2f, A: 0xff})
	const thick, gap = 3, 2
	for _, box := range boxes {
		in, edge := box.Inset(-gap), box.Inset(-gap-thick)
		for _, side := range []image.Rectangle{
			{edge.Min, image.Pt(edge.Max.X, in.Min.Y)}, {image.Pt(edge.Min.X, in.Max.Y), edge.Max},
			{edge.Min, image.Pt(in.Min.X, edge.Max.Y)}, {image.Pt(in.Max.X, edge.Min.Y), edge.Max},
		} {
			draw.Draw(to, side, red, image.Point{}, draw.Src)
		}
	}
	var out bytes.Buffer
	if png.Encode(&out, to) != nil {
		return data
	}
	return out.Bytes()
}
