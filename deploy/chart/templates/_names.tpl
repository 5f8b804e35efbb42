{{- define "toolfit.name" -}}
{{- default .Release.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "toolfit.selector" -}}
{{- toYaml (default (dict "app.kubernetes.io/name" (include "toolfit.name" .) "app.kubernetes.io/instance" .Release.Name) .Values.selector) -}}
{{- end -}}

{{- define "toolfit.labels" -}}
{{- toYaml (merge (dict) (default (dict) .Values.selector) (dict
  "app.kubernetes.io/name" (include "toolfit.name" .)
  "app.kubernetes.io/instance" .Release.Name
  "app.kubernetes.io/version" .Chart.AppVersion
  "app.kubernetes.io/managed-by" .Release.Service
  "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version))) -}}
{{- end -}}

{{- /* What stands before every path, also those of the probes. */ -}}
{{- define "toolfit.base" -}}
{{ default "" .Values.config.basePath | trimSuffix "/" }}
{{- end }}
