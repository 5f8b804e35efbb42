{{- /* What the schema of the values cannot say in a sentence. */ -}}
{{- define "toolfit.checks" -}}
{{- $v := .Values -}}
{{- $several := or $v.autoscaling.enabled (gt (int $v.replicas) 1) -}}
{{- if and $several (ne $v.store.kind "postgres") -}}
{{- fail "more than one replica needs a store that they share: set store.kind to postgres" -}}
{{- end -}}
{{- $named := or $v.store.postgres.secret $v.secret.name $v.secret.external.store -}}
{{- if and (eq $v.store.kind "postgres") (not $named) -}}
{{- fail "store.kind postgres needs store.postgres.secret, a secret with the database's address as its key dsn" -}}
{{- end -}}
{{- if and $v.secret.external.store $v.secret.name -}}
{{- fail "secret.name and secret.external.store exclude each other: is there a secret, or is one to be made?" -}}
{{- end -}}
{{- if and $v.secret.external.store (not $v.secret.external.keys) -}}
{{- fail "secret.external.keys is empty: name at least TOOLFIT_ADMIN_KEY and TOOLFIT_SECRET_KEY" -}}
{{- end -}}
{{- if or $v.config.listen $v.config.store -}}
{{- fail "config has neither listen nor store: set port and store.kind instead" -}}
{{- end -}}
{{- if and $v.ingress.enabled (not $v.ingress.hosts) -}}
{{- fail "ingress.hosts is empty: the gateway serves only names that it knows" -}}
{{- end -}}
{{- if and $v.httpRoute.enabled (not (and $v.httpRoute.hostnames $v.httpRoute.parentRefs)) -}}
{{- fail "httpRoute needs hostnames and parentRefs: which names, and through which gateway" -}}
{{- end -}}
{{- if and $v.serviceMonitor.enabled (not $v.serviceMonitor.secret) -}}
{{- fail "serviceMonitor.secret is empty: Prometheus needs a viewer's key, see values.yaml" -}}
{{- end -}}
{{- end -}}
