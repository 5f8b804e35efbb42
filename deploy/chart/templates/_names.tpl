{{- define "toolfit.name" -}}
{{- default .Release.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "toolfit.selector" -}}
{{- $ours := dict "app.kubernetes.io/name" (include "toolfit.name" .) "app.kubernetes.io/instance" .Release.Name -}}
{{- toYaml (default $ours .Values.selector) -}}
{{- end -}}

{{- define "toolfit.labels" -}}
{{- toYaml (merge (dict) (default (dict) .Values.selector) (dict
  "app.kubernetes.io/name" (include "toolfit.name" .)
  "app.kubernetes.io/instance" .Release.Name
  "app.kubernetes.io/version" .Chart.AppVersion
  "app.kubernetes.io/managed-by" .Release.Service
  "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version))) -}}
{{- end -}}

{{- /* What every object begins with. */ -}}
{{- define "toolfit.metadata" -}}
name: {{ include "toolfit.name" . | quote }}
namespace: {{ quote .Release.Namespace }}
labels: {{- include "toolfit.labels" . | nindent 2 }}
{{- end -}}

{{- /* What stands before every path, also those of the probes. */ -}}
{{- define "toolfit.base" -}}
{{ default "" .Values.config.basePath | trimSuffix "/" }}
{{- end -}}

{{- define "toolfit.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}{{ if .Values.image.full }}-full{{ end }}
{{- end -}}

{{- /* The secret whose keys become environment variables. */ -}}
{{- define "toolfit.secret" -}}
{{ default (include "toolfit.name" .) .Values.secret.name }}
{{- end -}}

{{- define "toolfit.account" -}}
{{- if .Values.serviceAccount.create -}}
{{ default (include "toolfit.name" .) .Values.serviceAccount.name }}
{{- else -}}
{{ default "default" .Values.serviceAccount.name }}
{{- end -}}
{{- end -}}

{{- /* toolfit.yaml. A caller may use any name of the service. */ -}}
{{- define "toolfit.config" -}}
{{- $name := include "toolfit.name" . -}}
{{- $inside := printf "%s.%s" $name .Release.Namespace -}}
{{- $hosts := list $name $inside (printf "%s.svc" $inside) (printf "%s.svc.cluster.local" $inside) -}}
{{- if .Values.ingress.enabled }}{{ $hosts = concat $hosts .Values.ingress.hosts }}{{ end -}}
{{- if .Values.httpRoute.enabled }}{{ $hosts = concat $hosts .Values.httpRoute.hostnames }}{{ end -}}
{{- $store := "/data/toolfit.db" -}}
{{- if eq .Values.store.kind "postgres" }}{{ $store = "${TOOLFIT_STORE}" }}{{ end -}}
{{- $hosts = uniq (concat $hosts (default (list) .Values.config.hosts)) -}}
{{- toYaml (merge (dict "store" $store "hosts" $hosts) .Values.config) -}}
{{- end -}}
