{{/* What every Pod of ours has: of a dict of `root` and `component`. The level `restricted` of Pod security. */}}
{{- define "berth.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.images.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- if .root.Values.priorityClasses.enabled }}
priorityClassName: {{ include "berth.name" .root }}-{{ ternary "servers" "processes" (has .component (list "broker" "postgres")) }}
{{- end }}
securityContext:
  {{- include "berth.podSecurity" . | nindent 2 }}
{{- end -}}

{{- define "berth.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "berth.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}

{{/* The Pods of one kind on nodes and in zones of their own. */}}
{{- define "berth.spread" -}}
topologySpreadConstraints:
  {{- $dot := . }}
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: {{ ternary $dot.root.Values.topology.whenUnsatisfiable "ScheduleAnyway" (eq . "kubernetes.io/hostname") }}
    labelSelector:
      matchLabels: {{- include "berth.selector" $dot | nindent 8 }}
  {{- end }}
{{- end -}}

{{/* A budget of one Pod at a time. */}}
{{- define "berth.budget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{- include "berth.metadata" . | nindent 2 }}
spec:
  maxUnavailable: 1
  # A Pod that is not ready shall not keep a node from being drained.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels: {{- include "berth.selector" . | nindent 6 }}
{{- end -}}

{{/* Settings by value: of a list of what the chart says, and what the operator says. Both win over what a Secret says. */}}
{{- define "berth.settings" -}}
{{- range $name, $_ := index . 1 }}
{{- if hasKey (index $ 0) $name }}{{ fail (printf "settings: %s is set by the chart itself" $name) }}{{ end }}
{{- end }}
{{- range $name, $value := merge (dict) (index . 0) (index . 1) }}
- name: {{ $name }}
  value: {{ include "berth.text" $value | quote }}
{{- end }}
{{- end -}}

{{/* A number of a values file is a float, which from a million on is printed with an exponent; by the schema it is whole. */}}
{{- define "berth.text" -}}{{ if kindIs "float64" . }}{{ int64 . }}{{ else }}{{ . }}{{ end }}{{- end -}}

{{- define "berth.authorityVariable" -}}
{{- if .Values.secrets.authority }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/berth/tls/ca.crt
{{- end }}
{{- end -}}

{{- define "berth.mounts" -}}
- name: tmp
  mountPath: /tmp
{{- if .Values.secrets.authority }}
- name: authority
  mountPath: /etc/berth/tls
  readOnly: true
{{- end }}
{{- end -}}

{{- define "berth.volumes" -}}
- name: tmp
  emptyDir: { sizeLimit: 64Mi }
{{- if .Values.secrets.authority }}
- name: authority
  secret:
    secretName: {{ .Values.secrets.authority }}
    items: [{ key: ca.crt, path: ca.crt }]
{{- end }}
{{- end -}}

{{/* Of the operations port: alive restarts, ready sends requests; the first start makes streams, and may take its time. */}}
{{- define "berth.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: operations }
  periodSeconds: 2
  failureThreshold: 150
livenessProbe:
  httpGet: { path: /healthz, port: operations }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: { path: /readyz, port: operations }
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end -}}

{{/* The init container that waits until the database has the tables of this version. Of a dict of `root` and `secret`. */}}
{{- define "berth.waitForTables" -}}
- name: wait-for-tables
  image: {{ include "berth.image" (dict "root" .root "image" .root.Values.images.managementApi) }}
  imagePullPolicy: {{ .root.Values.images.pullPolicy }}
  command: [node, --enable-source-maps, app/dist/migrate.main.js, --wait]
  env:
    {{- include "berth.authorityVariable" .root | trim | nindent 4 }}
    - name: BERTH_DATABASE_URL
      valueFrom:
        secretKeyRef: { name: {{ .secret }}, key: BERTH_DATABASE_URL }
  {{- include "berth.containerSecurity" . | nindent 2 }}
  resources:
    requests: { cpu: 50m, memory: 128Mi }
    limits: { memory: 512Mi }
  volumeMounts: {{- include "berth.mounts" .root | nindent 4 }}
{{- end -}}
