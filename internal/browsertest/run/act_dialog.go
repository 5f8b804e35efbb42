package run

import (
	"cmp"
	"context"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

// clearDialog deals with an open dialog before a step that is not about it.
func (r *Runner) clearDialog(ctx context.Context, s *steps.Step) error {
	m := r.where.modal
	switch {
	case m == nil, s.Action == steps.OnDialog, s.Action == steps.SetVars:
		return nil
	case s.Action == steps.Expect && r.dialogSays(s.Expect), s.Action == steps.Upload && m.Kind == "file":
		return nil
	}
	policy := cmp.Or(r.suite.Dialogs, r.opts.Dialogs)
	if policy != "dismiss" && (policy != "accept" || m.Kind == "file") {
		return dialogOpen("a dialog is open and no step answers it: ", m)
	}
	return r.dialog(ctx, &steps.Dialog{Accept: policy == "accept"})
}

func dialogOpen(message string, m *snapshot.Modal) error {
	return &snapshot.Error{Code: snapshot.DialogOpen, Message: message + modalText(m), Modal: m}
}

// dialog answers the open dialog. The file chooser can only be left without a file.
func (r *Runner) dialog(ctx context.Context, d *steps.Dialog) error {
	if m := r.where.modal; m != nil && m.Kind == "file" && !d.Accept {
		return r.act(ctx, "browser_file_upload", nil)
	}
	args := map[string]any{"accept": d.Accept}
	if d.Text != "" {
		args["promptText"] = d.Text
	}
	return r.act(ctx, "browser_handle_dialog", args)
}
