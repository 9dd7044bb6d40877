{{- define "berth.name" -}}
{{- if contains "berth" .Release.Name -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else -}}{{ printf "%s-berth" (.Release.Name | trunc 34 | trimSuffix "-") }}{{- end -}}
{{- end -}}

{{/* The labels by which Pods are found; they never change. Of a dict of `root` and `component`. */}}
{{- define "berth.selector" -}}
app.kubernetes.io/name: berth
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "berth.labels" -}}
{{ include "berth.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{/* Metadata of an object: of a dict of `root`, `component` and, unless it is the component's own, `name`. */}}
{{- define "berth.metadata" -}}
name: {{ include "berth.name" .root }}-{{ .name | default .component }}
namespace: {{ .namespace | default .root.Release.Namespace }}
labels: {{- include "berth.labels" . | nindent 2 }}
{{- end -}}

{{/* Of a dict of `root` and `image`: ours have the chart's version for a tag, unless they name one. */}}
{{- define "berth.image" -}}
{{- $values := .root.Values.images -}}
{{- $last := last (splitList "/" .image) -}}
{{- $tagged := contains ":" $last | or (contains "@" $last) -}}
{{- $name := ternary .image (printf "%s:%s" .image ($values.tag | default .root.Chart.AppVersion)) $tagged -}}
{{- $foreign := regexMatch "^([^/]*[.:][^/]*|localhost)/" .image -}}
{{- if and $values.registry (not $foreign) }}{{ printf "%s/%s" (trimSuffix "/" $values.registry) $name }}{{ else }}{{ $name }}{{ end -}}
{{- end -}}

{{/* Host and port of a URL, and the host alone. */}}
{{- define "berth.host" -}}{{ (urlParse .).host | regexFind "^[^:]+" }}{{- end -}}

{{/* How long a Pod has to end: the delay of its drain, ten seconds for requests (of a router: `drainMs`), and some for the rest. */}}
{{- define "berth.graceSeconds" -}}{{ add 30 (div (int .Values.drainDelayMs) 1000) }}{{- end -}}
{{- define "berth.routerGraceSeconds" -}}{{ add 25 (div (int .Values.drainDelayMs) 1000) (div (int .Values.jobRouter.drainMs) 1000) }}{{- end -}}
