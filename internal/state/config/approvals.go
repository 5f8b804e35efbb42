package config

import "time"

// Approvals says how people are asked about calls that a rule wants approved.
type Approvals struct {
	Expire  time.Duration // of a question, and of what was decided
	Webhook Webhook
}

// Webhook is a program that is told of open questions and may decide them.
type Webhook struct {
	URL    string // "": nobody is told
	Secret string // signs what goes both ways; "": nothing can be decided that way
}

// minWebhookSecret is long enough that nobody guesses it.
const minWebhookSecret = 32

func (a *Approvals) read(d *decoder, at place, n *node) {
	d.object(at, n, a.fields())
	d.secretsIn(a.Webhook.URL)
	if a.Webhook.Secret != "" {
		d.secret(a.Webhook.Secret)
	}
	if a.Webhook.URL != "" && a.Webhook.Secret == "" && !d.raw {
		d.fail(at, "webhook has no secret; add one, such as secret: ${APPROVALS_SECRET}")
	}
}

func (a *Approvals) fields() []field {
	return []field{
		{"expire", durationInto(&a.Expire, time.Minute)},
		{"webhook", section([]field{
			{"url", textInto(&a.Webhook.URL, urlLike("https://chat.example.com/toolfit"))},
			{"secret", textInto(&a.Webhook.Secret, checkWebhookSecret)},
		})},
	}
}

func checkWebhookSecret(s string) string {
	if len(s) < minWebhookSecret {
		return "has fewer than 32 characters; make one: openssl rand -hex 32"
	}
	return ""
}
