{{/* The prefix of all names. The name of a release may have dots; that of a Service may not. */}}
{{- define "intake.fullname" -}}
{{- $name := .Release.Name | replace "." "-" }}
{{- if contains .Chart.Name $name }}{{ $name | trunc 40 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" $name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "intake.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "intake.fullname" .) }}
{{- end }}

{{- define "intake.consoleServiceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ include "intake.serviceAccount" . }}-console
{{- else }}{{ include "intake.serviceAccount" . }}{{ end }}
{{- end }}

{{- define "intake.setupServiceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ include "intake.serviceAccount" . }}-setup
{{- else }}{{ include "intake.serviceAccount" . }}{{ end }}
{{- end }}

{{/* Arguments of intake.selector and intake.labels: root, component. */}}
{{- define "intake.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ quote .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end }}

{{- define "intake.labels" -}}
{{ include "intake.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{/* Arguments: root, image (gateway, worker, console or cli). */}}
{{- define "intake.image" -}}
{{- $image := index .root.Values.images .image }}
{{- $registry := required "images.registry must be set" .root.Values.images.registry | trimSuffix "/" }}
{{- if $image.digest }}{{ printf "%s/%s@%s" $registry $image.name $image.digest }}
{{- else }}{{ printf "%s/%s:%s" $registry $image.name ($image.tag | default .root.Chart.AppVersion) }}{{ end }}
{{- end }}

{{/* Prints a value. Helm reads numbers as floats; whole numbers are printed as 268435456, not as 2.68435456e+08. */}}
{{- define "intake.value" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{/* Arguments: root, settings (a list; later items replace earlier ones), secrets. A secret comes as a file, so that it
     can change while the process runs. */}}
{{- define "intake.env" }}
{{- $settings := dict }}
{{- range .settings }}{{ range $name, $value := . }}{{ $_ := set $settings $name $value }}{{ end }}{{ end }}
{{- if .root.Values.caBundle.configMap }}
{{- $_ := set $settings "NODE_EXTRA_CA_CERTS" "/etc/intake-ca/ca.crt" }}
{{- end }}
{{- range $name, $value := $settings }}
{{- if not (kindIs "invalid" $value) }}
- name: {{ $name }}
  value: {{ include "intake.value" $value | quote }}
{{- end }}
{{- end }}
{{- range $name, $key := .secrets }}
{{- if hasKey $settings $name }}{{ fail (printf "%s is set twice: among the settings and the secrets" $name) }}{{ end }}
- name: {{ $name }}_FILE
  value: /run/intake-secrets/{{ $key }}
{{- end }}
{{- end }}

{{/* Arguments: root, secrets. */}}
{{- define "intake.volumes" -}}
- name: tmp
  emptyDir: { sizeLimit: 64Mi }
- name: secrets
  secret:
    secretName: {{ required "existingSecret must be set" .root.Values.existingSecret | quote }}
    defaultMode: 0440
    items:
      {{- range $key := values .secrets | uniq | sortAlpha }}
      - { key: {{ quote $key }}, path: {{ quote $key }} }
      {{- end }}
{{- with .root.Values.caBundle }}
{{- if .configMap }}
- name: ca
  configMap:
    name: {{ quote .configMap }}
    items: [{ key: {{ quote .key }}, path: ca.crt }]
{{- end }}
{{- end }}
{{- end }}

{{- define "intake.mounts" -}}
- { name: tmp, mountPath: /tmp }
- { name: secrets, mountPath: /run/intake-secrets, readOnly: true }
{{- if .Values.caBundle.configMap }}
- { name: ca, mountPath: /etc/intake-ca, readOnly: true }
{{- end }}
{{- end }}

{{- define "intake.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* The fields that all pods have. Arguments: root, component, serviceAccount. */}}
{{- define "intake.pod" -}}
serviceAccountName: {{ quote .serviceAccount }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .root.Values.images.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.priorityClassName }}
priorityClassName: {{ quote . }}
{{- end }}
{{- end }}

{{/* Labels and annotations of a pod. Arguments: root, component. */}}
{{- define "intake.podMetadata" -}}
labels:
  {{- include "intake.selector" . | nindent 2 }}
  {{- with .root.Values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .root.Values.podAnnotations }}
annotations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Arguments: root, component. */}}
{{- define "intake.spread" }}
{{- if .root.Values.topologySpread }}
topologySpreadConstraints:
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - topologyKey: {{ . }}
    maxSkew: 1
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: { matchLabels: { {{- include "intake.selector" $ | replace "\n" ", " -}} } }
    matchLabelKeys: [pod-template-hash]
  {{- end }}
{{- end }}
{{- end }}

{{/* Liveness is not checked with /readyz, which responds with 503 while Redis or ClickHouse is away: a restart would not
     help. */}}
{{- define "intake.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: admin }
  periodSeconds: 2
  failureThreshold: 30
livenessProbe:
  httpGet: { path: /healthz, port: admin }
  periodSeconds: 10
  timeoutSeconds: 5
readinessProbe:
  httpGet: { path: /readyz, port: admin }
  periodSeconds: 2
  timeoutSeconds: 2
{{- end }}

{{/* Settings of every command. The argument is the root. */}}
{{- define "intake.commandEnv" -}}
{{- $urls := dict
  "INTAKE_GATEWAY_ADMIN_URL" (printf "http://%s-gateway-admin:3001" (include "intake.fullname" .))
  "INTAKE_WORKER_ADMIN_URL" (printf "http://%s-worker:3002" (include "intake.fullname" .)) }}
{{- if gt (int .Values.console.replicas) 0 }}
{{- $_ := set $urls "INTAKE_CONSOLE_ADMIN_URL" (printf "http://%s-console:3004" (include "intake.fullname" .)) }}
{{- end }}
{{- include "intake.env" (dict "root" . "settings" (list $urls .Values.settings (pick (.Values.gateway.settings | default dict) "REDIS_DURABILITY" "REDIS_ACK_REPLICAS")) "secrets" .Values.commands.secrets) }}
{{- end }}

{{/* The container of a command. Arguments: root, name, command. */}}
{{- define "intake.commandContainer" -}}
- name: {{ .name }}
  image: {{ include "intake.image" (dict "root" .root "image" "cli") }}
  imagePullPolicy: {{ .root.Values.images.pullPolicy }}
  command: {{ toJson .command }}
  env: {{- include "intake.commandEnv" .root | trim | nindent 4 }}
  resources: {{- toYaml .root.Values.commands.resources | nindent 4 }}
  securityContext: {{- include "intake.containerSecurity" .root | nindent 4 }}
  volumeMounts: {{- include "intake.mounts" .root | nindent 4 }}
{{- end }}
