package run

import (
	"context"
	"fmt"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

// clearDialog deals with an open dialog before a step that is not about it.
func (r *Runner) clearDialog(ctx context.Context, s *steps.Step) error {
	m := r.where.modal
	if m == nil || s.Action == steps.OnDialog || s.Action == steps.SetVars || s.Action == steps.Expect && r.dialogSays(s.Expect) || s.Action == steps.Upload && m.Kind == "file" {
		return nil
	}
	policy := r.suite.Dialogs
	if policy == "" {
		policy = r.opts.Dialogs
	}
	if policy != "dismiss" && (policy != "accept" || m.Kind == "file") {
		return &snapshot.Error{Code: snapshot.DialogOpen, Message: fmt.Sprintf("a dialog is open and no step answers it: %s", modalText(m)), Modal: m}
	}
	return r.dialog(ctx, &steps.Dialog{Accept: policy == "accept"})
}

// dialog answers what is open. The file chooser can only be left without a file.
func (r *Runner) dialog(ctx context.Context, d *steps.Dialog) error {
	if m := r.where.modal; m != nil && m.Kind == "file" && !d.Accept {
		_, err := r.call(ctx, "browser_file_upload", nil)
		return err
	}
	args := map[string]any{"accept": d.Accept}
	if d.Text != "" {
		args["promptText"] = d.Text
	}
	_, err := r.call(ctx, "browser_handle_dialog", args)
	return err
}

// settleDialog closes what is still open, so that the teardown can work.
func (r *Runner) settleDialog(ctx context.Context) {
	if r.where.modal != nil {
		r.dialog(ctx, &steps.Dialog{}) // it may be gone by now
	}
}
